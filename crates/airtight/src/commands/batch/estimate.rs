//! What a batch would cost, without a request.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use airtight_core::batch::{Estimate, Fund, Whose};
use airtight_store::{Ledger, Repeat};
use serde_json::json;

use super::inputs::{Input, Inputs, Place};
use super::plan::Plan;
use super::require_usable;
use super::texts::{Occurrence, Text, Texts};
use crate::batch::unusable;
use crate::cli::BatchArgs;
use crate::error::{Error, Outcome};
use crate::printer::{Printer, Span, Tone};

/// How many inputs that cannot be used are shown.
const SHOWN: u64 = 10;

/// How many inputs are looked up in the ledger at once.
const PAGE: usize = 500;

/// What the inputs come to.
struct Census<'p> {
    plan: &'p Plan,
    fund: Fund,
    /// Where answers are on record, if there are any.
    ledger: Option<Ledger>,
    repeat: Repeat,
    /// Inputs that were not looked up yet.
    waiting: Vec<Waiting>,
    texts: Texts,
    usable: u64,
    /// How many of them have their answer.
    answered: u64,
    /// How many failed, and are not asked again.
    failed: u64,
    bad: u64,
    all: Estimate,
}

/// An input that can be used if its key belongs to no other.
struct Waiting {
    position: u64,
    place: Place,
    key: String,
    /// Absent where no other input can have the key.
    text: Option<Text>,
    /// The length of its prompt.
    bytes: u64,
}

impl Census<'_> {
    /// Takes an input, to be looked up with others.
    fn take(&mut self, input: Input, printer: &mut Printer) {
        let prepared = self.plan.desk.prepare(&input);
        let Input { position, place, .. } = input;
        match prepared {
            Ok(prepared) => {
                let (text, bytes) = (Text::of(&prepared, self.plan), prepared.prompt.len() as u64);
                self.waiting.push(Waiting { position, place, key: prepared.key, text, bytes });
            }
            Err(why) => self.refuse(position, &place, &why, printer),
        }
    }

    /// Counts an input that cannot be used, and says why if few were before it.
    fn refuse(&mut self, position: u64, place: &Place, why: &str, printer: &mut Printer) {
        self.bad += 1;
        if self.bad <= SHOWN {
            printer.note(&[Span::plain(format!("input {position} (`{place}`): {why}"))]);
        }
    }

    /// Counts what waits: an input that has its result costs nothing, and neither does the same once more.
    async fn count(&mut self, printer: &mut Printer) -> Result<(), Error> {
        let waiting = std::mem::take(&mut self.waiting);
        let keys: Vec<String> = waiting.iter().map(|one| one.key.clone()).collect();
        let settled = self.settled(&keys, self.repeat).await?;
        let met = self.settled(&keys, Repeat::Failed).await?;
        let asked = self.asked(&waiting).await?;
        for Waiting { position, place, key, text, bytes } in waiting {
            match text.map(|text| self.texts.take(&key, &text, &asked)) {
                Some(Err(why)) => {
                    self.refuse(position, &place, &why, printer);
                    continue;
                }
                Some(Ok(Occurrence::Again)) => continue,
                Some(Ok(Occurrence::First)) | None => {}
            }
            self.usable += 1;
            if met.contains(&key) {
                self.answered += 1;
                continue;
            }
            if settled.contains(&key) {
                self.failed += 1;
                continue;
            }
            let one = self.fund.estimate(Whose::Model, bytes + self.plan.fixed_bytes());
            self.all.tokens = self.all.tokens.saturating_add(one.tokens);
            self.all.cost += one.cost;
        }
        Ok(())
    }

    /// Returns which texts the ledger has under the keys of inputs.
    async fn asked(&self, waiting: &[Waiting]) -> Result<HashMap<String, String>, Error> {
        let named = waiting.iter().filter(|one| one.text.is_some());
        let keys: Vec<String> = named.map(|one| one.key.clone()).collect();
        let Some(ledger) = &self.ledger else { return Ok(HashMap::new()) };
        let asked = ledger.asked(&keys, self.repeat).await;
        asked.map_err(|error| unusable(error, &self.plan.books.place()))
    }

    /// Returns those of `keys` that would not be asked again.
    async fn settled(&self, keys: &[String], repeat: Repeat) -> Result<HashSet<String>, Error> {
        let Some(ledger) = &self.ledger else { return Ok(HashSet::new()) };
        let settled = ledger.settled(keys, repeat).await;
        settled.map_err(|error| unusable(error, &self.plan.books.place()))
    }

    /// Returns how many inputs would be asked.
    fn to_ask(&self) -> u64 {
        self.usable.saturating_sub(self.answered).saturating_sub(self.failed)
    }

    /// Returns what is known of the inputs, if anything is.
    fn known(&self) -> String {
        let answered = (self.answered > 0).then(|| format!("{} of them answered", self.answered));
        let failed = (self.failed > 0).then(|| format!("{} failed before", self.failed));
        let is_known = answered.is_some() || failed.is_some();
        let to_ask = is_known.then(|| format!("{} to ask", self.to_ask()));
        // A comma before each of them.
        let parts = [Some(String::new()), answered, failed, to_ask];
        parts.into_iter().flatten().collect::<Vec<String>>().join(", ")
    }

    fn print(&self, args: &BatchArgs, printer: &mut Printer) -> Result<(), Error> {
        let Self { plan, usable, answered, failed, bad, all, .. } = self;
        let cost = plan.price().map(|_| all.cost);
        if args.json {
            let summary = json!({
                "batch": plan.batch,
                "inputs": usable,
                "answered": answered,
                "failed": failed,
                "to_ask": self.to_ask(),
                "unusable": bad,
                "estimated_tokens": all.tokens,
                "estimated_cost_usd": cost,
            });
            return printer.json(&summary.to_string());
        }
        let price = match cost {
            Some(cost) => format!("about ${:.2}", cost.usd()),
            None => "at a price that is not known".to_owned(),
        };
        let (known, tokens) = (self.known(), all.tokens);
        let words =
            format!("{usable} inputs{known}, {bad} unusable; about {tokens} tokens, {price}");
        printer.line(&[Span::plain(words)])?;
        if *failed > 0 && !args.quiet {
            let hint = " `--retry-failed` asks again for inputs that failed";
            printer.note(&[Span::new(Tone::Good, "hint:"), Span::plain(hint)]);
        }
        Ok(())
    }
}

