//! The official JSON Schema test suite, where it is at hand.
//!
//! It is no part of this repository: it is looked for where `AIRTIGHT_SUITES` says, else beside the
//! repository. Tests that need it say aloud when it is absent, and pass.

use std::path::{Path, PathBuf};
use std::{env, fs};

use jsonschema::Draft;
use serde_json::{Value, json};

use crate::contract::{Options, Preflight, Scrutiny};
use crate::page::repository;
use crate::{Contract, Document};

/// The drafts that the suite covers, by folder.
pub(crate) const DRAFTS: [(&str, Draft); 5] = [
    ("draft4", Draft::Draft4),
    ("draft6", Draft::Draft6),
    ("draft7", Draft::Draft7),
    ("draft2019-09", Draft::Draft201909),
    ("draft2020-12", Draft::Draft202012),
];

/// The folder of the suite.
pub(crate) struct Suite(PathBuf);

/// A schema and what it says of some values.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) schema: Value,
    pub(crate) tests: Vec<Test>,
}

/// One value and whether it conforms.
pub(crate) struct Test {
    pub(crate) name: String,
    pub(crate) value: Document,
    pub(crate) conforms: bool,
}

impl Suite {
    /// Finds the suite, or says aloud that there is none.
    #[expect(clippy::print_stderr, reason = "what did nothing must not look like what did")]
    pub(crate) fn open() -> Option<Self> {
        let given = env::var_os("AIRTIGHT_SUITES").map(PathBuf::from);
        let suites = given.unwrap_or_else(|| repository().join("../shared/suites"));
        let suite = suites.join("json-schema-test-suite");
        if suite.is_dir() {
            return Some(Self(suite));
        }
        eprintln!("SKIPPED: no JSON Schema test suite at hand (set AIRTIGHT_SUITES)");
        None
    }

    /// Returns the files of a draft's required tests.
    pub(crate) fn required(&self, draft: &str) -> Vec<PathBuf> {
        let mut files = json_files(&self.0.join(draft));
        files.retain(|file| !file.components().any(|part| part.as_os_str() == "optional"));
        files
    }

    /// Returns the files of a draft's optional tests, each with its name.
    pub(crate) fn optional(&self, draft: &str) -> Vec<(String, PathBuf)> {
        let folder = self.0.join(draft).join("optional");
        let name = |file: &Path| {
            let place = file.strip_prefix(&folder).unwrap().with_extension("");
            place.to_str().unwrap().to_owned()
        };
        json_files(&folder).into_iter().map(|file| (name(&file), file)).collect()
    }

    /// Returns the documents that tests of a draft may refer to.
    pub(crate) fn documents(&self, draft: &str) -> Vec<(String, Value)> {
        let remotes = self.0.join("remotes");
        let document = |path: PathBuf| {
            let place = path.strip_prefix(&remotes).unwrap().to_str().unwrap().to_owned();
            let is_foreign = (place.starts_with("draft") || place.starts_with("v1/"))
                && !place.starts_with(&format!("{draft}/"));
            let text = fs::read_to_string(&path).unwrap();
            (!is_foreign).then(|| {
                let uri = format!("http://localhost:1234/{place}");
                (uri, serde_json::from_str(&text).unwrap())
            })
        };
        json_files(&remotes).into_iter().filter_map(document).collect()
    }

    /// Returns how contracts of a draft are compiled: foreign keywords are fine, remotes at hand.
    pub(crate) fn options(&self, name: &str, draft: Draft) -> Options {
        Options {
            scrutiny: Scrutiny::Permissive,
            default_draft: draft,
            documents: self.documents(name),
            ..Options::default()
        }
    }
}

impl Group {
    /// Reads the groups of a file; none if some value in it is beyond any machine.
    pub(crate) fn read(file: &Path) -> Option<Vec<Self>> {
        let document = Document::parse(fs::read_to_string(file).unwrap()).ok()?;
        let text = |node: crate::json::Node<'_>, key: &str| {
            node.member(key).unwrap().as_str().unwrap().to_owned()
        };
        let groups = document.root().items().map(|group| Self {
            name: format!("{} {}", file.display(), text(group, "description")),
            // A contract is an object; these say the same.
            schema: match group.member("schema").unwrap() {
                schema if schema.as_boolean() == Some(true) => json!({}),
                schema if schema.as_boolean() == Some(false) => json!({"not": {}}),
                schema => schema.to_value(),
            },
            tests: group
                .member("tests")
                .unwrap()
                .items()
                .map(|test| Test {
                    name: text(test, "description"),
                    value: Document::parse(test.member("data").unwrap().raw()).unwrap(),
                    conforms: test.member("valid").unwrap().as_boolean().unwrap(),
                })
                .collect(),
        });
        Some(groups.collect())
    }

    /// Compiles the schema as a contract.
    pub(crate) fn contract(&self, options: &Options) -> Result<Contract, crate::Refusal> {
        Preflight::of(self.schema.clone(), options).into_result()
    }
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
