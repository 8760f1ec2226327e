//! What everybody is asked.

use std::error::Error;
use std::sync::Arc;

use airtight_core::{Contract, Dialect, lower};
use airtight_local::{Role, Turn, conversation};
use serde::Deserialize;
use serde_json::{Value, json};

const CONTRACTS: &str = include_str!("../../../../fixtures/local/contracts.json");

#[derive(Deserialize)]
struct Task {
    name: String,
    schema: Value,
    prompts: Vec<String>,
}

/// A question, and what its answer is held to.
pub(crate) struct Asked {
    name: String,
    schema: Value,
    pub(crate) lowered: Arc<Value>,
    pub(crate) turns: Vec<Turn>,
}

/// Returns the first prompts of every contract.
pub(crate) fn all(prompts: usize) -> Result<Vec<Asked>, Box<dyn Error>> {
    let tasks: Vec<Task> = serde_json::from_str(CONTRACTS)?;
    let mut asked = Vec::new();
    for task in tasks {
        let contract = Contract::compile(task.schema.clone())?;
        for prompt in task.prompts.iter().take(prompts) {
            asked.push(Asked {
                name: task.name.clone(),
                schema: task.schema.clone(),
                lowered: lower(&contract, Dialect::Llguidance)?.schema,
                turns: conversation(&contract, None, prompt),
            });
        }
    }
    Ok(asked)
}

impl Asked {
    /// Returns the question as others take it.
    pub(crate) fn described(&self) -> Value {
        let message = |turn: &Turn| json!({"role": name(turn.role), "content": turn.text});
        let messages: Vec<Value> = self.turns.iter().map(message).collect();
        json!({"contract": self.name, "schema": self.schema, "messages": messages})
    }
}

/// Returns the name of a role in chat templates.
pub(crate) fn name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}
