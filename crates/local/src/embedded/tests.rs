//! With random weights the model says nothing sensible, so what holds here is the grammar's doing.

use airtight_core::{Allowance, Contract, Dialect, Strictness, Verdict, judge, lower};
use serde_json::json;
use test_case::test_case;

use super::*;
use crate::chat::Role;
use crate::place::Place;
use crate::trial::Gguf;

fn embedded() -> Embedded {
    let (_folder, path) = Gguf::model(2).save();
    Embedded::open(&path, 1).unwrap()
}

fn ask(text: &str) -> Vec<Turn> {
    vec![Turn { role: Role::User, text: text.to_owned() }]
}

fn random(seed: u64) -> Sampling {
    Sampling::Random { temperature: 1.0, seed }
}

fn answer(embedded: &mut Embedded, schema: &Value, seed: u64, budget: usize) -> Completion {
    let question = Question {
        turns: &ask("go"),
        schema: Some(schema),
        sampling: random(seed),
        budget,
        closing: Closing::Anything,
    };
    embedded.answer(question, &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test_case(json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a", "b"], "additionalProperties": false}))]
#[test_case(json!({"type": "array", "items": {"type": "array", "items": {"enum": ["x", 1, null]}}, "minItems": 2}))]
#[test_case(json!({"anyOf": [{"type": "string", "pattern": "^[a-z]{3}-[0-9]+$"}, {"type": "object", "properties": {"n": {"type": "number", "minimum": 0, "maximum": 9}}, "required": ["n"]}]}))]
#[test_case(json!({"type": "object", "additionalProperties": {"type": "boolean"}}))]
#[test_case(json!({"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}, "minItems": 2, "maxItems": 2}))]
#[test_case(json!({"type": "string", "format": "date-time"}))]
#[test_case(json!({"type": "string", "format": "email"}))]
#[test_case(json!({"type": "string", "format": "hostname"}))]
#[test_case(json!({"type": "string", "minLength": 20, "maxLength": 30}))]
#[test_case(json!({"type": "string", "pattern": "^[[:alpha:]]+$"}); "no class of POSIX")]
#[test_case(json!({"type": "string", "pattern": "^[a-z&&[aeiou]]+$"}); "no sets of classes")]
#[test_case(json!({"type": "string", "pattern": r"^\s\cA\S$"}); "spaces and control characters")]
#[test_case(json!({"type": "string", "pattern": "^(?<year>[12][0-9]{3})-(?<day>[1-9])$"}); "groups with names")]
#[test_case(json!({"type": "integer", "minimum": -9_007_199_254_740_991_i64, "maximum": 9_007_199_254_740_991_i64, "multipleOf": 7}); "integers up to 2^53")]
#[test_case(json!({"type": "number", "minimum": 1e-20, "maximum": 0.01}); "small numbers")]
#[test_case(json!({"type": "number", "minimum": -5, "maximum": 5, "multipleOf": 0.01}); "cents")]
#[test_case(json!({"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "properties": {"leaf": {"type": "string"}, "under": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}, "required": ["leaf", "under"], "additionalProperties": false}}}))]
fn every_answer_conforms_and_none_is_cut(schema: Value) {
    let contract = Contract::compile(schema).unwrap();
    let lowered = lower(&contract, Dialect::Llguidance).unwrap();
    let mut embedded = embedded();
    let strict = Allowance { strictness: Strictness::Strict, ..Allowance::default() };
    for seed in 0..12 {
        let completion = answer(&mut embedded, &lowered.schema, seed, 90);
        assert_ne!(completion.stop, Stop::Cut, "{completion:?}");
        assert!(completion.answer_tokens() <= 90, "{completion:?}");
        let verdict = judge(&contract, &completion.text, &strict);
        assert!(matches!(verdict, Verdict::Accepted(_)), "{}: {verdict:?}", completion.text);
    }
}

#[test_case(r#"{"type": "string", "pattern": "\\bfoo\\b"}"#, "pattern"; "word boundaries")]
#[test_case(r#"{"type": "string", "pattern": "a$b|x^"}"#, "pattern"; "anchors in the middle")]
#[test_case(r#"{"type": "number", "multipleOf": 1e-300}"#, "multipleOf"; "a tiny step")]
#[test_case(r#"{"type": "number", "multipleOf": 0.07}"#, "multipleOf"; "a step that rounds")]
#[test_case(r#"{"type": "number", "minimum": 1e300}"#, "minimum"; "a huge number")]
#[test_case(r#"{"type": "integer", "maximum": 1e30}"#, "maximum"; "a huge integer")]
#[test_case(r#"{"type": "integer", "exclusiveMinimum": 9007199254740993}"#, "exclusiveMinimum"; "an integer that is no float")]
#[test_case(r#"{"type": "number", "minimum": 0.25, "maximum": 0.3, "multipleOf": 0.1}"#, "multipleOf"; "a step between bounds")]
#[test_case(r#"{"type": "number", "exclusiveMinimum": 0, "maximum": 0.5}"#, "exclusiveMinimum"; "a bound of the same whole")]
#[test_case(r#"{"type": "string", "pattern": "^(?<start>[0-9]+)-(?<stop>[0-9]+)$"}"#, "pattern"; "a group that stops the automaton")]
#[test_case(r#"{"type": "integer", "multipleOf": 999999, "minimum": 1}"#, "multipleOf"; "a step with too many remainders")]
#[test_case(r#"{"type": "string", "maxLength": 10000000000}"#, "maxLength"; "a length that is never counted")]
#[test_case(r#"{"type": "array", "items": {"type": "integer"}, "maxItems": 1e30}"#, "maxItems"; "items that are never counted")]
#[test_case(r#"{"const": 9007199254740993}"#, "const"; "a constant that is no float")]
#[test_case(r#"{"enum": ["a", {"b": [9007199254740993]}]}"#, "enum"; "a choice with such a number inside")]
fn what_no_grammar_can_follow_is_told_and_left_to_the_verdict(schema: &str, keyword: &str) {
    let contract = Contract::compile(serde_json::from_str(schema).unwrap()).unwrap();
    let lowered = lower(&contract, Dialect::Llguidance).unwrap();
    let lost: Vec<&str> = lowered.losses.iter().map(|loss| &*loss.keyword).collect();
    assert_eq!(lost, [keyword]);
    assert_eq!(embedded().warnings(&lowered.schema), Ok(Vec::new()));
}

#[test_case("email", &format!("a@{}.b", "c".repeat(63)), true; "a long label")]
#[test_case("email", &format!("a@{}.b", "c".repeat(64)), false; "a label that is too long")]
#[test_case("email", "ada@cs.ox.ac.uk", true; "four labels")]
#[test_case("email", "ada@a.b.c.d.example", true; "five labels")]
#[test_case("email", &format!("ada@{}example", "a.".repeat(20)), true; "many labels")]
#[test_case("email", &format!("a@{}", &"abcdefghi.".repeat(26)[..253]), true; "a long domain")]
#[test_case("email", &format!("a@{}", &"abcdefghi.".repeat(26)[..254]), false; "a domain that is too long")]
#[test_case("hostname", &"abcdefghi.".repeat(26)[..253], true; "a long name")]
#[test_case("hostname", &"abcdefghi.".repeat(26)[..254], false; "a name that is too long")]
fn a_format_allows_what_is_valid_and_nothing_longer(format: &str, text: &str, is_valid: bool) {
    let schema = json!({"type": "string", "format": format});
    let contract = Contract::compile(schema.clone()).unwrap();
    let strict = Allowance { strictness: Strictness::Strict, ..Allowance::default() };
    let text = format!("\"{text}\"");
    let verdict = judge(&contract, &text, &strict);
    assert_eq!(matches!(verdict, Verdict::Accepted(_)), is_valid, "{verdict:?}");
    let mut embedded = embedded();
    let mut constraint = embedded.grammar(&schema).unwrap();
    let tokens = embedded.tokenizer.encode(&text);
    assert_eq!(constraint.completes(&tokens).unwrap(), is_valid);
}

/// An engine that wants to say certain bytes, each where it may, else a quotation mark; then it has no
/// scores that are numbers.
struct Speaker {
    bytes: Vec<u8>,
    length: usize,
}

impl Engine for Speaker {
    fn length(&self) -> usize {
        self.length
    }

    fn capacity(&self) -> usize {
        1000
    }

    fn evaluate(&mut self, tokens: &[u32]) -> Result<(), EngineError> {
        self.length += tokens.len();
        Ok(())
    }

    fn scores(&mut self, _: Option<&toktrie::SimpleVob>) -> Result<Vec<f32>, EngineError> {
        let mut scores = vec![f32::NAN; 264];
        if !self.bytes.is_empty() {
            // Behind two control tokens, there is a token for each byte.
            scores[2 + usize::from(b'"')] = 0.5;
            scores[2 + usize::from(self.bytes.remove(0))] = 1.0;
        }
        Ok(scores)
    }

    fn truncate(&mut self, length: usize) {
        self.length = length;
    }
}

/// Returns what came of the answer, and what the listener heard.
fn spoken(bytes: &[u8], schema: Option<&Value>, budget: usize) -> (Completion, String) {
    spoken_with(Closing::Anything, bytes, schema, budget)
}

fn spoken_with(
    closing: Closing,
    bytes: &[u8],
    schema: Option<&Value>,
    budget: usize,
) -> (Completion, String) {
    let mut embedded = embedded();
    embedded.memory = Memory::new(Box::new(Speaker { bytes: bytes.to_vec(), length: 0 }));
    let turns = ask("go");
    let question = Question { turns: &turns, schema, sampling: Sampling::Greedy, budget, closing };
    let mut heard = String::new();
    let completion = embedded.answer(question, &mut |text| {
        heard.push_str(text);
        ControlFlow::Continue(())
    });
    (completion.unwrap(), heard)
}

#[test]
fn where_no_token_can_be_chosen_nothing_is_written() {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}},
        "required": ["name"], "additionalProperties": false});
    let (completion, heard) = spoken(b"\"Ad", Some(&schema), 90);
    assert_eq!((completion.stop, completion.closing_tokens), (Stop::Cut, 0));
    assert_eq!(completion.text, r#"{"name":"Ad"#);
    assert_eq!(heard, completion.text);
}

