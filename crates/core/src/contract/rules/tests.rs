use super::*;
use crate::verdict::{check, check_against};
use crate::{Contract, Document, Violations};
use serde_json::json;
use test_case::test_case;

fn violations(schema: &Value, text: &str) -> Violations {
    let contract = Contract::compile(schema.clone()).unwrap();
    check(&contract, &Document::parse(text).unwrap())
}

fn found(violations: &Violations) -> Vec<(&str, &str, &str)> {
    violations
        .list
        .iter()
        .map(|v| (v.pointer.as_str(), v.keyword.as_str(), v.message.as_str()))
        .collect()
}

fn rule(text: &str) -> Value {
    json!({"x-rules": [{"rule": text, "message": "broken"}]})
}

fn range() -> Value {
    json!({"x-rules": [{"rule": "self.end >= self.start", "message": "end before start"}]})
}

const BAD: &str = r#"{"start":2,"end":1}"#;

#[test_case(&range(), BAD, ""; "root")]
#[test_case(&json!({"properties": {"a": range()}}), format!(r#"{{"a":{BAD}}}"#), "/a"; "properties")]
#[test_case(&json!({"items": range()}), format!("[{BAD}]"), "/0"; "items")]
#[test_case(&json!({"prefixItems": [true, range()]}), format!("[0,{BAD}]"), "/1"; "prefix items")]
#[test_case(&json!({"additionalProperties": range()}), format!(r#"{{"~":{BAD}}}"#), "/~0"; "additional")]
#[test_case(&json!({"patternProperties": {"^a": range()}}), format!(r#"{{"ab":{BAD}}}"#), "/ab"; "pattern")]
#[test_case(&json!({"$ref": "#/$defs/r", "$defs": {"r": range()}}), BAD, ""; "reference")]
#[test_case(&json!({"allOf": [true, range()]}), BAD, ""; "all of")]
#[test_case(&json!({"if": true, "then": range()}), BAD, ""; "then")]
#[test_case(
    &json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [range()]}),
    format!("[{BAD}]"), "/0"; "draft 7 tuple"
)]
#[test_case(
    &json!({"x-rules": range()["x-rules"], "properties": {"next": {"$ref": "#"}}}),
    format!(r#"{{"start":1,"end":1,"next":{{"start":1,"end":1,"next":{BAD}}}}}"#), "/next/next";
    "recursion"
)]
fn rules_hold_wherever_the_schema_applies(schema: &Value, text: impl AsRef<str>, pointer: &str) {
    let violations = violations(schema, text.as_ref());
    assert_eq!(found(&violations), [(pointer, "x-rules", "end before start")]);
    assert_eq!(violations.list[0].masked, "end before start");
}

#[test]
fn a_branch_whose_rule_fails_is_no_match() {
    let schema = json!({"oneOf": [
        {"type": "integer", "x-rules": [{"rule": "self > 10"}]},
        {"type": "integer", "x-rules": [{"rule": "self < 5"}]},
    ]});
    assert!(violations(&schema, "11").is_empty());
    assert!(violations(&schema, "4").is_empty());
    assert_eq!(violations(&schema, "7").list[0].keyword, "oneOf");
}

