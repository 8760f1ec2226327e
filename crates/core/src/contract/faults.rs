//! What the meta-schemas of its drafts say against a schema: each fault once, where it stands.
//!
//! The choices of a meta-schema (`items` is a schema or a list of them) are told as the fault within
//! the choice that was meant. Faults of a large schema are not told: the library keeps a copy of
//! everything below a choice for each choice around it, and makes all complaints before the first
//! can be read.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::meta::MetaValidator;
use jsonschema::{Draft, JsonTypeSet, ValidationError};
use serde_json::Value;

use super::diagnostic::Diagnostic;
use super::parts::{Part, parts};
use super::source::{FINDING_LIMIT, Origin};
use super::weight::Weight;
use crate::excerpt::excerpt;
use crate::json::Pointer;
use crate::nearest::nearest;

/// How many complaints of a meta-schema are looked at: one made of vocabularies repeats each up to
/// eight times.
const COMPLAINT_LIMIT: usize = 10 * FINDING_LIMIT;

/// How many bytes copies of all that is nested in a schema may take for its faults to be told:
/// those of some hundred kilobytes of schema, as deep as people write them.
const COPIES_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// How much is told of one fault, which may repeat a value of the command line: a few lines.
const DETAIL_LIMIT_CHARS: usize = 300;

/// How every message about a schema that its meta-schema rejects begins.
const NOT_A_SCHEMA: &str = "not a valid JSON Schema";

/// What `type` can name.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Returns all that the meta-schemas of `schema` say against it.
pub(super) fn of(schema: &Value, draft: Draft, origin: Origin) -> Vec<Diagnostic> {
    let parts = match parts(schema, draft) {
        Ok(parts) => parts,
        Err(finding) => return vec![finding],
    };
    if is_large(schema) {
        return too_large_to_tell(&parts).into_iter().collect();
    }
    let mut findings = Vec::new();
    for part in parts {
        for error in meta(part.draft).iter_errors(&part.schema).take(COMPLAINT_LIMIT) {
            tell(&error, &part.place, origin, &mut findings);
        }
    }
    limited(findings)
}

/// Says that `schema` is none, if it is too large to say more; or that it is too large to be looked
/// at. What a meta-schema of its own says of one is left to the library.
pub(super) fn beyond_telling(schema: &Value, draft: Draft) -> Option<Diagnostic> {
    match parts(schema, draft) {
        Ok(_) if draft == Draft::Unknown || !is_large(schema) => None,
        Ok(parts) => too_large_to_tell(&parts),
        Err(finding) => Some(finding),
    }
}

fn is_large(schema: &Value) -> bool {
    Weight::of(schema).copies > COPIES_LIMIT_BYTES
}

/// Returns what the library says against a schema.
pub(super) fn told(error: &ValidationError<'_>, origin: Origin) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    tell(error, &Pointer::root(), origin, &mut findings);
    limited(findings)
}

fn limited(mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if findings.len() > FINDING_LIMIT {
        findings.truncate(FINDING_LIMIT);
        let message = "more is wrong than is told at once";
        let more = Diagnostic::error(Pointer::root(), "not_a_schema", message);
        findings.push(more.with_hint("mend what is told, and check again"));
    }
    findings
}

fn too_large_to_tell(parts: &[Part<'_>]) -> Option<Diagnostic> {
    let is_sound = parts.iter().all(|part| meta(part.draft).is_valid(&part.schema));
    (!is_sound).then(|| {
        let message = format!("{NOT_A_SCHEMA}, and too large to tell where");
        Diagnostic::error(Pointer::root(), "not_a_schema", message)
            .with_hint("check its parts by themselves")
    })
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

/// Adds what `error` says of what stands at `place` to `findings`, unless they have it, or enough.
fn tell(
    error: &ValidationError<'_>,
    place: &Pointer,
    origin: Origin,
    findings: &mut Vec<Diagnostic>,
) {
    if findings.len() > FINDING_LIMIT {
        return;
    }
    if let Some(errors_within) = meant_choice(error) {
        for error_within in errors_within.iter().take(COMPLAINT_LIMIT) {
            tell(error_within, place, origin, findings);
        }
        return;
    }
    let (detail, hint) =
        if is_about_type(error) { no_type(error, origin) } else { (invalid(error, origin), None) };
    let pointer = Pointer::from(format!("{}{}", place.as_str(), error.instance_path()).as_str());
    let message = format!("{NOT_A_SCHEMA}: {detail}");
    let mut finding = Diagnostic::error(pointer, "not_a_schema", message);
    finding.hint = hint;
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
    let mut choices = context.iter().filter(|choice| kind_missed(choice, error).is_none());
    let choice = choices.next().filter(|choice| !choice.is_empty())?;
    (!is_about_type(error) && choices.next().is_none()).then_some(choice)
}

/// Returns what kind of value a choice of `error` is made for, if it is another one.
fn kind_missed<'e>(
    choice: &'e [ValidationError<'_>],
    error: &ValidationError<'_>,
) -> Option<&'e TypeKind> {
    let here = choice.iter().filter(|within| within.instance_path() == error.instance_path());
    here.map(ValidationError::kind).find_map(|kind| {
        if let ValidationErrorKind::Type { kind } = kind { Some(kind) } else { None }
    })
}

