//! Wrong flags, missing files, and files that are none.

use crate::estate::{Estate, answer, report};

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_asked() {
    let estate = Estate::new(Vec::new()).with("empty.toml", "").with("bad.toml", "max_teir = 1");
    let low = "max_tier = 1\n[tiers.1]\nmodel = \"anthropic:fake\"\n";
    let estate = estate.with("low.toml", low);
    for (arguments, code, words) in [
        (&["--once"][..], 52, "nothing says what is to be watched"),
        (&["--config", "nowhere.toml"], 52, "could not read"),
        (&["--config", "bin"], 52, "must be a regular file"),
        (&["--config", "/dev/zero"], 52, "must be a regular file"),
        (&["--config", "bad.toml"], 52, "did you mean `max_tier`?"),
        (&["--config", "empty.toml", "--tier", "4"], 2, "4 is not in 1..=3"),
        (&["--config", "watch.toml", "--unknown"], 2, "unexpected argument"),
        (&["--config", "watch.toml", "--database", "mysql://x"], 52, "cannot be kept there"),
        (&["--config", "low.toml", "--tier", "2"], 52, "`--tier 2` is above `max_tier = 1`"),
        (&["--config", "watch.toml", "--prompt", ""], 2, "a value is required"),
        (&["status", "--database", "none.db"], 4, "none.db"),
        (
            &[
                "--config",
                "watch.toml",
                "--once",
                "--database",
                "postgres://u:s3cret@127.0.0.1:1/x",
            ],
            4,
            "to use another ledger: `--database PATH`",
        ),
        (&["events", "--level", "loud"], 2, "invalid value"),
    ] {
        let said = estate.say(arguments);
        assert_eq!(said.code, code, "{arguments:?}: {said:?}");
        assert!(said.stderr.contains(words), "{arguments:?}: {said:?}");
        assert_eq!(said.stdout, "", "{arguments:?}");
        assert!(!said.stderr.contains("s3cret"), "{said:?}");
    }
    assert_eq!(estate.fake.requests().len(), 0);
}

#[test]
fn a_driver_without_hooks_is_refused() {
    let estate = Estate::new(Vec::new()).with("codex.toml", "[tiers.1]\nvia = \"codex\"\n");
    let said = estate.say(&["--config", "codex.toml", "--once"]);
    assert_eq!(said.code, 52, "{said:?}");
    assert!(said.stderr.contains("`codex` cannot drive a tier"), "{said:?}");
    assert!(said.stderr.contains("use `via = \"claude\"` or `via = \"qwen\"`"), "{said:?}");
    assert_eq!(said.stdout, "");
}

#[test]
fn a_reader_that_goes_away_ends_the_watch() {
    let estate = Estate::new([answer(report("healthy", false)).forever()]).set("interval = \"1s\"");
    let mut watch = estate.start(&[]);
    drop(watch.stdout.take());
    assert!(watch.wait().unwrap().code().is_some());
    assert!(estate.statuses().iter().all(|(_, status)| status != "running"));
}

/// Ctrl-S, or a pipe that nobody reads: sessions go on, and the watch ends when it is told to.
#[test]
fn a_pipe_that_nobody_reads_holds_up_nothing() {
    let mut long = report("healthy", false);
    // More than a pipe holds.
    long["events"][0]["message"] = "x".repeat(1 << 20).into();
    let estate = Estate::new([answer(long).forever()]).set("interval = \"1s\"");
    let mut watch = estate.start(&[]);
    crate::estate::block_on(async {
        for _ in 0..3 {
            drop(estate.fake.next_request().await);
        }
    });
    crate::estate::signal(&watch, "TERM");
    assert_eq!(watch.wait().unwrap().code(), Some(0));
    let ended = estate.statuses().into_iter().filter(|(_, status)| status == "completed");
    assert!(ended.count() >= 2, "{:?}", estate.statuses());
    let said: crate::estate::Said = watch.wait_with_output().unwrap().into();
    assert!(said.stderr.contains("nobody takes what is told on stdout"), "{}", said.stderr);
}

/// CO-109: short secrets are masked if their names say that they are some, and who is too short is told of.
#[test]
fn co_109_short_secrets_are_masked_or_told_of() {
    let mut open = report("healthy", false);
    open["summary"] = "the login is hunt2, the door code abc".into();
    let estate = Estate::new([answer(open)]);
    let mut command = estate.command(&["--config", "watch.toml", "--once"]);
    command.env("DB_PASSWORD", "hunt2").env("DOOR_SECRET", "abc");
    let said: crate::estate::Said = command.output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    let session = estate.sessions().remove(0);
    let masked = "the login is [masked], the door code abc";
    assert_eq!(session.summary.as_deref(), Some(masked));
    let log = std::fs::read_to_string(session.log.unwrap()).unwrap();
    assert!(log.contains(masked) && !log.contains("hunt2"), "{log}");
    assert!(!said.stdout.contains("hunt2"), "{said:?}");
    assert_eq!(said.stderr.matches("warning:").count(), 1, "{said:?}");
    assert!(said.stderr.contains("`DOOR_SECRET`") && !said.stderr.contains("abc"), "{said:?}");
}

