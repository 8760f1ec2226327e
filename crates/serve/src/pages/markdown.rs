//! What a session reports is Markdown. This renders the parts of it that reports use: headings, lists,
//! fenced code, paragraphs, `code` and **bold**. Everything else stands as it was written; nothing becomes a
//! link or a picture, so nothing a model says can lead anywhere.

use maud::{Markup, html};

use super::text;

/// How much of a report is rendered.
const LIMIT_LINES: usize = 1_000;

/// One part of a report.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Heading(String),
    Paragraph(String),
    Bullets(Vec<String>),
    Code(String),
}

/// Renders a report.
pub(super) fn markdown(report: &str) -> Markup {
    let report = text::harmless(report);
    let total = report.lines().count();
    html! {
        div.prose {
            @for part in parts(&report) { (render(&part)) }
            @if total > LIMIT_LINES { p.quiet { "… and " (total - LIMIT_LINES) " more lines" } }
        }
    }
}

fn render(part: &Part) -> Markup {
    match part {
        Part::Heading(words) => html! { h3 { (inline(words)) } },
        Part::Paragraph(words) => html! { p { (inline(words)) } },
        Part::Bullets(items) => html! { ul { @for item in items { li { (inline(item)) } } } },
        Part::Code(code) => html! { pre { (code) } },
    }
}

fn parts(report: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut code: Option<String> = None;
    for line in report.lines().take(LIMIT_LINES) {
        let bare = line.trim();
        if bare.starts_with("```") {
            code = match code.take() {
                Some(block) => {
                    parts.push(Part::Code(block));
                    None
                }
                None => Some(String::new()),
            };
            continue;
        }
        if let Some(block) = &mut code {
            block.push_str(line);
            block.push('\n');
            continue;
        }
        add(bare, &mut parts);
    }
    parts.extend(code.map(Part::Code));
    parts.retain(|part| !matches!(part, Part::Paragraph(words) if words.is_empty()));
    parts
}

/// Adds a line outside of code.
fn add(line: &str, parts: &mut Vec<Part>) {
    let heading = line.trim_start_matches('#');
    let bullet = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    match (bullet, parts.last_mut()) {
        _ if line.is_empty() => parts.push(Part::Paragraph(String::new())),
        _ if heading.len() < line.len() && heading.starts_with(' ') => {
            parts.push(Part::Heading(heading.trim().to_owned()));
        }
        (Some(item), Some(Part::Bullets(items))) => items.push(item.to_owned()),
        (Some(item), _) => parts.push(Part::Bullets(vec![item.to_owned()])),
        (None, Some(Part::Paragraph(words))) if !words.is_empty() => {
            words.push(' ');
            words.push_str(line);
        }
        (None, _) => parts.push(Part::Paragraph(line.to_owned())),
    }
}

/// Renders `code` and **bold** within a line; marks that are not closed stay marks.
fn inline(line: &str) -> Markup {
    let mut pieces: Vec<Markup> = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let next = rest.find('`').into_iter().chain(rest.find("**")).min();
        let Some(start) = next else { break };
        let (before, marked) = rest.split_at(start);
        let mark = if marked.starts_with('`') { "`" } else { "**" };
        let inner = marked.strip_prefix(mark).unwrap_or_default();
        let Some((inside, after)) = inner.split_once(mark).filter(|(inside, _)| !inside.is_empty())
        else {
            break;
        };
        pieces.push(html! { (before) });
        pieces.push(if mark == "`" {
            html! { code { (inside) } }
        } else {
            html! { strong { (inside) } }
        });
        rest = after;
    }
    pieces.push(html! { (rest) });
    html! { @for piece in &pieces { (piece) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_have_their_shape() {
        let report = "# State\nAll **well**,\nsee `web`.\n\n- one\n- two\n```\n<x>\n```\n**open";
        let drawn = markdown(report).into_string();
        let expected = "<div class=\"prose\"><h3>State</h3>\
            <p>All <strong>well</strong>, see <code>web</code>.</p>\
            <ul><li>one</li><li>two</li></ul><pre>&lt;x&gt;\n</pre><p>**open</p></div>";
        assert_eq!(drawn, expected);
    }

    #[test]
    fn nothing_leads_anywhere() {
        let naughty =
            "[x](javascript:alert(1)) ![y](http://evil.example/p.png) <img src=x onerror=y>";
        let drawn = markdown(naughty).into_string();
        assert!(!drawn.contains("<a") && !drawn.contains("<img"), "{drawn}");
        assert!(markdown(&"a\n".repeat(5_000)).into_string().contains("4000 more lines"));
    }
}
