//! Single decisions of lowering, and the seed contracts in every dialect.

use jsonschema::Draft;
use serde_json::json;
use test_case::test_case;

use super::original::Original;
use super::*;
use crate::Document;
use crate::contract::{Options, Preflight, Scrutiny};

fn lowered(schema: Value, dialect: Dialect) -> Lowering {
    lower(&Contract::compile(schema).unwrap(), dialect).unwrap()
}

fn read_back(lowering: &Lowering, answer: &str) -> String {
    lowering.inverse.apply(&Document::parse(answer).unwrap()).unwrap().to_compact()
}

fn seed(name: &str) -> Contract {
    let text = match name {
        "agent-response" => include_str!("../../../../schemas/agent-response.json"),
        _ => include_str!("../../../../schemas/code-review.json"),
    };
    Contract::compile(serde_json::from_str(text).unwrap()).unwrap()
}

#[test_case("agent-response")]
#[test_case("code-review")]
fn seed_contracts_in_every_dialect(name: &str) {
    let contract = seed(name);
    for dialect in Dialect::ALL {
        let lowering = lower(&contract, dialect).unwrap();
        let report = json!({
            "schema": *lowering.schema,
            "losses": lowering.losses,
            "narrowings": lowering.narrowings,
        });
        insta::assert_json_snapshot!(format!("{name}.{}", dialect.name()), report);
    }
}

