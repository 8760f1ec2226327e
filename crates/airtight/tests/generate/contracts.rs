//! The contracts that are tried: all that ship, and some that no shipped one is like.

mod nasty;

use std::path::Path;

use serde_json::Value;

/// A contract, and values to start from.
pub(crate) struct Subject {
    /// A name that is one in every language.
    pub(crate) name: &'static str,
    pub(crate) schema: Value,
    pub(crate) instances: Vec<Value>,
}

/// The contracts that ship, each with a value that conforms.
const SHIPPED: [(&str, &str, &str); 7] = [
    ("agent_response", "schemas/agent-response.json", "schemas/examples/agent-response.json"),
    ("code_review", "schemas/code-review.json", "schemas/examples/code-review.json"),
    ("contact", "schemas/contact.json", "schemas/examples/contact.json"),
    ("triage", "schemas/triage.json", "schemas/examples/triage.json"),
    (
        "blog_writer",
        "contracts/blog-writer.json",
        "contracts/examples/blog-writer/onboarding.out.json",
    ),
    (
        "context_file_writer",
        "contracts/context-file-writer.json",
        "contracts/examples/context-file-writer/northwind.out.json",
    ),
    (
        "strategy_writer",
        "contracts/strategy-writer.json",
        "contracts/examples/strategy-writer/northwind.out.json",
    ),
];

fn read(path: &str) -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    serde_json::from_slice(&std::fs::read(root.join(path)).unwrap()).unwrap()
}

/// Returns the names of the contracts that ship.
pub(crate) fn shipped() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(name, _, _)| *name)
}

/// Returns every contract that is tried.
pub(crate) fn subjects() -> Vec<Subject> {
    let shipped = SHIPPED.iter().map(|(name, schema, example)| Subject {
        name,
        schema: read(schema),
        instances: vec![read(example)],
    });
    shipped.chain(nasty::all()).collect()
}

#[test]
fn every_shipped_contract_is_tried() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found: Vec<String> = ["schemas", "contracts"]
        .into_iter()
        .flat_map(|folder| {
            let entries = std::fs::read_dir(root.join(folder)).unwrap();
            entries.map(move |entry| format!("{folder}/{}", entry.unwrap().file_name().display()))
        })
        .filter(|path| Path::new(path).extension().is_some_and(|it| it == "json"))
        .collect();
    found.sort();
    let mut tried: Vec<&str> = SHIPPED.iter().map(|(_, schema, _)| *schema).collect();
    tried.sort_unstable();
    assert_eq!(found, tried);
}
