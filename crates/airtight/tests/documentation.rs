//! Console blocks in the README and the guide are run, so that they cannot drift.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::path::Path;

/// Runs the blocks of `pages` from `folder`, where their readers are.
fn run(folder: &str, pages: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    std::env::set_current_dir(folder).unwrap();
    let cases = trycmd::TestCases::new();
    cases.env("NO_COLOR", "1").case(pages);
}

// One test, in a process of its own: there is only one current directory.
#[test]
fn console_blocks_show_what_really_happens() {
    run("", "README.md");
    run("docs/guide", "*.md");
}
