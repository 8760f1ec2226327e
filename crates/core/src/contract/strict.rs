//! Strict keywords: what a validator would ignore in silence is said aloud.

mod secrets;

use jsonschema::Draft;
use serde_json::{Map, Value};

use super::diagnostic::Diagnostic;
use super::keywords::{Holds, Judges, Keyword, draft_name};
use super::rules::{GROUNDED, RULES};
use super::subschemas::{Site, SiteId, Subschemas};
use crate::json::Pointer;
use crate::nearest::nearest;

/// `OpenAPI` keywords, each with what to write instead. They are annotations here: none changes a
/// verdict, as JSON Schema asks of keywords that it does not know.
const OPENAPI: [(&str, &str); 5] = [
    ("nullable", "add \"null\" to `type`; `nullable` does not change what is accepted"),
    (
        "discriminator",
        "give each branch a `const`; `discriminator` does not change what is accepted",
    ),
    ("example", "use `examples`"),
    ("xml", "remove it"),
    ("externalDocs", "use `description`"),
];

/// Keywords that constrain nothing, so that it is no loss when a `$ref` beside them voids them.
const ANNOTATIONS: [&str; 8] =
    ["$ref", "$schema", "$comment", "title", "description", "default", "examples", "readOnly"];

/// How many errors and how many warnings are reported.
const REPORTED_LIMIT: usize = 100;

/// Keywords that do nothing without another one.
const COMPANIONS: [(&str, &str); 5] = [
    ("then", "if"),
    ("else", "if"),
    ("minContains", "contains"),
    ("maxContains", "contains"),
    ("additionalItems", "items"),
];

/// Reports every keyword that would not do what it seems to.
pub(super) fn inspect(subschemas: &Subschemas<'_>) -> Vec<Diagnostic> {
    let mut findings = Findings { subschemas, errors: Vec::new(), warnings: Vec::new() };
    for (id, site) in subschemas.own() {
        let Some(members) = site.members() else { continue };
        for (name, value) in members {
            // A person has enough to do; warnings must never keep an error from being seen.
            if findings.errors.len() >= REPORTED_LIMIT {
                return findings.errors;
            }
            findings.inspect_keyword(id, site, name, value);
        }
        findings.inspect_companions(id, site, members);
        findings.inspect_draft(id, site);
    }
    findings.errors.append(&mut findings.warnings);
    findings.errors
}

struct Findings<'f, 's> {
    subschemas: &'f Subschemas<'s>,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

impl Findings<'_, '_> {
    fn error(&mut self, at: (SiteId, &str), code: &'static str, message: &str, hint: &str) {
        let finding = Diagnostic::error(self.pointer(at.0, at.1), code, message);
        self.errors.push(finding.with_hint(hint));
    }

    fn warn(&mut self, at: (SiteId, &str), code: &'static str, message: &str, hint: &str) {
        if self.warnings.len() < REPORTED_LIMIT {
            let finding = Diagnostic::warning(self.pointer(at.0, at.1), code, message);
            self.warnings.push(finding.with_hint(hint));
        }
    }

    fn pointer(&self, id: SiteId, keyword: &str) -> Pointer {
        self.subschemas.pointer(id).key(keyword)
    }

    fn inspect_keyword(&mut self, id: SiteId, site: &Site<'_>, name: &str, value: &Value) {
        let Some(keyword) = Keyword::named(name) else {
            self.inspect_foreign(id, site.draft, name);
            return;
        };
        if !keyword.is_in(site.draft) {
            self.report_other_draft(id, site.draft, keyword);
        }
        if name == "format" {
            self.inspect_format(id, site.draft, value);
        }
        if keyword.holds == Holds::Data && secrets::is_in(value) {
            let message =
                format!("`{name}` seems to hold a secret, and a contract travels to the provider");
            self.warn((id, name), "secret", &message, "replace it by a made-up value");
        }
    }

    fn inspect_foreign(&mut self, id: SiteId, draft: Draft, name: &str) {
        if name.starts_with("x-") {
            self.inspect_extension(id, name);
            return;
        }
        if let Some((_, instead)) = OPENAPI.iter().find(|(keyword, _)| *keyword == name) {
            let message = format!("`{name}` belongs to OpenAPI and is only an annotation here");
            self.warn((id, name), "openapi_keyword", &message, instead);
            return;
        }
        let message = format!("unknown keyword `{}`", shown(name));
        let hint = Keyword::meant_by(name, draft).map_or_else(
            || "annotations of your own start with `x-`".to_owned(),
            |keyword| format!("did you mean `{keyword}`"),
        );
        self.error((id, name), "unknown_keyword", &message, &hint);
    }

    fn inspect_extension(&mut self, id: SiteId, name: &str) {
        let ours = [RULES, GROUNDED];
        let Some(meant) = nearest(name, ours).filter(|_| !ours.contains(&name)) else {
            return;
        };
        let message = format!("`{}` is an annotation, and means nothing", shown(name));
        self.warn((id, name), "unknown_keyword", &message, &format!("did you mean `{meant}`"));
    }

    fn report_other_draft(&mut self, id: SiteId, draft: Draft, keyword: &Keyword) {
        let (name, here) = (keyword.name, draft_name(draft));
        let drafts = keyword.draft_names().join(", ");
        let effect = match keyword.judges {
            Judges::Nothing => "",
            Judges::SameValue | Judges::Part => " and is ignored",
        };
        let message = format!("`{name}` is not part of draft {here}{effect}; it is in {drafts}");
        let hint = "declare the draft that you mean with `$schema`";
        self.warn((id, name), "other_draft", &message, hint);
    }

