//! A program in the place of `claude` that says what it is told to: what the original could not read, and
//! what the real one does too seldom.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::estate::{Estate, Said, report};

/// Writes down its arguments, and says its lines between what it does in `before.sh` and in `after.sh`.
const CLAUDE: &str = r#"#!/bin/sh
home=$(dirname "$0")/..
printf '%s\n' "$@" > "$home/arguments.txt"
cat > "$home/asked.txt"
test -e "$home/before.sh" && . "$home/before.sh"
cat "$home/lines.jsonl"
test -e "$home/after.sh" && . "$home/after.sh"
exit 0
"#;

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s","model":"opus","tools":["Bash","StructuredOutput"]}"#;

fn estate(lines: &[String]) -> Estate {
    let text = format!("{INIT}\n{}\n", lines.join("\n"));
    let estate = Estate::new(Vec::new()).with("lines.jsonl", &text).with(
        "watch.toml",
        "services = \"services.md\"\nlogs = \"logs\"\n[tiers.1]\nvia = \"claude\"\nmodel = \"opus\"\n",
    );
    let path = estate.path("bin/claude");
    std::fs::write(&path, CLAUDE).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    estate
}

fn once(estate: &Estate) -> Said {
    let mut command = estate.command(&["--config", "watch.toml", "--once"]);
    command.env("IS_SANDBOX", "1").output().unwrap().into()
}

fn said(content: &Value) -> String {
    let message = json!({ "id": "m", "role": "assistant", "content": content });
    json!({ "type": "assistant", "message": message, "session_id": "s" }).to_string()
}

fn result(structured: &Value) -> String {
    json!({
        "type": "result",
        "subtype": "success",
        "is_error": false,
        "result": "Done.",
        "structured_output": structured,
        "num_turns": 1,
        "total_cost_usd": 0.01,
        "duration_ms": 1,
        "session_id": "s",
    })
    .to_string()
}

/// CO-7: model, headless prompt, stream, tools, denied commands, schema and appended instructions.
#[test]
fn co_7_a_program_gets_its_arguments() {
    let estate = estate(&[result(&report("healthy", false))]);
    let ended = once(&estate);
    assert_eq!(ended.code, 0, "{ended:?}");
    let arguments = std::fs::read_to_string(estate.path("arguments.txt")).unwrap();
    let arguments: Vec<&str> = arguments.lines().collect();
    let has = |begin: &str| arguments.iter().any(|it| it.starts_with(begin));
    assert_eq!(arguments[..4], ["-p", "--output-format", "stream-json", "--verbose"]);
    assert!(arguments.contains(&"--model=opus"), "{arguments:?}");
    let tools = arguments.iter().find_map(|it| it.strip_prefix("--allowedTools=")).unwrap();
    assert_eq!(tools, "Bash,Read,Grep,Glob,Task,WebFetch,WebSearch");
    let denied = arguments.iter().find_map(|it| it.strip_prefix("--disallowedTools=")).unwrap();
    assert!(denied.contains("Bash(docker restart:*)"), "{denied}");
    assert!(has("--append-system-prompt-file="), "{arguments:?}");
    let schema = arguments.iter().find_map(|it| it.strip_prefix("--json-schema=")).unwrap();
    let schema: Value = serde_json::from_str(schema).unwrap();
    assert_eq!(schema["type"], "object");
    let required = ["summary", "events", "escalation", "services_checked"];
    assert_eq!(schema["required"], json!(required), "{schema}");
    let asked = std::fs::read_to_string(estate.path("asked.txt")).unwrap();
    assert!(asked.contains("## Services") && asked.contains("- web:"), "{asked}");
    assert_eq!(estate.sessions()[0].driver, "claude");
}

/// CO-7: without denied commands there is no such argument.
#[test]
fn co_7_nothing_is_denied_where_the_list_is_empty() {
    let estate = estate(&[result(&report("healthy", false))]);
    let file = std::fs::read_to_string(estate.path("watch.toml")).unwrap();
    let estate = estate.with("watch.toml", &format!("deny = []\n{file}"));
    assert_eq!(once(&estate).code, 0);
    let arguments = std::fs::read_to_string(estate.path("arguments.txt")).unwrap();
    assert!(!arguments.contains("--disallowedTools"), "{arguments}");
}

