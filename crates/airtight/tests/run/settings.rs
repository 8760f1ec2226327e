//! Which setting wins, end to end.

use serde_json::json;

use airtight_fake::Turn;

use crate::stage::{KEY, Said, Stage, good};

fn asked_model(stage: &Stage, arguments: &[&str], variable: Option<&str>) -> String {
    let all = [&["run", "--json-schema", "review.json", "Review"], arguments].concat();
    let mut command = stage.command(&all);
    command.env_remove("AIRTIGHT_MODEL");
    if let Some(model) = variable {
        command.env("AIRTIGHT_MODEL", model);
    }
    let said: Said = command.output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    stage.fake.requests().last().unwrap().body["model"].as_str().unwrap().to_owned()
}

#[test]
fn project_user_environment_and_flag_rise_in_strength() {
    let stage = Stage::new([good().forever()])
        .with(".git/HEAD", "")
        .with("airtight.toml", "model = \"anthropic:of-project\"");
    assert_eq!(asked_model(&stage, &[], None), "of-project");
    let stage = stage.with("config/airtight/airtight.toml", "model = \"anthropic:of-user\"");
    assert_eq!(asked_model(&stage, &[], None), "of-user");
    assert_eq!(asked_model(&stage, &[], Some("anthropic:of-variable")), "of-variable");
    let flags = ["--model", "anthropic:of-flag"];
    assert_eq!(asked_model(&stage, &flags, Some("anthropic:of-variable")), "of-flag");
}

#[test]
fn unknown_keys_refuse_the_run_with_a_result() {
    let stage = Stage::new([good()]).with("airtight.toml", "\n[policy]\nmax_turn = 3");
    let said = stage.stream(&["Review"]);
    let result = said.result();
    assert_eq!((said.code, result["outcome"].as_str()), (52, Some("config")));
    assert!(
        said.stderr.contains("airtight.toml:3: no such setting: `policy.max_turn`"),
        "{said:?}"
    );
    assert!(said.stderr.contains("did you mean `max_turns`?"), "{said:?}");
}

#[test]
fn a_repository_cannot_send_the_key_elsewhere() {
    let stage = Stage::new([good()]);
    let elsewhere =
        format!("[providers.anthropic]\nbase_url = \"{}\"", stage.fake.anthropic_base());
    let stage = stage.with("airtight.toml", elsewhere);
    let run = ["run", "--json-schema", "review.json", "Review"];
    let command = |arguments: &[&str]| -> Said {
        let mut command = stage.command(&[&run, arguments].concat());
        command.env_remove("ANTHROPIC_BASE_URL").output().unwrap().into()
    };
    let said = command(&[]);
    assert_eq!(said.code, 52, "{said:?}");
    assert!(said.stderr.contains("--trust-project"), "{said:?}");
    assert!(stage.fake.requests().is_empty());
    assert_eq!(command(&["--trust-project"]).code, 0);
}

#[test]
fn keys_are_taken_from_the_variable_that_a_file_names() {
    let stage = Stage::new([good().forever()])
        .with("config/airtight/airtight.toml", "[providers.anthropic]\napi_key_env = \"MY_KEY\"");
    let run = ["run", "--json-schema", "review.json", "Review"];
    let said: Said = stage.command(&run).output().unwrap().into();
    assert_eq!(said.code, 41, "{said:?}");
    assert!(said.stderr.contains("export MY_KEY="), "{said:?}");
    let said: Said = stage.command(&run).env("MY_KEY", "my-own-key").output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(stage.fake.requests()[0].header("x-api-key"), Some("my-own-key"));
    let said: Said =
        stage.command(&run).env("AIRTIGHT_API_KEY", "any-key").output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(stage.fake.requests()[1].header("x-api-key"), Some("any-key"));
}

#[test]
fn each_provider_is_reached_by_its_usual_variables() {
    let stage = Stage::new([good().forever()]);
    let (openai, gemini) = (stage.fake.openai_base(), stage.fake.gemini_base());
    let cases = [
        ("openai:m", "OPENAI_BASE_URL", openai.as_str(), "OPENAI_API_KEY", "/v1/responses"),
        ("openai-chat:m", "OPENAI_BASE_URL", &openai, "OPENAI_API_KEY", "/v1/chat/completions"),
        ("openai-compatible:m", "AIRTIGHT_BASE_URL", &openai, "UNUSED", "/v1/chat/completions"),
        (
            "gemini:m",
            "GOOGLE_GEMINI_BASE_URL",
            &gemini,
            "GEMINI_API_KEY",
            "/v1beta/models/m:streamGenerateContent",
        ),
    ];
    for (model, variable, url, key, path) in cases {
        let mut command = stage.bare(&[
            "run",
            "--json-schema",
            "review.json",
            "--model",
            model,
            "--mode",
            "tool",
            "x",
        ]);
        let said: Said = command.env(variable, url).env(key, KEY).output().unwrap().into();
        assert_eq!(
            (said.code, said.stdout.as_str()),
            (0, "{\"summary\":\"fine\",\"score\":9}\n"),
            "{said:?}"
        );
        assert_eq!(stage.fake.requests().last().unwrap().path, path);
    }
}

#[test]
fn limits_and_sampling_reach_the_model() {
    let stage =
        Stage::new([Turn::call("structured_output", json!({ "summary": "a", "score": 1 }))]);
    let flags = ["--temperature", "0.5", "--max-output-tokens", "77", "--system", "Be brief.", "x"];
    assert_eq!(stage.run(&flags).code, 0);
    let body = &stage.fake.requests()[0].body;
    assert_eq!((&body["temperature"], &body["max_tokens"]), (&json!(0.5), &json!(77)));
    assert!(body["system"].to_string().contains("Be brief."));
}

#[test]
fn the_usual_key_of_openai_going_elsewhere_is_told() {
    let stage = Stage::new([good().forever()]);
    let address = stage.fake.openai_base();
    let warned = |variable: &str| {
        let arguments = ["run", "--json-schema", "review.json", "--base-url", &address, "Review"];
        let mut command = stage.bare(&arguments);
        command.env("AIRTIGHT_MODEL", "openai-compatible:fake").env(variable, "some-long-key");
        let said: Said = command.output().unwrap().into();
        assert_eq!(said.code, 0, "{said:?}");
        said.stderr.contains("warning: the key in `OPENAI_API_KEY` is sent to `127.0.0.1`")
    };
    assert!(warned("OPENAI_API_KEY"));
    assert!(!warned("AIRTIGHT_API_KEY"));
}
