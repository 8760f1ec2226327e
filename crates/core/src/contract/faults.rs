//! What the meta-schema of its draft says against a schema: each fault once, where it stands.
//!
//! The choices of a meta-schema (`items` is a schema or a list of them) are told as the fault within
//! the choice that was meant. Faults of a large schema are not told: the library keeps a copy of
//! everything below a choice for each choice around it.

use jsonschema::error::ValidationErrorKind;
use jsonschema::meta::MetaValidator;
use jsonschema::{Draft, ValidationError};
use serde_json::Value;

use super::diagnostic::Diagnostic;
use super::source::{FINDING_LIMIT, Origin};
use crate::json::Pointer;
use crate::nearest::nearest;

/// How many complaints of a meta-schema are looked at: one made of vocabularies repeats each up to
/// eight times.
const COMPLAINT_LIMIT: usize = 10 * FINDING_LIMIT;

/// How many bytes copies of all that is nested in a schema may take for its faults to be told:
/// more than those of any that somebody writes.
const COPIES_LIMIT_BYTES: usize = 4 * 1024 * 1024;

/// What a value takes besides its text.
const VALUE_BYTES: usize = 64;

/// How every message about a schema that its meta-schema rejects begins.
const NOT_A_SCHEMA: &str = "not a valid JSON Schema";

/// What `type` can name.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Returns all that the meta-schema of `draft` says against `schema`.
pub(super) fn of(schema: &Value, draft: Draft, origin: Origin) -> Vec<Diagnostic> {
    match beyond_telling(schema, draft) {
        Some(finding) => vec![finding],
        None => told(meta(draft).iter_errors(schema).take(COMPLAINT_LIMIT), origin),
    }
}

/// Says that a schema is none, if it is too large to say more.
///
/// Parts that declare a draft of their own are judged by that, so whoever has some is left to the
/// library, like one with a meta-schema of its own.
pub(super) fn beyond_telling(schema: &Value, draft: Draft) -> Option<Diagnostic> {
    let is_large = draft != Draft::Unknown && weigh(schema) > COPIES_LIMIT_BYTES;
    (is_large && !is_mixed(schema) && !meta(draft).is_valid(schema)).then(|| {
        let message = format!("{NOT_A_SCHEMA}, and too large to tell where");
        Diagnostic::error(Pointer::root(), "not_a_schema", message)
            .with_hint("check its parts by themselves")
    })
}

/// Claims that something below the root may declare a draft.
fn is_mixed(schema: &Value) -> bool {
    let mut open: Vec<&Value> = children(schema).collect();
    while let Some(value) = open.pop() {
        if value.get("$schema").is_some() {
            return true;
        }
        open.extend(children(value));
    }
    false
}

fn children(value: &Value) -> impl Iterator<Item = &Value> {
    let items = value.as_array().into_iter().flatten();
    items.chain(value.as_object().into_iter().flat_map(|members| members.values()))
}

/// Returns what `errors` say, each thing once, and that there is more if there is.
pub(super) fn told<'e>(
    errors: impl IntoIterator<Item = ValidationError<'e>>,
    origin: Origin,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for error in errors {
        tell(&error, origin, &mut findings);
    }
    if findings.len() > FINDING_LIMIT {
        findings.truncate(FINDING_LIMIT);
        let message = "more is wrong than is told at once";
        let more = Diagnostic::error(Pointer::root(), "not_a_schema", message);
        findings.push(more.with_hint("mend what is told, and check again"));
    }
    findings
}

fn meta(draft: Draft) -> MetaValidator<'static> {
    match draft {
        Draft::Draft4 => jsonschema::draft4::meta::validator(),
        Draft::Draft6 => jsonschema::draft6::meta::validator(),
        Draft::Draft7 => jsonschema::draft7::meta::validator(),
        Draft::Draft201909 => jsonschema::draft201909::meta::validator(),
        Draft::Draft202012 | Draft::Unknown | _ => jsonschema::draft202012::meta::validator(),
    }
}

/// Returns how many bytes it takes to copy every value once for each that it is nested in.
fn weigh(schema: &Value) -> usize {
    let mut open = vec![(schema, 1)];
    let mut bytes = 0_usize;
    while let Some((value, depth)) = open.pop() {
        let text = match value {
            Value::String(text) => text.len(),
            Value::Object(members) => members.keys().map(String::len).sum(),
            Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        };
        open.extend(children(value).map(|child| (child, depth + 1)));
        bytes = bytes.saturating_add((VALUE_BYTES + text).saturating_mul(depth));
    }
    bytes
}

