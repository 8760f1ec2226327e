//! `airtight runs accept` and `airtight runs reject`: what a person says of a run.

use airtight_core::judge::best_candidate;
use airtight_core::{Contract, Verdict};
use airtight_store::{NewDecision, Run, RunState};

use super::Asked;
use super::editor::{self, Edited};
use super::rejudge::{contract_of, judge_found, judge_value};
use crate::cli::{AcceptArgs, DecisionArgs, RejectArgs};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::explain;
use crate::file::{self, FileError};
use crate::input::{ANSWER_LIMIT_BYTES, Input};
use crate::output::pretty;
use crate::printer::{Printer, Span, Tone};

/// Accepts a value for a run.
pub(super) async fn accept(
    args: &AcceptArgs,
    asked: &Asked,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let run = over(asked.ledger.run(&args.id).await.map_err(asked.failed())?, asked)?;
    let (contract, _) = contract_of(&run, asked).await?;
    let bench = Bench { run: &run, contract: &contract, asked };
    let value = match (&args.value, args.edit) {
        (Some(typed), _) => bench.require(&typed_value(typed, environment)?)?,
        (None, true) => match bench.edit(environment, printer)? {
            Some(value) => value,
            None => return Err(aborted(&run, asked)),
        },
        (None, false) => bench.found()?,
    };
    let who = who(&args.decision, environment);
    let decision = NewDecision::Accept { value: value.clone() };
    let why = args.decision.why.as_deref();
    let id = run.summary.id.as_str();
    asked.ledger.decide(id, decision, &who, why).await.map_err(asked.failed())?;
    printer.answer(&value, pretty)?;
    printer.flush()?;
    let text = format!(" run `{id}`, by {who}");
    printer.note(&[Span::new(Tone::Good, "accepted:"), Span::plain(text)]);
    Ok(Outcome::Met)
}

/// Rejects whatever a run has.
pub(super) async fn reject(
    args: &RejectArgs,
    asked: &Asked,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let run = over(asked.ledger.run(&args.id).await.map_err(asked.failed())?, asked)?;
    let who = who(&args.decision, environment);
    let (id, why) = (run.summary.id.as_str(), args.decision.why.as_deref());
    asked.ledger.decide(id, NewDecision::Reject, &who, why).await.map_err(asked.failed())?;
    let text = format!(" run `{id}`, by {who}");
    printer.note(&[Span::new(Tone::Good, "rejected:"), Span::plain(text)]);
    Ok(Outcome::Met)
}

/// Refuses a run that is not over.
fn over(run: Run, asked: &Asked) -> Result<Run, Error> {
    if run.summary.state == RunState::Done {
        return Ok(run);
    }
    let id = &run.summary.id;
    let command = asked.books.command(&format!("runs resume {id}"));
    Err(Error::new(Outcome::Input, format!("run `{id}` is not over"))
        .hint(format!("do it again: `{command}`")))
}

/// What is decided about.
struct Bench<'r> {
    run: &'r Run,
    contract: &'r Contract,
    /// Where the run is on record.
    asked: &'r Asked,
}

impl Bench<'_> {
    /// Returns `text` as compact JSON if it satisfies the contract as it stands.
    fn judged(&self, text: &[u8]) -> Result<String, Vec<String>> {
        match judge_value(self.contract, self.run, text) {
            Verdict::Accepted(accepted) => Ok(accepted.value.to_compact()),
            Verdict::Rejected(rejected) => Err(explain::reasons(&rejected)),
        }
    }

    fn require(&self, text: &[u8]) -> Result<String, Error> {
        self.judged(text).map_err(unfit)
    }

    /// Returns what the contract finds in what the model said, or what is on record as the value.
    fn found(&self) -> Result<String, Error> {
        match judge_found(self.contract, self.run) {
            Verdict::Accepted(accepted) => Ok(accepted.value.to_compact()),
            Verdict::Rejected(rejected) if self.run.parsed_output.is_some() => {
                Err(unfit(explain::reasons(&rejected)))
            }
            Verdict::Rejected(rejected) => {
                let message = "nothing that the model said satisfies the contract";
                let command = edit_command(self.run, self.asked);
                Err(Error::new(Outcome::Rejected, message)
                    .with_findings(explain::reasons(&rejected))
                    .hint(format!("mend it by hand: `{command}`")))
            }
        }
    }

    /// Has the value edited until it satisfies the contract; nothing if the person gives up.
    fn edit(
        &self,
        environment: &Environment,
        printer: &mut Printer,
    ) -> Result<Option<String>, Error> {
        let mut text = self.draft();
        for tries in 1.. {
            let edited = match editor::edit(&text, environment)? {
                Edited::Changed(edited) => edited,
                Edited::Same => text.clone(),
            };
            match self.judged(&edited) {
                Ok(value) => return Ok(Some(value)),
                Err(violations) => {
                    let head = " the value does not satisfy the contract";
                    printer.note(&[Span::new(Tone::Bad, "rejected:"), Span::plain(head)]);
                    for violation in &violations {
                        printer.note(&[Span::plain(format!("  {violation}"))]);
                    }
                }
            }
            // Who saves the same again has nothing more to say.
            if edited == text || !editor::asks_again(tries)? {
                break;
            }
            text = edited;
        }
        Ok(None)
    }

    /// Returns what an editor begins with: the value on record, else what looks most like an answer in what
    /// the model said, else all of that.
    fn draft(&self) -> Vec<u8> {
        let said = self.run.output.as_deref();
        let likely = || said.and_then(|said| best_candidate(self.contract, said));
        let found = self.found().ok().or_else(|| likely().map(|value| value.to_compact()));
        let spread = |value: String| format!("{}\n", pretty(&value)).into_bytes();
        found.map(spread).or_else(|| said.map(<[u8]>::to_vec)).unwrap_or_else(|| b"{}\n".to_vec())
    }
}

fn unfit(violations: Vec<String>) -> Error {
    Error::new(Outcome::Rejected, "the value does not satisfy the contract of the run")
        .with_findings(violations)
}

fn typed_value(typed: &str, environment: &Environment) -> Result<Vec<u8>, Error> {
    let unreadable = |error: FileError| {
        Error::new(Outcome::Input, format!("cannot read the value: `{typed}`")).caused_by(error)
    };
    match typed.strip_prefix('@') {
        Some(path) => {
            file::read(&environment.resolve(path), ANSWER_LIMIT_BYTES).map_err(unreadable)
        }
        None if typed == "-" => Input::Stdin.read(),
        None => Ok(typed.as_bytes().to_vec()),
    }
}

/// Returns who decides: whoever is named, else the user and the machine.
fn who(args: &DecisionArgs, environment: &Environment) -> String {
    if let Some(named) = args.by.as_deref().filter(|name| !name.trim().is_empty()) {
        return named.to_owned();
    }
    let variables = ["USER", "LOGNAME"];
    let user = variables.iter().find_map(|name| environment.variable(name)).unwrap_or("somebody");
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match host.trim() {
        "" => user.to_owned(),
        host => format!("{user}@{host}"),
    }
}

fn aborted(run: &Run, asked: &Asked) -> Error {
    let id = &run.summary.id;
    Error::new(Outcome::Rejected, format!("nothing was accepted for run `{id}`"))
        .hint(format!("try again: `{}`", edit_command(run, asked)))
}

fn edit_command(run: &Run, asked: &Asked) -> String {
    asked.books.command(&format!("runs accept {} --edit", run.summary.id))
}
