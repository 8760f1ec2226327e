//! What a file of a watch may say, and what is refused.

use airtight_watch::{Address, Form};
use tempfile::TempDir;

use super::*;

fn folder(file: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("watch.toml"), file).unwrap();
    folder
}

fn read_in(folder: &TempDir, variables: &[(&str, &str)]) -> Result<Settings, Error> {
    let environment = Environment::of(folder.path(), variables);
    Source::find(Some("watch.toml"), &environment)?.settings(&environment)
}

fn read(file: &str) -> Result<Settings, Error> {
    read_in(&folder(file), &[("PAGER_URL", "https://pager.example/s3cret")])
}

/// Returns what a refusal says, without the folder.
fn refusal(file: &str) -> (String, Vec<String>) {
    let error = read(file).unwrap_err();
    assert_eq!(error.kind, Outcome::Contract);
    let message = error.to_string();
    let place = message.find("watch.toml").unwrap_or(0);
    (message[place..].to_owned(), error.hints)
}

#[test]
fn an_empty_file_has_what_is_built_in() {
    let settings = read("").unwrap();
    assert_eq!(settings.interval, Duration::from_hours(1));
    assert_eq!(settings.session_limit, Duration::from_mins(30));
    assert_eq!(settings.keep, None);
    assert_eq!(settings.verify_after, Some(Duration::from_mins(10)));
    assert_eq!(settings.policy, ChainPolicy::default());
    assert_eq!(settings.limits, CooldownLimits::default());
    assert_eq!(settings.schema, ResponseSchema::current());
    assert_eq!(settings.summary_model, None);
    let observe = settings.tier(Tier::Observe);
    assert!(observe.task.starts_with("# Tier 1"), "{}", observe.task);
    assert!(observe.tools.contains(&"Bash".to_owned()));
    assert!(observe.deny.contains(&"docker restart *".to_owned()));
    assert!(!settings.tier(Tier::Remediate).deny.contains(&"docker restart *".to_owned()));
}

const EVERYTHING: &str = r#"
interval = "10m"
max_tier = 2
dry_run = true
services = "services.md"
logs = "logs"
keep = "90d"
state_dir = "state"
results_dir = "~/results"
repos_dir = "/repos"
browser_origins = ["https://a"]
handoff = "state/handoff.json"
legacy = false
schema_version = "1.0.0"
summary_model = "anthropic:small"
max_session_time = "5m"
verify = false
pre_session = "true"
tools = ["Read"]

[memory]
budget_tokens = 100
needs_leave = ["observe"]

[cooldown]
restarts = 1
restart_window = "1h"

[escalation]
approval = ["remediate"]
max_cost = 1.5

[environment]
region = "eu"

[tiers.1]
model = "anthropic:small"
prompt = "Look."
deny = ["rm *"]
[tiers.1.policy]
max_turns = 7

[tiers.3]
via = "claude"
tools = ["Bash"]

[notify.pager]
webhook_env = "PAGER_URL"
format = "slack"

[notify.mail]
command = "mail -s watch ops"
"#;

