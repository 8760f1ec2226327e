//! Strict keywords: what a validator would ignore in silence is said aloud.

mod secrets;

use jsonschema::Draft;
use serde_json::{Map, Value};

use super::diagnostic::Diagnostic;
use super::keywords::{Judges, Keyword, draft_name, nearest};
use super::source::FINDING_LIMIT;
use super::subschemas::{Site, SiteId, Subschemas};
use crate::json::Pointer;

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

/// Keywords that have no effect beside a `$ref` that is void beside everything else.
const ANNOTATIONS: [&str; 8] =
    ["$ref", "$schema", "$comment", "title", "description", "default", "examples", "readOnly"];

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
    let mut findings = Findings { subschemas, list: Vec::new(), unknown_formats: 0 };
    for (id, site) in subschemas.own() {
        let Some(members) = site.members() else { continue };
        // Beyond the limit a person has enough to do.
        if findings.list.len() >= 5 * FINDING_LIMIT {
            break;
        }
        for (name, value) in members {
            findings.inspect_keyword(id, site, name, value);
        }
        findings.inspect_companions(id, site, members);
        findings.inspect_draft(id, site);
    }
    findings.list
}

struct Findings<'f, 's> {
    subschemas: &'f Subschemas<'s>,
    list: Vec<Diagnostic>,
    unknown_formats: usize,
}

impl Findings<'_, '_> {
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
        if keyword.holds == super::keywords::Holds::Data && secrets::is_in(value) {
            let message =
                format!("`{name}` seems to hold a secret, and a contract travels to the provider");
            self.list.push(
                Diagnostic::warning(self.pointer(id, name), "secret", message)
                    .with_hint("replace it by a made-up value"),
            );
        }
    }

    fn inspect_foreign(&mut self, id: SiteId, draft: Draft, name: &str) {
        if name.starts_with("x-") {
            return;
        }
        let pointer = self.pointer(id, name);
        let openapi = OPENAPI.iter().find(|(keyword, _)| *keyword == name);
        self.list.push(if let Some((_, instead)) = openapi {
            let message = format!("`{name}` belongs to OpenAPI and is only an annotation here");
            Diagnostic::warning(pointer, "openapi_keyword", message).with_hint(*instead)
        } else {
            let shown: String = name.chars().take(64).collect();
            let unknown = Diagnostic::error(
                pointer,
                "unknown_keyword",
                format!("unknown keyword `{}`", shown.escape_debug()),
            );
            match nearest(name, draft) {
                Some(keyword) => unknown.with_hint(format!("did you mean `{}`", keyword.name)),
                None => unknown.with_hint("annotations of your own start with `x-`"),
            }
        });
    }

    fn report_other_draft(&mut self, id: SiteId, draft: Draft, keyword: &Keyword) {
        let (name, here) = (keyword.name, draft_name(draft));
        let drafts = keyword.draft_names().join(", ");
        let effect = match keyword.judges {
            Judges::Nothing => "",
            Judges::SameValue | Judges::Part => " and is ignored",
        };
        let message = format!("`{name}` is not part of draft {here}{effect}; it is in {drafts}");
        self.list.push(
            Diagnostic::warning(self.pointer(id, name), "other_draft", message)
                .with_hint("declare the draft that you mean with `$schema`"),
        );
    }

    fn inspect_format(&mut self, id: SiteId, draft: Draft, value: &Value) {
        let Some(name) = value.as_str() else { return };
        if jsonschema::options().is_known_format(draft, name) {
            return;
        }
        self.unknown_formats += 1;
        if self.unknown_formats > FINDING_LIMIT {
            return;
        }
        let shown: String = name.chars().take(64).collect();
        let message =
            format!("format `{}` is unknown and accepts everything", shown.escape_debug());
        self.list.push(
            Diagnostic::warning(self.pointer(id, "format"), "unknown_format", message)
                .with_hint("use `pattern` to have it checked"),
        );
    }

    fn inspect_companions(&mut self, id: SiteId, site: &Site<'_>, members: &Map<String, Value>) {
        let has = |name: &str| site.keyword(name).is_some();
        if has("if") && !has("then") && !has("else") {
            let message = "`if` without `then` and `else` has no effect";
            let pointer = self.pointer(id, "if");
            self.list.push(Diagnostic::error(pointer, "no_effect", message));
        }
        for (name, companion) in COMPANIONS {
            if has(name) && !has(companion) {
                let message = format!("`{name}` without `{companion}` has no effect");
                let pointer = self.pointer(id, name);
                self.list.push(Diagnostic::warning(pointer, "no_effect", message));
            }
        }
        if !site.is_only_reference() {
            return;
        }
        let void = |name: &&String| {
            let definition = Keyword::named(name).is_none_or(|it| it.judges == Judges::Nothing);
            !definition && !ANNOTATIONS.contains(&name.as_str())
        };
        for name in members.keys().filter(void) {
            let message =
                format!("`{name}` beside `$ref` has no effect in draft {}", draft_name(site.draft));
            self.list.push(
                Diagnostic::warning(self.pointer(id, name), "no_effect", message)
                    .with_hint("put both into `allOf`"),
            );
        }
    }

    fn inspect_draft(&mut self, id: SiteId, site: &Site<'_>) {
        if site.draft != Draft::Unknown || site.keyword("$schema").is_none() {
            return;
        }
        let message = "`$schema` names no known draft";
        self.list.push(
            Diagnostic::error(self.pointer(id, "$schema"), "unknown_draft", message)
                .with_hint("use `https://json-schema.org/draft/2020-12/schema`, or leave it out"),
        );
    }
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
}
