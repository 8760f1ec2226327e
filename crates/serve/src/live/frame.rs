//! What is sent to viewers: one event of the wire, written once however many see it.

use airtight_store::{BoundedEvent, EventBounds, RunId, RunSummary, StoredEvent, WatchEvent};
use bytes::Bytes;
use serde::Serialize;
use serde_json::json;

/// How much of a run is read at once: every viewer that is replayed something holds it in memory, and a
/// ring has 256 bodies. Longer ones are left out, and read by their number.
pub(super) const BOUNDS: EventBounds =
    EventBounds { rows: 64, body_bytes: 64 * 1024, all_bytes: 128 * 1024 };

/// How long a browser waits before it connects again, in milliseconds.
const RETRY_MS: u32 = 1_000;

/// Something that is said to viewers.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) place: Place,
    pub(super) bytes: Bytes,
}

/// Where a message belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It has this number in the ledger.
    Numbered(i64),
    /// It is news, and told to whoever is there.
    Aside,
    /// Nothing follows; the number is that of the last event.
    End(i64),
}

/// One event as it is streamed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Streamed<'e> {
    number: i64,
    at: i64,
    kind: &'e str,
    /// How long the body is that was left out.
    body_bytes: i64,
    body: Option<()>,
}

impl Message {
    /// Tells an event of a run.
    pub(super) fn event(BoundedEvent { event, left_out_bytes }: &BoundedEvent) -> Self {
        let data = match *left_out_bytes {
            Some(body_bytes) => {
                let StoredEvent { number, at, kind, .. } = event;
                json(&Streamed { number: *number, at: *at, kind, body_bytes, body: None })
            }
            None => json(event),
        };
        Self::numbered(None, event.number, &data)
    }

    /// Tells an event of the estate.
    pub(super) fn watched(event: &WatchEvent) -> Self {
        Self::numbered(Some("watch"), event.number, &json(event))
    }

    /// Tells what became of a run.
    pub(super) fn run(run: &RunSummary) -> Self {
        Self { place: Place::Aside, bytes: written(None, Some("run"), &json(run)) }
    }

    /// Tells which state a run is in.
    pub(super) fn state(run: &RunSummary) -> Self {
        let data = json(&json!({ "id": run.id, "state": run.state, "owner": run.owner }));
        Self { place: Place::Aside, bytes: written(None, Some("state"), &data) }
    }

    /// Tells that a run is over, and on record as such.
    pub(super) fn end(run: &RunSummary, last: i64) -> Self {
        let data = json(&json!({
            "id": run.id,
            "state": run.state,
            "outcome": run.outcome,
            "outputValid": run.output_valid,
            "review": run.review,
            "last": last,
        }));
        Self { place: Place::End(last), bytes: written(None, Some("end"), &data) }
    }

    /// Tells that a run is not on record any more.
    pub(super) fn gone(id: &RunId, last: i64) -> Self {
        let data = json(&json!({ "id": id, "state": "gone", "last": last }));
        Self { place: Place::End(last), bytes: written(None, Some("end"), &data) }
    }

    fn numbered(event: Option<&str>, number: i64, data: &str) -> Self {
        Self { place: Place::Numbered(number), bytes: written(Some(number), event, data) }
    }
}

/// Tells a viewer which events it missed, so that it may read them.
pub(super) fn gap(from: i64, to: i64) -> Bytes {
    written(None, Some("gap"), &json(&json!({ "from": from, "to": to })))
}

/// Tells a viewer of everything how many messages it missed; how things stand follows.
pub(super) fn lag(messages: u64) -> Bytes {
    written(None, Some("gap"), &json(&json!({ "messages": messages })))
}

/// Tells which runs are under way.
pub(super) fn snapshot(open: &[RunSummary]) -> Bytes {
    written(None, Some("snapshot"), &json(&json!({ "open": open })))
}

/// What every stream begins with.
pub(super) fn greeting() -> String {
    format!("retry: {RETRY_MS}\n\n")
}

/// Said while there is nothing to say: proxies and browsers take silence for death (S5).
pub(super) const HEARTBEAT: &[u8] = b": waiting\n\n";

fn json(value: &impl Serialize) -> String {
    // Serialising plain data to memory cannot fail.
    serde_json::to_string(value).unwrap_or_default()
}

fn written(number: Option<i64>, event: Option<&str>, data: &str) -> Bytes {
    let mut text = String::with_capacity(data.len() + 48);
    if let Some(number) = number {
        text.extend(["id: ", &number.to_string(), "\n"]);
    }
    if let Some(event) = event {
        text.extend(["event: ", event, "\n"]);
    }
    text.push_str("data: ");
    // A line end in JSON is white space between tokens; here it would end the line.
    text.push_str(&data.replace(['\r', '\n'], " "));
    text.push_str("\n\n");
    Bytes::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(body: Option<&str>, left_out_bytes: Option<i64>) -> BoundedEvent {
        let (kind, body) = ("assistant".to_owned(), body.map(str::to_owned));
        BoundedEvent { event: StoredEvent { number: 7, at: 5, kind, body }, left_out_bytes }
    }

    fn text(message: &Message) -> String {
        String::from_utf8(message.bytes.to_vec()).unwrap()
    }

    #[test]
    fn an_event_is_one_line_of_data_under_its_number() {
        let message = Message::event(&event(Some("{\n\"a\":\r\n1e400}"), None));
        assert_eq!(message.place, Place::Numbered(7));
        assert_eq!(
            text(&message),
            "id: 7\ndata: {\"number\":7,\"at\":5,\"kind\":\"assistant\",\"body\":{ \"a\":  1e400}}\n\n"
        );
    }

    #[test]
    fn a_body_that_is_too_long_is_left_out_and_says_how_long_it_is() {
        let told = text(&Message::event(&event(None, Some(65538))));
        assert_eq!(
            told,
            "id: 7\ndata: {\"number\":7,\"at\":5,\"kind\":\"assistant\",\"bodyBytes\":65538,\"body\":null}\n\n"
        );
    }
}
