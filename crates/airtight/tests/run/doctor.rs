//! `airtight doctor`.

use std::os::unix::fs::PermissionsExt;

use airtight_fake::{Fake, Turn};
use serde_json::{Value, json};

use crate::stage::{KEY, Said, Stage};

fn doctor(stage: &Stage, arguments: &[&str]) -> (Said, Value) {
    let all = [&["doctor", "--format", "json"], arguments].concat();
    let said: Said = stage.command(&all).output().unwrap().into();
    let document = serde_json::from_str(&said.stdout).unwrap_or_default();
    (said, document)
}

fn provider<'d>(document: &'d Value, name: &str) -> &'d Value {
    let all = document["providers"].as_array().unwrap();
    all.iter().find(|provider| provider["provider"] == name).unwrap()
}

#[test]
fn a_model_that_answers_is_usable() {
    let stage = Stage::new([Turn::text("OK").forever()]);
    let (said, document) = doctor(&stage, &[]);
    assert_eq!((said.code, &document["usable"]), (0, &Value::Bool(true)), "{said:?}");
    let anthropic = provider(&document, "anthropic");
    assert_eq!(
        (anthropic["state"].as_str(), anthropic["key"].as_str()),
        (Some("working"), Some("present"))
    );
    assert_eq!(provider(&document, "gemini")["state"], "not_configured");
    let model =
        document["settings"].as_array().unwrap().iter().find(|one| one["name"] == "model").unwrap();
    assert_eq!(
        (model["value"].as_str(), model["origin"].as_str()),
        (Some("anthropic:fake"), Some("$AIRTIGHT_MODEL"))
    );
    assert!(!said.stdout.contains(KEY));
}

#[test]
fn a_refused_key_a_broken_provider_and_no_model_differ() {
    let refused = Stage::new([Turn::status(401).forever()]);
    assert_eq!(doctor(&refused, &[]).0.code, 41);
    let broken = Stage::new([Turn::status(500).forever()]);
    assert_eq!(doctor(&broken, &[]).0.code, 3);
    let mut command = broken.bare(&["doctor", "--offline"]);
    let said: Said = command.env("GEMINI_API_KEY", "key").output().unwrap().into();
    assert_eq!(said.code, 52, "{said:?}");
    assert!(said.stdout.contains("hint: pass `--model anthropic:NAME`"), "{said:?}");
}

#[test]
fn keys_and_addresses_without_a_provider_are_only_for_the_model_in_force() {
    let stage = Stage::new([Turn::text("OK").forever()]);
    let other = Fake::start_blocking([Turn::text("OK").forever()]).unwrap();
    let mut command = stage.bare(&["doctor", "--model", "anthropic:fake"]);
    command
        .env("AIRTIGHT_API_KEY", KEY)
        .env("AIRTIGHT_BASE_URL", stage.fake.anthropic_base())
        .env("OPENAI_BASE_URL", other.openai_base())
        .env("OPENAI_API_KEY", "key-of-openai");
    let said: Said = command.output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    let carried = |fake: &Fake| -> Vec<(Option<String>, Option<String>)> {
        let header =
            |request: &airtight_fake::Request, name| request.header(name).map(str::to_owned);
        let both = |request| (header(request, "x-api-key"), header(request, "authorization"));
        fake.requests().iter().map(both).collect()
    };
    assert_eq!(carried(&stage.fake), [(Some(KEY.to_owned()), None)]);
    let others = carried(&other);
    let own = (None, Some("Bearer key-of-openai".to_owned()));
    assert!(!others.is_empty() && others.iter().all(|carried| *carried == own), "{others:?}");
}

#[test]
fn nothing_is_sent_offline() {
    let stage = Stage::new([Turn::text("OK")]);
    let (said, document) = doctor(&stage, &["--offline"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(provider(&document, "anthropic")["state"], "untried");
    assert!(stage.fake.requests().is_empty());
}

#[test]
fn refused_settings_are_told_to_programs_too() {
    let stage = Stage::new([Turn::text("OK")]).with("airtight.toml", "modle = 1");
    let (said, document) = doctor(&stage, &[]);
    assert_eq!((said.code, &document["usable"]), (52, &Value::Bool(false)));
    assert_eq!(document["problems"][0]["hints"][0], "did you mean `model`?");
}

#[test]
fn programs_on_the_path_have_the_version_of_their_package() {
    let stage = Stage::new([Turn::text("OK").forever()])
        .with("bin/package.json", r#"{"name":"@anthropic-ai/claude-code","version":"2.1.325"}"#)
        .with("bin/claude", "#!/bin/sh\ntouch started\n")
        .with("bin/codex", "#!/bin/sh\ntouch started\n")
        .with("bin/qwen", "not executable");
    for name in ["claude", "codex"] {
        let path = stage.path("bin").join(name);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = stage.command(&["doctor", "--offline"]);
    let path = format!("{}:/usr/bin:/bin", stage.path("bin").display());
    let said: Said = command.env("PATH", path).output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    let line =
        |name: &str| said.stdout.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
    assert!(line("claude").contains("2.1.325"), "{}", said.stdout);
    assert!(line("codex").contains("version unknown"), "{}", said.stdout);
    assert!(line("warning: the version of `codex`").contains("0.166.0"), "{}", said.stdout);
    assert!(!said.stdout.contains("the version of `claude`"), "{}", said.stdout);
    assert!(!stage.path("started").exists(), "nothing is started to know its version");
    assert!(line("qwen").contains("not found"), "{}", said.stdout);
}

#[test]
fn programs_are_told_with_what_they_can_honour() {
    let stage = Stage::new([Turn::text("OK").forever()]);
    let (said, document) = doctor(&stage, &["--offline"]);
    let programs = document["programs"].as_array().unwrap();
    let told = |name: &str| {
        let program = programs.iter().find(|program| program["name"] == name).unwrap();
        (program["mode"].clone(), program["abilities"].clone())
    };
    let like_claude = json!(["resume", "turn_cap", "guards", "strict"]);
    assert_eq!(
        told("claude"),
        (json!("tool"), json!(["cost", "resume", "turn_cap", "guards", "strict"])),
        "{said:?}"
    );
    assert_eq!(told("qwen"), (json!("tool"), like_claude));
    assert_eq!(told("codex"), (json!("native"), json!(["resume", "strict"])));
    assert_eq!(told("gemini"), (json!("prompt"), json!(["resume"])));
}