    fn inspect_format(&mut self, id: SiteId, draft: Draft, value: &Value) {
        let Some(name) = value.as_str() else { return };
        if !jsonschema::options().is_known_format(draft, name) {
            let message = format!("format `{}` is unknown and accepts everything", shown(name));
            let hint = "use `pattern` to have it checked";
            self.warn((id, "format"), "unknown_format", &message, hint);
        }
    }

    fn inspect_companions(&mut self, id: SiteId, site: &Site<'_>, members: &Map<String, Value>) {
        let has = |name: &str| site.keyword(name).is_some();
        if has("if") && !has("then") && !has("else") {
            let message = "`if` without `then` and `else` has no effect";
            self.error((id, "if"), "no_effect", message, "add `then` or `else`, or remove it");
        }
        for (name, companion) in COMPANIONS {
            if has(name) && !has(companion) {
                let message = format!("`{name}` without `{companion}` has no effect");
                let hint = format!("add `{companion}`, or remove it");
                self.warn((id, name), "no_effect", &message, &hint);
            }
        }
        if !site.is_only_reference() {
            return;
        }
        let void = |name: &&String| {
            let nothing = Keyword::named(name).is_none_or(|it| it.judges == Judges::Nothing);
            !nothing && !ANNOTATIONS.contains(&name.as_str())
        };
        for name in members.keys().filter(void) {
            let here = draft_name(site.draft);
            let message = format!("`{name}` beside `$ref` has no effect in draft {here}");
            self.warn((id, name), "no_effect", &message, "put both into `allOf`");
        }
    }

    fn inspect_draft(&mut self, id: SiteId, site: &Site<'_>) {
        if site.draft == Draft::Unknown && site.keyword("$schema").is_some() {
            let hint = "use `https://json-schema.org/draft/2020-12/schema`, or leave it out";
            self.error((id, "$schema"), "unknown_draft", "`$schema` names no known draft", hint);
        }
    }
}

/// Cuts a name that may be of any length and hold anything.
fn shown(name: &str) -> String {
    name.chars().take(64).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::diagnostic::Severity;
    use serde_json::json;
    use test_case::test_case;

    fn findings(schema: &Value) -> Vec<Diagnostic> {
        inspect(&Subschemas::of(schema, Draft::Draft202012))
    }

    #[test]
    fn typos_are_named_with_the_keyword_that_was_meant() {
        let schema = json!({"properties": {"a": {"propertees": {}}}});
        let found = findings(&schema);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].to_string(), "/properties/a/propertees: unknown keyword `propertees`");
        assert_eq!(found[0].hint.as_deref(), Some("did you mean `properties`"));
        assert_eq!(found[0].severity, Severity::Error);
    }

    #[test_case(&json!({"x-anything": 1}), &[]; "extensions are kept")]
    #[test_case(&json!({"x-rules": [], "x-grounded": true}), &[]; "ours are known")]
    #[test_case(&json!({"x-rule": [], "x-grouned": true}),
        &["unknown_keyword", "unknown_keyword"]; "ours are misspelt")]
    #[test_case(&json!({"properties": {"propertees": {}}}), &[]; "property names are no keywords")]
    #[test_case(&json!({"const": {"propertees": 1}, "default": {"iff": 2}}), &[]; "data is no schema")]
    #[test_case(&json!({"nullable": true, "discriminator": {}, "example": 1}),
        &["openapi_keyword", "openapi_keyword", "openapi_keyword"]; "openapi")]
    #[test_case(&json!({"$schema": "http://json-schema.org/draft-07/schema", "prefixItems": [{}]}), &["other_draft"]; "later draft")]
    #[test_case(&json!({"additionalItems": false, "items": {}}), &["other_draft"]; "earlier draft")]
    #[test_case(&json!({"id": "x"}), &["other_draft"]; "draft 4 id")]
    #[test_case(&json!({"$schema": "http://a.test/x"}), &["unknown_draft"]; "unknown draft")]
    #[test_case(&json!({"format": "colour"}), &["unknown_format"]; "format")]
    #[test_case(&json!({"format": "email"}), &[]; "known format")]
    #[test_case(&json!({"if": {}}), &["no_effect"]; "bare if")]
    #[test_case(&json!({"then": {}}), &["no_effect"]; "then alone")]
    #[test_case(&json!({"required": ["a"]}), &[]; "required without properties")]
    #[test_case(&json!({"default": "sk-abcdefghijklmnopqrstuvwx"}), &["secret"]; "secret")]
    #[test_case(&json!({"$schema": "http://json-schema.org/draft-07/schema", "$ref": "#/definitions/a",
        "minimum": 1, "title": "t", "definitions": {"a": {}}}), &["no_effect"]; "beside a reference")]
    fn every_kind_of_finding_has_its_code(schema: &Value, expected: &[&str]) {
        let codes: Vec<_> = findings(schema).into_iter().map(|it| it.code).collect();
        assert_eq!(codes, expected);
    }

    #[test]
    fn warnings_never_hide_an_error() {
        let formats: Map<String, Value> =
            (0..500).map(|n| (format!("p{n}"), json!({"format": "colour"}))).collect();
        let found = findings(&json!({"properties": formats, "not": {"propertees": {}}}));
        assert_eq!(found.len(), 1 + REPORTED_LIMIT);
        assert_eq!(found[0].code, "unknown_keyword");
        let unknown: Map<String, Value> =
            (0..50_000).map(|n| (format!("q{n}"), json!(1))).collect();
        assert_eq!(findings(&Value::Object(unknown)).len(), REPORTED_LIMIT);
    }
}
