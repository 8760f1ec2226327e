//! The laws of following an answer, over generated contracts and the official suite.

use std::fmt::Write;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use test_case::test_case;

use super::{Checker, Follower, Impossible, Plan, Progress};
use crate::arbitrary::case;
use crate::contract::Options;
use crate::json::{Limits, ParseErrorKind};
use crate::suite::{DRAFTS, Group, Suite, Test};
use crate::verdict::check;
use crate::{Contract, Document};

fn plan(schema: &Value) -> Arc<Plan> {
    Arc::new(Plan::compile(&Contract::compile(schema.clone()).unwrap()))
}

/// Pushes `text` in chunks of `size` bytes and ends it.
fn follow(plan: &Arc<Plan>, text: &[u8], size: usize) -> Progress {
    let mut checker = Checker::new(Arc::clone(plan));
    for chunk in text.chunks(size) {
        checker.push(chunk);
    }
    checker.finish().clone()
}

fn impossible(schema: &Value, text: &str) -> Impossible {
    match follow(&plan(schema), text.as_bytes(), 1) {
        Progress::Impossible(impossible) => *impossible,
        progress @ (Progress::Possible | Progress::Complete) => {
            panic!("{progress:?} for {text} under {schema}")
        }
    }
}

/// Decides what the writer may vary, from a stream of random bytes.
struct Whims<'w>(std::iter::Cycle<std::slice::Iter<'w, u8>>);

impl Whims<'_> {
    fn next(&mut self) -> u8 {
        *self.0.next().unwrap()
    }
}

/// Writes `value` with random member order, white space and escapes.
fn write_freely(value: &Value, whims: &mut Whims<'_>, out: &mut String) {
    space(whims, out);
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => write!(out, "{value}").unwrap(),
        Value::String(text) => write_string(text, whims, out),
        Value::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_freely(item, whims, out);
            }
            space(whims, out);
            out.push(']');
        }
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            for place in 0..members.len() {
                let other = usize::from(whims.next()) % members.len();
                members.swap(place, other);
            }
            out.push('{');
            for (position, (key, member)) in members.into_iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                space(whims, out);
                write_string(key, whims, out);
                space(whims, out);
                out.push(':');
                write_freely(member, whims, out);
            }
            space(whims, out);
            out.push('}');
        }
    }
    space(whims, out);
}

fn space(whims: &mut Whims<'_>, out: &mut String) {
    out.push_str(match whims.next() % 16 {
        0 => " ",
        1 => "\n\t",
        2 => "\r\n ",
        _ => "",
    });
}

fn write_string(text: &str, whims: &mut Whims<'_>, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match (character, whims.next() % 4) {
            (_, 0) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}").unwrap();
                }
            }
            ('/', 1) => out.push_str("\\/"),
            ('"' | '\\', _) => out.extend(['\\', character]),
            (control, _) if control < ' ' => write!(out, "\\u{:04X}", control as u32).unwrap(),
            (plain, _) => out.push(plain),
        }
    }
    out.push('"');
}

fn freely(value: &Value, whims: &[u8]) -> String {
    let mut out = String::new();
    write_freely(value, &mut Whims(whims.iter().cycle()), &mut out);
    out
}

fn whims() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 1..64)
}

/// Claims that `early` could grow into `late`.
fn is_beginning(early: &Value, late: &Value) -> bool {
    match (early, late) {
        (Value::String(early), Value::String(late)) => late.starts_with(early.as_str()),
        (Value::Array(early), Value::Array(late)) => {
            early.len() <= late.len() && early.iter().zip(late).all(|(e, l)| is_beginning(e, l))
        }
        (Value::Object(early), Value::Object(late)) => {
            early.len() <= late.len()
                && early.iter().zip(late).all(|(e, l)| e.0 == l.0 && is_beginning(e.1, l.1))
        }
        (early, late) => early == late,
    }
}