/// Whoever is watched must not give itself leave.
#[test]
fn a_session_cannot_decide_about_itself() {
    let estate = Estate::new([
        crate::estate::shell("airtight watch approve 1"),
        crate::estate::shell("true; /usr/local/bin/airtight runs accept 1"),
        answer(report("healthy", false)),
    ])
    .set("deny = []");
    assert_eq!(estate.once(&["--tier", "3", "--prompt", "Look"]).code, 0);
    let told = estate.fake.requests()[2].body.to_string();
    assert_eq!(told.matches("no session may start `airtight`").count(), 2, "{told}");
    let events = estate.events();
    let warned = events.iter().filter(|it| it.message.starts_with("no session may start"));
    assert_eq!(warned.count(), 2, "{events:?}");
}

/// A name that no service has costs its check, and neither the session nor the watch.
#[test]
fn a_very_long_name_of_a_service_costs_its_check_alone() {
    let mut long = report("healthy", false);
    long["services_checked"].as_array_mut().unwrap().push(serde_json::json!({
        "name": "a".repeat(500),
        "status": "down",
    }));
    let marker = format!("[COOLDOWN:restart:{}] success - x", "b".repeat(500));
    let both = airtight_fake::Turn::text(&marker).then_call("structured_output", long);
    let estate = Estate::new([both]);
    let said = estate.once(&[]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(estate.statuses(), [(1, "completed".to_owned())]);
    let names: Vec<_> = estate.services().into_iter().map(|service| service.name).collect();
    assert_eq!(names, ["web"]);
    let events = estate.events();
    for words in ["has 500 bytes, over 255", "a name of over 255 bytes"] {
        let told = events.iter().find(|event| event.message.contains(words));
        assert_eq!(told.map(|event| event.level.as_str()), Some("warning"), "{events:?}");
    }
}

/// What a session says must not make the rules.
#[test]
fn a_session_cannot_write_the_files_of_the_watch() {
    let write = |path: &str| {
        let arguments = serde_json::json!({ "path": path, "content": "deny = []" });
        airtight_fake::Turn::call("write_file", arguments)
    };
    let estate = Estate::new([
        write("watch.toml"),
        write("data/airtight/ledger.db"),
        write("found.md"),
        answer(report("healthy", false)),
    ]);
    let before = std::fs::read_to_string(estate.path("watch.toml")).unwrap();
    let said = estate.once(&["--tier", "2", "--prompt", "Look"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(std::fs::read_to_string(estate.path("watch.toml")).unwrap(), before);
    assert!(estate.path("found.md").is_file(), "other files may be written");
    let told: Vec<_> = estate
        .events()
        .into_iter()
        .filter(|it| it.message.contains("belongs to the watch"))
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(!estate.fake.requests()[0].body.to_string().contains("watch.toml"));
}

/// CO-109: the address of a target is not for what a session starts, whatever its variable is called.
#[test]
fn co_109_commands_do_not_see_the_addresses_of_targets() {
    let estate = Estate::new([
        crate::estate::shell("echo address=${WHERE_TO:-absent}"),
        answer(report("healthy", false)),
    ])
    .set("---\n[notify.dead]\nwebhook_env = \"WHERE_TO\"\n");
    let mut command = estate.command(&["--config", "watch.toml", "--once"]);
    let ended = command.env("WHERE_TO", "http://127.0.0.1:1/x").output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let told = estate.fake.requests()[1].body.to_string();
    assert!(told.contains("address=absent"), "{told}");
}

/// What is kept of runs is the operator's choice; a watch needs none of their texts.
#[test]
fn a_watch_keeps_as_little_as_it_is_told_to() {
    for level in ["masked", "metadata"] {
        let estate = Estate::new([answer(report("healthy", false))]);
        let mut command = estate.command(&["--config", "watch.toml", "--once"]);
        let ended: crate::estate::Said =
            command.env("AIRTIGHT_STORE_LEVEL", level).output().unwrap().into();
        assert_eq!(ended.code, 0, "{level}: {ended:?}");
        assert_eq!(estate.statuses(), [(1, "completed".to_owned())]);
    }
}