#[test]
fn null_says_absent_unless_the_contract_means_null() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": ["string", "null"]}},
        "additionalProperties": false
    });
    let lowering = lowered(schema, Dialect::OpenaiStrict);
    assert_eq!(read_back(&lowering, r#"{"a":null,"b":null}"#), r#"{"b":null}"#);
    let narrowing = Narrowing { pointer: "/properties/b".into(), unsayable: Unsayable::Absence };
    assert_eq!(lowering.narrowings, [narrowing]);
}

#[test_case("http://json-schema.org/draft-07/schema#", &["contentEncoding", "contentMediaType"])]
#[test_case("https://json-schema.org/draft/2020-12/schema", &[])]
fn content_is_lost_where_the_draft_asserts_it(draft: &str, lost: &[&str]) {
    let schema = json!({
        "$schema": draft,
        "type": "object",
        "properties": {"a": {
            "type": "string",
            "contentEncoding": "base64",
            "contentMediaType": "application/json",
        }},
        "required": ["a"],
        "additionalProperties": false
    });
    for dialect in Dialect::ALL {
        let losses = lowered(schema.clone(), dialect).losses;
        let keywords: Vec<_> = losses.iter().map(|loss| loss.keyword.as_str()).collect();
        assert_eq!(keywords, lost, "{dialect:?}");
    }
}

#[test]
fn numbers_keep_their_digits_on_the_way_back() {
    let schema = json!({"type": "array", "items": {"type": "number"}});
    let lowering = lowered(schema, Dialect::Codex);
    let answer = r#"{"value": [1.10, 123456789012345678901234567890, 1E2]}"#;
    assert_eq!(read_back(&lowering, answer), "[1.10,123456789012345678901234567890,1E2]");
}

#[test]
fn a_long_key_is_not_copied_for_each_value_under_it() {
    let schema = json!({"type": "array", "items": {"type": "number"}});
    let lowering = lowered(schema, Dialect::Codex);
    // With its key written out for each of them, a terabyte would be copied.
    let key = "k".repeat(1_000_000);
    let value = format!(r#"[{{"{key}":[{}]}}]"#, vec!["0"; 1_000_000].join(","));
    assert!(read_back(&lowering, &format!(r#"{{"value":{value}}}"#)) == value);
}

#[test]
fn maps_travel_as_text_where_objects_must_be_closed() {
    let schema = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let lowering = lowered(schema, Dialect::OpenaiStrict);
    assert_eq!(read_back(&lowering, r#"{"json":"{\"a\": 1.0}"}"#), r#"{"a":1.0}"#);
    let broken = Document::parse(r#"{"json":"{\"a\": "}"#).unwrap();
    let Err(InverseError::NotJson { pointer, .. }) = lowering.inverse.apply(&broken) else {
        panic!("text that is no JSON")
    };
    assert!(pointer.is_root(), "the contract has no member {pointer}");
    assert_eq!(lowering.losses[0].enforced_by, EnforcedBy::Description);
}

#[test]
fn the_text_carrier_is_a_name_that_the_contract_does_not_use() {
    let schema = json!({
        "type": "object",
        "properties": {"json": {"type": "string"}, "free": {}},
        "required": ["json", "free"],
        "additionalProperties": false
    });
    let lowering = lowered(schema, Dialect::OpenaiStrict);
    let answer = r#"{"json":"[]","free":{"json_":"[]"}}"#;
    assert_eq!(read_back(&lowering, answer), r#"{"json":"[]","free":[]}"#);
}

#[test]
fn branches_told_apart_by_a_tag_read_null_each_in_their_own_way() {
    let schema = json!({"type": "object", "properties": {"event": {"anyOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}, "note": {"type": "string"}},
         "required": ["kind"], "additionalProperties": false},
        {"type": "object", "properties": {"kind": {"const": "b"}, "note": {"type": ["string", "null"]}},
         "required": ["kind", "note"], "additionalProperties": false}
    ]}}, "required": ["event"], "additionalProperties": false});
    let lowering = lowered(schema, Dialect::OpenaiStrict);
    assert_eq!(lowering.narrowings, []);
    let absent = r#"{"event":{"kind":"a","note":null}}"#;
    let null = r#"{"event":{"kind":"b","note":null}}"#;
    assert_eq!(read_back(&lowering, absent), r#"{"event":{"kind":"a"}}"#);
    assert_eq!(read_back(&lowering, null), null);
}

#[test]
fn branches_that_cannot_be_told_apart_are_narrowed() {
    let closed = |note: Value, required: Value| {
        json!({"type": "object", "properties": {"note": note}, "required": required,
               "additionalProperties": false})
    };
    let schema = json!({"type": "object", "properties": {"event": {"anyOf": [
        closed(json!({"type": "string"}), json!([])),
        closed(json!({"type": "null"}), json!(["note"])),
    ]}}, "required": ["event"], "additionalProperties": false});
    let lowering = lowered(schema, Dialect::OpenaiStrict);
    let pointer = "/properties/event/anyOf/0/properties/note".into();
    assert_eq!(lowering.narrowings, [Narrowing { pointer, unsayable: Unsayable::Absence }]);
    let null = r#"{"event":{"note":null}}"#;
    assert_eq!(read_back(&lowering, null), null);
}

#[test]
fn anthropic_gets_nulls_past_its_limit_of_optionals_and_text_past_its_limit_of_unions() {
    let members = |count: usize| {
        let members = (0..count).map(|n| (format!("p{n}"), json!({"type": "string"})));
        let properties: serde_json::Map<_, _> = members.collect();
        json!({"type": "object", "properties": properties, "additionalProperties": false})
    };
    let some = lowered(members(30), Dialect::Anthropic);
    assert_eq!(some.schema["required"].as_array().unwrap().len(), 6);
    assert_eq!(read_back(&some, r#"{"p0":"x","p24":null,"p29":"y"}"#), r#"{"p0":"x","p29":"y"}"#);
    let many = lowered(members(50), Dialect::Anthropic);
    assert_eq!(many.pre_image(&json!({"p7": "x"})), Some(json!({"json": "{\"p7\":\"x\"}"})));
}

#[test]
fn claude_code_gets_the_words_of_draft_7() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "x-version": "1.0.0",
        "properties": {
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false},
            "link": {"$ref": "#/$defs/link"}
        },
        "dependentRequired": {"pair": ["link"]},
        "$defs": {"link": {"type": "string"}}
    });
    let lowering = lowered(schema, Dialect::ClaudeCode);
    let expected = json!({
        "type": "object",
        "properties": {
            "pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "maxItems": 2},
            "link": {"$ref": "#/definitions/link"}
        },
        "dependencies": {"pair": ["link"]},
        "definitions": {"link": {"type": "string"}}
    });
    assert_eq!(*lowering.schema, expected);
    assert_eq!(lowering.losses, []);
}

#[test]
fn keywords_that_the_draft_does_not_know_gain_no_meaning() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "const": {"a": 1},
        "if": true,
        "then": {"required": ["b"]},
        "dependentRequired": {"a": ["b"]}
    });
    let lowering = lowered(schema, Dialect::ClaudeCode);
    assert_eq!(*lowering.schema, json!({"type": "object"}));
}

#[test_case("http://json-schema.org/draft-04/schema#", "uuid"; "a format of later drafts")]
#[test_case("http://json-schema.org/draft-07/schema#", "duration"; "another format of later drafts")]
#[test_case("https://json-schema.org/draft/2020-12/schema", "banana"; "a format of nobody")]
fn formats_that_the_verdict_does_not_know_are_told_and_neither_sent_nor_lost(
    draft: &str,
    format: &str,
) {
    let schema = json!({"$schema": draft, "type": "string", "format": format});
    let told = json!({"type": "string", "description": format!("format {format}")});
    let wrapped = json!({
        "type": "object",
        "properties": {"value": told},
        "required": ["value"],
        "additionalProperties": false
    });
    for dialect in Dialect::ALL {
        let lowering = lowered(schema.clone(), dialect);
        let expected = if lowering.inverse.is_wrapped { &wrapped } else { &told };
        assert_eq!(&*lowering.schema, expected, "{dialect:?}");
        assert_eq!((lowering.losses, lowering.narrowings), (vec![], vec![]), "{dialect:?}");
    }
}

#[test]
fn llguidance_is_not_believed_in_formats_that_it_cannot_be_helped_with() {
    for (format, beside) in [("date", 1), ("email", 1), ("uuid", 0), ("ipv4", 0)] {
        let alone = json!({"type": "string", "format": format});
        assert_eq!(lowered(alone, Dialect::Llguidance).losses, []);
        let schema = json!({"type": "string", "pattern": "^.{4}", "format": format});
        let lowering = lowered(schema.clone(), Dialect::Llguidance);
        assert_eq!((&*lowering.schema, lowering.losses.len()), (&schema, beside), "{format}");
    }
}

#[test]
fn objects_that_cannot_be_leave_values_of_other_types() {
    let schema = json!({"properties": {"a": false}, "required": ["a"]});
    for dialect in [Dialect::LlamaCpp, Dialect::Llguidance, Dialect::Vllm, Dialect::ClaudeCode] {
        let lowering = lowered(schema.clone(), dialect);
        assert_eq!(lowering.pre_image(&json!({"a": 1})), None, "{dialect:?}");
        assert!(lowering.pre_image(&json!(1)).is_some(), "{dialect:?}");
    }
}

#[test]
fn definitions_have_names_that_no_converter_takes_for_one() {
    let node = |name: &str| json!({"type": name});
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/a_b"},
            "b": {"$ref": "#/$defs/a__b"},
            "c": {"$ref": "#/$defs/_a_b"}
        },
        "$defs": {"a_b": node("string"), "a__b": node("integer"), "_a_b": node("null")}
    });
    let lowering = lowered(schema, Dialect::LlamaCpp);
    let expected = json!({
        "ab": node("string"), "ab1": node("integer"), "ab2": node("null")
    });
    assert_eq!(lowering.schema["$defs"], expected);
}

