//! Strength, origins and refusals of settings.

use super::*;
use tempfile::TempDir;

/// A project in a git repository, and a user's folder, with these files.
struct Home(TempDir);

impl Home {
    fn new(project: &str, user: &str) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(home.project().join(".git")).unwrap();
        std::fs::create_dir_all(home.project().join("src/deep")).unwrap();
        std::fs::create_dir_all(home.path("config/airtight")).unwrap();
        std::fs::write(home.project().join("airtight.toml"), project).unwrap();
        std::fs::write(home.path("config/airtight/airtight.toml"), user).unwrap();
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn project(&self) -> PathBuf {
        self.path("project")
    }

    fn load(&self, variables: &[(&str, &str)], flags: Vec<Entry>) -> Result<Config, Error> {
        let config = self.path("config").display().to_string();
        let variables: Vec<_> = [("XDG_CONFIG_HOME", config.as_str())]
            .into_iter()
            .chain(variables.iter().copied())
            .collect();
        let environment = Environment::of(&self.project().join("src/deep"), &variables);
        Config::load(&environment, None, flags, Trust::AsConfigured)
    }

    fn refusal(&self, variables: &[(&str, &str)]) -> String {
        let error = self.load(variables, Vec::new()).unwrap_err();
        let text =
            [vec![error.to_string()], error.causes(), error.hints.clone()].concat().join("\n");
        text.replace(&self.0.path().display().to_string(), "~")
    }
}

#[test]
fn project_user_environment_and_flags_rise_in_strength() {
    let home = Home::new(
        "model = \"a:project\"\nmode = \"tool\"\nsystem = \"project\"\n[policy]\nmax_turns = 3",
        "model = \"a:user\"\nmode = \"native\"\n[policy]\nmax_turns = 4",
    );
    let flag = Entry::flag(Key::Model, "--model", Value::Text("a:flag".to_owned()));
    let config = home
        .load(&[("AIRTIGHT_MODE", "prompt"), ("AIRTIGHT_MODEL", "a:variable")], vec![flag])
        .unwrap();
    let shown = [Key::Model, Key::Mode, Key::MaxTurns, Key::System].map(|key| {
        let entry = config.strongest(key).unwrap();
        (entry.value.to_string(), entry.origin.layer())
    });
    let expected =
        [("a:flag", "flag"), ("prompt", "environment"), ("4", "user"), ("project", "project")];
    assert_eq!(shown, expected.map(|(value, layer)| (value.to_owned(), layer)));
    let layers: Vec<_> = config.said(Key::Model).iter().map(|entry| entry.origin.layer()).collect();
    assert_eq!(layers, ["project", "user", "environment", "flag"]);
}

#[test]
fn denials_add_up_over_all_layers() {
    let home = Home::new(
        "[permissions]\nexclude = [\"a\"]",
        "[permissions]\nexclude = [\"b\"]\ncore_tools = [\"c\"]",
    );
    let flags = vec![
        Entry::flag(Key::Exclude, "--exclude-tool", Value::List(vec!["d".to_owned()])),
        Entry::flag(Key::CoreTools, "--core-tools", Value::List(vec!["e".to_owned()])),
    ];
    let config = home.load(&[], flags).unwrap();
    assert_eq!(config.list(Key::Exclude).unwrap(), ["a", "b", "d"]);
    assert_eq!(config.list(Key::CoreTools).unwrap(), ["e"]);
    assert_eq!(config.list(Key::Allow), None);
}

#[test]
fn unknown_keys_are_refused_with_what_was_meant() {
    let cases = [
        (
            "modle = \"x\"",
            "~/project/airtight.toml:1: no such setting: `modle`\ndid you mean `model`?",
        ),
        (
            "\n[policy]\nmax_turn = 1",
            "~/project/airtight.toml:3: no such setting: `policy.max_turn`\ndid you mean `max_turns`?",
        ),
        (
            "[polcy]\nreasks = 1",
            "~/project/airtight.toml:1: no such setting: `polcy`\ndid you mean `policy`?",
        ),
        (
            "[sandbox]\nxyz = 1",
            "~/project/airtight.toml:2: no such setting: `sandbox.xyz`\nsettings here: enabled",
        ),
        ("policy = 1", "~/project/airtight.toml:1: `policy` must be a table: `[policy]`"),
        (
            "[policy]\nreasks = 6",
            "~/project/airtight.toml:2: `policy.reasks`\nmust be between 0 and 5",
        ),
    ];
    for (project, expected) in cases {
        assert_eq!(Home::new(project, "").refusal(&[]), expected);
    }
}

