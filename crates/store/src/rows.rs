//! How values become columns, and rows become values again.

use std::borrow::Cow;

use airtight_core::codec::Usage;
use airtight_core::price::Cost;
use sqlx::any::AnyRow;
use sqlx::{Any, Decode, Row as _, Type};

use crate::error::StoreError;
use crate::form::{Packed, unpack};
use crate::owner::Owner;
use crate::retention::{Level, Sieve};
use crate::run::{Review, Run, RunId, RunState, RunSummary};

/// The most bytes of one text: both databases take a gigabyte, and base64 adds a third.
pub(crate) const TEXT_LIMIT: usize = 512 << 20;

/// The columns of a [`RunSummary`], in its order.
pub(crate) const SUMMARY: &str = "seq, id, parent, job_key, fingerprint, contract, \
     contract_version, driver, provider, model, mode, state, owner, outcome, rung, valid, review, \
     attempts, early_cancels, tokens_saved, input_tokens, output_tokens, cache_read_tokens, \
     cache_write_tokens, reasoning_tokens, cost_nano, started_at, ended_at, elapsed_ms, batch, \
     place, level, expires_at";

/// The columns of a [`Run`] behind its summary.
pub(crate) const TEXTS: &str = "prompt, system, input, questions.coded AS question_coded, \
     output, parsed, errors, edits, losses, unchecked, answers.coded AS answer_coded";

/// Where both are found.
pub(crate) const WHOLE: &str = "runs LEFT JOIN questions ON questions.run = runs.seq \
     LEFT JOIN answers ON answers.run = runs.seq";

/// Takes the columns of a row one after the other.
pub(crate) struct Columns<'r> {
    row: &'r AnyRow,
    next: usize,
}

impl<'r> Columns<'r> {
    pub(crate) fn of(row: &'r AnyRow) -> Self {
        Self { row, next: 0 }
    }

    pub(crate) fn take<T: Decode<'r, Any> + Type<Any>>(&mut self) -> Result<T, StoreError> {
        let index = self.next;
        self.next += 1;
        self.row.try_get(index).map_err(|_| StoreError::Damaged { what: "a row" })
    }

    pub(crate) fn usage(&mut self) -> Result<Usage, StoreError> {
        let mut tokens = || Ok(self.take::<Option<i64>>()?.map(i64::unsigned_abs));
        Ok(Usage {
            input_tokens: tokens()?,
            output_tokens: tokens()?,
            cache_read_input_tokens: tokens()?,
            cache_creation_input_tokens: tokens()?,
            reasoning_tokens: tokens()?,
        })
    }

    pub(crate) fn cost(&mut self) -> Result<Option<Cost>, StoreError> {
        Ok(self.take::<Option<i64>>()?.and_then(cost))
    }

    /// Takes a [`RunSummary`] whose process may be gone: callers find out.
    pub(crate) fn summary(&mut self) -> Result<(RunSummary, String), StoreError> {
        let number = self.take()?;
        let id: String = self.take()?;
        let parent: Option<String> = self.take()?;
        let key = self.take()?;
        let (fingerprint, contract, contract_version) = (self.take()?, self.take()?, self.take()?);
        let (driver, provider) = (self.take()?, self.take()?);
        let (model, mode) = (self.take()?, self.take()?);
        let state: String = self.take()?;
        let owner: String = self.take()?;
        let (outcome, rung) = (self.take()?, self.take()?);
        let output_valid = self.take::<i64>()? != 0;
        let review = Review::named(&self.take::<String>()?);
        let state = match state.as_str() {
            "done" => RunState::Done,
            "postponed" => RunState::Postponed,
            "open" => RunState::Open,
            _ => RunState::Unknown,
        };
        let shown = (state == RunState::Open).then(|| Owner::shown(&owner));
        let summary = RunSummary {
            number,
            id: RunId::from(id),
            parent: parent.map(RunId::from),
            key,
            fingerprint,
            contract,
            contract_version,
            driver,
            provider,
            model,
            mode,
            state,
            outcome,
            rung,
            output_valid,
            review,
            attempts: self.take()?,
            early_cancels: self.take()?,
            tokens_saved: self.take()?,
            usage: self.usage()?,
            cost_usd: self.cost()?,
            started_at: self.take()?,
            ended_at: self.take()?,
            elapsed_ms: self.take()?,
            batch: self.take()?,
            position: self.take()?,
            store: Level::named(&self.take::<String>()?),
            expires_at: self.take()?,
            owner: shown,
        };
        Ok((summary, owner))
    }

    /// Takes a [`Run`]: its summary, then its texts.
    pub(crate) fn run(&mut self) -> Result<(Run, String), StoreError> {
        let (summary, owner) = self.summary()?;
        let [prompt, system, input] = [self.take()?, self.take()?, self.take()?];
        let coded: Option<String> = self.take()?;
        let question = |name, text| unpack(name, text, coded.as_deref().unwrap_or_default());
        let (prompt, system) = (question("prompt", prompt)?, question("system", system)?);
        let input = question("input", input)?;
        let [output, parsed, errors] = [self.take()?, self.take()?, self.take()?];
        let [edits, losses, unchecked] = [self.take()?, self.take()?, self.take()?];
        let coded: Option<String> = self.take()?;
        let answer = |name, text| unpack(name, text, coded.as_deref().unwrap_or_default());
        let run = Run {
            summary,
            prompt: prompt.map(text).transpose()?,
            system: system.map(text).transpose()?,
            input,
            output: answer("output", output)?,
            parsed_output: answer("parsed", parsed)?.map(text).transpose()?,
            output_errors: answer("errors", errors)?.map(text).transpose()?,
            edits: answer("edits", edits)?.map(text).transpose()?,
            losses: answer("losses", losses)?.map(text).transpose()?,
            unchecked: answer("unchecked", unchecked)?.map(text).transpose()?,
        };
        Ok((run, owner))
    }
}

