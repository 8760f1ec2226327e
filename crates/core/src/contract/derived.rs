//! What every run makes of a contract: made when somebody first asks for it, and shared from then on.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::Value;

use super::{Contract, WorkedExample};
use crate::judge::Names;
use crate::lower::{Dialect, Lowering, Unportable, lower, lower_parameters};
use crate::stream::Plan;

/// A contract in the words of one provider, or why it cannot be put into them.
type Lowered = Result<Arc<Lowering>, Unportable>;

/// What was made of a contract so far.
#[derive(Debug, Default)]
pub(super) struct Derived {
    plan: OnceLock<Arc<Plan>>,
    /// No more than two for each dialect.
    lowered: Mutex<Vec<(Dialect, Place, Lowered)>>,
    /// Those of its own examples that conform to it.
    examples: OnceLock<Vec<WorkedExample>>,
    /// The strings that it lists.
    words: OnceLock<HashSet<String>>,
    /// The names that it gives.
    names: OnceLock<Names>,
}

/// Where a lowering is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the format of an answer.
    Format,
    /// In the parameters of a tool.
    Parameters,
}

impl Contract {
    /// Returns what streamed answers are followed by.
    pub fn plan(&self) -> Arc<Plan> {
        Arc::clone(self.derived.plan.get_or_init(|| Arc::new(Plan::compile(self))))
    }

    /// Returns those of its own examples that conform to it, as `judge` finds them.
    pub(super) fn own_examples(
        &self,
        judge: impl FnOnce() -> Vec<WorkedExample>,
    ) -> &[WorkedExample] {
        self.derived.examples.get_or_init(judge)
    }

    /// Claims that `word` is a constant or a member of an enumeration, wherever that may be.
    pub(crate) fn spells_out(&self, word: &str) -> bool {
        self.derived.words.get_or_init(|| words(self.schema())).contains(word)
    }

    /// Returns the names that it gives to members.
    pub(crate) fn names(&self) -> &Names {
        self.derived.names.get_or_init(|| Names::of(self))
    }

    /// Adapts it to `dialect`, as [`lower`] does.
    pub fn lowered(&self, dialect: Dialect) -> Result<Arc<Lowering>, Unportable> {
        self.known_or((dialect, Place::Format), || lower(self, dialect))
    }

    /// Adapts it to `dialect` as the parameters of a tool, as [`lower_parameters`] does.
    pub fn lowered_parameters(&self, dialect: Dialect) -> Result<Arc<Lowering>, Unportable> {
        self.known_or((dialect, Place::Parameters), || lower_parameters(self, dialect))
    }

    fn known_or(
        &self,
        (dialect, place): (Dialect, Place),
        make: impl FnOnce() -> Result<Lowering, Unportable>,
    ) -> Lowered {
        let known = || self.derived.lowered.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |it: &&(Dialect, Place, Lowered)| it.0 == dialect && it.1 == place;
        if let Some((.., lowered)) = known().iter().find(is_it) {
            return lowered.clone();
        }
        // Nobody waits for it: whoever needs it meanwhile makes the same.
        let made = make().map(Arc::new);
        let mut known = known();
        if !known.iter().any(|it| is_it(&it)) {
            known.push((dialect, place, made.clone()));
        }
        made
    }
}

/// Returns the strings that `schema` lists as constants or members of enumerations.
fn words(schema: &Value) -> HashSet<String> {
    let mut words = HashSet::new();
    let mut pending = vec![schema];
    while let Some(schema) = pending.pop() {
        let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        words
            .extend(listed.chain(schema.get("const")).filter_map(Value::as_str).map(str::to_owned));
        match schema {
            Value::Object(members) => pending.extend(members.values()),
            Value::Array(items) => pending.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_made_of_a_contract_is_made_once() {
        let contract = Contract::compile(json!({ "type": "array", "items": {} })).unwrap();
        assert!(Arc::ptr_eq(&contract.plan(), &contract.plan()));
        for dialect in [Dialect::Anthropic, Dialect::ClaudeCode] {
            let [one, other] = [contract.lowered(dialect), contract.lowered(dialect)];
            assert!(Arc::ptr_eq(&one.unwrap(), &other.unwrap()));
            let made = contract.lowered(dialect).unwrap();
            assert_eq!(made.schema, lower(&contract, dialect).unwrap().schema);
            let made = contract.lowered_parameters(dialect).unwrap();
            assert_eq!(made.schema, lower_parameters(&contract, dialect).unwrap().schema);
        }
        assert_eq!(contract.derived.lowered.lock().unwrap().len(), 4);
    }

    #[test]
    fn examples_are_judged_once() {
        let examples = json!([{ "input": "one", "output": 1 }, { "input": "two", "output": "2" }]);
        let schema = json!({ "type": "integer", "x-examples": examples });
        let contract = Contract::compile(schema).unwrap();
        assert_eq!(contract.worked_examples().len(), 1);
        assert_eq!(contract.own_examples(|| panic!("they were judged")).len(), 1);
    }
}
