//! What the run makes of one turn of the model.

use crate::Advice;
use crate::codec::{FailureKind, ProviderFailure, Reply, Stop};
use crate::json::Document;
use crate::message::{Block, ToolCall, ToolStatus};
use crate::stream::Impossible;
use crate::verdict::Violations;

use super::answer::{CUT, Candidate, Channel, Extent, Finding, channel_of_text};
use super::attempts::Considered;
use super::batch::Batch;
use super::extraction::After;
use super::offer::Offer;
use super::words::{self, Again};
use super::{
    Attempt, Bill, CallFailure, End, Ending, EventKind, Outcome, Pressure, Run, RunError, Rung,
    State, TERMINAL_TOOL, Words,
};

impl Run {
    /// Takes the whole answer.
    pub fn answered(&mut self, mut reply: Reply) {
        self.naming.name_calls(&mut reply);
        self.claim = reply.claim;
        self.settle(Bill::of_answer(&reply), &reply);
        self.record(&reply);
        if self.is_over() {
            return self.dismiss(reply);
        }
        self.pressure = Pressure::Free;
        if reply.stop == Some(Stop::Refusal) || reply.refusal.is_some() {
            self.refused(&reply);
            return self.dismiss(reply);
        }
        let is_terminal = |name: &str| self.terminal().is_some_and(|tool| tool.name == name);
        if reply.calls().any(|call| is_terminal(&call.name)) {
            return self.take_answer(reply);
        }
        self.vetoes.clear();
        if reply.calls().next().is_some() {
            self.call_tools(reply);
        } else {
            self.take_text(reply);
        }
    }

    /// Returns the calls of the terminal tool in the reply that [`Run::answered`] is about to take,
    /// each with its position and the id that it will have.
    pub fn terminal_calls(&mut self, reply: &Reply) -> Vec<(usize, ToolCall)> {
        if self.terminal().is_none() {
            return Vec::new();
        }
        let mut named = reply.clone();
        self.naming.name_calls(&mut named);
        let calls = named.calls().cloned().enumerate();
        calls.filter(|(_, call)| call.name == TERMINAL_TOOL).collect()
    }

    /// Takes a call that failed, with what was said before it did.
    pub fn failed(&mut self, mut partial: Reply, failure: CallFailure) {
        self.naming.name_calls(&mut partial);
        self.claim = partial.claim;
        let bill = match &failure {
            CallFailure::Provider(failure) => Bill::of_failure(&partial, failure),
            CallFailure::Impossible(_) => Bill::of_answer(&partial),
        };
        self.settle(bill, &partial);
        if !partial.blocks.is_empty() {
            self.record(&partial);
        }
        self.dismiss(partial.clone());
        if self.is_over() {
            return;
        }
        match failure {
            CallFailure::Provider(failure) => self.provider_failed(&partial, &failure),
            CallFailure::Impossible(impossible) => self.cancelled(partial, &impossible),
        }
    }

    /// Tells the calls of a turn that did not come to its end that nothing was done.
    fn dismiss(&mut self, reply: Reply) {
        let terminal = self.terminal().map(|tool| tool.name.as_str());
        let mut batch = Batch::of(reply, terminal, &self.naming.ids);
        if batch.open().next().is_some() {
            batch.skip_open_after(0, words::UNFINISHED);
            self.events.push(EventKind::Heard(batch.heard()));
        }
    }

    pub(super) fn record(&mut self, reply: &Reply) {
        self.last_said = Some(raw(reply)).filter(|raw| !raw.is_empty()).or(self.last_said.take());
        let text = self.words_of(reply);
        self.events.push(EventKind::Said { reply: Box::new(reply.clone()), text });
    }

    /// Says what the text of `reply` is, from what was asked for: a turn that breaks off is never
    /// judged, and its text is the payload all the same.
    fn words_of(&self, reply: &Reply) -> Words {
        if self.offer.is_none() {
            return Words::Prose;
        }
        let Some(terminal) = self.terminal() else { return Words::Answer };
        let mut calls = reply.calls().peekable();
        let is_work = calls.peek().is_some() && calls.all(|call| call.name != terminal.name);
        if is_work { Words::Prose } else { Words::Answer }
    }

    fn refused(&mut self, reply: &Reply) {
        let words = reply.refusal.clone().unwrap_or_else(|| reply.text());
        let error = RunError::new(Outcome::Refused, "the model declined to answer");
        let is_silent = words.trim().is_empty();
        let error = if is_silent { error } else { error.quoting(&words) };
        self.attempt(Attempt {
            model: self.job.model.clone(),
            raw: words,
            ending: Ending::Refused,
            rung: self.usual_rung(),
            violations: Violations::default(),
            usage: reply.usage,
            claim: self.claim,
        });
        self.fail(error);
    }