#[test]
fn nothing_of_a_file_is_repeated_when_it_cannot_be_read() {
    let broken = [
        "model = s3cret",
        "model = \"s3cret",
        "[s3cret\n",
        "s3cret",
        "model = \"a\"\nmodel = \"s3cret\"",
        "[providers.anthropic]\napi_key = \"s3cret\"",
        "[providers.anthropic]\napi_key_env = \"sk-s3cret\"",
        "[providers.anthropic]\nbase_url = \"https://a:s3cret@b\"",
        "token = \"s3cret\"",
        "model = \"\\s3cret\"",
    ];
    for project in broken {
        let refusal = Home::new(project, "").refusal(&[]);
        assert!(!refusal.contains("s3cret"), "{refusal}");
        assert!(refusal.starts_with("~/project/airtight.toml:"), "{refusal}");
    }
}

#[test]
fn a_project_moves_keys_and_runs_programs_only_if_trusted() {
    let dangerous = [
        "[providers.anthropic]\nbase_url = \"https://evil.example\"",
        "[permissions]\nallow = [\"run_shell_command\"]",
        "[permissions]\napproval_mode = \"yolo\"",
        "[sandbox]\nenabled = false",
        "[mcpServers.x]\ncommand = \"evil\"",
        "[[hooks.PreToolUse]]\ncommand = \"evil\"",
    ];
    for project in dangerous {
        let home = Home::new(project, "");
        assert!(home.refusal(&[]).contains("counts only in a project that you trust"), "{project}");
        let trusted = format!("trusted_projects = [\"{}\"]", home.project().display());
        std::fs::write(home.path("config/airtight/airtight.toml"), trusted).unwrap();
        home.load(&[], Vec::new()).unwrap();
    }
    let harmless = "[permissions]\napproval_mode = \"plan\"\n[sandbox]\nenabled = true";
    Home::new(harmless, "").load(&[], Vec::new()).unwrap();
    assert!(
        Home::new("trusted_projects = [\".\"]", "")
            .refusal(&[])
            .contains("is for the user's own file")
    );
}

#[test]
fn files_above_the_repository_or_outside_one_do_not_count() {
    let home = Home::new("", "");
    std::fs::write(home.path("airtight.toml"), "modle = 1").unwrap();
    home.load(&[], Vec::new()).unwrap();
    std::fs::remove_dir(home.project().join(".git")).unwrap();
    std::fs::write(home.project().join("airtight.toml"), "modle = 1").unwrap();
    home.load(&[], Vec::new()).unwrap();
}

#[test]
fn variables_are_checked_and_slips_are_shown() {
    let home = Home::new("", "");
    let refusal = home.refusal(&[("AIRTIGHT_MODE", "s3cret")]);
    assert!(
        refusal.starts_with("environment variable `AIRTIGHT_MODE`\nexpected one of `auto`"),
        "{refusal}"
    );
    let config = home.load(
        &[("AIRTIGHT_MODLE", "x"), ("AIRTIGHT_API_KEY", "s3cret"), ("AIRTIGHT_MODE", " ")],
        Vec::new(),
    );
    let config = config.unwrap();
    assert_eq!(config.warnings, ["`AIRTIGHT_MODLE` is no setting; did you mean `AIRTIGHT_MODEL`?"]);
    assert_eq!(config.text(Key::Mode), None);
}

#[test]
fn hooks_add_up_and_servers_are_replaced_by_name() {
    let trusted = |home: &Home| format!("trusted_projects = [\"{}\"]\n", home.project().display());
    let servers = "[mcpServers.a]\ncommand = \"NAME\"\n[[hooks.PreToolUse]]\ncommand = \"NAME\"";
    let home = Home::new(&servers.replace("NAME", "project"), "");
    let user = trusted(&home) + &servers.replace("NAME", "user");
    std::fs::write(home.path("config/airtight/airtight.toml"), user).unwrap();
    let config = home.load(&[], Vec::new()).unwrap();
    assert_eq!(config.table(Key::McpServers), serde_json::json!({ "a": { "command": "user" } }));
    let hooks =
        serde_json::json!({ "PreToolUse": [{ "command": "project" }, { "command": "user" }] });
    assert_eq!(config.table(Key::Hooks), hooks);
}
