//! Contracts of roles: a schema with a prompt and a policy of its own.

use std::path::{Path, PathBuf};

use airtight_fake::Turn;
use serde_json::{Value, json};
use test_case::test_case;

use crate::stage::{REVIEW, Said, Stage, bad, good};

/// A stage with the role `reviewer`, whose file says this.
fn stage(script: impl Into<airtight_fake::Script>, role: &str) -> Stage {
    Stage::new(script).with("contracts/reviewer.json", REVIEW).with("contracts/reviewer.toml", role)
}

fn run(stage: &Stage, arguments: &[&str]) -> Said {
    let run = ["run", "--contract", "reviewer", "--output-format", "stream-json", "Review"];
    stage.command(&[&run, arguments].concat()).output().unwrap().into()
}

#[test]
fn a_role_brings_its_prompt_its_version_and_its_policy() {
    let role = "version = \"1.4.0\"\nprompt = \"You review code.\"\n[policy]\nreasks = 0";
    let stage = stage([bad().forever()], role);
    let said = run(&stage, &["--system", "Be brief."]);
    let result = said.result();
    assert_eq!((said.code, result["attempts"].as_array().unwrap().len()), (1, 1), "{said:?}");
    assert_eq!(said.lines()[0]["contract"]["name"], "reviewer");
    let system = stage.fake.requests()[0].body["system"].to_string();
    let [role, flag] = ["You review code.", "Be brief."].map(|part| system.find(part).unwrap());
    assert!(role < flag, "{system}");
}

#[test]
fn prompts_and_schemas_may_be_in_files_of_their_own() {
    let stage = Stage::new([good()])
        .with("contracts/deep/wanted.json", REVIEW)
        .with("contracts/prompts/reviewer.md", "\nYou review code.\n")
        .with(
            "contracts/reviewer.toml",
            "schema = \"deep/wanted.json\"\nprompt_file = \"prompts/reviewer.md\"",
        );
    assert_eq!(run(&stage, &[]).code, 0);
    assert!(stage.fake.requests()[0].body["system"].to_string().contains("You review code."));
}

