//! What a subagent is sent to do.

use std::sync::Arc;
use std::time::Duration;

use airtight_core::contract::Contract;
use airtight_core::message::{Enforcement, ToolSpec};
use airtight_core::nearest;
use airtight_core::run::{Budget, Job, Mode, Policy, Terminal};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{AGENT_TOOL, Subagents};
use crate::provider::Provider;

/// How often a subagent is asked again: the third rejected answer is the last.
const REASKS: u8 = 2;

const DESCRIPTION: &str = "Sends a subagent to work on a task of its own. It has its own \
    conversation and the tools you have, except this one, and sees nothing but the prompt you \
    give it. Its last answer is returned to you. With `schema`, that answer is a JSON value that \
    conforms to the schema. With `background`, the call returns at once and you are notified when \
    the subagent ends.";

/// What stands in front of the instructions for every subagent.
const PERSONA: &str = "You are a subagent: another agent sent you to do one task. Nobody can \
    answer questions. Do the task with your tools, then give the result as your last answer: \
    complete, because nothing else of your work is seen.";

/// What a subagent is sent to do.
#[derive(Debug)]
pub(super) struct Errand {
    pub(super) description: String,
    pub(super) manner: Manner,
    prompt: String,
    tools: Option<Vec<String>>,
    schema: Option<Value>,
}

/// Whether the one who sends it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    Awaited,
    Background,
}

/// The arguments on the wire.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    description: String,
    prompt: String,
    #[serde(default)]
    tools: Option<Vec<String>>,
    #[serde(default)]
    schema: Option<Value>,
    #[serde(default)]
    background: bool,
}

/// Why an errand is refused, in words for the model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ErrandError {
    #[error("the arguments are not what `agent` takes: {0}")]
    Arguments(String),
    #[error("the prompt is empty")]
    NoPrompt,
    #[error("there is no tool `{name}`; {hint}")]
    UnknownTool { name: String, hint: String },
    #[error("the schema is refused: {0}")]
    Schema(String),
}

/// Returns what the model is told of the tool.
pub(super) fn spec() -> ToolSpec {
    let text = |what: &str| json!({ "type": "string", "description": what });
    ToolSpec {
        name: AGENT_TOOL.to_owned(),
        description: DESCRIPTION.to_owned(),
        parameters: Arc::new(json!({
            "type": "object",
            "properties": {
                "description": text("The task in three to five words."),
                "prompt": text("The task, with everything that the subagent has to know."),
                "tools": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "The names of the tools it may use; all of yours if absent."
                },
                "schema": {
                    "type": "object",
                    "description": "A JSON Schema that its answer must conform to."
                },
                "background": {
                    "type": "boolean",
                    "description": "Whether to return at once and be notified later."
                }
            },
            "required": ["description", "prompt"],
            "additionalProperties": false
        })),
        enforcement: Enforcement::Hint,
    }
}

impl Errand {
    /// Reads the arguments as the model wrote them.
    pub(super) fn parse(arguments: &str) -> Result<Self, ErrandError> {
        let arguments: Arguments = serde_json::from_str(arguments)
            .map_err(|error| ErrandError::Arguments(error.to_string()))?;
        if arguments.prompt.trim().is_empty() {
            return Err(ErrandError::NoPrompt);
        }
        Ok(Self {
            description: arguments.description,
            prompt: arguments.prompt,
            tools: arguments.tools,
            schema: arguments.schema,
            manner: if arguments.background { Manner::Background } else { Manner::Awaited },
        })
    }

    /// Picks the tools asked for.
    pub(super) fn choose(&self, available: Vec<ToolSpec>) -> Result<Vec<ToolSpec>, ErrandError> {
        let Some(wanted) = &self.tools else { return Ok(available) };
        let names = || available.iter().map(|spec| spec.name.as_str());
        if let Some(name) = wanted.iter().find(|name| names().all(|known| known != *name)) {
            let hint = nearest(name, names()).map_or_else(
                || format!("there are: {}", names().collect::<Vec<_>>().join(", ")),
                |meant| format!("did you mean `{meant}`?"),
            );
            return Err(ErrandError::UnknownTool { name: name.clone(), hint });
        }
        Ok(available.into_iter().filter(|spec| wanted.contains(&spec.name)).collect())
    }

    /// Makes the job of it, within the wall time that is left to the one who sends it.
    pub(super) fn job(
        &self,
        provider: &Provider,
        subagents: &Subagents,
        tools: Vec<ToolSpec>,
        left: Option<Duration>,
    ) -> Result<Job, ErrandError> {
        let compiled = self.schema.clone().map(Contract::compile).transpose();
        let contract = compiled.map_err(|refusal| ErrandError::Schema(refusal.to_string()))?;
        let system = subagents
            .system
            .iter()
            .fold(PERSONA.to_owned(), |persona, more| format!("{persona}\n\n{more}"));
        let wall = left.map_or(subagents.wall, |left| left.min(subagents.wall));
        Ok(Job {
            terminal: if contract.is_some() { Terminal::Offered } else { Terminal::Denied },
            contract: contract.map(Arc::new),
            dialect: provider.dialect(),
            model: provider.model().to_owned(),
            mode: Mode::Tool,
            system: Some(system),
            prompt: self.prompt.clone(),
            tools,
            policy: Policy {
                reasks: REASKS,
                text: subagents.text,
                repair: subagents.repair,
                max_turns: Some(subagents.max_turns),
                max_output_tokens: subagents.max_output_tokens,
                temperature: subagents.temperature,
                // What else it may spend is in the purse that it shares.
                budget: Budget { wall: Some(wall), ..Budget::default() },
            },
            price: subagents.price,
            account: airtight_core::run::Account::default(),
            source: None,
            check: None,
            extractor: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    fn tools(names: &[&str]) -> Vec<ToolSpec> {
        names.iter().map(|name| ToolSpec { name: (*name).to_owned(), ..spec() }).collect()
    }

    #[test_case(r#"{"description":"d","prompt":"p","color":1}"# => "the arguments are not what `agent` takes: unknown field `color`, expected one of `description`, `prompt`, `tools`, `schema`, `background` at line 1 column 39")]
    #[test_case(r#"{"description":"d","prompt":" "}"# => "the prompt is empty")]
    #[test_case("" => "the arguments are not what `agent` takes: EOF while parsing a value at line 1 column 0")]
    fn wrong_arguments_are_explained(arguments: &str) -> String {
        Errand::parse(arguments).unwrap_err().to_string()
    }

    #[test]
    fn a_subagent_gets_the_tools_it_was_given_and_no_others() {
        let errand = Errand::parse(r#"{"description":"d","prompt":"p","tools":["grep"]}"#).unwrap();
        assert_eq!(errand.choose(tools(&["read_file", "grep"])).unwrap(), tools(&["grep"]));
    }

    #[test]
    fn an_unknown_tool_is_refused_with_a_suggestion() {
        let errand = Errand::parse(r#"{"description":"d","prompt":"p","tools":["gerp"]}"#).unwrap();
        let error = errand.choose(tools(&["read_file", "grep"])).unwrap_err();
        assert_eq!(error.to_string(), "there is no tool `gerp`; did you mean `grep`?");
    }
}
