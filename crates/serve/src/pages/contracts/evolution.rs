//! What changes between two versions of a contract, and for whom: the report of `airtight diff`.

use airtight_core::diff::{Change, Diff, Ruling, Side, Step, diff};
use airtight_core::{Answer, Contract};
use airtight_store::ContractRow;
use maud::{Markup, html};

use super::super::badge::{Tone, badge};
use super::super::{change, text};
use super::short;

/// How much of an answer that shows a difference is shown.
const WITNESS_LIMIT: usize = 240;

/// Renders the way from the version before to the one after.
pub(super) fn panel(old: (&ContractRow, &Contract), new: (&ContractRow, &Contract)) -> Markup {
    let found = diff(old.1, new.1);
    let lines = change::change(&change::spread(&old.0.schema), &change::spread(&new.0.schema));
    html! {
        section.panel aria-labelledby="evolution" {
            header { h2 #evolution { "From " (known_as(old.0)) " to " (known_as(new.0)) } @if let Some(step) = found.step() { (badge(tone(step), step.name())) } }
            (rulings(&found))
            @if !found.changes.is_empty() {
                table.cards {
                    thead { tr { th { "Step" } th { "Old answers stay valid" } th { "Safe for consumers" } th { "Where" } th { "What changes" } } }
                    tbody { @for it in &found.changes { (row(it)) } }
                }
            }
            @if let Some(lines) = lines { div.body { details #schema-lines { summary { "The schemas, line by line" } (lines) } } }
        }
    }
}

fn known_as(row: &ContractRow) -> String {
    if row.version.is_empty() { short(&row.fingerprint) } else { text::line(&row.version, 40) }
}

fn rulings(found: &Diff) -> Markup {
    html! {
        div.body {
            @if found.step().is_none() { p { "Nothing changes." } }
            p.row { "Every old answer is still valid: " (answer(found.old_answers.answer)) }
            p.row { "Every new answer is valid for old consumers: " (answer(found.consumers.answer)) }
            @if found.unlisted > 0 { p.quiet { (found.unlisted) " more changes are not listed" } }
        }
    }
}

fn row(it: &Change) -> Markup {
    let side = if it.side == Side::Old { " (before)" } else { "" };
    let pointer = it.pointer.to_string();
    let pointer = if pointer.is_empty() { "(root)".to_owned() } else { text::line(&pointer, 120) };
    html! {
        tr {
            td { (badge(tone(it.step()), it.step().name())) }
            td data-label="Old answers" { (answer(it.old_answers.answer)) }
            td data-label="Consumers" { (answer(it.consumers.answer)) }
            td.mono data-label="Where" { (pointer) (side) }
            td.fill { (text::line(&it.sentence, 300)) (witness(&it.old_answers)) (witness(&it.consumers)) }
        }
    }
}

fn witness(ruling: &Ruling) -> Markup {
    html! {
        @if let Some(witness) = ruling.witness.as_deref() {
            @let (yes, no) = match witness.accepted_by { Side::Old => ("old", "new"), Side::New => ("new", "old") };
            div.cell-sub { "the " (yes) " one accepts " code { (text::line(&witness.value.to_compact(), WITNESS_LIMIT)) } ", the " (no) " one does not: " (text::line(&witness.violation.message, 160)) }
        }
    }
}

fn answer(answer: Answer) -> Markup {
    match answer {
        Answer::Yes => badge(Tone::Good, "yes"),
        Answer::No => badge(Tone::Bad, "no"),
        Answer::Unknown => badge(Tone::Warn, "unknown"),
    }
}

fn tone(step: Step) -> Tone {
    match step {
        Step::Patch => Tone::Good,
        Step::Minor => Tone::Warn,
        Step::Major => Tone::Bad,
    }
}