#[test]
fn siblings_of_a_reference_do_not_count_before_2019_09() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"a": {"$ref": "#/definitions/d", "x-rules": [{"rule": "self != self"}]}},
        "definitions": {"d": {"type": "integer"}},
    });
    assert!(violations(&schema, r#"{"a":1}"#).is_empty());
}

#[test_case("self.a == 'x' && self.b.size() == 2", r#"{"a":"x","b":[1,2]}"#; "members")]
#[test_case("self.all(i, i > 0) && self.exists_one(i, i == 3)", "[1,2,3]"; "macros")]
#[test_case("self.map(i, i * 2) == [2, 4] && self.filter(i, i > 1) == [2]", "[1,2]"; "lists")]
#[test_case("!has(self.b) || self.b > 1", r#"{"a":1}"#; "absence")]
#[test_case("self.a.matches('^[a-z]+$') && self.a.startsWith('a')", r#"{"a":"abc"}"#; "text")]
#[test_case("type(self.a) == string && type(self.b) == null_type", r#"{"a":"","b":null}"#; "types")]
#[test_case("self.a == 3 && self.b < 0.5 && self.c == 300", r#"{"a":3.0,"b":0.25,"c":3e2}"#; "numbers")]
#[test_case("self.a == 18446744073709551615u && self.a > self.b", r#"{"a":18446744073709551615,"b":1}"#; "64 bits")]
#[test_case("double(self.a) * 1.5 == 3.0", r#"{"a":2}"#; "arithmetic")]
#[test_case("self['a b'] in ['x', 'y']", r#"{"a b":"y"}"#; "index")]
#[test_case("self.a <= 0.3", r#"{"a":0.30}"#; "exact fraction")]
#[test_case("self.a > 1e300", r#"{"a":1.5E+300}"#; "exact exponent")]
#[test_case("self.ok", r#"{"ok":true,"id":99999999999999999999999}"#; "unread integer beyond 64 bits")]
#[test_case("self.items.all(i, i.ok)", r#"{"items":[{"ok":true,"id":99999999999999999999999}]}"#; "unread in items")]
fn rules_that_hold_say_nothing(text: &str, value: &str) {
    assert_eq!(found(&violations(&rule(text), value)), []);
}

#[test_case("self.a.b > 1", r#"{"a":{}}"#, "a member that it reads is missing (test it with `has`)"; "missing")]
#[test_case("self.a > 1", r#"{"a":"x"}"#, "an operator does not fit its operands"; "types")]
#[test_case("1 / self.a > 1", r#"{"a":0}"#, "it divides by zero"; "division")]
#[test_case("self.a + 9223372036854775807 > 1", r#"{"a":1}"#, "a number overflows"; "overflow")]
#[test_case("self.a[3] > 1", r#"{"a":[]}"#, "an index is out of bounds"; "index")]
#[test_case("self.a", r#"{"a":1}"#, "it is neither true nor false"; "not boolean")]
#[test_case("self.a != self.b", r#"{"a":99999999999999999999999,"b":99999999999999999999999}"#, "a number has more digits than can be evaluated exactly"; "inexact")]
#[test_case("self.a <= 0.1", r#"{"a":0.10000000000000000001}"#, "a number has more digits than can be evaluated exactly"; "inexact fraction")]
#[test_case("1e23 == self.a || true", r#"{"a":99999999999999999999999}"#, "a number has more digits than can be evaluated exactly"; "inexact and hidden")]
fn what_cannot_be_evaluated_is_a_violation(text: &str, value: &str, reason: &str) {
    let violations = violations(&rule(text), value);
    let message = format!("rule `{text}` cannot be evaluated: {reason}");
    assert_eq!(found(&violations), [("", "x-rules", message.as_str())]);
}

#[test_case("self.all(a, self.all(b, self.all(c, c >= 0)))"; "nested loops")]
#[test_case("self.map(a, self.map(b, self)).size() > 0"; "growing lists")]
#[test_case("self.map(a, string(a) + self.map(b, 'xxxxxxxx').map(c, c + c)[0]).all(a, self == self)"; "equality")]
#[test_case("self.exists(a, self.all(b, self.all(c, c >= 0))) || true"; "hidden by a disjunction")]
#[test_case("self.all(a, self.all(b, 'aaaaaaaaaaaaaaaaaaaaaa'.matches('^(a+)+$')))"; "patterns")]
fn evaluation_is_bounded(text: &str) {
    let numbers: Vec<String> = (0..3000).map(|n| n.to_string()).collect();
    let violations = violations(&rule(text), &format!("[{}]", numbers.join(",")));
    let message = format!("rule `{text}` cannot be evaluated: it takes too much work");
    assert_eq!(found(&violations)[0], ("", "x-rules", message.as_str()));
}

#[test]
fn long_lists_are_affordable() {
    let items = vec![r#"{"start":1,"end":2,"note":"x"}"#; 100_000].join(",");
    let schema = rule("self.items.all(i, i.end >= i.start)");
    assert!(violations(&schema, &format!(r#"{{"items":[{items}]}}"#)).is_empty());
}

#[test]
fn only_what_rules_read_is_converted() {
    let reads = |text: &str| Expression::compile(text).unwrap().reads().clone();
    let members = ["a".to_owned(), "b".to_owned()];
    assert_eq!(reads("has(self.a) && self.b.c[0] > 1"), Reads::Members(members.into()));
    assert_eq!(reads("self.a == self"), Reads::Whole);
    assert_eq!(reads("self['a'] == 1"), Reads::Whole);
}

#[test_case(&json!(1), "", "`x-rules` is not an array of at most 64 rules"; "not a list")]
#[test_case(&json!([1]), "/0", "a rule is not an object"; "not an object")]
#[test_case(&json!([{"message": "m"}]), "/0", "a rule has no `rule`"; "no rule")]
#[test_case(&json!([{"rule": 1}]), "/0/rule", "`rule` is not a string"; "rule of another type")]
#[test_case(&json!([{"rule": "true", "message": 1}]), "/0/message", "`message` is not a string"; "message of another type")]
#[test_case(&json!([{"rule": "true", "reason": "x"}]), "/0/reason", "a rule has `rule` and `message` only: `reason`"; "stranger")]
#[test_case(&json!([{"rule": "self.a > other"}]), "/0/rule", "unknown variable; only `self` and the variables of macros exist: `other`"; "variable")]
#[test_case(&json!([{"rule": "self.all(x, true) && x"}]), "/0/rule", "unknown variable; only `self` and the variables of macros exist: `x`"; "out of scope")]
#[test_case(&json!([{"rule": "now() > 1"}]), "/0/rule", "unknown function: `now`"; "function")]
#[test_case(&json!([{"rule": "self.matches(self)"}]), "/0/rule", "`matches` needs a literal pattern of the linear-time engine"; "computed pattern")]
#[test_case(&json!([{"rule": "self.matches('(?=a)')"}]), "/0/rule", "`matches` needs a literal pattern of the linear-time engine"; "look-around")]
#[test_case(&json!([{"rule": "[1].all(self, true)"}]), "/0/rule", "`self` cannot be a macro's variable"; "rebound")]
#[test_case(&json!([{"rule": "self.?a"}]), "/0/rule", "rule is no CEL expression, line 1, column 5: unsupported syntax '.?'"; "optional syntax")]
#[test_case(&json!([{"rule": "x".repeat(1025)}]), "/0/rule", "rule is 1025 bytes, over the 1024-byte limit"; "too long")]
#[test_case(&json!([{"rule": vec!["1"; 100].join("+")}]), "/0/rule", "rule nests deeper than 48 levels"; "too deep")]
#[test_case(&json!([{"rule": "true"}]), "/0/rule", "rule `true` holds for every value, so it is no test"; "true")]
#[test_case(&json!([{"rule": "[1, 2].all(x, x > 2)"}]), "/0/rule", "rule `[1, 2].all(x, x > 2)` holds for no value, so it can never be satisfied"; "false")]
#[test_case(&json!([{"rule": "1 + 1"}]), "/0/rule", "rule `1 + 1` is neither true nor false, so it is no test"; "number")]
#[test_case(&json!([{"rule": "1 / 0 == 1"}]), "/0/rule", "rule `1 / 0 == 1` can never be evaluated: it divides by zero"; "constant that fails")]
#[test_case(&json!([{"rule": "size(self)"}]), "/0/rule", "rule `size(self)` is neither true nor false, so it is no test"; "size")]
#[test_case(&json!([{"rule": "self.filter(x, x > 1)"}]), "/0/rule", "rule `self.filter(x, x > 1)` is neither true nor false, so it is no test"; "list")]
fn bad_rules_are_refused_where_they_are(rules: &Value, place: &str, message: &str) {
    let schema =
        json!({"properties": {"a": {"$ref": "#/$defs/d"}}, "$defs": {"d": {"x-rules": rules}}});
    let diagnostics = Contract::compile(schema).unwrap_err().diagnostics;
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    assert_eq!(diagnostics[0].pointer.as_str(), format!("/$defs/d/x-rules{place}"));
    assert_eq!(diagnostics[0].message, message);
}

#[test]
fn syntax_errors_say_where() {
    for text in ["self.a >", "(", "self..a", "'", ""] {
        let flaw = Expression::compile(text).unwrap_err().to_string();
        assert!(flaw.starts_with("rule is no CEL expression, line 1, column "), "{flaw}");
    }
}

#[test]
fn all_bad_rules_are_named_at_once() {
    let schema = json!({
        "x-rules": [{"rule": "a"}, {"rule": "self == 1"}, {"rule": "b"}],
        "properties": {"p": {"x-grounded": "yes"}},
    });
    let diagnostics = Contract::compile(schema).unwrap_err().diagnostics;
    let pointers: Vec<&str> = diagnostics.iter().map(|d| d.pointer.as_str()).collect();
    assert_eq!(pointers, ["/properties/p/x-grounded", "/x-rules/0/rule", "/x-rules/2/rule"]);
}

#[test]
fn hostile_rules_are_refused_in_small_stacks() {
    for text in [
        vec!["1"; 512].join("+"),
        "(".repeat(1024),
        format!("{}1{}", "(".repeat(500), ")".repeat(500)),
        "-".repeat(1000),
        "!".repeat(1024),
        "self.all(x,".repeat(90),
        "[".repeat(1024),
        "self.a".to_owned() + &".a".repeat(500),
        "true?".repeat(200),
    ] {
        assert!(Expression::compile(&text).is_err(), "{text}");
    }
}

#[test]
fn grounded_strings_occur_in_the_source() {
    let contract =
        Contract::compile(json!({"items": {"type": "string", "x-grounded": true}})).unwrap();
    let answer = Document::parse(r#"["brown\nfox","red fox"]"#).unwrap();
    let source = Source::new("The brown fox.");
    let judged = check_against(&contract, &answer, &source);
    let expected = "does not occur in the source text; quote it exactly";
    let message = format!("`red fox` {expected}");
    assert_eq!(found(&judged), [("/1", "x-grounded", message.as_str())]);
    assert_eq!(judged.list[0].masked, expected);
    assert_eq!(check(&contract, &answer).list.len(), 2);
}

#[test]
fn only_a_contract_with_grounded_strings_reads_the_source() {
    let reads = |schema| Contract::compile(schema).unwrap().reads_source();
    assert!(reads(json!({"items": {"type": "string", "x-grounded": true}})));
    assert!(!reads(json!({"items": {"type": "string", "description": "x-grounded"}})));
}

#[test]
fn the_search_for_quotes_is_bounded() {
    let contract =
        Contract::compile(json!({"items": {"type": "string", "x-grounded": true}})).unwrap();
    let source = Source::new(&("word ".repeat(1_000_000) + "the end"));
    let judged = |quote: &str, count: usize| {
        let quotes = vec![format!("\"{quote}\""); count].join(",");
        let answer = Document::parse(format!("[{quotes}]")).unwrap();
        check_against(&contract, &answer, &source)
    };
    assert_eq!(judged("the end", 20), Violations::default());
    let late = judged("the end", 2_000);
    assert_eq!(found(&late), [("", "work_limit", "takes too much work to judge")]);
    let absent = judged("no end", 2_000);
    assert_eq!((absent.list.len(), absent.more), (100, true));
    assert!(absent.list.iter().all(|violation| violation.keyword == "x-grounded"));
    assert_eq!(judged("word word", 2_000), Violations::default());
}

#[test]
fn what_cannot_be_evaluated_is_no_pass_under_not_either() {
    let schema = json!({"not": {"x-rules": [{"rule": "self > 100"}]}});
    assert!(violations(&schema, "7").is_empty());
    assert!(!violations(&schema, "700").is_empty());
    assert!(!violations(&schema, &format!("1{}", "0".repeat(30))).is_empty());
}

#[test]
fn property_names_have_rules_too() {
    let schema = json!({"propertyNames": {"x-rules": [{"rule": "self.startsWith('a')"}]}});
    assert!(violations(&schema, r#"{"ab":1}"#).is_empty());
    assert!(!violations(&schema, r#"{"b":1}"#).is_empty());
}