    fn provider_failed(&mut self, partial: &Reply, failure: &ProviderFailure) {
        if failure.kind != FailureKind::Rejected || !self.find_fault(partial) {
            self.keep_partial(partial);
        }
        let outcome = Outcome::from(failure.kind);
        self.fail(RunError {
            advice: failure.advice(),
            ..RunError::new(outcome, &failure.message)
        });
    }

    /// Judges an answer that the driver has rejected, and records what is wrong with it; claims that
    /// something is. One that the contract accepts stays rejected: the driver had its reasons.
    fn find_fault(&mut self, partial: &Reply) -> bool {
        let (Some(offer), said) = (self.offer.as_ref(), raw(partial)) else { return false };
        if said.is_empty() {
            return false;
        }
        let finding = self.examiner.examine(offer, Channel::Arguments, &said, Extent::Whole);
        let Finding::Rejected { ending, violations, candidate: Candidate::Judged } = finding else {
            return false;
        };
        self.candidate = Candidate::Judged;
        self.attempt(Attempt {
            model: self.job.model.clone(),
            raw: said,
            ending,
            rung: Rung::Tool,
            violations,
            usage: partial.usage,
            claim: self.claim,
        });
        true
    }

    /// Keeps what was said before the provider failed.
    pub(super) fn keep_partial(&mut self, partial: &Reply) {
        let said = raw(partial);
        if !said.is_empty() {
            self.attempt(Attempt {
                model: self.job.model.clone(),
                raw: said,
                ending: Ending::Failed,
                rung: self.usual_rung(),
                violations: Violations::default(),
                usage: partial.usage,
                claim: self.claim,
            });
        }
    }

    /// Takes an answer that was stopped because it could not conform any more.
    fn cancelled(&mut self, partial: Reply, impossible: &Impossible) {
        let said = raw(&partial);
        self.candidate = Candidate::Judged;
        self.attempt(Attempt {
            model: self.job.model.clone(),
            raw: said.clone(),
            ending: Ending::Cancelled,
            rung: self.usual_rung(),
            violations: Violations::from(impossible.violation.clone()),
            usage: partial.usage,
            claim: self.claim,
        });
        if !self.may_ask_again() {
            return self.fail(self.exhausted());
        }
        let again = if self.terminal().is_some() { Again::Call } else { Again::Json };
        // A call that was cut off cannot go back, and a thought may lack its seal.
        let texts = partial.blocks.into_iter().filter(|block| matches!(block, Block::Text(_)));
        self.conversation.hear(texts.collect());
        self.conversation.tell(words::cancelled(&said, impossible, again));
        self.ask_again(Pressure::Free);
    }

    /// Tries the calls of the terminal tool, in order, and suppresses all others.
    fn take_answer(&mut self, reply: Reply) {
        let (extent, mut usage) = (Extent::of(reply.stop.as_ref()), reply.usage);
        let ends_in_call = matches!(reply.blocks.last(), Some(Block::Call(_)));
        let mut batch = Batch::of(reply, Some(TERMINAL_TOOL), &self.naming.ids);
        let vetoes = std::mem::take(&mut self.vetoes);
        let last = batch.open().count();
        let mut end = None;
        for (position, slot) in batch.slots_mut().enumerate() {
            if slot.call.name != TERMINAL_TOOL || end.is_some() {
                continue;
            }
            // Only the last call of a turn can be what the token limit cut.
            let is_last = position + 1 == last && ends_in_call;
            let extent = if is_last { extent } else { Extent::Whole };
            let usage = std::mem::take(&mut usage);
            let arguments = &slot.call.arguments;
            let considered = match vetoes.get(&slot.position) {
                Some(veto) => self.forbid(arguments, veto, usage),
                None => self.consider(Channel::Arguments, arguments, extent, usage),
            };
            match considered {
                Considered::Accepted(accepted) => {
                    slot.execute(words::ACCEPTED.to_owned(), ToolStatus::Done);
                    end = Some(accepted);
                }
                Considered::Rejected(feedback) => {
                    let again = words::again(Again::Call);
                    slot.execute(format!("{feedback}\n{again}"), ToolStatus::Failed);
                }
            }
        }
        let why = if end.is_some() { words::SKIPPED } else { words::SKIPPED_FOR_NOW };
        batch.skip_open_after(0, why);
        if let Some(end) = end {
            self.events.push(EventKind::Heard(batch.heard()));
            self.state = State::Over(end);
            return;
        }
        self.close(batch);
        if self.may_ask_again() {
            self.ask_again(Pressure::Free);
        } else {
            self.fail(self.exhausted());
        }
    }