/// Checks a finished answer's progress against the byte-by-byte definition of its offset.
fn offset_is_exact(plan: &Arc<Plan>, text: &[u8], progress: &Progress) -> bool {
    let Progress::Impossible(impossible) = progress else {
        return true;
    };
    let mut checker = Checker::new(Arc::clone(plan));
    let before = !matches!(checker.push(&text[..impossible.offset]), Progress::Impossible(_));
    let at = match text.get(impossible.offset) {
        Some(byte) => checker.push(&[*byte]),
        None => checker.finish(),
    };
    before && at == progress
}

proptest! {
    #[test]
    fn conforming_answers_are_never_impossible(case in case(), whims in whims(), size in 1usize..9) {
        let plan = plan(&case.schema);
        let text = freely(&case.answer, &whims);
        let mut checker = Checker::new(plan);
        for chunk in text.as_bytes().chunks(size) {
            let progress = checker.push(chunk);
            prop_assert!(!matches!(progress, Progress::Impossible(_)), "{progress:?} {text} {}", case.schema);
        }
        prop_assert_eq!(checker.finish(), &Progress::Complete);
        prop_assert_eq!(checker.push(b" \n"), &Progress::Complete);
    }

    #[test]
    fn what_is_impossible_is_rejected(
        case in case(), whims in whims(), place in any::<prop::sample::Index>(), other in any::<u8>(),
    ) {
        let mut text = freely(&case.answer, &whims).into_bytes();
        let place = place.index(text.len());
        text[place] = other % 0x60 + 0x20;
        let plan = plan(&case.schema);
        let progress = follow(&plan, &text, 3);
        prop_assert_eq!(&progress, &follow(&plan, &text, 1));
        prop_assert_eq!(&progress, &follow(&plan, &text, text.len()));
        prop_assert!(offset_is_exact(&plan, &text, &progress), "{progress:?}");
        if let Progress::Impossible(_) = progress {
            let contract = Contract::compile(case.schema.clone()).unwrap();
            let accepted = Document::parse_bytes(&text, &Limits::default())
                .is_ok_and(|value| !value.has_duplicates() && check(&contract, &value).is_empty());
            prop_assert!(!accepted, "{:?} {progress:?} {}", String::from_utf8_lossy(&text), case.schema);
        }
    }

    #[test]
    fn answers_to_another_contract_are_judged_as_the_verdict_does(
        asked in case(), answered in case(), whims in whims(),
    ) {
        let text = freely(&answered.answer, &whims);
        let plan = plan(&asked.schema);
        let progress = follow(&plan, text.as_bytes(), 2);
        prop_assert!(offset_is_exact(&plan, text.as_bytes(), &progress), "{progress:?}");
        prop_assert_eq!(&progress, &follow(&plan, text.as_bytes(), 1000));
        let contract = Contract::compile(asked.schema.clone()).unwrap();
        let violations = check(&contract, &Document::parse(text.as_str()).unwrap());
        // The generated contracts use nothing that the plan does not follow.
        prop_assert!(plan.unenforced().is_empty());
        let is_impossible = matches!(progress, Progress::Impossible(_));
        prop_assert_eq!(is_impossible, !violations.is_empty(), "{} {} {:?}", text, asked.schema, violations);
    }

    #[test]
    fn bytes_are_json_where_the_parser_agrees(text in r#"[\[\]{}:,"\\u0-9aDdeE+.tfn \-äé😀]{0,24}"#) {
        let progress = follow(&Arc::new(Plan::anything()), text.as_bytes(), 1);
        let parsed = Document::parse(text.as_str()).is_ok_and(|value| !value.has_duplicates());
        prop_assert_eq!(progress == Progress::Complete, parsed, "{:?} {:?}", progress, text);
    }

    #[test]
    fn an_answer_that_ends_early_is_not_complete(case in case(), whims in whims(), end in any::<prop::sample::Index>()) {
        let text = freely(&case.answer, &whims);
        let cut = &text.as_bytes()[..end.index(text.len())];
        let progress = follow(&plan(&case.schema), cut, 5);
        let conforms = Document::parse_bytes(cut, &Limits::default())
            .is_ok_and(|value| check(&Contract::compile(case.schema.clone()).unwrap(), &value).is_empty());
        prop_assert_eq!(progress == Progress::Complete, conforms, "{:?}", progress);
    }

    #[test]
    fn any_bytes_are_read_alike_however_cut(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
        let plan = Arc::new(Plan::anything());
        let text = [b"[\"", bytes.as_slice(), b"\"]"].concat();
        let whole = follow(&plan, &text, text.len());
        prop_assert_eq!(&whole, &follow(&plan, &text, 1));
        prop_assert!(offset_is_exact(&plan, &text, &whole));
        let parsed = Document::parse_bytes(&text, &Limits::default());
        prop_assert_eq!(whole == Progress::Complete, parsed.is_ok());
    }

    #[test]
    fn the_growing_value_grows_into_the_value(case in case(), whims in whims(), size in 1usize..9) {
        let text = freely(&case.answer, &whims);
        let last = Document::parse(text.as_str()).unwrap().to_value();
        let mut follower = Follower::new(plan(&case.schema));
        for chunk in text.as_bytes().chunks(size) {
            follower.push(chunk);
            if let Some(early) = follower.growing().to_value() {
                prop_assert!(is_beginning(&early, &last), "{early} {last}");
            }
        }
        prop_assert_eq!(follower.finish(), &Progress::Complete);
        let root = follower.growing().root().unwrap();
        prop_assert!(root.is_complete());
        prop_assert_eq!(root.to_value(), last);
    }
}