/// Adds what `error` says to `findings`, unless they have it, or enough.
fn tell(error: &ValidationError<'_>, origin: Origin, findings: &mut Vec<Diagnostic>) {
    if findings.len() > FINDING_LIMIT {
        return;
    }
    if let Some(errors_within) = meant_choice(error) {
        for error_within in errors_within.iter().take(COMPLAINT_LIMIT) {
            tell(error_within, origin, findings);
        }
        return;
    }
    let finding =
        if is_about_type(error) { no_type(error, origin) } else { invalid(error, origin) };
    if !findings.contains(&finding) {
        findings.push(finding);
    }
}

/// Meta-schemas put it as a choice between one type and a list, which nobody needs to know.
fn is_about_type(error: &ValidationError<'_>) -> bool {
    error.schema_path().as_str().ends_with("/properties/type/anyOf")
}

/// Returns what is wrong with the only choice that is made for such a value: an object in place of
/// `items`, say, was to be a schema, and not a list of them.
fn meant_choice<'e>(error: &'e ValidationError<'_>) -> Option<&'e [ValidationError<'static>]> {
    let ValidationErrorKind::AnyOf { context } = error.kind() else { return None };
    let is_of_its_kind = |choice: &&Vec<ValidationError<'_>>| {
        !choice.iter().any(|error_within| {
            error_within.instance_path() == error.instance_path()
                && matches!(error_within.kind(), ValidationErrorKind::Type { .. })
        })
    };
    let mut choices = context.iter().filter(is_of_its_kind);
    let choice = choices.next().filter(|choice| !choice.is_empty())?;
    (!is_about_type(error) && choices.next().is_none()).then_some(choice)
}

fn invalid(error: &ValidationError<'_>, origin: Origin) -> Diagnostic {
    let detail = match origin {
        Origin::Inline => error.to_string(),
        Origin::File => error.masked().to_string(),
    };
    let message = format!("{NOT_A_SCHEMA}: {detail}");
    Diagnostic::error(error.instance_path().as_str().into(), "not_a_schema", message)
}

