//! The answer of an earlier run, told again.

use airtight_store::Run;
use serde_json::value::RawValue;

use super::shapes::{Line, RunResult};
use super::{Output, pretty};
use crate::cli::OutputFormat;
use crate::error::{Error, Outcome};
use crate::ledger::Kept;

impl Output<'_> {
    /// Tells the answer that `run` has on record; nothing was asked.
    pub(crate) fn repeat(mut self, run: &Run) -> Result<Outcome, Error> {
        let id = &run.summary.id;
        let value = match Kept::of(run) {
            Kept::Whole(value) => value,
            Kept::Missing => {
                let message = format!("run `{id}` has this key and its answer is not on record");
                return self.refuse(Error::new(Outcome::Usage, message).hint(
                    "it was stored as metadata alone, or pruned; choose another `--idempotency-key`",
                ));
            }
            Kept::Masked => {
                let message =
                    format!("run `{id}` has this key, and secrets in its answer are masked");
                let hint = "choose another `--idempotency-key`, or `--store-level full`";
                return self.refuse(Error::new(Outcome::Usage, message).hint(hint));
            }
        };
        let result = self.repetition(run, value);
        self.tell(&Line::Result(Box::new(result)));
        self.conclude()?;
        if let (OutputFormat::Text, Some(printer)) = (self.manner.format, &mut self.printer) {
            printer.answer(value, pretty)?;
        }
        Ok(Outcome::Met)
    }

    fn repetition(&self, run: &Run, value: &str) -> RunResult {
        let raw_value = || RawValue::from_string(value.to_owned()).ok();
        let nothing = Error::new(Outcome::Met, "");
        RunResult {
            subtype: "success",
            run_id: Some(run.summary.id.to_string()),
            repeated: true,
            is_error: false,
            result: Some(value.to_owned()),
            structured_output: raw_value(),
            structured_result: raw_value(),
            error: None,
            ..self.refusal(&nothing)
        }
    }
}
