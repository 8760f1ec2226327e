//! What a contract is called.

use semver::Version;
use serde_json::Value;

use super::diagnostic::Diagnostic;
use crate::json::Pointer;

/// A contract's name and version, as far as somebody gave it any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// What people call it.
    pub name: Option<String>,
    /// Its semantic version.
    pub version: Option<Version>,
}

impl Identity {
    /// Reads what the schema says of itself; what is `given` comes first.
    pub(super) fn read(schema: &Value, given: &Self, findings: &mut Vec<Diagnostic>) -> Self {
        let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
        let identifier = text("$id").or_else(|| text("id")).map(file_stem).unwrap_or_default();
        let (stem, suffix) = identifier.split_once('@').unwrap_or((identifier, ""));
        let name = [Some(stem), text("title")].into_iter().flatten().find(|it| !it.is_empty());
        let declared = text("x-version").map(Version::parse);
        if schema.get("x-version").is_some() && !matches!(declared, Some(Ok(_))) {
            let message = "`x-version` is not a semantic version such as \"1.4.0\"";
            let pointer = Pointer::root().key("x-version");
            findings.push(Diagnostic::error(pointer, "invalid_version", message));
        }
        let version = declared.and_then(Result::ok).or_else(|| Version::parse(suffix).ok());
        Self {
            name: given.name.clone().or_else(|| name.map(str::to_owned)),
            version: given.version.clone().or(version),
        }
    }
}

/// Returns the last part of a URI's path, without the endings of schema files.
fn file_stem(uri: &str) -> &str {
    let path = uri.split(['#', '?']).next().unwrap_or_default().trim_end_matches('/');
    let last = path.rsplit(['/', ':']).next().unwrap_or_default();
    let stem = last.strip_suffix(".json").unwrap_or(last);
    stem.strip_suffix(".schema").unwrap_or(stem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use test_case::test_case;

    #[test_case(&json!({}), None, None)]
    #[test_case(&json!({"$id": "https://a.test/contracts/review.schema.json"}), Some("review"), None; "file")]
    #[test_case(&json!({"$id": "https://a.test/review@1.4.0", "title": "T"}), Some("review"), Some("1.4.0"); "suffix")]
    #[test_case(&json!({"$id": "urn:airtight:review", "x-version": "2.0.0-rc.1"}), Some("review"), Some("2.0.0-rc.1"); "urn")]
    #[test_case(&json!({"title": "Code review"}), Some("Code review"), None; "title")]
    fn names_and_versions_are_read(schema: &Value, name: Option<&str>, version: Option<&str>) {
        let mut findings = Vec::new();
        let identity = Identity::read(schema, &Identity::default(), &mut findings);
        assert_eq!(identity.name.as_deref(), name);
        assert_eq!(identity.version.map(|it| it.to_string()).as_deref(), version);
        assert_eq!(findings, []);
    }

    #[test]
    fn what_is_given_wins_and_bad_versions_are_reported() {
        let given = Identity { name: Some("folder".to_owned()), version: None };
        let mut findings = Vec::new();
        let identity =
            Identity::read(&json!({"title": "t", "x-version": "1.4"}), &given, &mut findings);
        assert_eq!(identity, given);
        assert_eq!(findings[0].code, "invalid_version");
    }
}
