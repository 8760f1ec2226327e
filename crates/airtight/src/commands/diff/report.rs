//! What is known of two contracts, for people and for programs.

use airtight_core::contract::Version;
use airtight_core::diff::{Change, Declared, Grounds, Ruling, Side, Step, Witness};
use airtight_core::{Answer, excerpt};
use serde_json::{Value, json};

use super::replay::Replay;
use super::{Comparison, Party};
use crate::error::Error;
use crate::printer::{Printer, Span, Tone};

/// The version of the JSON shape; a change that breaks readers raises it.
const VERSION: u8 = 1;

/// How many characters of a witness people are shown; programs get all of it.
const WITNESS_LIMIT_CHARS: usize = 300;

/// What is known of two contracts.
pub(super) struct Report<'r> {
    pub(super) comparison: &'r Comparison<'r>,
    pub(super) is_checked: bool,
}

impl Report<'_> {
    /// Prints the report for people.
    pub(super) fn print(&self, printer: &mut Printer) -> Result<(), Error> {
        let Comparison { old, new, found, .. } = self.comparison;
        let subject = format!("{} → {}", known_as(old), known_as(new));
        printer.line(&[Span::new(Tone::Strong, subject)])?;
        if let [Some(old), Some(new)] = [old, new].map(Party::title)
            && old != new
        {
            let text =
                format!("  these contracts call themselves differently: `{old}` and `{new}`");
            printer.line(&[Span::new(Tone::Warning, text)])?;
        }
        if found.step().is_none() {
            printer.line(&[Span::plain("  nothing changes")])?;
            return self.print_replay(printer);
        }
        print_changes(&found.changes, printer)?;
        if found.unlisted > 0 {
            printer.line(&[Span::plain(format!("  … and {} more changes", found.unlisted))])?;
        }
        found.changes.iter().try_for_each(|change| print_witnesses(change, printer))?;
        print_ruling("every old answer is still valid", &found.old_answers, printer)?;
        print_ruling("every new answer is valid for old consumers", &found.consumers, printer)?;
        self.print_step(printer)?;
        self.print_replay(printer)
    }

    fn print_step(&self, printer: &mut Printer) -> Result<(), Error> {
        let Comparison { old, new, found, declared, .. } = self.comparison;
        let Some(step) = found.step() else { return Ok(()) };
        let unsure = if found.is_decided() { "" } else { ", since unknown counts as no" };
        let versions = match (old.contract.version(), new.contract.version(), declared) {
            (Some(old), Some(new), Declared::Step(_) | Declared::FromPrerelease)
                if declared.suffices_for(step) =>
            {
                format!("; {old} → {new} is enough")
            }
            (Some(old), Some(_), _) => format!("; {old} → {} would be", step.after(old)),
            (Some(old), None, _) => format!("; {old} → {}", step.after(old)),
            (None, ..) => String::new(),
        };
        let text = format!("  the version needs a {} step{unsure}{versions}", step.name());
        printer.line(&[Span::new(tone(step), text)])
    }

    fn print_replay(&self, printer: &mut Printer) -> Result<(), Error> {
        let Some(replay) = &self.comparison.replay else { return Ok(()) };
        let Replay { judged, valid, carried, lost, silent, named } = replay;
        let text = format!(
            "  {judged} answers on record: {valid} are still valid ({carried} carried forward), {lost} \
             are not, {silent} runs kept no answer"
        );
        printer.line(&[Span::plain(text)])?;
        for lost in named {
            printer.line(&[Span::plain(format!("    {}", lost.run))])?;
            for violation in &lost.violations {
                printer.line(&[Span::plain(format!("      {violation}"))])?;
            }
        }
        Ok(())
    }

    /// Returns the report as JSON; `docs/guide/evolution.md` describes its shape.
    pub(super) fn to_json(&self) -> Value {
        let Comparison { old, new, found, declared, replay } = self.comparison;
        let next = old.contract.version().zip(found.step()).map(|(old, step)| step.after(old));
        json!({
            "version": VERSION,
            "old": party(old),
            "new": party(new),
            "old_answers": ruling(&found.old_answers),
            "consumers": ruling(&found.consumers),
            "decided": found.is_decided(),
            "step": found.step(),
            "declared": declared_word(*declared),
            "sufficient": self.comparison.is_sufficient(),
            "checked": self.is_checked,
            "next_version": next.as_ref().map(Version::to_string),
            "changes": found.changes.iter().map(change).collect::<Value>(),
            "unlisted": found.unlisted,
            "replay": replay,
        })
    }
}

