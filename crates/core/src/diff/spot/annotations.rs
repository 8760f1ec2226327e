//! What judges nothing: descriptions, titles, examples, messages of rules.

use serde_json::Value;

use crate::contract::{Fingerprint, RULES};
use crate::diff::ChangeKind;
use crate::diff::words::list;

use super::scalars::differ;
use super::{Effect, Patch, Spot};

/// What names a contract or its parts, or is a home for others; versions are compared elsewhere.
const SILENT: [&str; 11] = [
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$vocabulary",
    "$defs",
    "definitions",
    "$comment",
    "x-version",
];

impl Spot<'_, '_> {
    pub(super) fn annotations(&mut self) {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in
            self.old.keywords(self.pair.old).into_iter().chain(self.new.keywords(self.pair.new))
        {
            let is_silent = SILENT.contains(&name) || names.contains(&name);
            if !is_silent && !self.new.is_constraint(name) && differ(self.both(name)) {
                names.push(name);
            }
        }
        names.sort_unstable();
        let mut words: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        if self.messages_differ() {
            words.push("messages of rules".to_owned());
        }
        if words.is_empty() {
            return;
        }
        let verb = if words.len() == 1 && !names.is_empty() { "changes" } else { "change" };
        let sentence = format!("{} {verb}, which judges nothing", list(&words, "and"));
        self.atom(ChangeKind::Annotation, &[], sentence, Patch::default()).effect = Effect::NONE;
    }

    /// Claims that rules that stay have other messages.
    fn messages_differ(&self) -> bool {
        let [old, new] = self.both(RULES).map(|rules| rules.and_then(Value::as_array));
        let old: Vec<(Option<&Value>, Fingerprint)> =
            old.into_iter().flatten().map(|it| (it.get("rule"), Fingerprint::of(it))).collect();
        new.into_iter().flatten().any(|rule| {
            let mut known = old.iter().filter(|(text, _)| *text == rule.get("rule")).peekable();
            known.peek().is_some() && known.all(|(_, print)| *print != Fingerprint::of(rule))
        })
    }
}