/// Letters that do not repeat, more than are listened to.
fn ramble() -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(7);
    std::iter::repeat_with(|| random.alphabetic() as u8).take(1000).collect()
}

#[test_case(&json!({"type": "string"}), Stop::Closed; "free text")]
#[test_case(&json!({"type": "string", "minLength": 3}), Stop::Closed; "a text that is long enough")]
#[test_case(&json!({"type": "string", "pattern": "^[A-Za-z]*$"}), Stop::Cut; "letters, of which there would be more")]
#[test_case(&json!({"type": "string", "pattern": "^[A-Za-z0-9 +]*$"}), Stop::Cut; "words of certain letters")]
#[test_case(&json!({"type": "object", "additionalProperties": {"type": "boolean"}}), Stop::Cut; "a key")]
fn only_free_text_is_ended_for_the_model(schema: &Value, stop: Stop) {
    let (completion, heard) = spoken_with(Closing::Ends, &ramble(), Some(schema), 60);
    assert_eq!((completion.stop, heard.ends_with('"')), (stop, stop == Stop::Closed), "{heard}");
    assert_eq!(completion.closing_tokens, usize::from(stop == Stop::Closed));
}

#[test]
fn a_word_that_begins_another_is_not_taken_for_it() {
    let long = "a".repeat(40);
    let schema = json!({"enum": ["a", long]});
    let (completion, heard) = spoken_with(Closing::Ends, long.as_bytes(), Some(&schema), 20);
    assert_eq!((completion.stop, completion.closing_tokens), (Stop::Cut, 0), "{heard}");
}