/// Counts the inputs, and says what those without a result may cost.
pub(super) async fn print(
    plan: &Plan,
    inputs: Inputs,
    args: &BatchArgs,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let mut census = Census {
        plan,
        fund: plan.fund(),
        ledger: ledger(plan, printer).await,
        repeat: if args.retry_failed { Repeat::Failed } else { Repeat::Never },
        waiting: Vec::new(),
        texts: Texts::default(),
        usable: 0,
        answered: 0,
        failed: 0,
        bad: 0,
        all: Estimate::default(),
    };
    let limit = usize::try_from(args.limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    for input in inputs.take(limit) {
        census.take(input, printer);
        if census.waiting.len() >= PAGE {
            census.count(printer).await?;
        }
    }
    census.count(printer).await?;
    census.print(args, printer)?;
    require_usable(census.bad, census.usable + census.bad)
}

/// Opens the ledger to read it, if there is one: nothing is made for a question.
async fn ledger(plan: &Plan, printer: &mut Printer) -> Option<Ledger> {
    let is_empty = |file: &Path| file.metadata().is_ok_and(|there| there.len() == 0);
    if plan.books.file().is_some_and(|file| !file.exists() || is_empty(file)) {
        return None;
    }
    match plan.books.read().await {
        Ok(ledger) => Some(ledger),
        Err(error) => {
            let text = format!(" every input counts, also what is answered: {error}");
            printer.note(&[Span::new(Tone::Warning, "warning:"), Span::plain(text)]);
            None
        }
    }
}