#[test]
fn everything_that_can_be_said_is_heard() {
    let folder = folder(EVERYTHING);
    std::fs::write(folder.path().join("services.md"), "- web\n").unwrap();
    let url = "https://pager.example/s3cret";
    let settings = read_in(&folder, &[("PAGER_URL", url)]).unwrap();
    assert_eq!(settings.interval, Duration::from_mins(10));
    assert_eq!(settings.policy.escalation.max_tier, Tier::Investigate);
    assert_eq!(settings.policy.escalation.mode, WatchMode::DryRun);
    assert_eq!(settings.policy.escalation.approval, [Tier::Remediate]);
    assert_eq!(settings.policy.escalation.most_cost, Cost::from_usd(1.5));
    assert_eq!(settings.policy.legacy, Legacy::Ignored);
    assert_eq!(settings.policy.memory.needs_leave, [Tier::Observe]);
    assert_eq!(settings.limits.restarts, Window { most: 1, within_ms: 3_600_000 });
    assert_eq!(settings.limits.redeployments, CooldownLimits::default().redeployments);
    assert_eq!(settings.memory_budget_tokens, 100);
    assert_eq!(settings.summary_model.as_deref(), Some("anthropic:small"));
    assert_eq!(settings.verify_after, None);
    assert_eq!(settings.services.as_deref(), Some("- web\n"));
    assert_eq!(settings.logs, Some(folder.path().join("logs")));
    assert_eq!(settings.keep, Some(Duration::from_hours(90 * 24)));
    assert_eq!(settings.handoff, Some(folder.path().join("state/handoff.json")));
    assert_eq!(settings.folders.state, Some(folder.path().join("state")));
    assert_eq!(settings.folders.repos, Some(PathBuf::from("/repos")));
    assert_eq!(settings.browser_origins, ["https://a"]);
    assert_eq!(settings.environment, [("region".to_owned(), "eu".to_owned())]);
    let observe = settings.tier(Tier::Observe);
    assert_eq!(
        (observe.task.as_str(), observe.deny.as_slice()),
        ("Look.", &["rm *".to_owned()][..])
    );
    assert_eq!(observe.tools, ["Read"]);
    assert_eq!(observe.entries.len(), 2);
    let remediate = settings.tier(Tier::Remediate);
    assert_eq!(
        (remediate.tools.as_slice(), remediate.entries.len()),
        (&["Bash".to_owned()][..], 1)
    );
    let targets: Vec<&str> = settings.targets.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(targets, ["mail", "pager"]);
    let is_slack =
        |address: &Address| matches!(address, Address::Webhook { form: Form::Slack, .. });
    assert!(is_slack(&settings.targets[1].address));
    assert!(!format!("{settings:?}").contains("s3cret"));
}

/// CO-8: what a tier does not say is as for tier 1.
#[test]
fn a_tier_without_settings_has_those_of_the_first() {
    let settings = read("[tiers.1]\nmodel = \"anthropic:x\"\ntools = [\"Read\"]\n").unwrap();
    let second = settings.tier(Tier::Investigate);
    assert_eq!(second.entries, settings.tier(Tier::Observe).entries);
    assert_eq!(second.tools, ["Read"]);
    assert!(second.task.starts_with("# Tier 2"), "{}", second.task);
}

/// CO-8: its own list, else that of tier 1, else that for all, else what is built in.
#[test]
fn co_8_denied_commands_fall_back_like_tools() {
    let denied = |file: &str, tier: Tier| read(file).unwrap().tier(tier).deny.clone();
    let usual = |tier: Tier| -> Vec<String> {
        let usual = airtight_core::watch::denied_commands(tier);
        usual.into_iter().map(str::to_owned).collect()
    };
    let all = "deny = [\"a *\"]\n";
    let first = format!("{all}[tiers.1]\ndeny = [\"b *\"]\n");
    let own = format!("{first}[tiers.3]\ndeny = [\"c *\"]\n");
    for tier in Tier::ALL {
        assert_eq!(denied("", tier), usual(tier));
        assert_eq!(denied(all, tier), ["a *"]);
    }
    assert_eq!(denied(&first, Tier::Observe), ["b *"]);
    let mut inherited = vec!["b *".to_owned()];
    inherited.extend(usual(Tier::Remediate));
    assert_eq!(denied(&first, Tier::Remediate), inherited, "what cannot be undone stays denied");
    assert_eq!(denied(&own, Tier::Remediate), ["c *"]);
    assert!(denied(&own, Tier::Investigate).starts_with(&["b *".to_owned()]));
}

/// What says nothing was meant to say something.
#[test]
fn what_is_empty_is_refused_with_what_to_write() {
    for (file, message, hint) in [
        (
            "pre_session = \"\"",
            "watch.toml:1: `pre_session` is empty",
            "leave it out, or say what is meant: `pre_session = \"./may-a-session-begin\"`",
        ),
        (
            "handoff = \" \"",
            "watch.toml:1: `handoff` is empty",
            "leave it out, or say what is meant",
        ),
        (
            "\n[notify.a]\ncommand = \"\"",
            "watch.toml:3: `command` is empty",
            "leave it out, or say what is meant: `command = \"pager --stdin\"`",
        ),
        (
            "[tiers.1]\nprompt = \"\"",
            "watch.toml:2: `prompt` is empty",
            "leave it out, or say what is meant: `prompt = \"Look at …\"`",
        ),
    ] {
        let (said, hints) = refusal(file);
        assert_eq!((said.as_str(), hints.first().map(String::as_str)), (message, Some(hint)));
    }
}

