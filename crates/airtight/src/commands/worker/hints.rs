//! What to do about an error, in words that apply to a worker.
//!
//! Errors of models say what to type after `airtight run`. A worker takes the model from its job, and the address of
//! the provider from its own settings: no hint names a flag that `airtight worker` does not have.

use crate::config::Key;
use crate::error::Error;

/// The flag for the address that is missing: only a compatible server has none of its own.
const MISSING: &str = "`--base-url URL`";

/// The flag for the address in force.
const IN_FORCE: &str = "`--base-url`";

/// Returns the error with hints that can be followed where the worker runs.
pub(super) fn advise(mut error: Error) -> Error {
    let missing = format!("`{}` in `airtight.toml`", Key::CompatibleBaseUrl.name());
    for hint in &mut error.hints {
        *hint = hint.replace(MISSING, &missing).replace(IN_FORCE, "`providers.NAME.base_url`");
    }
    error
}

#[cfg(test)]
mod tests {
    use airtight_core::Advice;

    use super::*;
    use crate::advice;
    use crate::error::Outcome;

    fn advised(hint: &str) -> Vec<String> {
        advise(Error::new(Outcome::Contract, "no such place").hint(hint)).hints
    }

    #[test]
    fn an_address_is_a_setting_and_no_flag() {
        let told = "name it by `providers.openai-compatible.base_url` in `airtight.toml`, or type \
            `export X=…`";
        assert_eq!(advised("name it by `--base-url URL`, or type `export X=…`"), [told]);
        for advice in [Advice::CheckConnection, Advice::CheckAddress] {
            let hints = advised(&advice::words(&advice));
            assert!(hints.iter().all(|hint| !hint.contains("--")), "{hints:?}");
        }
    }

    #[test]
    fn other_hints_stay_as_they_are() {
        assert_eq!(advised("type `export OPENAI_API_KEY=…`"), ["type `export OPENAI_API_KEY=…`"]);
    }
}
