//! Worked examples: jobs with the answers that are right for them.
//!
//! `x-examples: [{"input": …, "output": …}]` at the root. They constrain nothing; they are shown to
//! models that imitate better than they follow. An example that breaks its own contract would teach
//! to break it, so it is found out before and never shown. Others may be added to a contract, to
//! which they do not belong: it stays what it is.

use serde_json::Value;

use super::{Contract, Diagnostic, Source};
use crate::json::Pointer;
use crate::judge::{Allowance, Strictness, judge};
use crate::verdict::{Rejected, Verdict};

/// Where a contract has its worked examples.
const EXAMPLES: &str = "x-examples";

/// How many examples count: more leave a model little room for the job, and each is judged.
const EXAMPLE_LIMIT: usize = 32;

/// A job, and the answer that is right for it.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkedExample {
    /// What was asked.
    pub input: String,
    /// What to answer.
    pub output: Value,
}

impl WorkedExample {
    /// Reads `{"input": …, "output": …}`; an input that is no text is shown as JSON.
    fn read(listed: &Value) -> Option<Self> {
        let input = listed.get("input")?;
        let input = input.as_str().map_or_else(|| input.to_string(), str::to_owned);
        Some(Self { input, output: listed.get("output")?.clone() })
    }

    fn conforms_to(&self, contract: &Contract) -> bool {
        let verdict = verdict(contract, &self.input, &self.output.to_string());
        matches!(verdict, Verdict::Accepted(_))
    }
}

/// Judges an answer as it stands, as one to this input.
fn verdict(contract: &Contract, input: &str, output: &str) -> Verdict {
    let source = Some(Source::new(input));
    let allowance = Allowance { strictness: Strictness::Strict, source, ..Allowance::default() };
    judge(contract, output, &allowance)
}

impl Contract {
    /// Returns the examples that were added, then those that the contract brings (`x-examples`) and
    /// that conform to it.
    pub fn worked_examples(&self) -> Vec<WorkedExample> {
        let own = self.own_examples(|| {
            let read = listed(self).iter().take(EXAMPLE_LIMIT).filter_map(WorkedExample::read);
            read.filter(|example| example.conforms_to(self)).collect()
        });
        self.added.iter().chain(own).cloned().collect()
    }

    /// Returns the examples that were added.
    pub fn added_examples(&self) -> &[WorkedExample] {
        &self.added
    }

    /// Adds an example, with its answer as JSON text, or says what is wrong with the answer.
    pub fn add_example(&mut self, input: String, output: &str) -> Result<(), Rejected> {
        match verdict(self, &input, output) {
            Verdict::Accepted(accepted) => {
                self.added.push(WorkedExample { input, output: accepted.value.to_value() });
                Ok(())
            }
            Verdict::Rejected(rejected) => Err(rejected),
        }
    }
}

fn listed(contract: &Contract) -> &[Value] {
    let listed = contract.schema().get(EXAMPLES).and_then(Value::as_array);
    listed.map(Vec::as_slice).unwrap_or_default()
}

/// Says which examples are not shown, and why.
pub(super) fn inspect(contract: &Contract) -> Vec<Diagnostic> {
    let Some(keyword) = contract.schema().get(EXAMPLES) else { return Vec::new() };
    let place = Pointer::root().key(EXAMPLES);
    let hint = "write `[{\"input\": \"…\", \"output\": …}]`";
    let warning = |place: Pointer, message: String| {
        Diagnostic::warning(place, "unusable_example", message).with_hint(hint)
    };
    if !keyword.is_array() {
        return vec![warning(place, format!("`{EXAMPLES}` is no array, so nothing is shown"))];
    }
    let mut findings = Vec::new();
    if listed(contract).len() > EXAMPLE_LIMIT {
        let message = format!("only the first {EXAMPLE_LIMIT} examples are shown");
        findings.push(warning(place.clone(), message));
    }
    for (index, example) in listed(contract).iter().take(EXAMPLE_LIMIT).enumerate() {
        let place = || place.index(index);
        match WorkedExample::read(example) {
            None => findings.push(warning(
                place(),
                "the example lacks `input` or `output`, so it is not shown".to_owned(),
            )),
            Some(example) if !example.conforms_to(contract) => findings.push(warning(
                place().key("output"),
                "the example breaks the contract itself, so it is not shown".to_owned(),
            )),
            Some(_) => {}
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::contract::{Options, Preflight};

    fn preflight(examples: &Value) -> Preflight {
        let schema = json!({
            "type": "object",
            "properties": {"sum": {"type": "integer"}, "quote": {"type": "string", "x-grounded": true}},
            "required": ["sum"],
            "x-examples": examples,
        });
        Preflight::of(schema, &Options::default())
    }

    #[test]
    fn examples_are_read_in_order_and_their_inputs_are_what_strings_are_grounded_in() {
        let report = preflight(&json!([
            {"input": "1 and 2", "output": {"sum": 3, "quote": "and 2"}},
            {"input": {"a": 1}, "output": {"sum": 1}},
        ]));
        assert_eq!(report.diagnostics, []);
        let examples = report.contract.unwrap().worked_examples();
        assert_eq!(
            examples,
            [
                WorkedExample {
                    input: "1 and 2".to_owned(),
                    output: json!({"sum": 3, "quote": "and 2"})
                },
                WorkedExample { input: r#"{"a":1}"#.to_owned(), output: json!({"sum": 1}) },
            ]
        );
    }

    #[test]
    fn an_example_that_breaks_its_contract_is_told_and_never_shown() {
        let report = preflight(&json!([
            {"input": "1 and 2", "output": {"sum": "three"}},
            {"output": {"sum": 3}},
            {"input": "1", "output": {"sum": 1, "quote": "2"}},
            {"input": "2", "output": {"sum": 2}},
        ]));
        let places: Vec<_> = report.diagnostics.iter().map(|it| it.pointer.to_string()).collect();
        assert_eq!(places, ["/x-examples/0/output", "/x-examples/1", "/x-examples/2/output"]);
        assert_eq!(report.contract.unwrap().worked_examples().len(), 1);
    }

    #[test]
    fn examples_that_conform_can_be_added_and_come_first() {
        let own = json!([{"input": "2", "output": {"sum": 2}}]);
        let mut contract = preflight(&own).contract.unwrap();
        let before = contract.fingerprint();
        contract.add_example("1".to_owned(), "{\"sum\": 1}\n").unwrap();
        let broken = contract.add_example("1".to_owned(), "{\"sum\": \"one\"}").unwrap_err();
        assert_eq!(broken.violations.list[0].pointer.to_string(), "/sum");
        contract.add_example("1".to_owned(), "{\"sum\": 1, \"quote\": \"2\"}").unwrap_err();
        let inputs: Vec<_> = contract.worked_examples().into_iter().map(|it| it.input).collect();
        assert_eq!(inputs, ["1", "2"]);
        assert_eq!(contract.fingerprint(), before);
    }

    #[test]
    fn examples_that_are_no_list_are_told() {
        let report = preflight(&json!("see the manual"));
        assert_eq!(report.diagnostics.len(), 1);
        assert!(report.contract.unwrap().worked_examples().is_empty());
    }
}