/// Says what of the value of `type` is no type; of a file only what is almost one is repeated.
fn no_type(error: &ValidationError<'_>, origin: Origin) -> Diagnostic {
    let value: &Value = error.instance();
    let names = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let is_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    let stranger = names.iter().find(|name| !is_type(name));
    let name = stranger.and_then(Value::as_str);
    let meant = name.and_then(|name| nearest(name, TYPES));
    let detail = match (stranger, name) {
        (None, _) => "`type` names no type, or one twice".to_owned(),
        (_, Some(name)) if origin == Origin::Inline || meant.is_some() => {
            format!("`{name}` is no type")
        }
        (Some(_), _) => "`type` has a value that is no type".to_owned(),
    };
    let hint = match meant {
        Some(name) => format!("did you mean `{name}`"),
        None => format!("types are {}", TYPES.map(|name| format!("`{name}`")).join(", ")),
    };
    let pointer = error.instance_path().as_str().into();
    let message = format!("{NOT_A_SCHEMA}: {detail}");
    Diagnostic::error(pointer, "not_a_schema", message).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contract;
    use crate::contract::{Options, Preflight};
    use serde_json::json;
    use test_case::test_case;

    #[test_case(&json!({"type": "objct"}), "/type", "`objct` is no type", "did you mean `object`"; "slip")]
    #[test_case(&json!({"items": {"type": ["null", "strin"]}}), "/items/type", "`strin` is no type", "did you mean `string`"; "slip in a list")]
    #[test_case(&json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "date"}), "/type", "`date` is no type", "types are `array`, `boolean`, `integer`, `null`, `number`, `object`, `string`"; "other word")]
    #[test_case(&json!({"type": 5}), "/type", "`type` has a value that is no type", "types are `array`, `boolean`, `integer`, `null`, `number`, `object`, `string`"; "number")]
    #[test_case(&json!({"type": ["null", "null"]}), "/type", "`type` names no type, or one twice", "types are `array`, `boolean`, `integer`, `null`, `number`, `object`, `string`"; "twice")]
    fn what_is_no_type_is_said_plainly(schema: &Value, place: &str, detail: &str, hint: &str) {
        let diagnostics = Contract::compile(schema.clone()).unwrap_err().diagnostics;
        assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
        let message = format!("{NOT_A_SCHEMA}: {detail}");
        let expected = Diagnostic::error(place.into(), "not_a_schema", message).with_hint(hint);
        assert_eq!(diagnostics[0], expected);
    }

    #[test_case("http://json-schema.org/draft-04/schema#"; "draft 4")]
    #[test_case("http://json-schema.org/draft-06/schema#"; "draft 6")]
    #[test_case("http://json-schema.org/draft-07/schema#"; "draft 7")]
    #[test_case("https://json-schema.org/draft/2019-09/schema"; "draft 2019-09")]
    #[test_case("https://json-schema.org/draft/2020-12/schema"; "draft 2020-12")]
    fn what_is_no_schema_is_told_once_and_where_it_stands(draft: &str) {
        let wrong = json!({"minLength": -1, "items": {"additionalProperties": {"required": 5}}});
        let schema = json!({"$schema": draft, "properties": {"a": wrong}});
        let diagnostics = Contract::compile(schema).unwrap_err().diagnostics;
        let mut places: Vec<&str> = diagnostics.iter().map(|it| it.pointer.as_str()).collect();
        places.sort_unstable();
        let deepest = "/properties/a/items/additionalProperties/required";
        assert_eq!(places, [deepest, "/properties/a/minLength"], "{diagnostics:#?}");
    }

    #[test]
    fn that_more_is_wrong_than_is_told_is_told() {
        let wrong = |count: usize| {
            let members = (0..count).map(|number| (format!("p{number}"), json!({"minLength": -1})));
            let members: serde_json::Map<String, Value> = members.collect();
            Contract::compile(json!({ "properties": members })).unwrap_err().diagnostics
        };
        assert_eq!(wrong(FINDING_LIMIT).len(), FINDING_LIMIT);
        assert!(wrong(FINDING_LIMIT).iter().all(|it| it.hint.is_none()));
        let more = wrong(FINDING_LIMIT + 1);
        assert_eq!(more.len(), FINDING_LIMIT + 1);
        assert_eq!(more[FINDING_LIMIT].message, "more is wrong than is told at once");
    }

    #[test]
    fn what_a_file_holds_in_place_of_a_type_is_not_repeated() {
        let said = |text: &[u8]| {
            let report = Preflight::run(text, Origin::File, &Options::default());
            report.diagnostics[0].message.clone()
        };
        assert!(said(br#"{"type": "s3cret"}"#).ends_with(": `type` has a value that is no type"));
        assert!(said(br#"{"type": "objct"}"#).ends_with(": `objct` is no type"));
    }

    /// A schema as deep as they may be, around `innermost`.
    fn deep(innermost: Value) -> Value {
        (0..100).fold(innermost, |schema, _| json!({ "items": schema }))
    }

    #[test]
    fn a_large_schema_is_refused_without_copies_of_it() {
        let numbers: Vec<u32> = (0..20_000).collect();
        let mut schema = deep(json!({"minLength": -1, "default": numbers}));
        schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        let diagnostics = Contract::compile(schema).unwrap_err().diagnostics;
        assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
        let message = "not a valid JSON Schema, and too large to tell where";
        assert_eq!(diagnostics[0].message, message);
    }

    #[test]
    fn a_large_schema_is_none_the_worse_for_it() {
        let numbers: Vec<u32> = (0..20_000).collect();
        let schema = deep(json!({"minLength": 1, "default": numbers}));
        assert!(weigh(&schema) > COPIES_LIMIT_BYTES);
        assert!(Contract::compile(json!({"properties": {"a": schema}})).is_ok());
    }

    #[test]
    fn parts_of_a_large_schema_may_be_of_another_draft() {
        let older = json!({
            "$id": "urn:older",
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "array",
            "items": [{"type": "string"}],
        });
        let examples: Vec<Value> = (0..40_000).map(|number| json!({ "number": number })).collect();
        let schema = json!({"properties": {"a": older, "b": {"examples": examples}}});
        assert!(weigh(&schema) > COPIES_LIMIT_BYTES);
        let compiled = Contract::compile(schema);
        assert!(compiled.is_ok(), "{:?}", compiled.err().map(|refusal| refusal.diagnostics));
    }
}
