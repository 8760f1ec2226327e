//! The payload of Slack's incoming webhooks, which others take too.

use serde_json::{Value, json};

use super::Notification;
use crate::excerpt;

/// The most characters of a header, and of a section, and the most sections that we send: Slack's own
/// limits are 150, 3,000 and 50 blocks, and it refuses a message that is over one of them.
const HEADER_LIMIT_CHARS: usize = 149;
const SECTION_LIMIT_CHARS: usize = 2_900;
const SECTIONS_LIMIT: usize = 20;

/// What stands at the end of a body that was cut.
const CUT: &str = "… (cut: the rest is on record)";

/// Returns the payload: a header, and the body in sections.
pub fn slack_payload(notification: &Notification) -> Value {
    let title = excerpt(&notification.title, HEADER_LIMIT_CHARS, "…");
    let mut blocks = vec![json!({
        "type": "header",
        "text": { "type": "plain_text", "text": title, "emoji": false },
    })];
    blocks.extend(
        sections(&mrkdwn(&notification.body))
            .into_iter()
            .map(|text| json!({ "type": "section", "text": { "type": "mrkdwn", "text": text } })),
    );
    json!({ "text": escaped(&title), "blocks": blocks })
}

/// Takes marks away that mean something to Slack: links, people, channels.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Writes Markdown as Slack does: bold with one star, headings as bold lines, quotations.
fn mrkdwn(body: &str) -> String {
    let lines = body.lines().map(|line| {
        let heading = line.trim_start_matches('#');
        if heading.len() < line.len() && heading.starts_with(' ') {
            return format!("*{}*", escaped(heading.trim()).replace('*', ""));
        }
        let (quote, text) = match line.strip_prefix("> ") {
            Some(text) => ("> ", text),
            None => ("", line),
        };
        format!("{quote}{}", escaped(text).replace("**", "*"))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Cuts a text into sections, at line breaks where there are any.
fn sections(text: &str) -> Vec<String> {
    let mut sections: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if sections.len() >= SECTIONS_LIMIT {
            sections.push(CUT.to_owned());
            break;
        }
        let end = rest.char_indices().nth(SECTION_LIMIT_CHARS).map_or(rest.len(), |(end, _)| end);
        let (section, behind) = rest.split_at(end);
        let broken = section.rfind('\n').filter(|_| !behind.is_empty());
        let (section, behind) = broken.map_or((section, behind), |at| rest.split_at(at));
        sections.push(section.trim_end().to_owned());
        rest = behind.trim_start();
    }
    sections.retain(|section| !section.is_empty());
    sections
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::watch::notification::NotificationCategory;

    fn notification(title: &str, body: &str) -> Notification {
        let category = NotificationCategory::DailyDigest;
        let (title, body) = (title.to_owned(), body.to_owned());
        Notification { category, cause: String::new(), title, body }
    }

    /// CO-108: Markdown becomes what Slack writes, and nobody is called by it.
    #[test]
    fn co_108_slack_gets_its_own_marks_and_calls_nobody() {
        let body = "## A & B\n\n- **x** <!channel> <https://evil|ok>\n> quoted <b>\n";
        let expected = json!({
            "text": "a &lt;!here&gt;",
            "blocks": [
                { "type": "header", "text": { "type": "plain_text", "text": "a <!here>", "emoji": false } },
                { "type": "section", "text": { "type": "mrkdwn", "text":
                    "*A &amp; B*\n\n- *x* &lt;!channel&gt; &lt;https://evil|ok&gt;\n> quoted &lt;b&gt;" } },
            ],
        });
        assert_eq!(slack_payload(&notification("a <!here>", body)), expected);
    }

    #[test]
    fn a_body_without_words_has_no_section() {
        let payload = slack_payload(&notification("t", " \n "));
        assert_eq!(payload["blocks"].as_array().unwrap().len(), 1);
    }

    proptest! {
        #[test]
        fn no_part_is_longer_than_slack_takes(
            title in "\\PC{0,200}",
            line in "[a-z<&* é]{0,100}",
            lines in 0_usize..2_000,
            joint in prop::sample::select(vec!["\n", " "]),
        ) {
            let body = vec![line; lines].join(joint);
            let payload = slack_payload(&notification(&title, &body));
            let blocks = payload["blocks"].as_array().unwrap();
            prop_assert!(blocks.len() <= 50);
            for block in blocks {
                let length = block["text"]["text"].as_str().unwrap().chars().count();
                let limit = if block["type"] == "header" { 150 } else { 3_000 };
                prop_assert!(length <= limit);
            }
        }
    }
}
