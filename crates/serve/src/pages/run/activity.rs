//! What happens in a run, event by event. The same rows stand on the page and are added to it while the run
//! goes on.
//!
//! CO-104: arguments of tools are cut at 200 characters, what tools say at 2,000; of several results of one
//! message the first stands open. Kinds that are not known are named and folded; a body that is no JSON is
//! shown raw.

use airtight_store::{RunId, RunState, RunSummary, StoredEvent};
use maud::{Markup, html};
use serde_json::Value;

use super::super::visit::{Visit, segment};
use super::super::{Failed, Pages, badge, list, text, words};
use super::outcome::violations;

/// How many events one answer holds; the script asks for more at once.
const ROWS: usize = 300;

/// A stretch of what happened in a run.
pub(in super::super) struct Stream {
    run: RunId,
    after: i64,
    events: Vec<StoredEvent>,
    has_more: bool,
}

impl Stream {
    /// Reads what happened after the event of the number `after`.
    pub(in super::super) async fn read(
        pages: &Pages,
        run: &RunId,
        after: i64,
    ) -> Result<Self, Failed> {
        let limit = u32::try_from(ROWS + 1).unwrap_or(u32::MAX);
        let mut events = pages.ledger.events(run, after, limit).await?;
        let has_more = events.len() > ROWS;
        events.truncate(ROWS);
        Ok(Self { run: run.clone(), after, events, has_more })
    }

    /// Renders the rows alone.
    pub(in super::super) fn rows(&self) -> Markup {
        html! { @for event in &self.events { (row(&self.run, event)) } }
    }

    /// Renders the rows in their panel.
    pub(in super::super) fn panel(&self, run: &RunSummary, visit: &Visit) -> Markup {
        let is_open = run.state == RunState::Open;
        let last = self.events.last().map_or(self.after, |event| event.number);
        if self.events.is_empty() && !is_open && self.after == 0 {
            return html! {};
        }
        html! {
            section.panel #activity aria-labelledby="happened" {
                header {
                    h2 #happened { "Activity" }
                    @if is_open { span.pulse role="status" { "running" } }
                    span.note { (words::counted(words::whole(last), "event", "events")) }
                }
                div.activity-box tabindex="0" role="region" aria-labelledby="happened" {
                    ol.activity data-activity=[is_open.then_some(run.id.as_str())] data-last=(last) {
                        (self.rows())
                        @if self.events.is_empty() {
                            li data-waiting { (list::empty("Nothing has been said yet", "What the model says and does appears here.", None)) }
                        }
                    }
                }
                @if self.after > 0 || self.has_more {
                    nav.pages aria-label="Activity" {
                        @if self.after > 0 { a href={ (visit.with("after", "")) "#activity" } { "« From the beginning" } }
                        @if self.has_more { a.next href={ (visit.with("after", &last.to_string())) "#activity" } { "Later »" } }
                    }
                }
            }
        }
    }
}

fn row(run: &RunId, event: &StoredEvent) -> Markup {
    let all = format!("/runs/{}/text/event-{}", segment(run.as_str()), event.number);
    let body = event.body.as_deref().unwrap_or_default();
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let is_sub = parsed
        .as_ref()
        .is_some_and(|it| it.get("parent_tool_use_id").is_some_and(Value::is_string));
    let (who, told) = match &parsed {
        _ if event.body.is_none() => {
            (event.kind.as_str(), html! { span.quiet { "texts are not kept" } })
        }
        None => (event.kind.as_str(), text::block(body, text::RESULT_LIMIT, Some(&all))),
        Some(value) => told(&event.kind, value, &all),
    };
    html! {
        li data-number=(event.number) {
            div.who { b { (text::line(who, 24)) } (words::clock(event.at)) }
            div.sub[is_sub] { (told) }
        }
    }
}

/// Renders what one event tells, and says who tells it.
fn told<'k>(kind: &'k str, event: &Value, all: &str) -> (&'k str, Markup) {
    let word = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
    match kind {
        "init" => ("begin", begin(event)),
        "assistant" => ("model", blocks(event, all)),
        "user" => ("tools", blocks(event, all)),
        "attempt" => ("verdict", judged(event)),
        "extracting" => (
            "extract",
            html! { "A second model looks for the answer: " code { (text::line(word("model"), 60)) } },
        ),
        "retry" => (
            "retry",
            html! {
                span.failed { (text::line(word("message"), text::LINE_LIMIT)) }
                " " span.quiet { "sent again after " (words::span(event.get("pause_ms").and_then(Value::as_i64).unwrap_or(0))) }
            },
        ),
        "notification" => (
            "background",
            html! { (text::line(word("status"), 20)) ": " (text::line(word("text"), text::LINE_LIMIT)) },
        ),
        "warning" => ("warning", html! { (text::line(word("message"), text::LINE_LIMIT)) }),
        "raw" => (
            "not read",
            html! { (text::line(word("reason"), 40)) @if !word("text").is_empty() { (text::block(word("text"), text::ARGUMENTS_LIMIT, Some(all))) } },
        ),
        "harness" => (
            "agent",
            html! { "The agent's program has ended. " a href=(all) { "What it came to" } },
        ),
        // What a newer version tells is counted and can be read, but it does not crowd the page.
        other => (
            other,
            html! { span.quiet { "not known to this version. " } a href=(all) { "Show as plain text" } },
        ),
    }
}

