//! `airtight watch services`: how services are, their history, and those that were taken out of the list.

use serde_json::{Value, json};

use crate::estate::{Estate, answer, report};

fn of(rows: &[Value], name: &str) -> Vec<Value> {
    rows.iter().map(|row| row[name].clone()).collect()
}

/// The original never kept `services_checked`: here each check is history, with streaks and the last change.
#[test]
fn services_have_a_state_a_streak_and_a_history() {
    let estate = Estate::new(["healthy", "healthy", "down"].map(|it| answer(report(it, false))));
    for _ in 0..3 {
        assert_eq!(estate.once(&[]).code, 0);
    }
    let listed = estate.say(&["services"]);
    assert_eq!((listed.code, listed.stderr.as_str()), (0, ""));
    let [web] = &listed.lines()[..] else { panic!("{listed:?}") };
    assert_eq!((&web["name"], &web["status"]), (&json!("web"), &json!("down")));
    assert_eq!((&web["healthyStreak"], &web["unhealthyStreak"]), (&json!(0), &json!(1)));
    assert_eq!(web["changedAt"], web["checkedAt"]);
    let history = estate.say(&["services", "web"]).lines();
    assert_eq!(of(&history, "status"), ["down", "healthy", "healthy"]);
    let sessions: Vec<Value> = estate.sessions().into_iter().map(|it| it.id.into()).rev().collect();
    assert_eq!(of(&history, "session"), sessions);
    assert_eq!(estate.say(&["services", "web", "--limit", "1"]).lines().len(), 1);

    let unknown = estate.say(&["services", "wbe"]);
    assert_eq!(unknown.code, 42, "{unknown:?}");
    assert!(unknown.stderr.contains("did you mean `web`?"), "{unknown:?}");
}

/// What is taken out of the list leaves the table, and keeps its history; put back, it begins anew.
#[test]
fn a_service_that_was_taken_out_of_the_list_is_gone_and_keeps_its_history() {
    let both = || {
        let mut both = report("healthy", false);
        let db = json!({ "name": "db", "status": "down" });
        both["services_checked"].as_array_mut().unwrap().push(db);
        answer(both)
    };
    let web = || answer(report("healthy", false));
    let estate = Estate::new([both(), web(), web(), both()]).with("services.md", "- web\n- db\n");
    assert_eq!(estate.once(&[]).code, 0);
    assert_eq!(estate.once(&[]).code, 0);
    let estate = estate.with("services.md", "- web\n");
    let ended = estate.once(&[]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("db is not in the list of services any more"), "{ended:?}");
    assert_eq!(of(&estate.say(&["services"]).lines(), "name"), ["web"]);
    let all = estate.say(&["services", "--all"]).lines();
    assert_eq!(of(&all, "status"), ["gone", "healthy"], "{all:?}");
    let status = estate.say(&["status"]).lines();
    assert_eq!(of(status[0]["services"].as_array().unwrap(), "name"), ["web"]);
    assert_eq!(of(&estate.say(&["services", "db"]).lines(), "status"), ["gone", "down"]);

    let estate = estate.with("services.md", "- web\n- db\n");
    assert_eq!(estate.once(&[]).code, 0);
    let back = estate.say(&["services"]).lines();
    assert_eq!(of(&back, "status"), ["down", "healthy"]);
    assert_eq!(back[0]["unhealthyStreak"], 1, "it begins anew");
}

/// The original wrote times in two forms, so that comparing them as text failed: here each is a number.
#[test]
fn every_time_on_record_is_a_number() {
    let mut remembered = report("down", true);
    remembered["memories"] = json!([{ "key": "web:timing", "value": "slow" }]);
    let estate = Estate::new([answer(remembered)])
        .set("max_tier = 1\n---\n[notify.file]\ncommand = \"cat >> told.jsonl\"\n");
    assert_eq!(estate.once(&[]).code, 0);
    let mut times = 0;
    for list in ["sessions", "events", "memories", "notifications", "services"] {
        let rows = estate.say(&[list]).lines();
        assert!(!rows.is_empty(), "{list}");
        for (name, value) in rows.iter().flat_map(|row| row.as_object().unwrap()) {
            let is_time = name == "at" || name.ends_with("At") || name.ends_with("_at");
            if is_time && !value.is_null() {
                assert!(value.is_i64(), "{list}: {name} is {value}");
                times += 1;
            }
        }
    }
    assert!(times > 8, "{times} times were looked at");
}

/// What the original saved was lost when it was started again: here the file says it at each start.
#[test]
fn settings_are_those_of_the_file_at_each_start() {
    let estate = Estate::new([answer(report("down", true)), answer(report("down", true))])
        .set("max_tier = 1");
    assert_eq!(estate.once(&[]).code, 0);
    assert_eq!(estate.statuses(), [(1, "completed".to_owned())]);
    let estate = estate.set("max_tier = 2");
    estate.fake.push(answer(report("healthy", false)));
    assert_eq!(estate.once(&[]).code, 0);
    let tiers: Vec<i64> = estate.statuses().into_iter().map(|(tier, _)| tier).collect();
    assert_eq!(tiers, [1, 1, 2]);
}

/// CO-6: a session is told where it is: folders, models of higher tiers, targets, and what else is said.
#[test]
fn co_6_a_session_is_told_where_it_is() {
    let estate = Estate::new([answer(report("healthy", false))]).set(
        "repos_dir = \"repos\"\nbrowser_origins = [\"https://shop.example\"]\n---\n\
         [tiers.3]\nmodel = \"anthropic:strong\"\n[environment]\nregion = \"eu\"\n\
         [notify.file]\ncommand = \"cat >> told.jsonl\"\n",
    );
    assert_eq!(estate.once(&[]).code, 0);
    let asked = &estate.fake.requests()[0].body;
    let told = asked["messages"].to_string();
    let folder = estate.path("").display().to_string();
    let folder = folder.trim_end_matches('/');
    for line in [
        "- dry_run: false".to_owned(),
        format!("- state_dir: {folder}"),
        format!("- results_dir: {folder}/logs"),
        format!("- repos_dir: {folder}/repos"),
        "- tier2_model: fake".to_owned(),
        "- tier3_model: strong".to_owned(),
        "- notification_targets: file".to_owned(),
        "- browser_origins: https://shop.example".to_owned(),
        "- region: eu".to_owned(),
    ] {
        assert!(told.contains(&line), "{line}: {told}");
    }
}

/// CO-29: every tier is told by the contract what its answer looks like, also where its task is the
/// operator's own.
#[test]
fn co_29_a_task_ends_with_the_format_of_the_contract() {
    for task in ["", "prompt = \"Look.\\n\\n## Response format\\n\\nan older one\"\n"] {
        let estate = Estate::new([answer(report("healthy", false))]).set(&format!("---\n{task}"));
        assert_eq!(estate.once(&[]).code, 0);
        let system = estate.fake.requests()[0].body["system"].to_string();
        assert_eq!(system.matches("## Response format").count(), 1, "{system}");
        assert!(
            system.contains("services_checked") && !system.contains("an older one"),
            "{system}"
        );
    }
}