    /// Lets the tools work that the model called, as far as the budget reaches.
    fn call_tools(&mut self, reply: Reply) {
        let is_cut = Extent::of(reply.stop.as_ref()) == Extent::Cut
            && matches!(reply.blocks.last(), Some(Block::Call(_)));
        let mut batch = Batch::of(reply, None, &self.naming.ids);
        if is_cut && let Some(slot) = batch.slots_mut().last() {
            // What a cut call lacks, nobody knows.
            if Document::parse(slot.call.arguments.as_str()).is_err() {
                slot.skip(words::CUT_CALL);
            }
        }
        let calls: Vec<_> = batch.open().map(|slot| slot.call.clone()).collect();
        if let Err(error) = self.repetition.note(&calls) {
            batch.skip_open_after(0, words::REPEATED);
            self.close(batch);
            return self.fail(error);
        }
        let wanted = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        let granted = self.purse.take_tool_calls(wanted);
        let after = (granted < wanted).then(|| self.purse.no_tool_calls_left());
        batch.skip_open_after(usize::try_from(granted).unwrap_or(usize::MAX), words::OVER_BUDGET);
        if batch.open().next().is_some() {
            self.state = State::Working(batch, after);
            return;
        }
        self.close(batch);
        match after {
            Some(error) => self.fail(error),
            None => self.drain(),
        }
    }

    /// Takes a turn without calls.
    fn take_text(&mut self, reply: Reply) {
        let text = reply.text();
        let extent = Extent::of(reply.stop.as_ref());
        let Some(channel) = self.offer.as_ref().map(channel_of_text) else {
            return self.take_plain(reply, text, extent);
        };
        let is_pending = !self.notices.is_empty() || !self.open_tasks.is_empty();
        if is_pending {
            // It ended its turn to wait; only a whole answer is more than a remark.
            if let Some(end) = self.accept_early(channel, &text, extent, reply.usage) {
                self.state = State::Over(end);
            } else {
                self.wait(reply);
            }
            return;
        }
        match self.consider(channel, &text, extent, reply.usage) {
            Considered::Accepted(end) => self.state = State::Over(end),
            Considered::Rejected(feedback) => {
                let again = self.offer.as_ref().and_then(Offer::again_after_text);
                let after = match again.filter(|_| self.may_ask_again()) {
                    Some(again) => {
                        self.conversation.hear(reply.blocks);
                        self.conversation.tell(format!("{feedback}\n{}", words::again(again)));
                        After::AskAgain
                    }
                    None => After::GiveUp,
                };
                self.extract_or(after, extent);
            }
        }
    }

    /// Takes the text of a run without a contract.
    fn take_plain(&mut self, reply: Reply, text: String, extent: Extent) {
        if !self.notices.is_empty() || !self.open_tasks.is_empty() {
            return self.wait(reply);
        }
        if extent == Extent::Cut {
            let error = RunError::new(Outcome::Truncated, CUT).quoting(&text);
            return self.fail(error.advise(Advice::RaiseOutputTokens));
        }
        if text.trim().is_empty() {
            let message = "the model ended its turn without a word";
            return self.fail(RunError::new(Outcome::NoAnswer, message));
        }
        self.conversation.hear(reply.blocks);
        self.state = State::Over(End::Text(text));
    }

    /// Waits for background work, or goes on with what it has said already.
    fn wait(&mut self, reply: Reply) {
        self.conversation.hear(reply.blocks);
        if self.notices.is_empty() {
            self.state = State::Idle;
        } else {
            self.drain();
        }
    }

    /// Tells the model what came of a turn's calls.
    pub(super) fn close(&mut self, batch: Batch) {
        self.events.push(EventKind::Heard(batch.heard()));
        let (blocks, results) = batch.into_turn();
        self.conversation.hear(blocks);
        self.conversation.answer(results);
    }

    /// Tells the model everything that background work has said, and lets it speak.
    pub(super) fn drain(&mut self) {
        for notification in std::mem::take(&mut self.notices) {
            self.conversation.tell(words::notification(&notification));
        }
        self.state = State::Ready;
    }
}

/// Returns what was said that is meant as an answer: arguments of the terminal tool, else text.
fn raw(reply: &Reply) -> String {
    let answer = reply.calls().filter(|call| call.name == TERMINAL_TOOL).last();
    answer.map_or_else(|| reply.text(), |call| call.arguments.clone())
}
