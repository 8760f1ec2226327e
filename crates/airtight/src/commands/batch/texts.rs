//! Which text each key belongs to, where a field of the inputs is the key.
//!
//! The rule it protects: who only counts or queues inputs refuses those that the batch itself would refuse. A key
//! belongs to what the ledger has under it, else to the first text among the inputs.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::desk::Prepared;
use super::plan::Plan;

/// The text of an input whose key a field says.
pub(super) struct Text {
    /// The key, as the field has it.
    named: String,
    digest: String,
}

impl Text {
    /// Returns the text of an input, unless its position is part of its key.
    pub(super) fn of(prepared: &Prepared, plan: &Plan) -> Option<Self> {
        let named = prepared.named.clone()?;
        Some(Self { named, digest: plan.digest(&prepared.prompt) })
    }
}

/// Whether the same key came with the same text before.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Occurrence {
    First,
    Again,
}

/// Which text each key belongs to.
#[derive(Default)]
pub(super) struct Texts(HashMap<String, String>);

impl Texts {
    /// Takes a text, unless its key belongs to another; `on_record` is what the ledger has.
    pub(super) fn take(
        &mut self,
        key: &str,
        text: &Text,
        on_record: &HashMap<String, String>,
    ) -> Result<Occurrence, String> {
        let Text { named, digest } = text;
        match self.0.entry(key.to_owned()) {
            Entry::Occupied(taken) if taken.get() == digest => Ok(Occurrence::Again),
            Entry::Occupied(_) => {
                Err(format!("its key `{named}` belongs to another text before it"))
            }
            Entry::Vacant(_) if on_record.get(key).is_some_and(|known| known != digest) => {
                Err(format!("its key `{named}` belongs to another text in the ledger"))
            }
            Entry::Vacant(free) => {
                free.insert(digest.clone());
                Ok(Occurrence::First)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(digest: &str) -> Text {
        Text { named: "1".to_owned(), digest: digest.to_owned() }
    }

    #[test]
    fn a_key_belongs_to_its_first_text() {
        let (mut texts, nothing) = (Texts::default(), HashMap::new());
        assert_eq!(texts.take("k", &text("a"), &nothing), Ok(Occurrence::First));
        assert_eq!(texts.take("k", &text("a"), &nothing), Ok(Occurrence::Again));
        let told = "its key `1` belongs to another text before it".to_owned();
        assert_eq!(texts.take("k", &text("b"), &nothing), Err(told));
    }

    #[test]
    fn what_is_on_record_comes_before_the_first_input() {
        let mut texts = Texts::default();
        let on_record = HashMap::from([("k".to_owned(), "b".to_owned())]);
        let told = "its key `1` belongs to another text in the ledger".to_owned();
        assert_eq!(texts.take("k", &text("a"), &on_record), Err(told));
        assert_eq!(texts.take("k", &text("b"), &on_record), Ok(Occurrence::First));
    }
}