#[test]
fn a_schema_that_nothing_satisfies_is_refused() {
    let options = Options { scrutiny: Scrutiny::Permissive, ..Options::default() };
    let schema = json!({"allOf": [{"type": "string"}, {"type": "null"}]});
    let contract = Preflight::of(schema, &options).into_result().unwrap();
    for dialect in Dialect::ALL {
        assert!(lower(&contract, dialect).is_err(), "{dialect:?}");
    }
}

#[test_case("^(a|b)$", Dialect::LlamaCpp, true)]
#[test_case("^a|b$", Dialect::LlamaCpp, false)]
#[test_case("a", Dialect::LlamaCpp, false)]
#[test_case("(?:a)b", Dialect::OpenaiStrict, true)]
#[test_case(r"\bword\b", Dialect::Anthropic, false)]
#[test_case(r"^\(?[0-9]{3}\)?[(?!]$", Dialect::Anthropic, true; "brackets that open no group")]
#[test_case(r"^C:\\bin\\1$", Dialect::Anthropic, true; "backslashes that escape nothing else")]
#[test_case("^a{1,500}$", Dialect::Anthropic, false)]
#[test_case("^a{1,50}$", Dialect::Anthropic, true)]
#[test_case("^a^b$", Dialect::LlamaCpp, false)]
#[test_case("^[a$^]b$", Dialect::LlamaCpp, true)]
#[test_case(r"^a\$", Dialect::LlamaCpp, false)]
#[test_case(r"^a\$$", Dialect::LlamaCpp, true; "an escaped dollar before the end")]
#[test_case(r"^a\b$", Dialect::LlamaCpp, false)]
#[test_case(r"a\-b", Dialect::ClaudeCode, true)]
fn patterns_are_kept_where_they_are_understood(pattern: &str, dialect: Dialect, kept: bool) {
    let lowering = lowered(json!({"type": "string", "pattern": pattern}), dialect);
    assert_eq!(lowering.schema.to_string().contains("\"pattern\""), kept);
    assert_eq!(lowering.losses.is_empty(), kept);
}

