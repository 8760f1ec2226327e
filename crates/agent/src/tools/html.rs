//! The text of a web page, simply: no layout, no scripts, just the words in their order.

/// Elements whose content is not text.
const SKIPPED: [&str; 6] = ["head", "noscript", "script", "style", "svg", "template"];

/// Elements that begin a line.
const BLOCKS: [&str; 26] = [
    "article",
    "aside",
    "blockquote",
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "main",
    "ol",
    "p",
    "pre",
    "section",
    "tr",
    "ul",
];

/// Returns the words of a page.
pub(super) fn to_text(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(&unescape(before));
        if let Some(comment) = tag.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, behind)| behind);
            continue;
        }
        if !tag.starts_with(|next: char| next.is_ascii_alphabetic() || "/!?".contains(next)) {
            text.push('<');
            rest = tag;
            continue;
        }
        let (inside, behind) = tag.split_once('>').unwrap_or((tag, ""));
        let name = name_of(inside);
        if BLOCKS.contains(&name.as_str()) {
            text.push('\n');
        } else if name == "td" || name == "th" {
            text.push(' ');
        }
        let skipped =
            SKIPPED.contains(&name.as_str()) && !inside.starts_with('/') && !inside.ends_with('/');
        rest = if skipped { after_end(behind, &name) } else { behind };
    }
    text.push_str(&unescape(rest));
    tidy(&text)
}

/// Returns the lower-case name of a tag, closing or not.
fn name_of(inside: &str) -> String {
    let name = inside.trim_start_matches('/');
    let end = name.find(|next: char| !next.is_ascii_alphanumeric()).unwrap_or(name.len());
    name.get(..end).unwrap_or_default().to_ascii_lowercase()
}

/// Returns what follows the closing tag of an element; nothing if it is never closed.
fn after_end<'t>(text: &'t str, name: &str) -> &'t str {
    let mut rest = text;
    while let Some((_, tag)) = rest.split_once("</") {
        if name_of(tag) == name {
            return tag.split_once('>').map_or("", |(_, behind)| behind);
        }
        rest = tag;
    }
    ""
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('&') {
        out.push_str(before);
        let entity = behind.split_once(';').and_then(|(name, after)| Some((entity(name)?, after)));
        let (character, after) = entity.unwrap_or(('&', behind));
        out.push(character);
        rest = after;
    }
    out.push_str(rest);
    out
}

fn entity(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "hellip" => '…',
        "mdash" => '—',
        "ndash" => '–',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    })
}

/// Joins words by single spaces and drops empty lines.
fn tidy(text: &str) -> String {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use test_case::test_case;

    use super::to_text;

    #[test_case("<p>Hello <b>big</b> world</p>" => "Hello big world")]
    #[test_case("<h1>A</h1><p>B<br>C</p>" => "A\nB\nC")]
    #[test_case("<head><title>x</title></head><body>y" => "y")]
    #[test_case("a<script>if (a < b) { '</p>' }</script>b" => "ab"; "a script is skipped")]
    #[test_case("a<STYLE type=x>p{}</Style >b" => "ab"; "whatever its case")]
    #[test_case("a<script>never closed" => "a"; "an open script hides the rest")]
    #[test_case("a<!-- <p>x</p> -->b" => "ab"; "a comment is skipped")]
    #[test_case("1 &lt; 2 &amp;&amp; 3 &#62; 2 &#x1F600; &unknown; &" => "1 < 2 && 3 > 2 😀 &unknown; &")]
    #[test_case("1 < 2" => "1 < 2"; "a bare angle is text")]
    #[test_case("<tr><td>a</td><td>b</td></tr>" => "a b")]
    fn the_words_of_a_page(html: &str) -> String {
        to_text(html)
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(html in "(?s)[<>/!&;#a-z \\-]{0,200}") {
            prop_assert!(to_text(&html).len() <= html.len() * 2);
        }
    }
}