#[test]
fn names_and_paths_of_roles_are_contracts_everywhere() {
    let stage = stage([good().forever()], "[policy]\nreasks = 0");
    for contract in ["reviewer", "@contracts/reviewer.toml", "contracts/reviewer.toml"] {
        let said: Said =
            stage.command(&["run", "--json-schema", contract, "Review"]).output().unwrap().into();
        assert_eq!((said.code, said.stdout.as_str()), (0, "{\"summary\":\"fine\",\"score\":9}\n"));
        let said: Said = stage.bare(&["check", contract]).output().unwrap().into();
        assert_eq!(said.code, 0, "{said:?}");
    }
    let stage = stage.with("answer.json", r#"{"summary":"fine","score":9}"#);
    let said: Said = stage.bare(&["validate", "reviewer", "answer.json"]).output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
}

#[test_case(
    "[policy]\nreask = 1",
    "contracts/reviewer.toml:2: no such setting: `policy.reask`",
    "did you mean `reasks`?"
)]
#[test_case(
    "schemma = \"x\"",
    "contracts/reviewer.toml:1: no such setting: `schemma`",
    "did you mean `schema`?"
)]
#[test_case("[policy]\n\nattempts = 2", "contracts/reviewer.toml:3: no such setting: `policy.attempts`", "`reasks`"; "a word for re-asks")]
#[test_case("driver = \"x\"", "no such setting: `driver`", "`model` or `via`"; "a word for models")]
#[test_case("[policy]\nbudget = 1", "no such setting: `policy.budget`", "`max_cost`"; "a word for bounds")]
#[test_case("[permissions]\nallow = []", "no such setting: `permissions`", "settings here: schema, version"; "a setting of other files")]
#[test_case(
    "[policy]\nreasks = 6",
    "contracts/reviewer.toml:2: `policy.reasks`",
    "must be between 0 and 5"
)]
#[test_case(
    "[policy]\nrungs = [\"text\", \"grammar\"]",
    "`policy.rungs`",
    "expected one of `text`, `repair`"
)]
#[test_case("[policy]\nstore = \"everything\"", "`policy.store`", "`full`, `masked`, `metadata`")]
#[test_case("[policy]\nkeep = \"90\"", "`policy.keep`", "`90d`")]
#[test_case("[policy]\ncritical = \"yes\"", "`policy.critical`", "`true` or `false`")]
#[test_case("version = \"1\"", "`version` is no semantic version", "`1.4.0`")]
#[test_case(
    "prompt = \"a\"\nprompt_file = \"a\"",
    ":2: `prompt_file` stands beside `prompt`",
    "prompt"
)]
#[test_case("schema = \"../review.json\"", "`schema` must be beside it", "beside")]
#[test_case("prompt_file = \"/etc/hostname\"", "`prompt_file` must be beside it", "beside")]
#[test_case("prompt_file = \"link\"", "`prompt_file` leads out of the folder", "folder")]
#[test_case("schema = \"missing.json\"", "`schema` `missing.json`", "No such file")]
#[test_case("prompt_file = \"reviewer.bin\"", "`prompt_file` is not UTF-8", "UTF-8")]
#[test_case("= 1", "contracts/reviewer.toml:1: not TOML", "TOML")]
fn what_cannot_be_meant_is_refused_with_its_line(role: &str, message: &str, hint: &str) {
    let stage = stage([good()], role).with("contracts/reviewer.bin", b"\xff");
    std::os::unix::fs::symlink(stage.path("review.json"), stage.path("contracts/link")).unwrap();
    let said = run(&stage, &[]);
    assert_eq!((said.code, said.result()["outcome"].as_str()), (52, Some("config")), "{said:?}");
    assert!(said.stderr.contains(message) && said.stderr.contains(hint), "{}", said.stderr);
    assert!(stage.fake.requests().is_empty());
}

/// Returns the value in force and where it comes from.
fn in_force(stage: &Stage, arguments: &[&str], variables: &[(&str, &str)]) -> (String, String) {
    let doctor = ["doctor", "--format", "json", "--offline", "--contract", "reviewer"];
    let mut command = stage.command(&[&doctor, arguments].concat());
    let said: Said = command.envs(variables.iter().copied()).output().unwrap().into();
    let document: Value = serde_json::from_str(&said.stdout).unwrap();
    let settings = document["settings"].as_array().unwrap();
    let reasks = settings.iter().find(|one| one["name"] == "policy.reasks").unwrap();
    let text = |key: &str| reasks[key].as_str().unwrap().to_owned();
    (text("value"), text("origin"))
}

#[test]
fn a_role_is_stronger_than_the_project_and_with_trust_than_the_user() {
    let reasks = |count: u8| format!("[policy]\nreasks = {count}\n");
    let stage = stage([bad().forever()], &reasks(3)).with("airtight.toml", reasks(1));
    let contract = format!("contract {}:2", stage.path("contracts/reviewer.toml").display());
    assert_eq!(in_force(&stage, &[], &[]), ("3".to_owned(), contract.clone()));
    let stage = stage.with("config/airtight/airtight.toml", reasks(2));
    assert_eq!(in_force(&stage, &[], &[]).0, "2", "a repository does not overrule its user");
    assert_eq!(in_force(&stage, &["--trust-project"], &[]), ("3".to_owned(), contract));
    let variable = [("AIRTIGHT_REASKS", "4")];
    let expected = ("4".to_owned(), "$AIRTIGHT_REASKS".to_owned());
    assert_eq!(in_force(&stage, &["--trust-project"], &variable), expected);
    let result = run(&stage, &["--trust-project", "--reasks", "0"]).result();
    assert_eq!(result["attempts"].as_array().unwrap().len(), 1, "a flag is stronger still");
}

