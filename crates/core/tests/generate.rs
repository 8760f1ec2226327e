//! What is generated of the contracts that ship, as it was when somebody last looked at it.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use airtight_core::Contract;
use airtight_core::generate::{Order, Target, generate};
use serde_json::{Value, json};

/// The contracts that ship, with what they are called where they are found.
const SHIPPED: [(&str, &str); 7] = [
    ("agent-response", "schemas"),
    ("blog-writer", "contracts"),
    ("code-review", "schemas"),
    ("contact", "schemas"),
    ("context-file-writer", "contracts"),
    ("strategy-writer", "contracts"),
    ("triage", "schemas"),
];

fn contract(name: &str, folder: &str) -> Contract {
    let path = format!("{}/../../{folder}/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    Contract::compile(schema).unwrap()
}

fn text(contract: &Contract, target: Target) -> String {
    let order = Order { target, contract: "contract", root: None, dialect: None };
    generate(contract, &order).unwrap().text
}

#[test]
fn shipped_contracts_give_what_was_looked_at() {
    for (name, folder) in SHIPPED {
        let contract = contract(name, folder);
        for target in Target::ALL {
            // The schema itself is in the tree already.
            if target != Target::JsonSchema {
                let snapshot = format!("{name}.{}", target.name());
                insta::assert_snapshot!(snapshot, text(&contract, target));
            }
        }
    }
}

/// The schema of the playbook: issues found in a pull request.
fn playbook() -> Contract {
    let text = json!({"type": "string"});
    let number = json!({"type": "integer"});
    let schema = json!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["severity", "file", "line_start", "line_end", "description", "suggestion"],
            "properties": {
                "severity": {"type": "string", "enum": ["critical", "warning", "info"]},
                "file": text, "line_start": number, "line_end": number,
                "description": text, "suggestion": text,
            },
        },
    });
    Contract::compile(schema).unwrap()
}

#[test]
fn a_prompt_has_the_schema_the_directive_and_one_example() {
    let contract = playbook();
    let prompt = text(&contract, Target::Prompt);
    insta::assert_snapshot!(prompt, @r#"
    Your final answer must be one JSON value that satisfies this JSON Schema:

    {"type":"array","items":{"type":"object","required":["severity","file","line_start","line_end","description","suggestion"],"properties":{"severity":{"type":"string","enum":["critical","warning","info"]},"file":{"type":"string"},"line_start":{"type":"integer"},"line_end":{"type":"integer"},"description":{"type":"string"},"suggestion":{"type":"string"}}}}

    Answer with only that JSON: no explanation before or after it, no Markdown fence, no comments.

    An example of the form, whose content means nothing:

    [{"severity":"critical","file":"Example file","line_start":1,"line_end":1,"description":"Example description","suggestion":"Example suggestion"}]
    "#);
    let schema = contract.schema().to_string();
    assert!(prompt.contains(&schema));
    // About 120 tokens were paid for it when it was written by hand.
    assert!(airtight_core::batch::estimated_tokens(schema.len() as u64) <= 120);
}

#[test]
fn a_schema_is_generated_as_it_is_or_for_a_provider() {
    use airtight_core::{Dialect, lower};
    let contract = playbook();
    assert_eq!(text(&contract, Target::JsonSchema), format!("{:#}\n", contract.schema()));
    for dialect in Dialect::ALL {
        let order = Order {
            target: Target::JsonSchema,
            contract: "contract",
            root: None,
            dialect: Some(dialect),
        };
        let generated = generate(&contract, &order).unwrap();
        let lowering = lower(&contract, dialect).unwrap();
        assert_eq!(generated.text, format!("{:#}\n", lowering.schema));
        assert_eq!(generated.losses, lowering.losses);
    }
}

#[test]
fn names_of_types_follow_the_contract_or_what_is_asked_for() {
    let contract = playbook();
    let root = |root| {
        let order = Order { target: Target::Rust, contract: "code review", root, dialect: None };
        generate(&contract, &order).unwrap().text
    };
    assert!(root(None).contains("\npub struct CodeReview("));
    assert!(root(Some("finding-list")).contains("\npub struct FindingList("));
}
