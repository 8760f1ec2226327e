//! What a run came to: the accepted value, what the model said beside it, and what lies between the two.

use airtight_store::{Attempt, Run};
use maud::{Markup, html};
use serde_json::Value;

use super::super::visit::segment;
use super::super::{change, text, tree, words};

/// How many violations, edits or losses are listed.
const LISTED: usize = 50;

/// Renders the value, what was said, and the edits.
pub(super) fn panel(run: &Run, attempts: &[Attempt]) -> Markup {
    let base = format!("/runs/{}/text", segment(run.summary.id.as_str()));
    let id = segment(run.summary.id.as_str());
    let said = run.output.as_deref().map(text::of_bytes);
    html! {
        @if let Some(errors) = &run.output_errors { (failure(errors, run, &id)) }
        @if run.parsed_output.is_some() || said.is_some() {
            div.columns {
                @if let Some(value) = &run.parsed_output {
                    section.panel aria-labelledby="value" {
                        header { h2 #value { "Accepted value" } a.more href={ (base) "/value" } { "as plain text" } }
                        div.body { (tree::tree(value)) }
                    }
                }
                @if let Some(said) = &said {
                    section.panel aria-labelledby="said" {
                        header { h2 #said { "What the model said" } a.more href={ (base) "/output" } { "as plain text" } }
                        div.body { (text::block(said, text::BLOCK_LIMIT, None)) }
                    }
                }
            }
        }
        (edits(run, said.as_deref()))
        @if run.parsed_output.is_none() && said.is_none() && attempts.is_empty() {
            section.panel { div.body { p.quiet { "No text of this run is on record." } } }
        }
    }
}

fn failure(errors: &str, run: &Run, id: &str) -> Markup {
    let parsed: Value = serde_json::from_str(errors).unwrap_or_default();
    let message = parsed.get("message").and_then(Value::as_str).unwrap_or("No value was accepted.");
    html! {
        section.panel aria-labelledby="failure" {
            header { h2 #failure { "Why there is no value" } @if run.summary.review == airtight_store::Review::Flagged { a.more href={ "/queue/" (id) } { "Review it" } } }
            div.body {
                p { (text::line(message, 1_000)) }
                (violations(&violations_of(errors)))
            }
        }
    }
}

/// Returns the list of violations in what the ledger keeps as the errors of a run.
pub(in super::super) fn violations_of(errors: &str) -> String {
    let parsed: Value = serde_json::from_str(errors).unwrap_or_default();
    let list = parsed.get("violations").or_else(|| parsed.is_array().then_some(&parsed));
    list.map(ToString::to_string).unwrap_or_default()
}

/// Renders violations: JSON, as the ledger keeps them.
pub(in super::super) fn violations(json: &str) -> Markup {
    let parsed: Value = serde_json::from_str(json).unwrap_or_default();
    let list = parsed.get("violations").unwrap_or(&parsed).as_array().cloned().unwrap_or_default();
    let hidden = list.len().saturating_sub(LISTED);
    html! {
        @if !list.is_empty() {
            ul.violations {
                @for violation in list.iter().take(LISTED) {
                    @let word = |name: &str| violation.get(name).and_then(Value::as_str).unwrap_or_default();
                    @let pointer = if word("pointer").is_empty() { "(root)" } else { word("pointer") };
                    li { code { (text::line(pointer, 120)) } span { (text::line(word("message"), 400)) @if !word("keyword").is_empty() { " " span.tag { (text::line(word("keyword"), 40)) } } } }
                }
                @if hidden > 0 { li { span {} span.quiet { "… and " (hidden) " more" } } }
            }
        }
    }
}

/// Renders what was changed between what was said and what was accepted, in words and as a diff.
fn edits(run: &Run, said: Option<&str>) -> Markup {
    let listed: Vec<Value> =
        run.edits.as_deref().and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default();
    if listed.is_empty() {
        return html! {};
    }
    let value = run.parsed_output.as_deref().map(change::spread);
    let diff = said
        .zip(value)
        .and_then(|(said, value)| change::change(&change::spread(said.trim()), &value));
    html! {
        section.panel aria-labelledby="edits" {
            header { h2 #edits { "Edits" } span.note { "between what was said and what was accepted" } }
            div.body {
                ul.violations {
                    @for edit in listed.iter().take(LISTED) { (edit_row(edit)) }
                    @if listed.len() > LISTED { li { span {} span.quiet { "… and " (listed.len() - LISTED) " more" } } }
                }
                @if let Some(diff) = diff { (diff) }
            }
        }
    }
}

fn edit_row(edit: &Value) -> Markup {
    let word = |name: &str| edit.get(name).and_then(Value::as_str);
    let place = match (word("pointer"), edit.get("offset").and_then(Value::as_u64)) {
        (Some(""), _) => "(root)".to_owned(),
        (Some(pointer), _) => text::line(pointer, 120),
        (None, Some(offset)) => format!("byte {offset}"),
        (None, None) => String::new(),
    };
    let kind = word("kind").unwrap_or("changed").replace('_', " ");
    html! {
        li {
            code { (place) }
            span { (text::line(&kind, 80)) @if let Some(to) = word("to") { " to " code { (text::line(to, 120)) } } @if let Some(version) = word("version") { span.quiet { " (version " (text::line(version, 20)) ")" } } }
        }
    }
}

/// Renders what the provider was not asked to enforce.
pub(super) fn losses(run: &Run) -> Markup {
    let listed: Vec<Value> =
        run.losses.as_deref().and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default();
    html! {
        @if !listed.is_empty() {
            section.panel aria-labelledby="losses" {
                header { h2 #losses { "Not enforced by the provider" } span.note { "the verdict here enforced it" } }
                div.body {
                    details id="losses-list" {
                        summary { (words::counted(u64::try_from(listed.len()).unwrap_or(0), "keyword", "keywords")) }
                        ul.violations {
                            @for loss in listed.iter().take(LISTED) {
                                @let word = |name: &str| loss.get(name).and_then(Value::as_str).unwrap_or_default();
                                li { code { (text::line(word("pointer"), 120)) } span { span.tag { (text::line(word("keyword"), 40)) } " " span.quiet { (instead(word("enforced_by"))) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Renders the places of an extracted value that nobody could look up; what a person has accepted since was
/// looked at.
pub(super) fn unchecked(run: &Run) -> Markup {
    let is_extracted = run.summary.rung.as_deref() == Some("extract");
    let kept = run.unchecked.as_deref().filter(|_| is_extracted);
    let listed: Vec<String> = kept.and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default();
    html! {
        @if !listed.is_empty() {
            section.panel aria-labelledby="unchecked" {
                header { h2 #unchecked { "Not checked" } span.note { "cannot be looked up in what the model said" } }
                div.body {
                    ul.violations {
                        @for place in listed.iter().take(LISTED) {
                            @let place = if place.is_empty() { "(root)" } else { place.as_str() };
                            li { code { (text::line(place, 120)) } }
                        }
                        @if listed.len() > LISTED { li { span.quiet { "… and " (listed.len() - LISTED) " more" } } }
                    }
                }
            }
        }
    }
}

/// Says what stands in for a lost keyword.
pub(in super::super) fn instead(word: &str) -> &'static str {
    match word {
        "description" => "told to the model in words",
        _ => "unknown to the model",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violations_are_read_in_both_shapes_and_escaped() {
        let list = r#"[{"pointer":"/a<","keyword":"minimum","message":"<i> is too small"}]"#;
        let shown = violations(list).into_string();
        assert!(shown.contains("/a&lt;") && shown.contains("&lt;i&gt; is too small"), "{shown}");
        assert_eq!(
            violations(&violations_of(&format!(r#"{{"message":"m","violations":{list}}}"#)))
                .into_string(),
            shown
        );
        assert_eq!(violations("not json").into_string(), "");
        let many = format!("[{}{{}}]", "{},".repeat(60));
        assert!(violations(&many).into_string().contains("… and 11 more"));
    }
}
