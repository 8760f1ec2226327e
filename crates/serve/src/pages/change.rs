//! Two texts, line by line: what is gone and what has come.

use maud::{Markup, html};

use super::text;

/// How many lines of one side are compared: the table of a comparison has the square of them.
const LINES_LIMIT: usize = 800;
/// How many lines around a change are shown.
const CONTEXT: usize = 3;
/// How much of one line is shown.
const LINE_LIMIT: usize = 500;

/// One line of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'t> {
    Same(&'t str),
    Gone(&'t str),
    Come(&'t str),
}

/// Renders what differs between `before` and `after`; nothing if nothing does.
pub(super) fn change(before: &str, after: &str) -> Option<Markup> {
    let lines = compare(before, after);
    if lines.iter().all(|line| matches!(line, Line::Same(_))) {
        return None;
    }
    let shown = near_changes(&lines);
    let mut is_skipping = false;
    Some(html! {
        div.diff role="group" aria-label="What changed" tabindex="0" {
            @for (line, is_shown) in lines.iter().zip(shown) {
                @if is_shown {
                    ({ is_skipping = false; render(*line) })
                } @else if !is_skipping {
                    ({ is_skipping = true; html! { div.skipped { "unchanged" } } })
                }
            }
        }
    })
}

fn render(line: Line<'_>) -> Markup {
    let shown = |it: &str| {
        let cut: String = it.chars().take(LINE_LIMIT).collect();
        text::harmless(&cut).into_owned()
    };
    match line {
        Line::Same(it) => html! { div { (shown(it)) } },
        Line::Gone(it) => html! { div.gone { span.unseen { "removed: " } (shown(it)) } },
        Line::Come(it) => html! { div.come { span.unseen { "added: " } (shown(it)) } },
    }
}

/// Says of each line whether it is a change or near one.
fn near_changes(lines: &[Line<'_>]) -> Vec<bool> {
    let mut shown = vec![false; lines.len()];
    for (index, line) in lines.iter().enumerate() {
        if matches!(line, Line::Same(_)) {
            continue;
        }
        let end = lines.len().min(index + CONTEXT + 1);
        for near in shown.get_mut(index.saturating_sub(CONTEXT)..end).into_iter().flatten() {
            *near = true;
        }
    }
    shown
}

/// Compares by the longest common subsequence of lines, after what both begin and end with.
fn compare<'t>(before: &'t str, after: &'t str) -> Vec<Line<'t>> {
    let before: Vec<&str> = before.lines().take(LINES_LIMIT).collect();
    let after: Vec<&str> = after.lines().take(LINES_LIMIT).collect();
    let head = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let (left, right) = (before.get(head..), after.get(head..));
    let (left, right) = (left.unwrap_or_default(), right.unwrap_or_default());
    let tail = left.iter().rev().zip(right.iter().rev());
    let tail = tail.take_while(|(one, other)| one == other).count();
    let middle = |lines: &[&'t str]| lines.get(..lines.len() - tail).unwrap_or_default().to_vec();
    let mut lines: Vec<Line<'t>> = before.iter().take(head).map(|line| Line::Same(line)).collect();
    lines.extend(common(&middle(left), &middle(right)));
    lines.extend(left.iter().skip(left.len() - tail).map(|line| Line::Same(line)));
    lines
}

fn common<'t>(left: &[&'t str], right: &[&'t str]) -> Vec<Line<'t>> {
    let width = right.len() + 1;
    let mut lengths = vec![0_u32; (left.len() + 1) * width];
    let length = |lengths: &[u32], row: usize, column: usize| {
        lengths.get(row * width + column).copied().unwrap_or(0)
    };
    for (row, one) in left.iter().enumerate().rev() {
        for (column, other) in right.iter().enumerate().rev() {
            let best = if one == other {
                length(&lengths, row + 1, column + 1) + 1
            } else {
                length(&lengths, row + 1, column).max(length(&lengths, row, column + 1))
            };
            if let Some(place) = lengths.get_mut(row * width + column) {
                *place = best;
            }
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut lines = Vec::new();
    loop {
        match (left.get(row), right.get(column)) {
            (None, None) => return lines,
            (Some(one), Some(other)) if one == other => {
                lines.push(Line::Same(one));
                row += 1;
                column += 1;
            }
            (Some(one), other)
                if other.is_none()
                    || length(&lengths, row + 1, column) >= length(&lengths, row, column + 1) =>
            {
                lines.push(Line::Gone(one));
                row += 1;
            }
            (_, Some(other)) => {
                lines.push(Line::Come(other));
                column += 1;
            }
            (Some(_), None) => return lines,
        }
    }
}

/// Returns JSON spread over lines, for comparing; what is none as it is.
pub(super) fn spread(json: &str) -> String {
    let Ok(document) = airtight_core::Document::parse(json) else { return json.to_owned() };
    let mut out = String::with_capacity(json.len() * 2);
    write(document.root(), 0, &mut out);
    out
}

fn write(node: airtight_core::json::Node<'_>, depth: usize, out: &mut String) {
    use airtight_core::json::Kind;

    /// Deeper values stay on one line.
    const DEPTH_LIMIT: usize = 64;

    if depth > DEPTH_LIMIT || node.is_empty() || !matches!(node.kind(), Kind::Array | Kind::Object)
    {
        node.write_compact(out);
        return;
    }
    let (open, close) = if node.kind() == Kind::Array { ('[', ']') } else { ('{', '}') };
    let indent = |depth: usize, out: &mut String| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    out.push(open);
    if node.kind() == Kind::Object {
        for (index, (key, child)) in node.members().enumerate() {
            out.push_str(if index == 0 { "" } else { "," });
            indent(depth + 1, out);
            out.push_str(&serde_json::Value::from(key).to_string());
            out.push_str(": ");
            write(child, depth + 1, out);
        }
    } else {
        for (index, child) in node.items().enumerate() {
            out.push_str(if index == 0 { "" } else { "," });
            indent(depth + 1, out);
            write(child, depth + 1, out);
        }
    }
    indent(depth, out);
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_common_stays_and_the_rest_is_gone_or_has_come() {
        let lines = compare("a\nb\nc\nd", "a\nx\nc\ny\nd");
        let expected = [
            Line::Same("a"),
            Line::Gone("b"),
            Line::Come("x"),
            Line::Same("c"),
            Line::Come("y"),
            Line::Same("d"),
        ];
        assert_eq!(lines, expected);
        assert!(change("same\ntext", "same\ntext").is_none());
        assert!(change("", "").is_none());
    }

    #[test]
    fn long_texts_are_bounded_and_far_lines_are_folded() {
        let before = "x\n".repeat(100_000);
        let after = format!("{}y", "z\n".repeat(100_000));
        assert!(compare(&before, &after).len() <= 2 * LINES_LIMIT);
        let before = (0..100).map(|n| format!("{n}\n")).collect::<Vec<_>>().concat();
        let shown = change(&before, &before.replace("50\n", "fifty\n")).unwrap().into_string();
        assert_eq!(shown.matches("unchanged").count(), 2, "{shown}");
        assert!(shown.contains("removed: ") && shown.contains("fifty"), "{shown}");
    }

    #[test]
    fn json_is_spread_with_its_digits() {
        let spread = spread(r#"{"a":[1.0e9,{}],"é\n":"x"}"#);
        assert_eq!(spread, "{\n  \"a\": [\n    1.0e9,\n    {}\n  ],\n  \"é\\n\": \"x\"\n}");
    }
}
