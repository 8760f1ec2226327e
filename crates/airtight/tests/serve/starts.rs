//! How the server starts and ends.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use airtight_fake::Turn;
use test_case::test_case;

use crate::stage::{Backstage, GOOD, Stage, TOKEN, block_on, chat};

#[test]
fn a_token_is_made_once_for_its_user_alone_and_never_shown() {
    let stage = Backstage::new([]).serve(&["serve", "--bind", "127.0.0.1:0"]);
    let path = stage.path("data/airtight/serve.token");
    let token = std::fs::read_to_string(&path).unwrap().trim().to_owned();
    assert_eq!(token.len(), 48);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    stage.signal("TERM");
    let (code, said, _stage) = stage.end();
    assert_eq!(code, Some(0));
    assert!(said.contains("serve.token"), "{said}");
    assert!(!said.contains(&token), "{said}");
}

#[test]
fn what_makes_no_sense_is_refused_at_the_start() {
    let backstage = Backstage::new([]).with("short.txt", "short\n");
    for (arguments, code, words) in [
        (["serve", "--token-file", "short.txt"], 52, "has 5 characters, and needs 16"),
        (["serve", "--token-file", "absent.txt"], 52, "cannot be read"),
        (["serve", "--token-file", "/dev/zero"], 52, "cannot be read"),
        (
            ["serve", "--token-env", "NOTHING"],
            52,
            "the variable of the token is not set: `NOTHING`",
        ),
        (["serve", "--bind", "localhost"], 2, "invalid"),
        (["serve", "--bind", "8080"], 2, "did you mean `127.0.0.1:8080`?"),
        (
            ["serve", "--allow-host", "http://x"],
            2,
            "a host name alone is needed: did you mean `x`?",
        ),
    ] {
        let output = backstage.command(&arguments).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(words), "{stderr}");
    }
}

/// Nobody learns of it from the first alert.
#[test]
fn a_model_of_the_alerts_that_cannot_be_used_is_refused_as_a_run_refuses_it() {
    let backstage = Backstage::new([]);
    let ended = |arguments: &[&str]| {
        let output = backstage.command(arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for (model, code, words) in [
        ("nobody:gpt-5", 52, ["no such model (--alert-model)", "use one of `anthropic:NAME`"]),
        ("gpt-5", 52, ["no such model (--alert-model)", "did you mean `openai:gpt-5`?"]),
        ("openai:", 52, ["no such model (--alert-model)", "write it as `openai:NAME`"]),
        ("openai:gpt-5", 41, ["there is no key for `openai`", "type `export OPENAI_API_KEY=…`"]),
    ] {
        let (served, said) = ended(&["serve", "--bind", "127.0.0.1:0", "--alert-model", model]);
        assert_eq!(served, Some(code), "{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
        let (run, _) = ended(&["run", "--model", model, "--json-schema", "review", "Review."]);
        assert_eq!(run, served, "{model}");
    }
}

/// Hints of `run` name flags that cannot be typed here.
#[test_case(&["--alert-model", "opencode-cli"], "or name it by `AIRTIGHT_VIA_PATH`"; "a program")]
#[test_case(&["--alert-model", "embedded"], "by `--alert-model PROVIDER:NAME`"; "weights")]
#[test_case(&["--database", "token.txt/l.db"], "to use another ledger: `--database PATH`"; "a ledger")]
fn what_cannot_be_used_is_told_by_what_can_be_typed(arguments: &[&str], words: &str) {
    let backstage = Backstage::new([]);
    let serve = ["serve", "--bind", "127.0.0.1:0", "--token-file", "token.txt"];
    let output = backstage.command(&[&serve, arguments].concat()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains(words), "{stderr}");
    for flag in ["--model", "--via-path", "--yes", "--no-store"] {
        assert!(!stderr.contains(&format!("`{flag}")), "{stderr}");
    }
}

#[test]
fn an_address_that_is_taken_is_told_with_the_next_to_try() {
    let stage = Stage::new([]);
    let address = stage.address.to_string();
    let backstage = Backstage::new([]);
    let output = backstage.command(&["serve", "--bind", &address]).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains(&format!("cannot listen on {address}")), "{stderr}");
    assert!(stderr.contains("airtight serve --bind 127.0.0.1:"), "{stderr}");
}

#[test]
fn a_run_under_way_is_ended_and_recorded_when_the_server_ends() {
    let stage = Stage::new([Turn::text(GOOD).chunk_chars(4).gate(1, "held")]);
    let mut stream = stage.connect();
    let headers = format!("Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n");
    let body = chat("airtight").to_string();
    let text = stage.posting("/v1/chat/completions", &headers, &body);
    stream.write_all(text.as_bytes()).unwrap();
    block_on(stage.fake.gate("held").reached());
    stage.signal("TERM");
    let (code, _, stage) = stage.end();
    assert_eq!(code, Some(0));
    assert_eq!(stage.run("1").summary.outcome.as_deref(), Some("interrupted"));
}

#[test]
fn who_hangs_up_ends_the_run_and_the_record_says_so() {
    let stage = Stage::new([Turn::text(GOOD).chunk_chars(4).gate(1, "held")]);
    let mut stream = stage.connect();
    let headers = format!("Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n");
    let body = chat("airtight").to_string();
    let text = stage.posting("/v1/chat/completions", &headers, &body);
    stream.write_all(text.as_bytes()).unwrap();
    block_on(stage.fake.gate("held").reached());
    drop(stream);
    assert_eq!(stage.ended("1").summary.outcome.as_deref(), Some("interrupted"));
}
