//! The settings that the pages show: what is in force, and where it was said.

use airtight_core::redact::Redactor;
use airtight_serve::Setting;

use crate::commands::doctor;
use crate::config::{Config, Kind, TABLE};

/// Returns what is in force, masked. Tables may hold commands and variables with secrets in them: of those
/// only the names are told.
pub(super) fn settings(config: &Config, redactor: &Redactor) -> Vec<Setting> {
    let is_table = |name: &str| {
        TABLE.iter().any(|spec| spec.key.name() == name && matches!(spec.kind, Kind::Table))
    };
    let setting = |it: doctor::Setting| {
        let value = if is_table(it.name) { names(config, it.name) } else { it.value };
        Setting {
            name: it.name.to_owned(),
            about: it.about.to_owned(),
            value: redactor.mask(&value).into_owned(),
            origin: it.origin,
            overruled: it.overruled,
        }
    };
    doctor::settings(config).into_iter().map(setting).collect()
}

/// Returns the names of the members of a table.
fn names(config: &Config, name: &str) -> String {
    let Some(spec) = TABLE.iter().find(|spec| spec.key.name() == name) else {
        return String::new();
    };
    let table = config.table(spec.key);
    let names = table.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    names.collect::<Vec<_>>().join(", ")
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
