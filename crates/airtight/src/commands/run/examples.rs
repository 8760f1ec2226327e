//! Worked examples from a folder: what is asked in `NAME.in.txt`, the right answer in `NAME.out.json`.
//!
//! Each answer is judged by the contract before anything is spent: one that breaks it would teach to
//! break it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use airtight_core::{Contract, Rejected};

use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::explain;
use crate::file::{self, FileError};
use crate::source::ContractSource;

/// How the names of what is asked, and of the answers, end.
const ENDS: [&str; 2] = [".in.txt", ".out.json"];

/// The most examples: as many as a contract may bring itself.
const EXAMPLE_LIMIT: usize = 32;

/// The longest file: more than a small model can read.
const FILE_LIMIT_BYTES: usize = 64 * 1024;

/// Adds the examples that were typed, else those of the role.
pub(crate) fn choose(
    typed: Option<&str>,
    source: &ContractSource,
    environment: &Environment,
    contract: &mut Contract,
) -> Result<(), Error> {
    let typed = typed.map(|folder| environment.resolve(folder));
    let of_role = || source.role().and_then(|role| role.examples.clone());
    typed.or_else(of_role).map_or(Ok(()), |folder| add(&folder, contract))
}

/// Adds the examples in `folder`, in the order of their names.
fn add(folder: &Path, contract: &mut Contract) -> Result<(), Error> {
    listed(folder)?.iter().try_for_each(|name| add_one(folder, name, contract))
}

/// Adds the examples in `folder` that can be used, and returns what is wrong with the others.
pub(crate) fn flaws(folder: &Path, contract: &mut Contract) -> Vec<Error> {
    match listed(folder) {
        Ok(names) => {
            names.iter().filter_map(|name| add_one(folder, name, contract).err()).collect()
        }
        Err(error) => vec![error],
    }
}

/// Returns what the examples in `folder` are called, and refuses none and too many.
fn listed(folder: &Path) -> Result<BTreeSet<String>, Error> {
    let names = names(folder).map_err(|error| unreadable(folder, error.into()))?;
    let place = folder.display();
    if names.is_empty() {
        return Err(refused(format!("there are no examples in `{place}`"))
            .hint("name them `NAME.in.txt` (what is asked) and `NAME.out.json` (the answer)"));
    }
    if names.len() > EXAMPLE_LIMIT {
        return Err(refused(format!("there are more than {EXAMPLE_LIMIT} examples in `{place}`")));
    }
    Ok(names)
}

fn add_one(folder: &Path, name: &str, contract: &mut Contract) -> Result<(), Error> {
    let [input, output] = ENDS.map(|end| folder.join(format!("{name}{end}")));
    let asked = text(&input)?;
    contract.add_example(asked, &text(&output)?).map_err(|rejected| broken(&output, &rejected))
}

/// Says that the answer in `output` breaks the contract.
fn broken(output: &Path, rejected: &Rejected) -> Error {
    let reason = explain::rejection(&rejected.reason);
    let findings = [vec![reason], explain::violations(rejected)].concat();
    refused(format!("the example breaks the contract: `{}`", output.display()))
        .with_findings(findings)
        .hint("correct the answer in it, or take both files of the example out of the folder")
        .hint("`airtight check NAME` judges all examples of a role")
}

fn refused(message: String) -> Error {
    Error::new(Outcome::Contract, message)
}

/// Returns what the examples are called, also those of which one file is missing.
fn names(folder: &Path) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let file = entry?.file_name();
        let Some(file) = file.to_str() else { continue };
        names.extend(ENDS.iter().find_map(|end| file.strip_suffix(end)).map(str::to_owned));
        // One more is enough to be refused.
        if names.len() > EXAMPLE_LIMIT {
            break;
        }
    }
    Ok(names)
}

fn text(path: &Path) -> Result<String, Error> {
    let bytes = file::read(path, FILE_LIMIT_BYTES).map_err(|error| unreadable(path, error))?;
    let text = String::from_utf8(bytes).map_err(io::Error::other);
    text.map_err(|error| unreadable(path, error.into()))
}

fn unreadable(path: &Path, error: FileError) -> Error {
    let message = format!("the examples cannot be read: `{}`", path.display());
    Error::new(Outcome::Contract, message).caused_by(error)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use test_case::test_case;

    use super::*;

    /// Adds examples of these files to a contract of one number.
    fn added(files: &[(&str, &str)]) -> Result<Vec<String>, Error> {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            fs::write(folder.path().join(name), content).unwrap();
        }
        let mut contract = Contract::compile(json!({"type": "integer"})).unwrap();
        add(folder.path(), &mut contract)?;
        let shown = contract.worked_examples().into_iter();
        Ok(shown.map(|example| format!("{}: {}", example.input, example.output)).collect())
    }

    #[test]
    fn examples_come_in_the_order_of_their_names() {
        let files = [
            ("b.in.txt", "two"),
            ("b.out.json", "2\n"),
            ("a.out.json", "1"),
            ("a.in.txt", "one"),
            ("README.md", "is no example"),
        ];
        assert_eq!(added(&files).unwrap(), ["one: 1", "two: 2"]);
    }

    #[test]
    fn every_example_that_cannot_be_used_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let files = [("a.in.txt", "one"), ("a.out.json", "true"), ("b.in.txt", "two")];
        let good = [("c.in.txt", "three"), ("c.out.json", "3")];
        for (name, content) in files.into_iter().chain(good) {
            fs::write(folder.path().join(name), content).unwrap();
        }
        let mut contract = Contract::compile(json!({"type": "integer"})).unwrap();
        let flaws = flaws(folder.path(), &mut contract);
        let told: Vec<String> = flaws.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("a.out.json") && told[1].contains("b.out.json"), "{told:?}");
        assert!(flaws[0].hints[0].starts_with("correct the answer"), "{flaws:?}");
        assert_eq!(contract.added_examples().len(), 1);
    }

    #[test_case(&[("a.in.txt", "one"), ("a.out.json", "\"one\"")], "the example breaks the contract", "a.out.json"; "a wrong answer")]
    #[test_case(&[("a.in.txt", "one"), ("a.out.json", "it is 1")], "the example breaks the contract", "a.out.json"; "an answer with words around it")]
    #[test_case(&[("a.in.txt", "one")], "the examples cannot be read", "a.out.json"; "no answer")]
    #[test_case(&[("a.out.json", "1")], "the examples cannot be read", "a.in.txt"; "an answer to nothing")]
    #[test_case(&[("a.txt", "one")], "there are no examples", ""; "other names")]
    fn what_would_teach_nothing_is_refused_by_its_name(
        files: &[(&str, &str)],
        message: &str,
        name: &str,
    ) {
        let error = added(files).unwrap_err();
        let said = error.to_string();
        assert!(said.starts_with(message) && said.contains(name), "{said}");
        assert_eq!(error.kind, Outcome::Contract);
    }
}
