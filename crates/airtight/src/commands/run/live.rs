//! One line on stderr that says how far a run has come, on a terminal only.

use std::time::Duration;

use airtight_agent::{Event, Observer};
use airtight_core::codec::{Delta, Usage};
use airtight_core::price::Price;
use airtight_core::run::EventKind;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often the clock on the line moves.
const TICK: Duration = Duration::from_millis(100);

/// How much of a tool's name is shown.
const NAME_CHARS: usize = 40;

/// Shows how far a run has come.
#[derive(Debug)]
pub(super) struct Live {
    bar: ProgressBar,
    price: Option<Price>,
    /// What each answer cost by itself: prices depend on how long the answer's own prompt is.
    cost_usd: f64,
    turn: u32,
    phase: Phase,
    doing: String,
    usage: Usage,
}

/// Where a turn is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Asked,
    Answered,
}

impl Live {
    /// Starts the line; indicatif hides it where stderr is no terminal.
    pub(super) fn start(price: Option<Price>) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        let usage = Usage::default();
        let live = Self {
            bar,
            price,
            cost_usd: 0.0,
            turn: 1,
            phase: Phase::Asked,
            doing: "asking".to_owned(),
            usage,
        };
        live.show();
        live
    }

    /// Takes the line away while something else is said on stderr.
    pub(super) fn aside(&self, say: impl FnOnce()) {
        self.bar.suspend(say);
    }

    fn show(&self) {
        let mut line = format!("turn {} · {}", self.turn, self.doing);
        // What a server claims is not ours to trust.
        let said = self.usage.output_tokens.unwrap_or(0);
        let tokens = self.usage.input_tokens.unwrap_or(0).saturating_add(said);
        if tokens > 0 {
            line.extend([" · ", &tokens.to_string(), " tokens"]);
        }
        if self.price.is_some() && tokens > 0 {
            line.extend([" · $", &format!("{:.4}", self.cost_usd)]);
        }
        self.bar.set_message(line);
    }

    fn does(&mut self, what: &str) {
        let shown = what.chars().filter(|character| !character.is_control()).take(NAME_CHARS);
        let shown: String = shown.collect();
        if shown != self.doing {
            self.doing = shown;
            self.show();
        }
    }
}

impl Live {
    /// Counts a turn when something follows an answer, be it results of tools or another answer.
    fn count(&mut self, event: &Event) {
        if event.parent_call_id.is_some() {
            return;
        }
        match (&event.kind, self.phase) {
            (EventKind::Said { .. }, Phase::Asked) => self.phase = Phase::Answered,
            (EventKind::Said { .. }, Phase::Answered) => self.turn += 1,
            (EventKind::Delta(_) | EventKind::Heard(_), Phase::Answered) => {
                self.turn += 1;
                self.phase = Phase::Asked;
            }
            (
                EventKind::Delta(_)
                | EventKind::Heard(_)
                | EventKind::Judged(_)
                | EventKind::Retried(_)
                | EventKind::Notified(_)
                | EventKind::Ended(_),
                _,
            ) => {}
        }
    }
}

impl Observer for Live {
    fn event(&mut self, event: &Event) {
        self.count(event);
        match &event.kind {
            EventKind::Delta(Delta::Thinking(_)) => self.does("thinking"),
            EventKind::Delta(Delta::Text(_)) => self.does("answering"),
            EventKind::Delta(Delta::CallStarted { name, .. }) => self.does(name),
            EventKind::Said { reply, .. } => {
                self.usage.add(&reply.usage);
                self.cost_usd += self.price.map_or(0.0, |price| price.cost(&reply.usage).usd());
                let names: Vec<&str> = reply.calls().map(|call| call.name.as_str()).collect();
                if !names.is_empty() {
                    self.does(&names.join(", "));
                }
                self.show();
            }
            EventKind::Heard(_) if event.parent_call_id.is_none() => {
                self.does("asking");
            }
            EventKind::Retried(_) => self.does("waiting to ask again"),
            EventKind::Judged(_) => self.does("judging"),
            EventKind::Delta(_)
            | EventKind::Heard(_)
            | EventKind::Notified(_)
            | EventKind::Ended(_) => {}
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtight_core::codec::{Reply, Wire};
    use airtight_core::run::Words;

    #[test]
    fn each_answer_is_priced_alone_and_counts_as_a_turn() {
        let price = Price::of(Wire::Anthropic, "claude-sonnet-4-5").unwrap();
        let usage =
            Usage { input_tokens: Some(150_000), output_tokens: Some(10), ..Usage::default() };
        let mut live = Live::start(Some(price));
        let reply = Reply { usage, ..Reply::default() };
        for kind in [
            EventKind::Said { reply: Box::new(reply.clone()), text: Words::Answer },
            EventKind::Delta(Delta::Text("again".to_owned())),
            EventKind::Said { reply: Box::new(reply), text: Words::Answer },
        ] {
            live.event(&Event { seq: 0, at_ms: 0, parent_call_id: None, kind });
        }
        let expected = price.cost(&usage).usd() * 2.0;
        assert_eq!(live.turn, 2);
        assert!((live.cost_usd - expected).abs() < 1e-9, "{} {expected}", live.cost_usd);
    }
}
