//! What cannot be meant together is refused, with what to do instead.

use crate::stage::{Said, Stage, good};

#[test]
fn conflicts_are_bad_usage_and_say_what_to_do() {
    let stage = Stage::new([good()]);
    let cases: [(&[&str], &str); 17] = [
        (&["x", "-p", "y"], "cannot be used with"),
        (&["--no-tools", "--sandbox", "x"], "cannot be used with"),
        (&["--no-tools", "--allow-tool", "glob", "x"], "cannot be used with"),
        (&["--no-tools", "--mcp-config", "m.json", "x"], "cannot be used with"),
        (&["--include-partial-messages", "x"], "--output-format stream-json"),
        (&["--strict", "--mode", "prompt", "x"], "leave one of them out"),
        (&["--exclude-tool", "structured_*", "--mode", "tool", "x"], "use `--mode native`"),
        (&["--source", "-"], "name files for the others"),
        (&["--reasks", "6", "x"], "must be between 0 and 5"),
        (&["--max-turns", "0", "x"], "must be between 1 and 100000"),
        (&["--max-wall-time", "0.5", "x"], "must be between 1s and 596h"),
        (&["--max-wall-time", "5 minutes", "x"], "`1.5h`"),
        (&["--max-tool-calls=-1", "x"], "expected a whole number"),
        (&["--temperature", "3", "x"], "must be between 0 and 2"),
        (&["--approval-mode", "always", "x"], "`auto-edit`"),
        (&["--base-url", "localhost:1", "x"], "`https://` URL"),
        (&["--output-format", "yaml", "x"], "stream-json"),
    ];
    for (arguments, expected) in cases {
        let said = stage.run(arguments);
        assert_eq!(said.code, 2, "{arguments:?}: {said:?}");
        assert!(said.stderr.contains(expected), "{arguments:?}: {}", said.stderr);
    }
    let said: Said = stage.command(&["run", "x"]).output().unwrap().into();
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("--json-schema <CONTRACT>"), "{}", said.stderr);
    assert!(stage.fake.requests().is_empty());
}
