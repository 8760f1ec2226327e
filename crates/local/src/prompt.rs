//! The prompt for a small model: the contract in few words, and examples to imitate.
//!
//! Nothing helps a small model as much as examples of the very task, so those that a contract
//! brings (`x-examples`) become turns of the conversation. Without any, one made-up value shows
//! the form.

mod outline;

use airtight_core::{Contract, WorkedExample};
use serde_json::Value;

use crate::chat::{Role, Turn};
use outline::Outline;

/// How many examples are shown: more would leave a small model little room for the job.
const EXAMPLE_LIMIT: usize = 8;

/// How long the made-up value may be.
const FORM_LIMIT_BYTES: usize = 1500;

/// Returns the conversation that puts `job` to a small model.
pub fn conversation(contract: &Contract, system: Option<&str>, job: &str) -> Vec<Turn> {
    let mut turns = opening(contract.schema(), &contract.worked_examples(), system);
    turns.push(Turn { role: Role::User, text: job.to_owned() });
    turns
}

/// Returns the turns before the job: what form the answer has, and examples of it.
pub(crate) fn opening(
    schema: &Value,
    examples: &[WorkedExample],
    system: Option<&str>,
) -> Vec<Turn> {
    let system = match examples {
        [] => instructions(schema, system),
        _ => outline(schema, system),
    };
    let mut turns = vec![Turn { role: Role::System, text: system }];
    for WorkedExample { input, output } in examples.iter().take(EXAMPLE_LIMIT) {
        turns.push(Turn { role: Role::User, text: input.clone() });
        turns.push(Turn { role: Role::Assistant, text: output.to_string() });
    }
    turns
}

/// Returns standing instructions that show the form of the answer, with a made-up value.
fn instructions(schema: &Value, system: Option<&str>) -> String {
    let mut text = outline(schema, system);
    let form = Contract::compile(schema.clone()).ok().and_then(|contract| contract.example().ok());
    if let Some(form) = form.filter(|form| form.text().len() <= FORM_LIMIT_BYTES) {
        text.push_str("\nThe form, filled in with other values:\n");
        text.push_str(&form.to_compact());
    }
    text
}

/// Returns standing instructions that show the form of the answer in few words.
fn outline(schema: &Value, system: Option<&str>) -> String {
    let own = system.map(|system| format!("{system}\n\n")).unwrap_or_default();
    let form = Outline::of(schema);
    format!("{own}Answer with JSON of this form, with values from the user's text:\n{form}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn contract(schema: Value) -> Contract {
        Contract::compile(schema).unwrap()
    }

    #[test]
    fn examples_become_turns_before_the_job() {
        let contract = contract(json!({
            "type": "object",
            "properties": {"sum": {"type": "integer", "description": "the sum"}},
            "required": ["sum"],
            "x-examples": [{"input": "1 and 2", "output": {"sum": 3}}, {"output": "no input"}],
        }));
        let turns = conversation(&contract, Some("Add."), "2 and 2");
        let said: Vec<_> = turns.iter().map(|turn| (turn.role, turn.text.as_str())).collect();
        assert_eq!(
            said,
            [
                (
                    Role::System,
                    "Add.\n\nAnswer with JSON of this form, with values from the user's text:\n\
                     {\n  \"sum\": integer // the sum\n}"
                ),
                (Role::User, "1 and 2"),
                (Role::Assistant, r#"{"sum":3}"#),
                (Role::User, "2 and 2"),
            ]
        );
    }

    #[test]
    fn without_examples_a_made_up_value_shows_the_form() {
        let contract = contract(json!({
            "type": "object",
            "properties": {"open": {"type": "boolean"}},
            "required": ["open"],
        }));
        let turns = conversation(&contract, None, "is it open?");
        assert!(turns[0].text.ends_with("with other values:\n{\"open\":true}"), "{turns:?}");
    }
}
