//! Surroundings that go away, and mistakes of our own.

use std::io::pipe;
use std::process::Command;

use airtight_fake::Turn;
use serde_json::json;

use crate::mcp;
use crate::stage::{Said, Stage, good};

/// More than any machine has: no thread can be started that does not bring its own measure.
const STACK_BYTES: &str = "1152921504606846976";

#[test]
fn a_panic_has_a_result_and_says_where_to_report_it_but_not_what_it_said() {
    for format in ["json", "stream-json"] {
        let stage = Stage::new([good()]);
        let url = format!("http://localhost:{}", stage.fake.address().port());
        let arguments =
            ["run", "--json-schema", "review.json", "--output-format", format, "Review"];
        let mut command = stage.command(&arguments);
        // The runtime panics where the name of a server cannot be looked up on a thread.
        command.env("ANTHROPIC_BASE_URL", url).env("RUST_MIN_STACK", STACK_BYTES);
        let said: Said = command.output().unwrap().into();
        // An array has one element a line.
        let lines =
            said.stdout.trim_start_matches('[').trim_end_matches("]\n").replace(",\n", "\n");
        let result = Said { code: 3, stdout: lines, stderr: String::new() }.result();
        assert_eq!((said.code, &result["outcome"]), (3, &json!("machine")), "{said:?}");
        assert_eq!(result["total_cost_usd"], json!(null));
        assert!(said.stderr.starts_with("error: airtight failed"), "{said:?}");
        assert!(said.stderr.contains("/issues"), "{said:?}");
        assert!(said.stderr.contains("at ") && said.stderr.contains(".rs:"), "{said:?}");
        assert!(!said.stderr.contains("spawn") && !said.stderr.contains("panicked"), "{said:?}");
    }
}

#[test]
fn a_reader_that_went_away_ends_the_run_and_keeps_the_transcript() {
    let stage = Stage::new([good().gate(0, "start")]);
    let mut child = stage.start(&["Review"]);
    crate::interrupts::block_on(stage.fake.gate("start").reached());
    drop(child.stdout.take());
    stage.fake.gate("start").open();
    let said: Said = child.wait_with_output().unwrap().into();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    let kept = stage.contents("data/airtight/runs");
    assert_eq!(kept.len(), 1);
    assert!(kept[0].lines().last().unwrap().contains("\"type\":\"ended\""), "{}", kept[0]);
}

#[test]
fn an_answer_that_nobody_reads_is_no_failure() {
    for format in ["text", "json"] {
        let stage = Stage::new([good()]);
        let arguments =
            ["run", "--json-schema", "review.json", "--output-format", format, "Review"];
        let (_, nobody) = pipe().unwrap();
        let said: Said = stage.command(&arguments).stdout(nobody).output().unwrap().into();
        assert_eq!((said.code, said.stderr.as_str()), (0, ""));
        assert!(stage.contents("data/airtight/runs")[0].contains("\"outcome\":\"met\""));
    }
}

#[test]
fn a_refusal_is_told_on_stderr_although_nobody_reads_stdout() {
    let stage = Stage::new([good()]);
    for format in ["text", "json", "stream-json"] {
        let arguments = ["run", "--json-schema", "@missing.json", "--output-format", format, "x"];
        let (_, nobody) = pipe().unwrap();
        let said: Said = stage.command(&arguments).stdout(nobody).output().unwrap().into();
        assert_eq!(said.code, 52, "{said:?}");
        assert!(said.stderr.starts_with("error: could not read contract"), "{said:?}");
    }
}

#[test]
fn notes_that_nobody_reads_cost_nothing() {
    let stage = mcp::with_server(Stage::new([good()]), &json!({}));
    let arguments = ["run", "--json-schema", "review.json", "--mcp-config", "mcp.json", "Review"];
    let (_, nobody) = pipe().unwrap();
    let mut command = stage.command(&arguments);
    command.env("AIRTIGHT_LOG", "trace").stderr(nobody);
    let said: Said = command.output().unwrap().into();
    assert_eq!((said.code, said.stdout.as_str()), (0, "{\"summary\":\"fine\",\"score\":9}\n"));
}

#[test]
fn a_folder_that_is_gone_is_told_as_such() {
    let stage = Stage::new([good()]);
    let schema = stage.path("review.json");
    let run = stage.command(&["run", "--json-schema", schema.to_str().unwrap(), "Review"]);
    let mut command = Command::new("sh");
    let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" \"$@\"";
    command.args(["-c", script]).arg(run.get_program()).args(run.get_args());
    command.current_dir(stage.path("")).env_clear();
    command.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let said: Said = command.output().unwrap().into();
    assert_eq!(said.code, 52, "{said:?}");
    let expected = "error: the current directory does not exist any more, or cannot be read\n";
    assert!(said.stderr.starts_with(expected), "{said:?}");
}

#[test]
fn a_core_tool_that_there_is_not_is_refused_with_a_suggestion() {
    let stage = Stage::new([good().forever()]);
    for (tools, hint) in [
        ("read_fil", "hint: did you mean `read_file`?"),
        ("grep,nosuch(x)", "hint: there are read_file, list_directory"),
    ] {
        let said = stage.stream(&["--core-tools", tools, "Review"]);
        assert_eq!((said.code, &said.result()["outcome"]), (52, &json!("config")));
        assert!(said.stderr.starts_with("error: --core-tools: there is no tool `"), "{said:?}");
        assert!(said.stderr.contains(hint), "{said:?}");
    }
    for tools in ["grep,agent,structured_output", "read_*", "mcp__later__tool"] {
        assert_eq!(
            stage.run(&["--mode", "tool", "--core-tools", tools, "Review"]).code,
            0,
            "{tools}"
        );
    }
}

#[test]
fn a_sandbox_that_cannot_be_had_refuses_the_run() {
    let shell = Turn::call("run_shell_command", json!({ "command": "touch ran" }));
    let stage = Stage::new([shell, good()]);
    let flags = ["--output-format", "stream-json", "--sandbox", "--approval-mode", "yolo", "x"];
    let arguments = [&["run", "--json-schema", "review.json"], &flags[..]].concat();
    let mut command = stage.command(&arguments);
    // Where it would put what commands write for themselves.
    let said: Said = command.env("TMPDIR", "/no/such/folder").output().unwrap().into();
    let result = said.result();
    assert_eq!((said.code, &result["outcome"]), (44, &json!("sandbox")), "{said:?}");
    assert!(said.stderr.starts_with("error: the sandbox cannot be enforced"), "{said:?}");
    assert!(stage.fake.requests().is_empty() && !stage.path("ran").exists());
}
