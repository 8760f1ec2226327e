//! What docs/reference/watch.md promises is tested by the tests that it names.

use std::fs;
use std::path::Path;

use crate::page::repository;

#[test]
fn every_test_that_the_page_names_exists() {
    let page = fs::read_to_string(repository().join("docs/reference/watch.md")).unwrap();
    let mut sources = String::new();
    read(&repository().join("crates"), &mut sources);
    // Names of tests stand in backticks, and are the only words there with three underscores.
    let is_test = |word: &&str| {
        let is_name = |next: char| next.is_ascii_alphanumeric() || next == '_';
        word.matches('_').count() >= 3 && word.chars().all(is_name)
    };
    let named: Vec<&str> = page.split('`').skip(1).step_by(2).filter(is_test).collect();
    assert!(named.len() >= 80, "only {} tests are named", named.len());
    for test in named {
        assert!(sources.contains(&format!("fn {test}(")), "no test is called `{test}`");
    }
}

fn read(folder: &Path, sources: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}
