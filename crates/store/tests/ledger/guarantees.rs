//! What docs/reference/guarantees.md promises is tested by the tests that it names.

use std::fs;
use std::path::Path;

#[test]
fn every_test_that_a_guarantee_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/reference/guarantees.md")).unwrap();
    let mut sources = String::new();
    read(&root.join("crates"), &mut sources);
    // Names of tests stand in backticks, and are the only words there with three underscores.
    let named: Vec<&str> =
        page.split('`').skip(1).step_by(2).filter(|word| word.matches('_').count() >= 3).collect();
    assert!(named.len() >= 20, "only {} tests are named", named.len());
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