#[test_case(b"1,2,3,4,5,6,7,8,9,0,2,4,6,8,1,3,5,7", 30, Stop::Closed; "behind a number that the model has ended")]
#[test_case(b"12,34,56,78,90,24,68,13,57,91,35,79,80", 32, Stop::Cut; "in a number")]
fn a_list_is_ended(said: &[u8], budget: usize, stop: Stop) {
    let schema =
        json!({"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 99}});
    let (completion, heard) = spoken_with(Closing::Ends, said, Some(&schema), budget);
    assert_eq!(completion.stop, stop, "{heard}");
    assert_eq!(heard.ends_with(']'), stop == Stop::Closed, "{heard}");
}

#[test]
fn a_circle_is_left() {
    let schema = json!({"type": "array", "items": {"type": "string"}, "maxItems": 1});
    let said = "ab".repeat(20);
    let (completion, heard) = spoken_with(Closing::Ends, said.as_bytes(), Some(&schema), 200);
    // The first letter was not said: a quotation mark had to come first.
    assert_eq!(
        (heard.as_str(), completion.stop),
        (r#"["bababababababababababababa"]"#, Stop::Circles)
    );
}

#[test_case(b"a\xffb", "a\u{fffd}b"; "a byte that is no character")]
#[test_case("zw\u{f6}lf".as_bytes(), "zw\u{f6}lf"; "a character of two tokens")]
#[test_case(b"a\xc3(\xc3", "a\u{fffd}("; "a character that is broken off, and one that is not over")]
fn bytes_that_are_no_character_do_not_silence_the_rest(bytes: &[u8], text: &str) {
    let (completion, heard) = spoken(bytes, None, bytes.len());
    assert_eq!((completion.text.as_str(), heard.as_str()), (text, text));
}

#[test]
fn a_way_out_that_repeats_a_key_is_none() {
    let mut embedded = embedded();
    let mut constraint = embedded.grammar(&json!({"const": "a"})).unwrap();
    let mut place = Place::default();
    place.follow(br#"{"b":1,"#);
    let Embedded { exits, tokenizer, .. } = &embedded;
    assert!(exits.plan(&mut constraint, &place, tokenizer).unwrap().is_some());
    place.follow(br#""a":1,"#);
    assert_eq!(exits.plan(&mut constraint, &place, tokenizer).unwrap(), None);
}

#[test]
fn the_same_seed_gives_the_same_answer() {
    let schema = json!({"type": "array", "items": {"type": "integer"}});
    let mut embedded = embedded();
    let [first, second, other] =
        [1, 1, 2].map(|seed| answer(&mut embedded, &schema, seed, 60).text);
    assert_eq!(first, second);
    assert_ne!(first, other);
}

#[test]
fn a_question_asked_again_is_not_read_again() {
    let schema = json!({"type": "boolean"});
    let mut embedded = embedded();
    let first = answer(&mut embedded, &schema, 1, 10);
    let second = answer(&mut embedded, &schema, 1, 10);
    assert_eq!((first.reused_tokens, second.reused_tokens), (0, first.prompt_tokens - 1));
    assert_eq!(first.text, second.text);
}

#[test]
fn what_the_grammar_forces_is_not_chosen() {
    let schema = json!({"const": {"verdict": "passed", "count": 12}});
    let completion = answer(&mut embedded(), &schema, 1, 40);
    assert_eq!(completion.text, r#"{"verdict":"passed","count":12}"#);
    assert_eq!((completion.sampled_tokens, completion.stop), (0, Stop::Complete));
}

#[test]
fn a_budget_that_no_answer_fits_is_refused() {
    let schema = json!({"const": "a text that takes more than ten tokens"});
    let question = Question {
        turns: &ask("go"),
        schema: Some(&schema),
        sampling: Sampling::Greedy,
        budget: 10,
        closing: Closing::Anything,
    };
    let error = embedded().answer(question, &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert!(matches!(error, EmbeddedError::Budget { needed: 37..=40, limit: 10 }), "{error:?}");
}

#[test]
fn a_prompt_beyond_the_context_is_refused() {
    let turns = ask(&"x ".repeat(2000));
    let question = Question {
        turns: &turns,
        schema: None,
        sampling: Sampling::Greedy,
        budget: 10,
        closing: Closing::Anything,
    };
    let error = embedded().answer(question, &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert!(error.is_too_long(), "{error:?}");
}

#[test]
fn a_prompt_that_leaves_no_room_for_the_shortest_answer_is_too_long() {
    let mut embedded = embedded();
    // A token for each letter.
    let schema = json!({"const": "x".repeat(embedded.memory.capacity() - 10)});
    let question = Question {
        turns: &ask("go"),
        schema: Some(&schema),
        sampling: Sampling::Greedy,
        budget: usize::MAX,
        closing: Closing::Anything,
    };
    let error = embedded.answer(question, &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert!(error.is_too_long(), "{error:?}");
}

#[test]
fn the_listener_hears_the_whole_text_and_may_break_off() {
    let schema = json!({"type": "string", "minLength": 30});
    let (mut embedded, mut heard) = (embedded(), String::new());
    let question = Question {
        turns: &ask("go"),
        schema: Some(&schema),
        sampling: random(3),
        budget: 80,
        closing: Closing::Anything,
    };
    let completion = embedded
        .answer(question, &mut |text| {
            heard.push_str(text);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(heard, completion.text);
    let mut shy = |text: &str| {
        if text.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let stopped = embedded.answer(question, &mut shy).unwrap();
    assert_eq!(stopped.stop, Stop::Cancelled);
    assert!(heard.starts_with(&stopped.text) && !stopped.text.is_empty());
    assert!(stopped.text.len() < heard.len());
}

#[test]
fn a_schema_that_accepts_nothing_is_refused() {
    let error = embedded().warnings(&json!(false)).unwrap_err();
    assert_eq!(error, ConstraintError::Unsatisfiable);
}

#[test]
fn plain_text_ends_with_the_budget() {
    let question = Question {
        turns: &ask("go"),
        schema: None,
        sampling: random(1),
        budget: 12,
        closing: Closing::Anything,
    };
    let completion = embedded().answer(question, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(completion.sampled_tokens == 12 || completion.stop == Stop::Complete, "{completion:?}");
}
