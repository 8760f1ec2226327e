//! Hooks of the user, end to end.

use airtight_fake::Turn;
use serde_json::json;

use crate::stage::{Stage, good};

#[test]
fn a_hook_that_cannot_run_is_told_once_on_stderr_and_in_the_transcript() {
    let look = || Turn::call("list_directory", json!({ "path": "." }));
    let hook = "[[hooks.PreToolUse]]\ncommand = \"no-such-guard\"";
    for quiet in [&[][..], &["--quiet"]] {
        let stage =
            Stage::new([look(), look(), good()]).with("config/airtight/airtight.toml", hook);
        let said = stage.stream(&[quiet, &["Review"]].concat());
        assert_eq!(said.code, 0, "{said:?}");
        let fault =
            "hook `no-such-guard` (PreToolUse) exited with 127, which counts as no objection";
        let expected = usize::from(quiet.is_empty());
        assert_eq!(said.stderr.matches(&format!("warning: {fault}")).count(), expected, "{said:?}");
        let transcripts = stage.contents("data");
        assert_eq!(transcripts.len(), 1);
        assert_eq!(transcripts[0].matches(fault).count(), 1, "{transcripts:?}");
    }
}