fn begin(event: &Value) -> Markup {
    let word = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
    let tools: Vec<&str> = event
        .get("tools")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    html! {
        "Begins with " code { (text::line(word("model"), 80)) }
        @if !tools.is_empty() { span.quiet { ", tools: " (text::line(&tools.join(", "), 160)) } }
    }
}

fn blocks(event: &Value, all: &str) -> Markup {
    let content = event.pointer("/message/content").and_then(Value::as_array);
    let content: &[Value] = content.map_or(&[], Vec::as_slice);
    let is_result =
        |block: &&Value| block.get("type").and_then(Value::as_str) == Some("tool_result");
    let results: Vec<&Value> = content.iter().filter(is_result).collect();
    html! {
        @for piece in content.iter().filter(|it| !is_result(it)) { (block(piece, all)) }
        @if let Some((first, others)) = results.split_first() {
            (result(first, all))
            @if !others.is_empty() {
                details {
                    summary.quiet { (words::counted(u64::try_from(others.len()).unwrap_or(0), "more result", "more results")) }
                    @for other in others { (result(other, all)) }
                }
            }
        }
    }
}

fn block(block: &Value, all: &str) -> Markup {
    let word = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
    match word("type") {
        "text" => text::block(word("text"), text::BLOCK_LIMIT, Some(all)),
        "thinking" => html! {
            details.thinking { summary { "Thinking, " (words::counted(u64::try_from(word("thinking").len()).unwrap_or(0), "byte", "bytes")) } (text::block(word("thinking"), text::BLOCK_LIMIT, Some(all))) }
        },
        "tool_use" => {
            let input = block.get("input").map(ToString::to_string).unwrap_or_default();
            html! {
                p.call { b { (text::line(word("name"), 120)) } " " (text::line(&input, text::ARGUMENTS_LIMIT)) }
                @if input.len() > text::ARGUMENTS_LIMIT { p.more-link { a href=(all) { "Show all as plain text" } } }
            }
        }
        other => {
            html! { p.quiet { "Something only the provider can read: " (text::line(other, 40)) } }
        }
    }
}

fn result(result: &Value, all: &str) -> Markup {
    let is_error = result.get("is_error") == Some(&Value::Bool(true));
    let content = match result.get("content") {
        Some(Value::String(content)) => content.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    html! {
        @if is_error { p.failed { "The tool failed" } }
        (text::block(&content, text::RESULT_LIMIT, Some(all)))
    }
}

fn judged(event: &Value) -> Markup {
    let attempt = event.get("attempt").unwrap_or(&Value::Null);
    let word = |name: &str| attempt.get(name).and_then(Value::as_str).unwrap_or_default();
    let wrong = attempt.get("violations").map(ToString::to_string).unwrap_or_default();
    html! {
        div.row { (badge::badge(badge::tone_of_ending(word("ending")), word("ending"))) span.tag { (text::line(word("rung"), 20)) } }
        (violations(&wrong))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(kind: &str, body: &str) -> String {
        let event = StoredEvent {
            number: 3,
            at: 1_790_000_000_000,
            kind: kind.to_owned(),
            body: Some(body.to_owned()),
        };
        row(&RunId::from("r".to_owned()), &event).into_string()
    }

    #[test]
    fn co_104_arguments_and_results_are_cut_and_escaped() {
        let call = format!(
            r#"{{"message":{{"content":[{{"type":"tool_use","name":"<b>","input":{{"x":"{}"}}}}]}}}}"#,
            "a".repeat(1_000)
        );
        let shown = drawn("assistant", &call);
        assert!(shown.contains("&lt;b&gt;") && shown.contains(&"a".repeat(194)), "{shown}");
        assert!(
            !shown.contains(&"a".repeat(200)) && shown.contains("/runs/r/text/event-3"),
            "{shown}"
        );
        let result = format!(
            r#"{{"message":{{"content":[{{"type":"tool_result","content":"\u001b[31m{}"}},{{"type":"tool_result","content":"second"}}]}}}}"#,
            "b".repeat(3_000)
        );
        let shown = drawn("user", &result);
        assert!(shown.contains("1 more result") && shown.contains("second"), "{shown}");
        assert!(!shown.contains('\u{1b}') && !shown.contains(&"b".repeat(2_001)), "{shown}");
    }

    #[test]
    fn co_104_what_is_no_json_is_shown_raw_and_what_is_unknown_is_named() {
        assert!(drawn("assistant", "not <json").contains("not &lt;json"));
        assert!(drawn("teleport", "{}").contains("not known to this version"));
        assert!(drawn("assistant", "[1]").contains("data-number=\"3\""));
    }

    #[test]
    fn thinking_is_folded() {
        let thought = r#"{"message":{"content":[{"type":"thinking","thinking":"hm"}]}}"#;
        assert!(drawn("assistant", thought).contains("<details class=\"thinking\"><summary>"));
    }
}