/// Returns bytes that went in as text.
pub(crate) fn text(bytes: Vec<u8>) -> Result<String, StoreError> {
    String::from_utf8(bytes).map_err(|_| StoreError::Damaged { what: "a text" })
}

/// The columns of a [`Usage`], in its order.
pub(crate) fn usage(usage: &Usage) -> [Option<i64>; 5] {
    [
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_input_tokens,
        usage.cache_creation_input_tokens,
        usage.reasoning_tokens,
    ]
    .map(|tokens| tokens.map(|tokens| i64::try_from(tokens).unwrap_or(i64::MAX)))
}

/// Returns an amount in billionths of a dollar: sums of whole numbers are exact in any database.
pub(crate) fn nano(cost: Cost) -> i64 {
    format!("{:.9}", cost.usd()).replace('.', "").parse().unwrap_or(i64::MAX)
}

/// Returns the amount of so many billionths of a dollar.
pub(crate) fn cost(nano: i64) -> Option<Cost> {
    let nano = nano.max(0);
    let dollars = format!("{}.{:09}", nano / 1_000_000_000, nano % 1_000_000_000);
    dollars.parse().ok().and_then(Cost::from_usd)
}

/// Packs the texts of one row as far as its level lets them be stored.
pub(crate) struct Packer<'s> {
    pub(crate) sieve: Sieve<'s>,
    pub(crate) packed: Packed,
}

impl<'s> Packer<'s> {
    pub(crate) fn new(sieve: Sieve<'s>) -> Self {
        Self { sieve, packed: Packed::default() }
    }

    /// Returns the column `name` for what was said.
    pub(crate) fn bytes(
        &mut self,
        name: &'static str,
        bytes: Option<&[u8]>,
    ) -> Result<Option<String>, StoreError> {
        let Some(bytes) = bytes else { return Ok(None) };
        limited(name, bytes.len())?;
        let kept = self.sieve.bytes(bytes);
        Ok(self.packed.column(name, kept))
    }

    /// Returns the column `name` for JSON text.
    pub(crate) fn json(
        &mut self,
        name: &'static str,
        text: Option<&str>,
    ) -> Result<Option<String>, StoreError> {
        let Some(text) = text else { return Ok(None) };
        limited(name, text.len())?;
        let kept = self.sieve.json(text).map(|text| Cow::Owned(text.into_bytes()));
        Ok(self.packed.column(name, kept))
    }

    /// Returns the column `name` for an error text, which is masked at every level.
    pub(crate) fn error(
        &mut self,
        name: &'static str,
        text: Option<&str>,
    ) -> Result<Option<String>, StoreError> {
        let Some(text) = text else { return Ok(None) };
        limited(name, text.len())?;
        let kept = self.sieve.redactor.mask(text).into_owned().into_bytes();
        Ok(self.packed.column(name, Some(Cow::Owned(kept))))
    }
}

fn limited(what: &'static str, size: usize) -> Result<(), StoreError> {
    if size > TEXT_LIMIT {
        return Err(StoreError::TooLarge { what, size, limit: TEXT_LIMIT });
    }
    Ok(())
}

/// Checks names, which stand in TEXT as they are.
pub(crate) fn names(names: &[(&'static str, &str)]) -> Result<(), StoreError> {
    /// Names are keys: PostgreSQL indexes 2,704 bytes in all, and a tally has six names.
    const NAME_LIMIT: usize = 400;

    for (what, name) in names {
        if name.contains('\0') {
            return Err(StoreError::Nul { what });
        }
        if name.len() > NAME_LIMIT {
            return Err(StoreError::TooLarge { what, size: name.len(), limit: NAME_LIMIT });
        }
    }
    Ok(())
}

/// Returns `($1, $2), ($3, $4)` for so many rows of so many columns.
pub(crate) fn placeholders(rows: usize, columns: usize) -> String {
    let mut text = String::new();
    for row in 0..rows {
        text.push_str(if row == 0 { "(" } else { ", (" });
        for column in 0..columns {
            let comma = if column == 0 { "$" } else { ", $" };
            text.push_str(comma);
            text.push_str(&(row * columns + column + 1).to_string());
        }
        text.push(')');
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn placeholders_are_numbered_through() {
        assert_eq!(placeholders(2, 2), "($1, $2), ($3, $4)");
        assert_eq!(placeholders(1, 3), "($1, $2, $3)");
    }

    proptest! {
        #[test]
        fn money_comes_back_to_the_billionth(amount in 0i64..4_000_000_000_000_000) {
            prop_assert_eq!(nano(cost(amount).unwrap()), amount);
        }
    }

    #[test]
    fn names_are_checked() {
        assert!(matches!(names(&[("model", "a\0b")]), Err(StoreError::Nul { what: "model" })));
        assert!(matches!(names(&[("key", &"k".repeat(5000))]), Err(StoreError::TooLarge { .. })));
        names(&[("model", "claude"), ("key", "'; DROP TABLE runs; --")]).unwrap();
    }
}
