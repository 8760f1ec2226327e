//! A JSON value as a tree that folds, without JavaScript.
//!
//! It is drawn from the text that was judged, so that numbers keep their digits. What is deep, long or
//! numerous is cut and says so; the whole is one link away.

use airtight_core::Document;
use airtight_core::json::{Kind, Node};
use maud::{Markup, html};

use super::text;

/// How deep a tree is drawn.
const DEPTH_LIMIT: usize = 24;
/// How many members or items of one value are drawn.
const CHILDREN_LIMIT: usize = 100;
/// How many values are drawn in all: a browser lays out some ten thousand elements in no time.
const NODES_LIMIT: usize = 2_000;
/// How many characters of a string are shown.
const STRING_LIMIT: usize = 400;
/// How many children a value may have to be drawn open.
const OPEN_LIMIT: usize = 12;

/// Renders JSON; what is none is shown as it is.
pub(super) fn tree(json: &str) -> Markup {
    let Ok(document) = Document::parse(json) else {
        return text::block(json, text::BLOCK_LIMIT, None);
    };
    let mut left = NODES_LIMIT;
    html! { div.tree { (value(None, document.root(), 0, &mut left)) } }
}

fn value(key: Option<&str>, node: Node<'_>, depth: usize, left: &mut usize) -> Markup {
    *left = left.saturating_sub(1);
    let is_container = matches!(node.kind(), Kind::Array | Kind::Object) && !node.is_empty();
    if !is_container {
        return html! { (label(key)) (leaf(node)) };
    }
    let (one, many, brackets) = match node.kind() {
        Kind::Array => ("item", "items", "[ ]"),
        Kind::Null | Kind::Boolean | Kind::Number | Kind::String | Kind::Object => {
            ("member", "members", "{ }")
        }
    };
    let count = u64::try_from(node.len()).unwrap_or(u64::MAX);
    let count = super::words::counted(count, one, many);
    if depth >= DEPTH_LIMIT || *left == 0 {
        return html! { (label(key)) span.count { (brackets) " " (count) ", not drawn" } };
    }
    let is_open = depth == 0 || node.len() <= OPEN_LIMIT;
    html! {
        details open[is_open] {
            summary { (label(key)) span.count { (brackets) " " (count) } }
            (children(node, depth, left))
        }
    }
}

fn children(node: Node<'_>, depth: usize, left: &mut usize) -> Markup {
    let mut rows = Vec::new();
    if node.kind() == Kind::Object {
        for (key, child) in node.members().take(CHILDREN_LIMIT.min(*left)) {
            rows.push(value(Some(key), child, depth + 1, left));
        }
    } else {
        for child in node.items().take(CHILDREN_LIMIT.min(*left)) {
            rows.push(value(None, child, depth + 1, left));
        }
    }
    let hidden = node.len().saturating_sub(rows.len());
    html! {
        ul {
            @for row in &rows { li { (row) } }
            @if hidden > 0 { li { span.count { (format!("… and {hidden} more")) } } }
        }
    }
}

fn label(key: Option<&str>) -> Markup {
    html! { @if let Some(key) = key { span.key { (text::line(key, 120)) } ": " } }
}

fn leaf(node: Node<'_>) -> Markup {
    match node.kind() {
        Kind::String => {
            let said = node.as_str().unwrap_or_default();
            html! { span.string { "“" (text::line(said, STRING_LIMIT)) "”" } }
        }
        Kind::Array => html! { span.count { "[ ]" } },
        Kind::Object => html! { span.count { "{ }" } },
        Kind::Null | Kind::Boolean | Kind::Number => {
            html! { span.scalar { (text::line(node.raw(), STRING_LIMIT)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_kept_and_strings_are_inert() {
        let drawn =
            tree(r#"{"<b>": "<img src=x>", "n": 1.00000000000000000001e400}"#).into_string();
        assert!(drawn.contains("&lt;b&gt;") && drawn.contains("&lt;img src=x&gt;"), "{drawn}");
        assert!(drawn.contains("1.00000000000000000001e400"), "{drawn}");
    }

    #[test]
    fn what_is_wide_or_deep_is_cut_and_says_so() {
        let wide = format!("[{}0]", "0,".repeat(10_000));
        assert!(tree(&wide).into_string().contains("… and 9901 more"));
        let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        assert!(tree(&deep).into_string().contains("not drawn"));
        let many = format!("[{}[]]", format!("[{}0],", "0,".repeat(99)).repeat(99));
        assert!(tree(&many).into_string().len() < 200_000);
    }

    #[test]
    fn what_is_no_json_is_shown_as_it_is() {
        assert!(tree("not <json>").into_string().contains("not &lt;json&gt;"));
    }
}
