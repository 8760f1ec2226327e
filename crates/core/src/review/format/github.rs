//! GitHub's pull-request review: a comment on each place, and a body for the rest.

use serde_json::{Value, json};

use super::super::assembly::{Reported, Review};
use super::super::finding::Lines;
use super::inert;
use super::markdown;
use crate::excerpt;

/// The most comments on places: GitHub documents no number and slows down those who post many at once,
/// and nobody reads more. Further findings are in the body.
pub const GITHUB_COMMENT_LIMIT: usize = 50;

/// The longest text of a comment or body that GitHub takes is 65,536 characters.
const TEXT_LIMIT_CHARS: usize = 65_000;

/// Returns what is posted to `/repos/OWNER/REPO/pulls/NUMBER/reviews`, about `commit` if that is known.
pub fn github(review: &Review, commit: Option<&str>) -> Value {
    let (placed, rest): (Vec<_>, Vec<_>) =
        review.findings.iter().partition(|it| it.finding.lines.is_some());
    let (placed, over) = placed.split_at(placed.len().min(GITHUB_COMMENT_LIMIT));
    let comments: Vec<Value> = placed.iter().filter_map(|reported| comment(reported)).collect();
    let rest: Vec<&Reported> = rest.iter().chain(over).copied().collect();
    let mut payload = json!({
        "event": "COMMENT",
        "body": bounded(&markdown::body(review, &rest)),
        "comments": comments,
    });
    if let (Some(commit), Some(payload)) = (commit, payload.as_object_mut()) {
        payload.insert("commit_id".to_owned(), json!(commit));
    }
    payload
}

/// Returns the comment on a place. Several lines have a start; one line must not have any.
fn comment(reported: &Reported) -> Option<Value> {
    let Lines { first, last } = reported.finding.lines?;
    let mut comment = json!({
        "path": reported.name.exact(),
        "line": last,
        "side": "RIGHT",
        "body": bounded(&text(reported)),
    });
    if let (true, Some(comment)) = (first < last, comment.as_object_mut()) {
        comment.insert("start_line".to_owned(), json!(first));
        comment.insert("start_side".to_owned(), json!("RIGHT"));
    }
    Some(comment)
}

fn text(reported: &Reported) -> String {
    let finding = &reported.finding;
    let mut text = format!(
        "**{}**: {}\n\n{}",
        finding.severity.name(),
        inert::prose(&finding.description),
        inert::suggestion(&finding.suggestion)
    );
    if let Some(weakness) = reported.weakness {
        text.push_str(&format!("\n\n*Low quality: {weakness}.*"));
    }
    text
}

fn bounded(text: &str) -> String {
    excerpt(text, TEXT_LIMIT_CHARS, "\n\n… (cut)").into_owned()
}
