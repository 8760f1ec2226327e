//! Chat Completions before the watch: what the user says last is what a chain is asked, and what its
//! sessions say is the answer. CO-106.
//!
//! The rule it protects: whoever is told that nothing was begun finds nothing begun later. Who hangs up
//! stops no chain: it is the watch's, and other processes look on.

mod follower;
mod spoken;

use airtight_core::codec::Usage;
use airtight_core::watch::Tier;
use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream::unfold;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::asked::{Asked, Delivery, Form};
use super::speech::{HEARTBEAT, HEARTBEAT_FRAME};
use super::wire::{Told, Wire, call_made};
use super::{Gateway, IGNORED, listed, note};
use crate::act::{self, REQUEST_LIMIT, Refusal};
use crate::desk::{Demand, Record, Reply};
use crate::problem::Problem;
use follower::{BUSY, Follower, UNWATCHED};

pub(super) use spoken::{Call, Said};

/// The names that are listed, one for each tier.
pub(super) const NAMES: [&str; 3] = ["watch-tier1", "watch-tier2", "watch-tier3"];

/// Returns the tier that the name of a model asks for, if it is a name of the watch: `watch`, or
/// `watch-tierN`, both also behind `airtight-`. A number that no tier has stands for the first.
pub(super) fn tier_of(model: &str) -> Option<Tier> {
    let name = model.strip_prefix("airtight-").unwrap_or(model);
    let rest = name.strip_prefix("watch")?;
    if rest.is_empty() {
        return Some(Tier::Observe);
    }
    let number = rest.strip_prefix("-tier")?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = number.parse::<i64>().ok();
    Some(number.and_then(|number| Tier::try_from(number).ok()).unwrap_or(Tier::Observe))
}

impl Gateway {
    /// Has the watch answer.
    pub(super) async fn ask_watch(
        &self,
        wire: Wire,
        tier: Tier,
        asked: Asked,
        key: Option<String>,
    ) -> Result<Response, Problem> {
        refuse(wire, &asked)?;
        let ignored = ignored(&asked, key.as_deref());
        let told = Told {
            run: self.ledger.new_id(),
            model: asked.model,
            created_at: self.ledger.now_ms().div_euclid(1000),
            form: Form::Text,
            counts: asked.counts,
        };
        let (ledger, ending) = (self.ledger.clone(), self.ending.clone());
        let prompt = asked.prompt;
        let asking = async move {
            let wish = act::look_now(&ledger, tier, Some(prompt)).await?;
            Ok((ledger, wish))
        };
        let said = match Follower::start(&self.followers, asking, ending, tier).await {
            Ok(said) => said,
            Err(Refusal::Conflict { code: "busy", .. }) => only(BUSY),
            Err(Refusal::Unwatched) => only(UNWATCHED),
            Err(refusal) => return Err(refusal.into()),
        };
        let mut response = match asked.delivery {
            Delivery::Whole => whole(&told, said).await,
            Delivery::Stream => streamed(told, said),
        };
        note(&mut response, &IGNORED, &listed(&ignored));
        Ok(response)
    }
}

/// Refuses what the watch cannot be asked.
fn refuse(wire: Wire, asked: &Asked) -> Result<(), Problem> {
    if wire != Wire::Chat {
        let message = "the watch answers `POST /v1/chat/completions` alone";
        return Err(Problem::request(message).at("model"));
    }
    if asked.form != Form::Text || asked.demand != Demand::Named {
        let parameter = if asked.form == Form::Text { "response_format" } else { "tools" };
        let message = format!("the watch answers in prose: leave `{parameter}` out");
        return Err(Problem::request(message).at(parameter));
    }
    if asked.prompt.chars().count() > REQUEST_LIMIT {
        let message = format!("the watch is asked in {REQUEST_LIMIT} characters at most");
        return Err(Problem::request(message).at("messages"));
    }
    Ok(())
}

/// Names what the request says and the watch does not heed.
fn ignored(asked: &Asked, key: Option<&str>) -> Vec<String> {
    let said = [
        ("max_tokens", asked.max_output_tokens.is_some()),
        ("temperature", asked.temperature.is_some()),
        ("Idempotency-Key", key.is_some()),
    ];
    let said = said.into_iter().filter(|(_, is_said)| *is_said).map(|(name, _)| name.to_owned());
    asked.ignored.iter().cloned().chain(said).collect()
}

