//! The contracts in `schemas/` and those of roles in `contracts/`: each compiles, accepts its example and
//! rejects what it should.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use airtight_core::verdict::check;
use airtight_core::{Contract, Document};
use serde_json::{Value, json};
use test_case::test_case;

const NAMES: [&str; 7] = [
    "agent-response",
    "code-review",
    "blog-writer",
    "contact",
    "context-file-writer",
    "strategy-writer",
    "triage",
];

/// The contracts of roles, each with the name of its example.
const ROLES: [(&str, &str); 3] = [
    ("blog-writer", "onboarding"),
    ("context-file-writer", "northwind"),
    ("strategy-writer", "northwind"),
];

fn role(name: &str) -> Option<&str> {
    ROLES.iter().find(|(role, _)| *role == name).map(|(_, example)| *example)
}

fn folder(name: &str) -> &'static str {
    if role(name).is_some() { "contracts" } else { "schemas" }
}

fn read(path: &str) -> String {
    std::fs::read_to_string(format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn contract(name: &str) -> Contract {
    let text = read(&format!("{}/{name}.json", folder(name)));
    Contract::compile(serde_json::from_str(&text).unwrap()).unwrap()
}

fn example(name: &str) -> Value {
    let path = match role(name) {
        Some(example) => format!("contracts/examples/{name}/{example}.out.json"),
        None => format!("schemas/examples/{name}.json"),
    };
    serde_json::from_str(&read(&path)).unwrap()
}

fn findings(name: &str, answer: &Value) -> Vec<(String, String)> {
    let violations = check(&contract(name), &Document::from_value(answer).unwrap());
    violations
        .list
        .into_iter()
        .map(|violation| (violation.pointer.as_str().to_owned(), violation.keyword))
        .collect()
}

#[test]
fn every_shipped_contract_is_tested_here() {
    let folders = ["schemas", "contracts"];
    let mut found: Vec<String> = folders
        .map(|folder| format!("{}/../../{folder}", env!("CARGO_MANIFEST_DIR")))
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(".json").map(str::to_owned)
        })
        .collect();
    found.sort();
    let mut names = NAMES;
    names.sort_unstable();
    assert_eq!(found, names);
}

#[test]
fn shipped_contracts_say_who_they_are() {
    for name in NAMES {
        let contract = contract(name);
        let text = |keyword: &str| contract.schema()[keyword].as_str().unwrap_or_default();
        assert!(text("$id").ends_with(&format!("/{name}.json")), "{name}");
        // The version of a role is in its own file.
        let version = if role(name).is_some() { "" } else { "1.0.0" };
        assert_eq!(text("x-version"), version, "{name}");
        assert!(!text("title").is_empty() && !text("description").is_empty(), "{name}");
    }
}

#[test]
fn shipped_examples_conform() {
    for name in NAMES {
        assert_eq!(findings(name, &example(name)), [], "{name}");
    }
}

#[test]
fn examples_can_be_made_of_shipped_contracts() {
    for name in NAMES {
        let made = contract(name).example().unwrap();
        assert_eq!(findings(name, &made.to_value()), [], "{name}");
    }
}

#[test]
fn worked_examples_of_shipped_contracts_conform() {
    for name in NAMES {
        let listed = contract(name).schema()["x-examples"].as_array().map_or(0, Vec::len);
        assert_eq!(contract(name).worked_examples().len(), listed, "{name}");
    }
}

/// Marks a member to be taken out.
const GONE: &str = "(gone)";

fn changed(name: &str, place: &str, value: &Value) -> Value {
    let mut answer = example(name);
    if *value != json!(GONE) {
        *answer.pointer_mut(place).unwrap() = value.clone();
        return answer;
    }
    let (parent, key) = place.rsplit_once('/').unwrap();
    let parent = answer.pointer_mut(parent).unwrap();
    parent.as_object_mut().unwrap().remove(key).unwrap();
    answer
}