/// CO-93: exit code 2 and a reason deny, of whatever tool, and so does a watch that is not there.
#[test]
fn co_93_the_hook_of_a_program_denies_by_exit_code_2() {
    // What the program would do: ask its own hook about a call.
    let ask = "set -- $(grep ^--settings= \"$home/arguments.txt\" | cut -d= -f2)\n\
        hook=$(sed 's/.*\"command\":\"\\([^\"]*\\)\".*/\\1/' \"$1\")\n\
        asked() { printf '%s' \"$2\" | sh -c \"$3\" 2> \"$home/$1.why\"; echo $? > \"$home/$1.code\"; }\n\
        asked allowed '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"docker ps\"}}' \"$hook\"\n\
        asked denied '{\"tool_name\":\"mcp__x__y\",\"tool_input\":{\"z\":[\"docker\",\"restart\",\"web\"]}}' \"$hook\"\n\
        asked gone '{}' \"$(printf '%s' \"$hook\" | sed \"s|/door'|/nowhere'|\")\"\n\
        asked replaced '{}' \"$(printf '%s' \"$hook\" | sed \"s|airtight'|airtight (deleted)'|\")\"\n";
    let estate = estate(&[result(&report("healthy", false))]).with("before.sh", ask);
    let ended = once(&estate);
    assert_eq!(ended.code, 0, "{ended:?}");
    let read = |name: &str| std::fs::read_to_string(estate.path(name)).unwrap();
    for (name, code, why) in [
        ("allowed", "0", ""),
        ("denied", "2", "tier 1"),
        ("gone", "2", "the watch cannot be asked"),
        ("replaced", "2", "airtight (deleted)"),
    ] {
        let (found, said) = (read(&format!("{name}.code")), read(&format!("{name}.why")));
        assert_eq!((found.trim(), said.contains(why)), (code, true), "{name}: {said}");
    }
    assert_eq!(estate.actions(), []);
}

/// CO-10: a child that holds the pipe is not waited for: the session ends, and says that work was left.
#[test]
fn co_10_a_child_that_holds_the_pipe_does_not_hold_the_session() {
    let estate = estate(&[result(&report("healthy", false))])
        .with("after.sh", "sleep 600 & echo $! > \"$home/child.pid\"\n");
    let ended = once(&estate);
    assert_eq!(ended.code, 0, "{ended:?}");
    let session = estate.sessions().remove(0);
    assert_eq!((session.status.as_str(), session.extraction.as_str()), ("completed", "structured"));
    let child = std::fs::read_to_string(estate.path("child.pid")).unwrap();
    let is_alive = std::path::Path::new("/proc").join(child.trim()).join("stat");
    let stat = std::fs::read_to_string(is_alive).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "it is ended with its session: {stat}");
}

/// A line of over 1 MiB ended the original's reader, and every later line was lost, the result too.
#[test]
fn a_line_of_over_a_mebibyte_costs_no_result() {
    let long = said(&json!([{ "type": "text", "text": "x".repeat(3 << 20) }]));
    let estate = estate(&[long, result(&report("down", false))]);
    let ended = once(&estate);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(estate.sessions()[0].extraction, "structured");
    assert_eq!(estate.services()[0].status, "down");
}

/// `message.content` as a plain string made the whole line unreadable for the original.
#[test]
fn content_that_is_a_plain_string_is_read() {
    let text = "I looked.\n\n[EVENT:warning:web] slow";
    let estate = estate(&[said(&json!(text)), result(&Value::Null)]);
    let ended = once(&estate);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(estate.sessions()[0].extraction, "markers");
    let marked: Vec<_> = estate
        .events()
        .into_iter()
        .filter(|event| event.origin == "markers")
        .map(|event| event.message)
        .collect();
    assert_eq!(marked, ["slow"]);
}