/// Returns an answer of these words.
fn only(words: &str) -> mpsc::Receiver<Said> {
    let (tell, said) = mpsc::channel(1);
    // There is room for one.
    drop(tell.try_send(Said::Text(words.to_owned())));
    said
}

async fn whole(told: &Told, mut said: mpsc::Receiver<Said>) -> Response {
    let mut text = String::new();
    while let Some(said) = said.recv().await {
        match said {
            Said::Text(more) => text.push_str(&more),
            Said::Call(_) => {}
        }
    }
    let json = HeaderValue::from_static("application/json");
    let document = Wire::Chat.document(told, &reply(told, text));
    ([(CONTENT_TYPE, json)], document).into_response()
}

/// Dresses what was said as an answer; what it cost is told of the runs of its sessions.
fn reply(told: &Told, value: String) -> Reply {
    let (run, usage) = (told.run.clone(), Usage::default());
    Reply { run, value, usage, rung: None, record: Record::Stored }
}

fn streamed(told: Told, said: mpsc::Receiver<Said>) -> Response {
    let talk = Talk { told, said, phase: Phase::Silent, frames: 0, calls: 0 };
    let frames = unfold(talk, |mut talk| async move {
        let bytes = talk.next().await?;
        Some((Ok::<_, std::convert::Infallible>(bytes), talk))
    });
    let kind = HeaderValue::from_static("text/event-stream; charset=utf-8");
    let mut response = ([(CONTENT_TYPE, kind)], Body::from_stream(frames)).into_response();
    // Proxies that collect an answer before they pass it on would undo the streaming.
    note(&mut response, &HeaderName::from_static("x-accel-buffering"), "no");
    response
}

/// An answer that is sent as it is said.
struct Talk {
    told: Told,
    said: mpsc::Receiver<Said>,
    phase: Phase,
    /// How many frames were sent.
    frames: u64,
    /// How many calls were told.
    calls: usize,
}

enum Phase {
    /// Nothing was sent.
    Silent,
    /// The answer has begun.
    Speaking,
    /// Everything was sent.
    Over,
}

impl Talk {
    async fn next(&mut self) -> Option<Bytes> {
        let frames = match self.phase {
            Phase::Over => return None,
            Phase::Silent => {
                self.phase = Phase::Speaking;
                Wire::Chat.opening(&self.told)
            }
            Phase::Speaking => {
                let said = tokio::select! {
                    biased;
                    said = self.said.recv() => said,
                    () = sleep(HEARTBEAT) => return Some(Bytes::from_static(HEARTBEAT_FRAME)),
                };
                match said {
                    Some(Said::Text(text)) => Wire::Chat.piece(&self.told, &text),
                    Some(Said::Call(call)) => {
                        let frame = call_made(&self.told, self.calls, &call);
                        self.calls += 1;
                        vec![frame]
                    }
                    None => {
                        self.phase = Phase::Over;
                        Wire::Chat.closing(&self.told, &reply(&self.told, String::new()))
                    }
                }
            }
        };
        let mut text = String::new();
        for frame in frames {
            frame.write(self.frames, &mut text);
            self.frames += 1;
        }
        Some(Bytes::from(text))
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("watch" => Some(1); "the watch")]
    #[test_case("airtight-watch" => Some(1); "by its whole name")]
    #[test_case("watch-tier1" => Some(1); "the first tier")]
    #[test_case("watch-tier2" => Some(2); "the second tier")]
    #[test_case("airtight-watch-tier3" => Some(3); "the third tier")]
    #[test_case("watch-tier9" => Some(1); "no such tier")]
    #[test_case("watch-tier99999999999999999999" => Some(1); "no number that anybody counts to")]
    #[test_case("watch-tier" => None; "no number")]
    #[test_case("watch-tierx" => None; "no digits")]
    #[test_case("watchman" => None; "a contract")]
    #[test_case("my-watch-tier1" => None; "another prefix")]
    #[test_case("airtight" => None; "whoever is set")]
    fn co_106_a_name_stands_for_a_tier_of_the_watch(model: &str) -> Option<u8> {
        tier_of(model).map(Tier::number)
    }
}