#[test_case(&json!({"type": "object"}), "[", "type", "", 0; "kind by its first byte")]
#[test_case(&json!({"type": "integer"}), "1.5 ", "type", "", 3; "fraction at the end of the number")]
#[test_case(&json!({"enum": ["info", "warning"]}), r#""infx"#, "enum", "", 4; "choice by its prefix")]
#[test_case(&json!({"enum": ["info", "warning"]}), r#""in""#, "enum", "", 3; "choice cut short")]
#[test_case(&json!({"const": "é"}), r#""\u00ea"#, "const", "", 6; "constant by an escape")]
#[test_case(&json!({"enum": [1, 2, true]}), "[3,", "enum", "", 0; "kind of a choice")]
#[test_case(&json!({"enum": [1, 2, true]}), "3,", "enum", "", 1; "number that is no choice")]
#[test_case(&json!({"enum": [1, true]}), "false", "enum", "", 4; "word that is no choice")]
#[test_case(&json!({"maxLength": 2}), r#""äöü"#, "maxLength", "", 6; "length as soon as passed")]
#[test_case(&json!({"minLength": 2}), r#""ä""#, "minLength", "", 3; "length at the end")]
#[test_case(&json!({"pattern": "^a+$"}), r#""aab""#, "pattern", "", 4; "pattern at the end")]
#[test_case(&json!({"format": "date"}), r#""2026-02-30""#, "format", "", 11; "format at the end")]
#[test_case(&json!({"exclusiveMaximum": 3}), "3.0\n", "exclusiveMaximum", "", 3; "bound")]
#[test_case(&json!({"multipleOf": 0.5}), "1.25 ", "multipleOf", "", 4; "multiple")]
#[test_case(&json!({"maxItems": 1}), "[1, 2", "maxItems", "", 4; "one item too many")]
#[test_case(&json!({"minItems": 1}), "[]", "minItems", "", 1; "one item too few")]
#[test_case(&json!({"prefixItems": [true], "items": false}), "[1,[", "false", "/1", 3; "closed tuple")]
#[test_case(&json!({"required": ["a", "b"]}), r#"{"b":1}"#, "required", "", 6; "required at the end")]
#[test_case(&json!({"maxProperties": 1}), r#"{"a":1,"b"#, "maxProperties", "", 7; "one member too many")]
#[test_case(&json!({"minProperties": 1}), "{}", "minProperties", "", 1; "one member too few")]
#[test_case(
    &json!({"properties": {"level": {}}, "additionalProperties": false}),
    r#"{"lex"#, "additionalProperties", "", 4; "key by its prefix"
)]
#[test_case(
    &json!({"patternProperties": {"^x-": {"type": "null"}}, "additionalProperties": false}),
    r#"{"x-a":null,"y":1"#, "additionalProperties", "", 14; "key that matches no pattern"
)]
#[test_case(
    &json!({"properties": {"a/b": {"items": {"type": "string"}}}}),
    r#"{"a/b":["",1"#, "type", "/a~1b/1", 11; "deep inside"
)]
#[test_case(
    &json!({"$defs": {"tree": {"items": {"$ref": "#/$defs/tree"}, "type": "array"}}, "$ref": "#/$defs/tree"}),
    "[[],[[[0", "type", "/1/0/0/0", 7; "recursion"
)]
#[test_case(&json!({}), r#"{"a":1,"\u0061":2}"#, "duplicate_key", "/a", 14; "key said twice")]
#[test_case(&json!({}), "{'a'", "json", "", 1; "not json")]
#[test_case(&json!({}), "[1,]", "json", "", 3; "trailing comma")]
#[test_case(&json!({}), "{} x", "json", "", 3; "text behind the value")]
#[test_case(&json!({}), "[1", "json", "", 2; "truncated")]
#[test_case(&json!({}), " ", "json", "", 1; "empty")]
#[test_case(&json!({}), "1e999,", "json", "", 5; "number out of range")]
fn the_byte_that_dooms_an_answer_is_named(
    schema: &Value,
    text: &str,
    keyword: &str,
    pointer: &str,
    offset: usize,
) {
    let Impossible { violation, offset: found } = impossible(schema, text);
    let expected = (keyword, pointer, offset);
    assert_eq!((violation.keyword.as_str(), violation.pointer.as_str(), found), expected);
}