#[test]
fn what_is_misspelt_is_refused_with_its_line_and_what_was_meant() {
    let cases = [
        (
            "intervall = \"1h\"",
            "watch.toml:1: no such setting: `intervall`",
            "did you mean `interval`?",
        ),
        ("\n[tier.1]", "watch.toml:2: no such setting: `tier`", "did you mean `tiers`?"),
        (
            "[tiers.1]\nmodle = \"x\"",
            "watch.toml:2: no such setting: `modle`",
            "did you mean `model`?",
        ),
        (
            "[memory]\nbudget = 1",
            "watch.toml:2: no such setting: `memory.budget`",
            "settings here: budget_tokens, needs_leave",
        ),
        (
            "[tiers.4]",
            "watch.toml:1: there is no tier `4`",
            "there are `[tiers.1]`, `[tiers.2]` and `[tiers.3]`",
        ),
        (
            "schema_version = \"1.0.9\"",
            "watch.toml:1: no version of the agent's response is called that",
            "did you mean `1.0.0`?",
        ),
    ];
    for (file, message, hint) in cases {
        let (said, hints) = refusal(file);
        assert_eq!(
            (said.as_str(), hints.first().map(String::as_str)),
            (message, Some(hint)),
            "{file}"
        );
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (file, message) in [
        ("max_tier = 4", "watch.toml:1: `max_tier`"),
        ("interval = \"soon\"", "watch.toml:1: `interval`"),
        ("keep = \"23h\"", "watch.toml:1: `keep` is less than a day"),
        ("keep = \"90\"", "watch.toml:1: `keep`"),
        ("tiers = 1", "watch.toml:1: `tiers` must be a table: `[tiers]`"),
        (
            "[notify.a]",
            "watch.toml:1: `notify.a` needs one of `webhook`, `webhook_env` and `command`",
        ),
        (
            "[notify.a]\nwebhook = \"s3cret\"",
            "watch.toml:1: `notify.a` has a webhook that is no `http://` or `https://` URL",
        ),
        (
            "[notify.a]\nwebhook_env = \"UNSET\"",
            "watch.toml:1: `notify.a` takes its webhook from `UNSET`, which is not set",
        ),
        (
            "[notify.a]\nwebhook_env = \"PAGER_URL\"\ncommand = \"x\"",
            "watch.toml:1: `notify.a` has more than one of `webhook`, `webhook_env` and `command`",
        ),
        (
            "[notify.a]\ncommand = \"x\"\nformat = \"slack\"",
            "watch.toml:1: `notify.a` has `format = \"slack\"`, which is for webhooks: its command gets plain \
             JSON on stdin, so leave `format` out, or write `webhook_env = \"SLACK_WEBHOOK\"` in place of \
             `command`",
        ),
        (
            "[tiers.1]\nprompt = \"a\"\nprompt_file = \"b\"",
            "watch.toml:3: `prompt_file` stands beside `prompt`",
        ),
        ("interval = ", "watch.toml:1: not TOML: "),
    ] {
        let (said, _) = refusal(file);
        assert!(said.starts_with(message), "{file}: {said}");
        assert!(!said.contains("s3cret"), "{said}");
    }
    let (said, _) = refusal("services = \"nowhere.md\"");
    assert!(said.starts_with("watch.toml:1: `services` names"), "{said}");
}

#[test]
fn a_file_in_the_launch_directory_must_be_named() {
    let folder = folder("");
    let environment = Environment::of(folder.path(), &[("XDG_CONFIG_HOME", "/nowhere")]);
    let error = Source::find(None, &environment).unwrap_err();
    assert_eq!(error.to_string(), "nothing says what is to be watched");
    assert!(error.hints[0].contains("--config watch.toml"), "{:?}", error.hints);
}
