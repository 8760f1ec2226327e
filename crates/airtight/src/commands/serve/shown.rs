//! The settings that are shown: what is in force, and where it was said.

use airtight_core::redact::Redactor;
use airtight_serve::Setting;

use crate::commands::doctor;
use crate::config::{Config, Kind, TABLE};

/// Returns what is in force, masked. Tables may hold commands and variables with secrets in them: of those
/// only the names are told.
pub(super) fn settings(config: &Config, redactor: &Redactor) -> Vec<Setting> {
    let masked = |setting: Setting| {
        let value = names(config, &setting.name).unwrap_or(setting.value);
        Setting { value: redactor.mask(&value).into_owned(), ..setting }
    };
    doctor::in_force(config).into_iter().map(masked).collect()
}

/// Returns the names of the members, if the setting is a table.
fn names(config: &Config, name: &str) -> Option<String> {
    let is_it =
        |spec: &&crate::config::Spec| spec.key.name() == name && matches!(spec.kind, Kind::Table);
    let table = config.table(TABLE.iter().find(is_it)?.key);
    let names = table.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    Some(names.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Entry, Key, Value};

    #[test]
    fn values_are_masked_and_tables_are_told_by_name_alone() {
        let table = serde_json::json!({ "files": { "env": { "SECRET": "word-nobody-knows" } } });
        let config = Config::of(vec![
            Entry::flag(Key::McpServers, "--mcp", Value::Table(table)),
            Entry::flag(Key::System, "--system", Value::Text("say hidden-word often".to_owned())),
        ]);
        let shown = settings(&config, &Redactor::new(["hidden-word"]));
        let values: Vec<(&str, &str)> =
            shown.iter().map(|it| (it.name.as_str(), it.value.as_str())).collect();
        assert_eq!(values, [("system", "say [masked] often"), ("mcpServers", "files")]);
    }
}
