//! Roles that take answers of older versions, too.

use crate::folder::{Folder, Said};
use serde_json::{Value, json};
use test_case::test_case;

const OLD: &str = r#"{
  "x-version": "1.2.0",
  "type": "object",
  "properties": { "urgency": { "enum": ["low", "high"] }, "note": { "type": "string" } },
  "required": ["urgency"],
  "additionalProperties": false
}"#;

const NEW: &str = r#"{
  "type": "object",
  "properties": { "priority": { "enum": ["minor", "high"] }, "source": { "type": "string" } },
  "required": ["priority", "source"],
  "additionalProperties": false
}"#;

const ROLE: &str = r#"
version = "2.0.0"
accepts = ["1.x"]

[[carry]]
from = "1.x"
schema = "old/ticket-1.json"
rename = { "/urgency" = "/priority" }
drop = ["/note"]
map = { "/urgency" = { low = "minor" } }
default = { "/source" = "unknown" }
"#;

fn folder(role: &str) -> Folder {
    Folder::new()
        .with("contracts/ticket.json", NEW)
        .with("contracts/old/ticket-1.json", OLD)
        .with("contracts/ticket.toml", role)
}

fn judged(arguments: &[&str], answer: &str) -> Said {
    folder(ROLE).run_with(&[&["validate", "ticket"], arguments].concat(), answer)
}

#[test]
fn an_answer_of_an_older_version_is_carried_forward_and_every_step_told() {
    let said = judged(&[], r#"{"urgency": "low", "note": "x"}"#);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(said.stdout, "{\"priority\":\"minor\",\"source\":\"unknown\"}\n");
    assert_eq!(
        said.stderr,
        "edit: (root): carried it forward from an older version of the contract (version 1.2.0)\n\
         edit: /urgency: replaced a word by the contract's word for it (version 1.2.0)\n\
         edit: /note: dropped a member that the contract does not have (version 1.2.0)\n\
         edit: /urgency: moved a member to where the contract has it: /priority (version 1.2.0)\n\
         edit: /source: said what the contract's owner declares where nothing was said (version 1.2.0)\n"
    );
}

#[test]
fn programs_are_told_which_version_judged_it() {
    let said = judged(&["--format", "json"], r#"{"urgency": "high"}"#);
    let document: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(document["edits"][0], json!({"kind": "carried", "pointer": "", "version": "1.2.0"}));
    let moved = json!({"kind": "carry_moved", "pointer": "/urgency", "to": "/priority", "version": "1.2.0"});
    assert_eq!(document["edits"][1], moved);
    assert_eq!(document["edits"][2]["kind"], "carry_default");
}

#[test]
fn masked_records_name_no_members_of_the_answer() {
    let said = judged(&["--masked", "--format", "json"], r#"{"urgency": "high"}"#);
    assert_eq!(said.code, 0);
    assert!(!said.stdout.contains("urgency"), "{}", said.stdout);
}

#[test]
fn answers_of_the_current_version_are_left_alone_and_strict_takes_no_others() {
    let said = judged(&[], r#"{"priority": "high", "source": "mail"}"#);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    assert_eq!(judged(&["--strict"], r#"{"urgency": "high"}"#).code, 1);
}

#[test]
fn a_role_with_older_versions_passes_preflight() {
    let said = folder(ROLE).run(&["check", "ticket"]);
    assert_eq!(said.code, 0, "{}", said.stdout);
    assert!(said.stdout.starts_with("ticket: accepted version 2.0.0"), "{}", said.stdout);
}

#[test_case("accepts = [\"one\"]\n[[carry]]\nfrom = \"one\"\nschema = \"old/ticket-1.json\"", "`one` is no range of versions such as `1.x`"; "no range")]
#[test_case("accepts = [\"1.x\"]\n[[carry]]\nfrom = \"1.x\"\nschema = \"old/ticket-1.json\"\ndrop = [\"/urgncy\"]", "`/urgncy` is nothing that the older contract declares"; "no such place")]
#[test_case("accepts = [\"1.x\"]\n[[carry]]\nfrom = \"1.x\"\nschema = \"old/ticket-9.json\"", "`carry` `old/ticket-9.json`"; "no schema")]
#[test_case("accepts = [\"1.x\"]\n[[carry]]\nfrom = \"1.x\"\nschema = \"../ticket-1.json\"", "must be beside it"; "elsewhere")]
#[test_case("accepts = [\"1.x\"]", "lists `1.x`, and no `[[carry]]` is from it"; "no carry")]
#[test_case("[[carry]]\nfrom = \"1.x\"\nschema = \"old/ticket-1.json\"", "counts only for what `accepts` lists"; "not accepted")]
#[test_case("accepts = \"1.x\"", "must be a list of versions"; "no list")]
#[test_case("accepts = [\"1.x\"]\n[[carry]]\nfrom = \"1.x\"\nschema = \"old/ticket-1.json\"\nrenam = {}", "has no `renam`"; "misspelt")]
#[test_case("accepts = [\"1.x\"]\n[[carry]]\nfrom = \"1.x\"\nschema = \"old/ticket-1.json\"\nrename = [\"/a\"]", "wants `rename = { \"/old\" = \"/new\" }`"; "no pairs")]
#[test_case("accepts = [\"1.x\"]\n[[carry]]\nfrom = \"1.x\"\nschema = \"bad.json\"", "its schema is refused: "; "bad schema")]
fn what_cannot_be_meant_is_refused_before_anything_is_judged(role: &str, message: &str) {
    let folder = folder(role).with("contracts/bad.json", r#"{"type": "objct"}"#);
    let said = folder.run(&["check", "ticket"]);
    assert_eq!(said.code, 52, "{}", said.stdout);
    assert!(said.stdout.contains(message), "{}", said.stdout);
    let said = folder.run_with(&["validate", "ticket"], r#"{"urgency": "high"}"#);
    assert_eq!(said.code, 52, "{}", said.stderr);
    assert!(said.stderr.contains(message), "{}", said.stderr);
}
