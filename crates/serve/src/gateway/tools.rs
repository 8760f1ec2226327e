//! Tools: one that the client forces is a contract by another name.
//!
//! Many libraries get structured output by a single tool that the model must call. Its parameters are
//! the contract then, and the answer is dressed as a call. Tools that the model may choose among are
//! refused: nobody here could run them.

use std::collections::BTreeSet;

use serde_json::Value;
use serde_json::value::RawValue;

use super::asked::Form;
use crate::desk::{Demand, Schema};
use crate::problem::Problem;

/// A tool as the client describes it.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) parameters: Option<Box<RawValue>>,
}

/// Which tool the model must call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    Auto,
    None,
    Any,
    Named(String),
}

impl Choice {
    /// Reads the words that vendors have for it.
    pub(super) fn of(word: &str, name: Option<String>) -> Result<Self, Problem> {
        match (word, name) {
            ("auto", _) => Ok(Self::Auto),
            ("none", _) => Ok(Self::None),
            ("any" | "required", _) => Ok(Self::Any),
            ("tool" | "function", Some(name)) => Ok(Self::Named(name)),
            _ => {
                let message =
                    "`tool_choice` may be `auto` or `none`, demand any tool, or name a function";
                Err(Problem::request(message).at("tool_choice"))
            }
        }
    }
}

/// Claims that two schemas say the same: some libraries send theirs as a tool and as a format.
fn is_same(one: &str, other: &str) -> bool {
    let read = serde_json::from_str::<Value>;
    one == other || matches!((read(one), read(other)), (Ok(one), Ok(other)) if one == other)
}

/// Claims that the schema does not say that it is about something else than objects.
fn may_be_an_object(schema: &str) -> bool {
    let Ok(schema) = serde_json::from_str::<Value>(schema) else { return true };
    match schema.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        _ => true,
    }
}

/// Returns what the answer must satisfy and how it is dressed: by the tool that is forced, else by `format`.
pub(super) fn settle(
    format: Demand,
    tools: Vec<Tool>,
    choice: &Choice,
) -> Result<(Demand, Form), Problem> {
    let refused = |message: &str| Err(Problem::request(message).at("tools"));
    let is_single = tools.len() == 1;
    let names: BTreeSet<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    if names.len() < tools.len() {
        return refused("two tools have one name, and readers disagree about which is meant");
    }
    let forced = match choice {
        Choice::Auto | Choice::None if tools.is_empty() => None,
        Choice::Any | Choice::Named(_) if tools.is_empty() => {
            let message = "`tool_choice` forces a tool, and there are no `tools`";
            return Err(Problem::request(message).at("tool_choice"));
        }
        Choice::None => None,
        Choice::Named(name) => match tools.into_iter().find(|tool| tool.name == *name) {
            None => return refused("`tool_choice` names a tool that is not among `tools`"),
            forced => forced,
        },
        Choice::Any if is_single => tools.into_iter().next(),
        Choice::Any | Choice::Auto => {
            return refused(
                "tools that the model may choose among are not passed on: force one by `tool_choice`, \
                 and its parameters are the contract; or use a format of `json_schema`",
            );
        }
    };
    let Some(tool) = forced else { return Ok((format, Form::Text)) };
    let Some(parameters) = tool.parameters else {
        return refused("the forced tool has no parameters, so nothing is asked for");
    };
    if !may_be_an_object(parameters.get()) {
        return refused(
            "the parameters of a tool are an object: wrap what you ask for in a member",
        );
    }
    let is_other = match &format {
        Demand::Schema(format) => !is_same(&format.text, parameters.get()),
        // Parameters are an object, so both are had.
        Demand::Named | Demand::AnyObject => false,
    };
    if is_other {
        return refused("a forced tool and a format are two contracts: leave one out");
    }
    let schema = Schema { name: Some(tool.name.clone()), text: parameters.get().to_owned() };
    Ok((Demand::Schema(schema), Form::Call { name: tool.name }))
}