#[test_case("[policy]\nextractor = \"anthropic:small\"", "policy.extractor"; "another model to send data to")]
#[test_case("via = \"claude\"", "via"; "a program to run")]
fn what_sends_data_elsewhere_needs_trust(role: &str, setting: &str) {
    let stage = stage([good().forever()], role);
    let said = run(&stage, &[]);
    assert_eq!(said.code, 52, "{said:?}");
    let message =
        format!("reviewer.toml:{}: `{setting}` counts only in a project", role.lines().count());
    assert!(said.stderr.contains(&message), "{}", said.stderr);
    assert!(said.stderr.contains("--trust-project"), "{}", said.stderr);
    assert!(stage.fake.requests().is_empty());
}

#[test]
fn trust_is_given_by_a_flag_or_by_the_users_own_file() {
    let stage = stage([good().forever()], "[policy]\nextractor = \"anthropic:small\"");
    assert_eq!(run(&stage, &["--trust-project"]).code, 0);
    let trusted = format!("trusted_projects = [{:?}]", stage.path("contracts"));
    let stage = stage.with("config/airtight/airtight.toml", trusted);
    assert_eq!(run(&stage, &[]).code, 0);
}

#[test]
fn roles_of_the_users_own_are_found_and_trusted() {
    let stage = Stage::new([Turn::text("A score of 9: fine.").when_model("fake"), good()])
        .with("config/airtight/contracts/reviewer.json", REVIEW)
        .with(
            "config/airtight/contracts/reviewer.toml",
            "[policy]\nextractor = \"anthropic:small\"",
        );
    let said = run(&stage, &[]);
    assert_eq!((said.code, said.result()["rung"].as_str()), (0, Some("extract")), "{said:?}");
}

#[test]
fn a_role_of_that_name_unknown_here_says_where_shipped_ones_are() {
    let stage = Stage::new([]);
    let said: Said =
        stage.command(&["run", "--contract", "blog-writer", "x"]).output().unwrap().into();
    assert_eq!(said.code, 52, "{said:?}");
    let own = stage.path("config/airtight/contracts").display().to_string();
    assert!(said.stderr.contains("copy that folder") && said.stderr.contains(&own), "{said:?}");
}

#[test_case("[\"text\", \"repair\"]", "Here: {\"summary\":\"fine\",\"score\":9,}", 0; "a repair that counts")]
#[test_case("[\"text\"]", "Here: {\"summary\":\"fine\",\"score\":9,}", 1; "a repair that does not")]
#[test_case("[\"text\"]", "Here: {\"summary\":\"fine\",\"score\":9}", 0; "text that counts")]
#[test_case("[\"repair\"]", "Here: {\"summary\":\"fine\",\"score\":9}", 1; "text that does not")]
#[test_case("[]", "{\"summary\":\"fine\",\"score\":9}", 1; "nothing but the tool")]
fn rungs_count_as_far_as_the_role_says(rungs: &str, text: &str, code: i32) {
    let stage = stage([Turn::text(text)], &format!("[policy]\nreasks = 0\nrungs = {rungs}"));
    let said = run(&stage, &[]);
    assert_eq!(said.code, code, "{said:?}");
}

#[test]
fn a_critical_role_fails_loudly_and_any_other_is_kept_for_review() {
    let fails = |critical: bool| {
        let role = format!("[policy]\nreasks = 0\ncritical = {critical}");
        run(&stage([bad().forever()], &role), &["--quiet"])
    };
    let said = fails(true);
    assert_eq!((said.code, &said.result()["review"]), (1, &json!(true)), "{said:?}");
    assert!(
        said.stderr.starts_with("error: CRITICAL: the contract `reviewer` is not met: "),
        "{said:?}"
    );
    assert!(said.stderr.contains("hint: nothing that needs this answer may go on"), "{said:?}");
    assert!(said.stderr.contains("`airtight runs review`"), "{said:?}");
    let said = fails(false);
    assert_eq!((said.code, &said.result()["review"]), (1, &json!(true)), "{said:?}");
    assert!(said.stderr.starts_with("error: the contract `reviewer` is not met: "), "{said:?}");
    assert!(said.stderr.contains("is kept and flagged: type `airtight runs review`"), "{said:?}");
}

