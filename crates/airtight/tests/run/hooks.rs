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
        let transcripts = stage.contents("data/airtight/runs");
        assert_eq!(transcripts.len(), 1);
        assert_eq!(transcripts[0].matches(fault).count(), 1, "{transcripts:?}");
    }
}

#[test]
fn an_answer_that_a_hook_refuses_is_told_by_the_hook_and_kept_out_of_the_denials() {
    let hook = "[[hooks.PreToolUse]]\nmatcher = \"structured_output\"\ncommand = \"exit 2\"";
    let stage = Stage::new([good().forever()]).with("config/airtight/airtight.toml", hook);
    let said = stage.stream(&["--reasks", "0", "--no-raw", "Review"]);
    let result = said.result();
    assert_eq!((said.code, &result["outcome"]), (1, &json!("attempts_exhausted")));
    let error = &result["error"];
    assert_eq!(error["message"], "the hook `exit 2` objects to the answer (turns: 1, attempts: 1)");
    assert_eq!(error["hints"][0], "see what the hook wants, or remove it: `exit 2`");
    assert_eq!(result["attempts"][0]["ending"], "vetoed");
    let denied = &result["permission_denials"][0];
    assert_eq!(denied["tool_name"], "structured_output");
    assert!(!denied.to_string().contains("fine"), "{denied}");
}