fn invalid(error: &ValidationError<'_>, origin: Origin) -> String {
    if let Some(kinds) = possible_kinds(error) {
        return format!("only {kinds} can stand here");
    }
    match origin {
        Origin::Inline => excerpt(&error.to_string(), DETAIL_LIMIT_CHARS, "…").into_owned(),
        Origin::File => error.masked().to_string(),
    }
}

/// Returns what can stand where a value fits no choice by its mere kind.
fn possible_kinds(error: &ValidationError<'_>) -> Option<String> {
    let ValidationErrorKind::AnyOf { context } = error.kind() else { return None };
    let mut kinds = JsonTypeSet::empty();
    for choice in context {
        kinds = match kind_missed(choice, error)? {
            TypeKind::Single(kind) => kinds.insert(*kind),
            TypeKind::Multiple(several) => several.iter().fold(kinds, JsonTypeSet::insert),
        };
    }
    let names: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
    Some(names.join(", "))
}

/// Says what of the value of `type` is no type; of a file only what is almost one is repeated.
fn no_type(error: &ValidationError<'_>, origin: Origin) -> (String, Option<String>) {
    let value: &Value = error.instance();
    let names = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let is_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    let stranger = names.iter().find(|name| !is_type(name));
    let name = stranger.and_then(Value::as_str);
    let meant = name.and_then(|name| nearest(name, TYPES));
    let detail = match (stranger, name) {
        (None, _) => "`type` names no type, or one twice".to_owned(),
        (_, Some(name)) if origin == Origin::Inline || meant.is_some() => {
            format!("`{}` is no type", excerpt(name, DETAIL_LIMIT_CHARS, "…"))
        }
        (Some(_), _) => "`type` has a value that is no type".to_owned(),
    };
    let hint = match meant {
        Some(name) => format!("did you mean `{name}`"),
        None => format!("types are {}", TYPES.map(|name| format!("`{name}`")).join(", ")),
    };
    (detail, Some(hint))
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
        assert!(is_large(&schema));
        assert!(Contract::compile(json!({"properties": {"a": schema}})).is_ok());
    }

    #[test_case(&json!({"$schema": "http://json-schema.org/draft-07/schema#"}); "of a draft")]
    #[test_case(&json!({"$schema": "urn:nobody:knows"}); "of an unknown one")]
    #[test_case(&json!({}); "of none")]
    fn a_long_key_is_not_repeated_for_everything_below(schema: &Value) {
        let mut schema = schema.clone();
        let names: Vec<u32> = (0..4_500).collect();
        schema["properties"] = json!({ "k".repeat(600_000): {"required": names} });
        let diagnostics = Contract::compile(schema).unwrap_err().diagnostics;
        assert!(diagnostics.len() <= 2, "{}", diagnostics.len());
        assert!(diagnostics.iter().all(|it| it.pointer.as_str().len() < 100));
    }

    #[test]
    fn a_large_part_of_another_draft_is_refused_without_copies_of_it() {
        let numbers: Vec<u32> = (0..20_000).collect();
        let mut part = deep(json!({"minLength": -1, "default": numbers}));
        part["$id"] = json!("urn:part");
        part["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        let diagnostics = Contract::compile(json!({"not": part})).unwrap_err().diagnostics;
        assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
        assert!(diagnostics[0].message.ends_with("too large to tell where"));
    }

    /// Sound in draft 7 alone.
    fn older() -> Value {
        json!({
            "$id": "urn:older",
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "array",
            "items": [{"type": "string"}],
        })
    }

    /// Sound in draft 4 alone, and named as is usual there.
    fn oldest() -> Value {
        let draft = "http://json-schema.org/draft-04/schema#";
        json!({"id": "urn:oldest", "$schema": draft, "maximum": 1, "exclusiveMaximum": true})
    }

    #[test]
    fn parts_of_a_large_schema_may_be_of_another_draft() {
        let examples: Vec<Value> = (0..90_000).map(|number| json!({ "number": number })).collect();
        let schema =
            json!({"properties": {"a": older(), "b": {"examples": examples}, "c": oldest()}});
        assert!(is_large(&schema));
        let compiled = Contract::compile(schema);
        assert!(compiled.is_ok(), "{:?}", compiled.err().map(|refusal| refusal.diagnostics));
    }

    /// Unsound, and copied once for each of the levels that hold it if anybody tells why.
    fn hostile(keyword: &str) -> Value {
        let numbers: Vec<u32> = (0..20_000).collect();
        let innermost = json!({"minLength": -1, "default": numbers});
        let mut schema = (0..50).fold(innermost, |schema, _| json!({ keyword: {"k": schema} }));
        schema["$id"] = json!("urn:hostile");
        schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        schema
    }

    #[test_case("http://json-schema.org/draft-04/schema#", "if"; "where this draft knows no schema")]
    #[test_case("https://json-schema.org/draft/2020-12/schema", "dependencies"; "where another did")]
    fn no_large_part_is_overlooked(draft: &str, keyword: &str) {
        let held = match keyword {
            "dependencies" => json!({"k": hostile("dependencies")}),
            _ => hostile("dependencies"),
        };
        let diagnostics =
            Contract::compile(json!({"$schema": draft, keyword: held})).unwrap_err().diagnostics;
        let told = |it: &Diagnostic| it.message.ends_with("too large to tell where");
        assert!(diagnostics.iter().any(told), "{diagnostics:?}");
    }

    #[test]
    fn whoever_is_sound_is_so_at_any_size() {
        let inner = json!({"$id": "urn:b", "items": [{}]});
        let outer = json!({"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"b": inner}});
        let examples: Vec<Value> = (0..90_000).map(|number| json!({ "number": number })).collect();
        for examples in [Vec::new(), examples] {
            let schema = json!({"properties": {"a": outer}, "examples": examples});
            let compiled = Contract::compile(schema);
            assert!(compiled.is_ok(), "{:?}", compiled.err().map(|refusal| refusal.diagnostics));
        }
    }

    #[test]
    fn there_are_not_too_many_parts() {
        let older: Vec<Value> = (0..300).map(|_| older()).collect();
        let diagnostics = Contract::compile(json!({ "allOf": older })).unwrap_err().diagnostics;
        assert!(diagnostics.iter().any(|it| it.code == "too_large"), "{diagnostics:?}");
    }

    #[test]
    fn parts_are_judged_by_their_own_draft_and_told_where_they_stand() {
        let mut wrong = older();
        wrong["items"][0]["minLength"] = json!(-1);
        wrong["maxItems"] = json!("many");
        wrong["$id"] = json!("urn:wrong");
        let parts = json!({"sound": older(), "oldest": oldest(), "wrong": wrong});
        let schema = json!({"minimum": "x", "properties": parts});
        let diagnostics = Contract::compile(schema).unwrap_err().diagnostics;
        let mut places: Vec<&str> = diagnostics.iter().map(|it| it.pointer.as_str()).collect();
        places.sort_unstable();
        let within = "/properties/wrong/items/0/minLength";
        assert_eq!(places, ["/minimum", within, "/properties/wrong/maxItems"], "{diagnostics:#?}");
    }

    #[test]
    fn what_fits_by_no_kind_is_told_which_do() {
        let draft = "http://json-schema.org/draft-07/schema#";
        let refusal = Contract::compile(json!({"$schema": draft, "items": 5})).unwrap_err();
        assert_eq!(refusal.diagnostics.len(), 1, "{:?}", refusal.diagnostics);
        let message = &refusal.diagnostics[0].message;
        assert_eq!(
            message,
            "not a valid JSON Schema: only `boolean`, `array`, `object` can stand here"
        );
    }

    #[test_case("http://json-schema.org/draft-07/schema#"; "draft 7")]
    #[test_case("https://json-schema.org/draft/2020-12/schema"; "draft 2020-12")]
    fn a_bad_pattern_is_told_once(draft: &str) {
        let schema = json!({"$schema": draft, "pattern": "(", "patternProperties": {"[": true}});
        let diagnostics = Contract::compile(schema).unwrap_err().diagnostics;
        let told: Vec<_> = diagnostics.iter().map(|it| (it.code, it.pointer.as_str())).collect();
        let (text, key) = ("/pattern", "/patternProperties/[");
        assert_eq!(told, [("invalid_pattern", text), ("invalid_pattern", key)], "{diagnostics:#?}");
    }

    #[test]
    fn what_is_wrong_beside_a_bad_pattern_is_told() {
        let draft = "http://json-schema.org/draft-04/schema#";
        let wrong = json!({"pattern": "(", "exclusiveMaximum": true});
        let schema = json!({"$schema": draft, "properties": {"patternProperties": wrong}});
        let diagnostics = Contract::compile(schema).unwrap_err().diagnostics;
        let mut codes: Vec<&str> = diagnostics.iter().map(|it| it.code).collect();
        codes.sort_unstable();
        assert_eq!(codes, ["invalid_pattern", "not_a_schema"], "{diagnostics:#?}");
    }

    #[test]
    fn no_more_is_told_of_a_fault_than_can_be_read() {
        let schema = json!({"minLength": "x".repeat(100_000)});
        let diagnostics = Contract::compile(schema).unwrap_err().diagnostics;
        assert_eq!(diagnostics.len(), 1);
        assert!(diagnostics[0].message.chars().count() < DETAIL_LIMIT_CHARS + 50);
    }
}
