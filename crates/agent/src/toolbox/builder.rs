//! How a toolbox is filled.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use airtight_core::Contract;
use airtight_core::contract::{Options, Preflight, Scrutiny};
use serde_json::Value;

use super::denial::Denials;
use super::{Entry, Tool, Toolbox, name};
use crate::permission::Permissions;

/// Something worth saying about a toolbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A tool of this name is there already; the later one was left out.
    Duplicate(String),
    /// This rule names no tool; most likely it is misspelt.
    UnmatchedRule(String),
}

/// A toolbox that is being filled.
#[derive(Debug, Default)]
pub struct ToolboxBuilder {
    permissions: Arc<Permissions>,
    ours: Vec<(String, Arc<dyn Tool>)>,
    theirs: Vec<(String, Arc<dyn Tool>)>,
}

impl ToolboxBuilder {
    /// Says who may call what.
    #[must_use]
    pub fn permissions(mut self, permissions: Arc<Permissions>) -> Self {
        self.permissions = permissions;
        self
    }

    /// Adds one of our own tools.
    #[must_use]
    pub fn tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.ours.push((name::local(&tool.spec().name), tool));
        self
    }

    /// Adds several of our own tools.
    #[must_use]
    pub fn tools(self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        tools.into_iter().fold(self, Self::tool)
    }

    /// Adds a tool of an MCP server, as `mcp__<server>__<tool>`.
    #[must_use]
    pub fn mcp(mut self, server: &str, tool: Arc<dyn Tool>) -> Self {
        self.theirs.push((name::qualified(server, &tool.spec().name), tool));
        self
    }

    /// Closes it: our tools come as they were added, those of servers by name, however fast the
    /// servers were.
    pub fn build(self) -> Toolbox {
        let Self { permissions, ours, mut theirs } = self;
        theirs.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut notes = Vec::new();
        let mut taken = HashSet::new();
        let mut entries = Vec::new();
        for (name, tool) in ours.into_iter().chain(theirs) {
            if !taken.insert(name.clone()) {
                notes.push(Note::Duplicate(name));
                continue;
            }
            entries.push(Arc::new(Entry::new(name, tool, &permissions)));
        }
        let names: Vec<String> = entries.iter().map(|entry| entry.spec.name.clone()).collect();
        let unmatched = permissions.unmatched(&names);
        notes.extend(unmatched.map(|rule| Note::UnmatchedRule(rule.to_string())));
        let denials = Arc::new(Denials::default());
        Toolbox { entries, permissions, denials, notes, others: Vec::new() }
    }
}

impl Entry {
    fn new(name: String, tool: Arc<dyn Tool>, permissions: &Permissions) -> Self {
        let mut spec = tool.spec().clone();
        spec.name = name;
        let visibility = permissions.visibility(&spec.name, tool.effect());
        Self { spec, tool, contract: OnceLock::new(), visibility }
    }

    /// Returns the tool's schema as its author meant it, which is not always as we would.
    pub(super) fn contract(&self) -> Option<&Contract> {
        let compile = || {
            let options = Options { scrutiny: Scrutiny::Permissive, ..Options::default() };
            let contract = Preflight::of(Value::clone(&self.spec.parameters), &options).contract;
            if contract.is_none() {
                tracing::warn!(tool = self.spec.name, "unusable schema: arguments are not judged");
            }
            contract
        };
        self.contract.get_or_init(compile).as_ref()
    }
}