#[test]
fn what_to_review_is_told_with_its_ledger_and_only_if_it_is_kept() {
    let fails = |arguments: &[&str]| {
        run(&stage([bad().forever()], "[policy]\nreasks = 0\ncritical = true"), arguments)
    };
    let said = fails(&["--database", "an other.db"]);
    assert_eq!(said.code, 1, "{said:?}");
    let told = "type `airtight runs review --database 'an other.db'`";
    assert!(said.stderr.contains(told), "{said:?}");
    let said = fails(&["--no-store"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("nothing that needs this answer may go on"), "{said:?}");
    assert!(!said.stderr.contains("runs review"), "{said:?}");
}

#[test]
fn a_run_without_words_has_nothing_to_review() {
    let said = run(&stage([Turn::status(401).forever()], "[policy]\ncritical = true"), &[]);
    assert_eq!((said.code, &said.result()["review"]), (41, &json!(false)), "{said:?}");
    assert!(said.stderr.starts_with("error: CRITICAL: "), "{said:?}");
    assert!(!said.stderr.contains("runs review"), "{said:?}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test_case("blog-writer", "onboarding", "false")]
#[test_case("context-file-writer", "northwind", "true")]
#[test_case("strategy-writer", "northwind", "true")]
fn shipped_roles_work_from_the_source(role: &str, example: &str, critical: &str) {
    let example = root().join(format!("contracts/examples/{role}/{example}"));
    let answer = std::fs::read_to_string(example.with_extension("out.json")).unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let stage = Stage::new([Turn::call("structured_output", answer.clone())]);
    let job = format!("@{}", example.with_extension("in.txt").display());
    let run = ["run", "--contract", role, "--no-tools", "--mode", "tool", &job];
    let said: Said = stage.command(&run).current_dir(root()).output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(serde_json::from_str::<Value>(&said.stdout).unwrap(), answer);
    let system = stage.fake.requests()[0].body["system"].to_string();
    assert!(system.contains("not invent") || system.contains("Only what the sources say"));
    let doctor = ["doctor", "--format", "json", "--offline", "--contract", role];
    let said: Said = stage.command(&doctor).current_dir(root()).output().unwrap().into();
    let document: Value = serde_json::from_str(&said.stdout).unwrap();
    let settings = document["settings"].as_array().unwrap();
    let found = settings.iter().find(|one| one["name"] == "policy.critical");
    assert_eq!(found.map_or("false", |one| one["value"].as_str().unwrap()), critical);
}

#[test_case(ROLE, 1; "as it was")]
#[test_case("prompt = \"You review prose.\"\n[policy]\nreasks = 0", 2; "with other instructions, it is another role")]
fn the_policy_of_a_role_counts_when_its_run_is_resumed(now: &str, attempts: usize) {
    let stage = stage([bad(), bad(), good()], ROLE);
    let said = run(&stage, &["--system", "Be brief."]);
    assert_eq!(said.code, 1, "{said:?}");
    let id = said.result()["run_id"].as_str().unwrap().to_owned();
    let stage = stage.with("contracts/reviewer.toml", now);
    let flags = ["runs", "resume", &id, "--", "--output-format", "stream-json"];
    let said: Said = stage.command(&flags).output().unwrap().into();
    assert_eq!(said.result()["attempts"].as_array().unwrap().len(), attempts, "{said:?}");
    let systems = stage.fake.requests().into_iter().map(|it| it.body["system"].to_string());
    let systems: Vec<String> = systems.collect();
    assert!(systems.iter().all(|system| *system == systems[0]), "{systems:?}");
}

const ROLE: &str = "prompt = \"You review code.\"\n[policy]\nreasks = 0";
