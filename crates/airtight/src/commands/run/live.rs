//! One line on stderr that says how far a run has come, on a terminal only.

use std::time::Duration;

use airtight_agent::{Event, Observer};
use airtight_core::codec::{Delta, Usage};
use airtight_core::price::{Cost, Price};
use airtight_core::run::{Bill, Ending, EventKind, Rung};
use airtight_core::transcript;
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
    /// What each request cost by itself: prices depend on how long a request is. Absent once one of
    /// them has no count, or no price.
    cost: Option<Cost>,
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
    /// An answer was accepted: nothing is asked any more.
    Over,
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
            cost: price.map(|_| Cost::default()),
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
        let tokens = self.usage.total();
        if tokens > 0 {
            line.extend([" · ", &tokens.to_string(), " tokens"]);
        }
        if let Some(cost) = self.cost.filter(|_| tokens > 0) {
            line.extend([" · $", &format!("{:.4}", cost.usd())]);
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
    /// Adds what a request used.
    fn charge(&mut self, bill: Bill) {
        self.usage.add(&bill.usage());
        self.cost = match (bill, self.cost, self.price) {
            (Bill::Free, cost, _) => cost,
            (Bill::Exact(usage), Some(mut cost), Some(price)) => {
                cost += price.cost(&usage);
                Some(cost)
            }
            (Bill::Exact(_) | Bill::AtLeast(_), _, _) => None,
        };
        self.show();
    }

    /// Shows what an agent CLI does by itself.
    fn witness(&mut self, event: &transcript::Event) {
        let names: Vec<&str> = event.tool_calls().collect();
        match event {
            transcript::Event::Assistant(_) if !names.is_empty() => self.does(&names.join(", ")),
            transcript::Event::Assistant(_) => self.does("speaking"),
            transcript::Event::System(transcript::System::Retry(_)) => {
                self.does("waiting to ask again");
            }
            transcript::Event::System(_)
            | transcript::Event::User(_)
            | transcript::Event::StreamEvent(_)
            | transcript::Event::Result(_)
            | transcript::Event::Raw(_) => {}
        }
    }

    /// Counts a turn when something follows an answer, be it results of tools or another answer.
    fn count(&mut self, event: &Event) {
        if event.parent_call_id.is_some() {
            return;
        }
        match (&event.kind, self.phase) {
            (EventKind::Judged(attempt), _) if attempt.ending == Ending::Accepted => {
                self.phase = Phase::Over;
            }
            (EventKind::Said { .. }, Phase::Asked) => self.phase = Phase::Answered,
            (EventKind::Said { .. }, Phase::Answered) => self.turn += 1,
            (EventKind::Delta(_) | EventKind::Heard(_), Phase::Answered) => {
                self.turn += 1;
                self.phase = Phase::Asked;
            }
            (
                EventKind::Began(_)
                | EventKind::Delta(_)
                | EventKind::Said { .. }
                | EventKind::Heard(_)
                | EventKind::Judged(_)
                | EventKind::Extracting { .. }
                | EventKind::Retried(_)
                | EventKind::Witnessed(_)
                | EventKind::Recorded(_)
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
                self.charge(Bill::of_answer(reply));
                let names: Vec<&str> = reply.calls().map(|call| call.name.as_str()).collect();
                if !names.is_empty() {
                    self.does(&names.join(", "));
                }
            }
            EventKind::Heard(_) if event.parent_call_id.is_none() && self.phase != Phase::Over => {
                self.does("asking");
            }
            EventKind::Retried(retry) => {
                self.charge(retry.bill);
                self.does("waiting to ask again");
            }
            EventKind::Judged(attempt) => {
                if attempt.rung == Rung::Extract {
                    // It has a price of its own.
                    self.usage.add(&attempt.usage);
                    self.cost = None;
                }
                self.does("judging");
            }
            EventKind::Extracting { .. } => self.does("extracting"),
            EventKind::Witnessed(event) => self.witness(event),
            EventKind::Began(_)
            | EventKind::Delta(_)
            | EventKind::Heard(_)
            | EventKind::Recorded(_)
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
    use airtight_core::Violations;
    use airtight_core::codec::{FailureKind, ProviderFailure, Reply, Stop, Wire};
    use airtight_core::run::{Attempt, Claim, Retry, Words};

    #[test]
    fn each_answer_is_priced_alone_and_counts_as_a_turn() {
        let price = Price::of(Wire::Anthropic, "claude-sonnet-4-5").unwrap();
        let usage =
            Usage { input_tokens: Some(150_000), output_tokens: Some(10), ..Usage::default() };
        let mut live = Live::start(Some(price));
        let reply = Reply { usage, stop: Some(Stop::EndTurn), ..Reply::default() };
        for kind in [
            EventKind::Said { reply: Box::new(reply.clone()), text: Words::Answer },
            EventKind::Delta(Delta::Text("again".to_owned())),
            EventKind::Said { reply: Box::new(reply), text: Words::Answer },
        ] {
            live.event(&Event { seq: 0, at_ms: 0, parent_call_id: None, kind });
        }
        assert_eq!(live.turn, 2);
        assert_eq!(live.cost, Some([price.cost(&usage); 2].into_iter().sum()));
    }

    #[test]
    fn nothing_is_asked_once_an_answer_is_accepted() {
        let mut live = Live::start(None);
        let accepted = Attempt {
            model: String::new(),
            raw: String::new(),
            ending: Ending::Accepted,
            rung: Rung::Tool,
            violations: Violations::default(),
            usage: Usage::default(),
            claim: Claim::None,
        };
        for kind in [
            EventKind::Said { reply: Box::default(), text: Words::Answer },
            EventKind::Judged(Box::new(accepted)),
            EventKind::Heard(Vec::new()),
        ] {
            live.event(&Event { seq: 0, at_ms: 0, parent_call_id: None, kind });
        }
        assert_eq!((live.turn, live.doing.as_str()), (1, "judging"));
    }

    fn retried(bill: Bill) -> Event {
        let failure = ProviderFailure {
            kind: FailureKind::Overload,
            status: None,
            code: None,
            message: String::new(),
            retry_after: None,
        };
        let kind = EventKind::Retried(Retry { failure, pause: Duration::ZERO, bill });
        Event { seq: 0, at_ms: 0, parent_call_id: None, kind }
    }

    #[test]
    fn retried_requests_are_counted_and_what_nobody_counted_has_no_cost() {
        let price = Price::of(Wire::Anthropic, "claude-sonnet-4-5").unwrap();
        let usage = Usage { input_tokens: Some(7), output_tokens: Some(3), ..Usage::default() };
        let mut live = Live::start(Some(price));
        live.event(&retried(Bill::Free));
        live.event(&retried(Bill::Exact(usage)));
        assert_eq!((live.usage, live.cost), (usage, Some(price.cost(&usage))));
        live.event(&retried(Bill::AtLeast(usage)));
        assert_eq!((live.usage.total(), live.cost), (20, None));
    }
}
