//! Wrong flags, missing files, and files that are none.

use crate::estate::{Estate, answer, report};

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_asked() {
    let estate = Estate::new(Vec::new()).with("empty.toml", "").with("bad.toml", "max_teir = 1");
    for (arguments, code, words) in [
        (&["--once"][..], 52, "nothing says what is to be watched"),
        (&["--config", "nowhere.toml"], 52, "could not read"),
        (&["--config", "bin"], 52, "must be a regular file"),
        (&["--config", "/dev/zero"], 52, "must be a regular file"),
        (&["--config", "bad.toml"], 52, "did you mean `max_tier`?"),
        (&["--config", "empty.toml", "--tier", "4"], 2, "4 is not in 1..=3"),
        (&["--config", "watch.toml", "--unknown"], 2, "unexpected argument"),
        (&["--config", "watch.toml", "--database", "mysql://x"], 52, "cannot be kept there"),
        (&["status", "--database", "none.db"], 4, "none.db"),
        (&["events", "--level", "loud"], 2, "invalid value"),
    ] {
        let said = estate.say(arguments);
        assert_eq!(said.code, code, "{arguments:?}: {said:?}");
        assert!(said.stderr.contains(words), "{arguments:?}: {said:?}");
        assert_eq!(said.stdout, "", "{arguments:?}");
    }
    assert_eq!(estate.fake.requests().len(), 0);
}

#[test]
fn a_driver_without_hooks_is_refused() {
    let estate = Estate::new(Vec::new()).with("codex.toml", "[tiers.1]\nvia = \"codex\"\n");
    let said = estate.say(&["--config", "codex.toml", "--once"]);
    assert!(said.code == 52 || said.code == 3, "{said:?}");
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