#[test]
fn a_tagged_union_is_followed_branch_by_branch() {
    let branch = |kind: &str, value: &Value| {
        json!({
            "type": "object",
            "properties": {"kind": {"const": kind}, "value": value},
            "required": ["kind", "value"],
        })
    };
    let text = json!({"type": "string"});
    let schema = json!({"items": {
        "oneOf": [branch("text", &text), branch("count", &json!({"type": "integer"}))],
    }});
    let found =
        impossible(&schema, r#"[{"kind":"text","value":"a"},{"kind":"count","value":"a"}]"#);
    assert_eq!((found.violation.keyword.as_str(), found.offset), ("oneOf", 53));
    assert_eq!(
        found.violation.message,
        "no alternative of `oneOf` is left; the last fails at /1/value: expected number"
    );
    // The tag may come last.
    let late = impossible(&schema, r#"[{"value":"a","kind":"count"}]"#);
    assert_eq!((late.violation.pointer.as_str(), late.offset), ("/0", 22));
}

#[test]
fn what_cannot_be_followed_is_listed_and_never_refused() {
    let schema = json!({
        "properties": {
            "a": {"not": {"type": "string"}},
            "b": {"$ref": "#anchor"},
            "c": {"$id": "https://example.com/c", "$ref": "#/$defs/x", "$defs": {"x": {}}},
            "d": {"enum": [[1]]},
            "e": {"oneOf": [{"type": "string"}, {"minLength": 1}]},
        },
        "$defs": {"anchor": {"$anchor": "anchor"}, "x": {"type": "null"}},
    });
    let plan = plan(&schema);
    let listed: Vec<_> =
        plan.unenforced().iter().map(|u| (u.pointer.as_str(), u.keyword.as_str())).collect();
    assert_eq!(
        listed,
        [
            ("/properties/a", "not"),
            ("/properties/b", "$ref"),
            ("/properties/c", "$id"),
            ("/properties/d", "enum"),
            ("/properties/e", "oneOf"),
        ]
    );
    let text = r#"{"a":"","b":1,"c":1,"d":[2],"e":"both"}"#;
    assert_eq!(follow(&plan, text.as_bytes(), 1), Progress::Complete);
}

#[test]
fn what_is_impossible_stays_so() {
    let mut checker = Checker::new(plan(&json!({"type": "null"})));
    let first = checker.push(b"1").clone();
    assert!(matches!(first, Progress::Impossible(_)));
    assert_eq!(checker.push(b" null"), &first);
    assert_eq!(checker.finish(), &first);
}

#[test]
fn growing_values_can_be_read_while_they_grow() {
    let mut follower = Follower::new(Arc::new(Plan::anything()));
    follower.push(br#"{"title":"Half a sen"#);
    let root = follower.growing().root().unwrap();
    let (key, title) = root.members().next().unwrap();
    assert_eq!((key, title.text(), title.is_complete()), ("title", "Half a sen", false));
    follower.push(br#"tence","score":1"#);
    assert_eq!(follower.growing().to_value(), Some(json!({"title": "Half a sentence"})));
    follower.push(br#"2,"tags":["#);
    let expected = json!({"title": "Half a sentence", "score": 12, "tags": []});
    assert_eq!(follower.growing().to_value(), Some(expected));
}

#[test]
fn limits_are_impossible_at_the_byte_that_passes_them() {
    let limits = Limits { bytes: 8, depth: 2, nodes: 3 };
    let over = |text: &str| {
        let mut checker = Checker::within(Arc::new(Plan::anything()), limits);
        match checker.push(text.as_bytes()) {
            Progress::Impossible(found) => {
                (found.offset, found.violation.keyword.clone(), found.violation.message.clone())
            }
            progress @ (Progress::Possible | Progress::Complete) => {
                panic!("{progress:?} for {text}")
            }
        }
    };
    let limit = |offset, kind: ParseErrorKind| (offset, "limit".to_owned(), kind.to_string());
    assert_eq!(over("[[[["), limit(2, ParseErrorKind::TooDeep { limit: 2 }));
    assert_eq!(over("[1,2,3]"), limit(5, ParseErrorKind::TooManyNodes { limit: 3 }));
    assert_eq!(over("[1234567]"), limit(8, ParseErrorKind::TooLarge { size: 9, limit: 8 }));
}

#[test]
fn branching_chains_cost_no_more_than_their_length() {
    let mut definitions = serde_json::Map::new();
    for level in 0..30 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), json!({"anyOf": [next, next], "allOf": [next]}));
    }
    definitions.insert("d30".to_owned(), json!({"type": "string"}));
    let schema = json!({"items": {"$ref": "#/$defs/d0"}, "$defs": definitions});
    let items = "\"\",".repeat(1000);
    assert_eq!(impossible(&schema, &format!("[{items}1]")).offset, 3001);
}

#[test]
#[expect(clippy::print_stderr, reason = "the share left to the verdict is worth knowing")]
fn the_official_suite_is_never_refused_wrongly() {
    let Some(suite) = Suite::open() else {
        return;
    };
    let mut followed = Followed::default();
    for (name, draft) in DRAFTS {
        let options = suite.options(name, draft);
        let optional = suite.optional(name).into_iter().map(|(_, file)| file);
        for file in suite.required(name).into_iter().chain(optional) {
            for group in Group::read(&file).unwrap_or_default() {
                follow_group(&group, &options, &mut followed);
            }
        }
    }
    eprintln!("{followed:?}");
    assert!(followed.clean > 3000 && followed.caught > 1500, "{followed:?}");
}

#[derive(Debug, Default)]
struct Followed {
    /// Tests whose value conforms.
    clean: usize,
    /// Tests whose value does not, found impossible.
    caught: usize,
    /// Tests whose value does not, left to the verdict.
    left: usize,
    /// Groups that are no contract for us: look-around, drafts of others.
    uncompiled: usize,
}

fn follow_group(group: &Group, options: &Options, followed: &mut Followed) {
    let Ok(contract) = group.contract(options) else {
        followed.uncompiled += 1;
        return;
    };
    let plan = Arc::new(Plan::compile(&contract));
    for Test { value, name, .. } in &group.tests {
        let progress = follow(&plan, value.text().as_bytes(), 1);
        match (check(&contract, value).is_empty(), &progress) {
            (true, Progress::Complete) => followed.clean += 1,
            (false, Progress::Impossible(_)) => followed.caught += 1,
            (false, _) => followed.left += 1,
            (true, _) => panic!("{progress:?} for {name} of {}", group.name),
        }
    }
}