#[test_case("^x_", "y_a", true; "no name matches")]
#[test_case("^x_", "x_a", false; "a name matches")]
#[test_case("^[😀-🙏]", "y", false; "a set that is another without the flag")]
fn claude_is_sent_patterns_of_names_that_its_validator_takes(
    pattern: &str,
    name: &str,
    kept: bool,
) {
    let integer = json!({"type": "integer"});
    let schema = json!({
        "type": "object",
        "properties": {name: integer},
        "patternProperties": {pattern: integer},
    });
    let lowering = lowered(schema, Dialect::ClaudeCode);
    assert_eq!(lowering.schema.get("patternProperties").is_some(), kept);
    assert_eq!(lowering.losses.is_empty(), kept);
}

#[test]
fn claude_is_sent_patterns_that_its_validator_reads() {
    let pattern = |pattern: &str| {
        let schema =
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}});
        lowered(schema, Dialect::ClaudeCode).schema["properties"]["a"]["pattern"].clone()
    };
    assert_eq!(pattern(r"^\d{3}-x$"), r"^\d{3}-x$");
    assert_eq!(pattern(r"^\d{3}\-x$"), "^[0-9]{3}-x$");
    let schema = json!({"type": "object", "patternProperties": {r"^a\-": {"type": "string"}}});
    let schema = lowered(schema, Dialect::ClaudeCode).schema;
    assert_eq!(schema["patternProperties"], json!({"^a-": {"type": "string"}}));
}

#[test]
fn names_are_parsed_and_printed() {
    for dialect in Dialect::ALL {
        assert_eq!(Dialect::parse(dialect.name()), Some(dialect));
    }
    assert_eq!(Dialect::parse("ollama"), Some(Dialect::LlamaCpp));
    assert_eq!(Dialect::parse("openai"), None);
}

#[test]
fn portability_has_a_row_for_every_dialect() {
    let rows = portability(&seed("code-review"));
    let fits: Vec<_> = rows.iter().map(|row| (row.dialect, row.fit)).collect();
    assert_eq!(rows.len(), Dialect::ALL.len());
    assert!(fits.contains(&(Dialect::Vllm, Fit::Adapted)), "{rows:?}");
    assert!(fits.contains(&(Dialect::Codex, Fit::Adapted)), "{rows:?}");
    assert!(rows[0].notes.contains(&"the root is wrapped in `value`".to_owned()));
}

#[test]
fn addresses_and_anchors_in_data_are_data() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"$ref": "#named"},
            "b": {"enum": [{"$id": "https://example.org/b", "$anchor": "named"}]},
            "const": {"type": "string", "$anchor": "named"}
        },
        "required": ["a", "b", "const"],
        "additionalProperties": false,
        "examples": [{"$id": "https://example.org/c"}]
    });
    let original = Original::new(&schema, Draft::Draft202012);
    let (pointer, _) = original.resolve("#named").unwrap();
    assert_eq!(pointer.as_str(), "/properties/const");
}