#[test_case("agent-response", "/summary", &json!(GONE), "", "required")]
#[test_case("agent-response", "/events", &json!(GONE), "", "required")]
#[test_case("agent-response", "/escalation", &json!(GONE), "", "required")]
#[test_case("agent-response", "/services_checked", &json!(GONE), "", "required")]
#[test_case("agent-response", "/summary", &json!(""), "/summary", "minLength")]
#[test_case("agent-response", "/events/0/level", &json!("warnig"), "/events/0/level", "enum")]
#[test_case("agent-response", "/events/0/level", &json!("CRITICAL"), "/events/0/level", "enum")]
#[test_case("agent-response", "/events/1/message", &json!(GONE), "/events/1", "required")]
#[test_case("agent-response", "/memories/0/value", &json!(GONE), "/memories/0", "required")]
#[test_case("agent-response", "/escalation/needed", &json!("true"), "/escalation/needed", "type")]
#[test_case("agent-response", "/escalation/needed", &json!(GONE), "/escalation", "required")]
#[test_case("agent-response", "/escalation/reason", &json!(GONE), "/escalation", "required")]
#[test_case("agent-response", "/escalation/reason", &json!(""), "/escalation/reason", "minLength")]
#[test_case("agent-response", "/services_checked/2/status", &json!("ok"), "/services_checked/2/status", "enum")]
#[test_case("code-review", "", &json!({}), "", "type")]
#[test_case("code-review", "/0/severity", &json!("error"), "/0/severity", "enum")]
#[test_case("code-review", "/1/suggestion", &json!(GONE), "/1", "required")]
#[test_case("code-review", "/0/file", &json!(""), "/0/file", "minLength")]
#[test_case("code-review", "/0/line_start", &json!(0), "/0/line_start", "x-rules"; "line zero")]
#[test_case("code-review", "/0/line_start", &json!(41.5), "/0/line_start", "type"; "half a line")]
#[test_case("code-review", "/0/line_start", &json!(-2), "/0/line_start", "minimum"; "line before none")]
#[test_case("code-review", "/0/line_end", &json!(40), "/0", "x-rules"; "end before start")]
#[test_case("code-review", "/1/line_start", &json!(-1), "/1", "x-rules"; "only the start is missing")]
#[test_case("blog-writer", "/title", &json!("Too short"), "/title", "minLength")]
#[test_case("blog-writer", "/title", &json!("x".repeat(121)), "/title", "maxLength")]
#[test_case("blog-writer", "/metaDescription", &json!("x".repeat(49)), "/metaDescription", "minLength")]
#[test_case("blog-writer", "/metaDescription", &json!("x".repeat(161)), "/metaDescription", "maxLength")]
#[test_case("blog-writer", "/slug", &json!("Not a Slug"), "/slug", "pattern")]
#[test_case("blog-writer", "/content", &json!("x".repeat(499)), "/content", "minLength")]
#[test_case("blog-writer", "/wordCount", &json!(0), "/wordCount", "exclusiveMinimum")]
#[test_case("blog-writer", "/wordCount", &json!("157"), "/wordCount", "type")]
#[test_case("blog-writer", "/headings", &json!(GONE), "", "required")]
#[test_case("blog-writer", "/internalLinks/0", &json!("guides/activation"), "/internalLinks/0", "format")]
#[test_case("contact", "/name", &json!(""), "/name", "minLength")]
#[test_case("contact", "/company", &json!(GONE), "", "required")]
#[test_case("context-file-writer", "/companyOverview", &json!("x".repeat(99)), "/companyOverview", "minLength")]
#[test_case("context-file-writer", "/targetAudience", &json!("x".repeat(49)), "/targetAudience", "minLength")]
#[test_case("context-file-writer", "/coreProducts", &json!([]), "/coreProducts", "minItems")]
#[test_case("context-file-writer", "/competitors", &json!(GONE), "", "required")]
#[test_case("context-file-writer", "/brandVoice", &json!("x".repeat(49)), "/brandVoice", "minLength")]
#[test_case("context-file-writer", "/keyMessages", &json!(["one", "two"]), "/keyMessages", "minItems")]
#[test_case("strategy-writer", "/executiveSummary", &json!("x".repeat(99)), "/executiveSummary", "minLength")]
#[test_case("strategy-writer", "/goals", &json!([]), "/goals", "minItems")]
#[test_case("strategy-writer", "/goals/0/metric", &json!(GONE), "/goals/0", "required")]
#[test_case("strategy-writer", "/channels", &json!([]), "/channels", "minItems")]
#[test_case("strategy-writer", "/contentPillars", &json!(["one", "two"]), "/contentPillars", "minItems")]
#[test_case("strategy-writer", "/keyInitiatives", &json!([]), "/keyInitiatives", "minItems")]
#[test_case("strategy-writer", "/keyInitiatives/2/priority", &json!("urgent"), "/keyInitiatives/2/priority", "enum")]
#[test_case("triage", "/severity", &json!("urgent"), "/severity", "enum")]
#[test_case("triage", "/component", &json!(""), "/component", "minLength")]
#[test_case("triage", "/summary", &json!("x".repeat(201)), "/summary", "maxLength")]
#[test_case("triage", "/needs_human", &json!("no"), "/needs_human", "type")]
#[test_case("triage", "/needs_human", &json!(GONE), "", "required")]
fn answers_are_rejected_for_what_is_wrong(
    name: &str,
    place: &str,
    value: &Value,
    pointer: &str,
    keyword: &str,
) {
    let expected = [(pointer.to_owned(), keyword.to_owned())];
    assert_eq!(findings(name, &changed(name, place, value)), expected);
}

#[test]
fn triage_is_closed() {
    let mut answer = example("triage");
    answer["confidence"] = json!(0.9);
    let expected = [(String::new(), "additionalProperties".to_owned())];
    assert_eq!(findings("triage", &answer), expected);
}

#[test]
fn a_contact_is_reached_by_an_address_or_not_at_all() {
    for (member, wrong, why) in [("email", "at cedar", "format"), ("phone", "pigeon", "pattern")] {
        let place = format!("/{member}");
        let expected = ["anyOf", why].map(|keyword| (place.clone(), keyword.to_owned()));
        assert_eq!(findings("contact", &changed("contact", &place, &json!(wrong))), expected);
        assert_eq!(findings("contact", &changed("contact", &place, &Value::Null)), []);
    }
}

#[test]
fn no_reason_is_needed_without_escalation() {
    let mut answer = example("agent-response");
    answer["escalation"] = json!({"needed": false});
    assert_eq!(findings("agent-response", &answer), []);
}

#[test]
fn a_review_may_find_nothing() {
    assert_eq!(findings("code-review", &json!([])), []);
}