/// Returns the word for what two versions say.
fn declared_word(declared: Declared) -> &'static str {
    match declared {
        Declared::Nothing => "nothing",
        Declared::Missing => "missing",
        Declared::Backwards => "backwards",
        Declared::FromPrerelease => "from_prerelease",
        Declared::Step(step) => step.name(),
    }
}

fn known_as(party: &Party<'_>) -> String {
    let version = party.contract.version().map(|version| format!(" {version}"));
    let print = party.contract.fingerprint().short();
    format!("{}{} ({print})", party.source.label(), version.unwrap_or_default())
}

impl Party<'_> {
    /// Returns what the contract calls itself, whatever its file is called.
    fn title(&self) -> Option<&str> {
        let schema = self.contract.schema();
        let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
        // An identifier may end in the version, which is another matter.
        text("title").or_else(|| text("$id")?.split('@').next())
    }
}

fn party(party: &Party<'_>) -> Value {
    json!({
        "contract": party.source.label(),
        "name": party.contract.name(),
        "version": party.contract.version().map(ToString::to_string),
        "fingerprint": party.contract.fingerprint(),
    })
}

fn change(change: &Change) -> Value {
    json!({
        "kind": change.kind,
        "pointer": change.pointer,
        "side": change.side,
        "sentence": change.sentence,
        "old_answers": ruling(&change.old_answers),
        "consumers": ruling(&change.consumers),
        "step": change.step(),
    })
}

fn ruling(ruling: &Ruling) -> Value {
    json!({ "answer": ruling.answer, "witness": ruling.witness.as_deref().map(witness) })
}

fn witness(witness: &Witness) -> Value {
    json!({
        "value": witness.value.to_value(),
        "accepted_by": witness.accepted_by,
        "grounds": witness.grounds,
        "violation": {
            "pointer": witness.violation.pointer,
            "keyword": witness.violation.keyword,
            "message": witness.violation.message,
        },
    })
}

fn tone(step: Step) -> Tone {
    match step {
        Step::Patch => Tone::Good,
        Step::Minor => Tone::Warning,
        Step::Major => Tone::Bad,
    }
}

fn word(answer: Answer) -> Span {
    match answer {
        Answer::Yes => Span::new(Tone::Good, "yes"),
        Answer::No => Span::new(Tone::Bad, "no"),
        Answer::Unknown => Span::new(Tone::Warning, "unknown"),
    }
}

fn place(change: &Change) -> String {
    match change.side {
        Side::Old => format!("{} (old)", change.pointer),
        Side::New => change.pointer.to_string(),
    }
}

fn print_changes(changes: &[Change], printer: &mut Printer) -> Result<(), Error> {
    let heading = ["step", "old answers", "consumers", "where", "what"];
    let mut rows = vec![heading.map(|text| Span::new(Tone::Dim, text)).to_vec()];
    rows.extend(changes.iter().map(|change| {
        vec![
            Span::new(tone(change.step()), change.step().name()),
            word(change.old_answers.answer),
            word(change.consumers.answer),
            Span::plain(place(change)),
            Span::plain(&change.sentence),
        ]
    }));
    printer.table(2, &rows)
}

/// Shows the answers that a change parts the contracts by.
fn print_witnesses(change: &Change, printer: &mut Printer) -> Result<(), Error> {
    let rulings = [&change.old_answers, &change.consumers];
    for witness in rulings.into_iter().filter_map(|ruling| ruling.witness.as_deref()) {
        let (yes, no) = match witness.accepted_by {
            Side::Old => ("old", "new"),
            Side::New => ("new", "old"),
        };
        let source = match witness.grounds {
            Grounds::Quoting => "",
            Grounds::Silent => ", if the source text says nothing of it",
        };
        let value = witness.value.to_compact();
        let value = excerpt(&value, WITNESS_LIMIT_CHARS, "…");
        printer.line(&[Span::plain(format!("  {}: {}", place(change), change.sentence))])?;
        printer.line(&[Span::plain(format!("    only the {yes} one accepts {value}{source}"))])?;
        let violation = &witness.violation;
        let text = format!("    the {no} one says {}: {}", violation.pointer, violation.message);
        printer.line(&[Span::new(Tone::Dim, text)])?;
    }
    Ok(())
}

fn print_ruling(claim: &str, ruling: &Ruling, printer: &mut Printer) -> Result<(), Error> {
    printer.line(&[Span::plain(format!("  {claim}: ")), word(ruling.answer)])
}
