//! Runs: stored when acknowledged, ended once, read back as they were.

use airtight_core::codec::Usage;
use airtight_core::price::Cost;
use airtight_store::{
    AttemptEnd, AttemptState, Begun, Filter, Level, NewEvent, NewRun, Order, Page, Postponed,
    Repeat, Retention, Review, RunId, RunState, StoreError, Validity,
};
use futures_util::TryStreamExt as _;
use serde_json::json;
use std::time::Duration;

use crate::bed::{Bed, begin, failed, keyed, met, new_attempt, new_run, store};

crate::laws! {
    a_run_is_there_for_others_when_begin_returns,
    a_finished_run_reads_back_whole,
    the_json_form_keeps_raw_and_parsed_output_apart,
    bytes_come_back_as_they_went,
    a_key_has_one_final_result,
    a_key_may_give_up_its_result,
    a_run_whose_process_is_gone_is_taken_over,
    a_postponed_run_goes_on_with_its_key,
    a_late_end_is_fenced_and_kept_as_a_stray,
    a_name_is_taken_once,
    events_are_numbered_and_read_from_anywhere,
    attempts_left_open_are_unknown,
    secrets_are_masked_before_they_are_stored,
    metadata_holds_no_text,
    what_is_kept_no_longer_is_pruned_and_still_counted,
    pages_hold_every_run_once,
    filters_mean_what_they_say,
    a_run_is_found_by_the_beginning_of_its_name,
    an_export_tells_every_run_in_order,
    writes_that_wait_together_share_a_commit,
    a_write_that_fails_takes_nobody_with_it,
    a_contract_is_stored_once,
    nothing_is_written_after_the_close,
}

async fn a_run_is_there_for_others_when_begin_returns(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, new_run()).await;
    let other = bed.open().await;
    let run = other.run(token.id().as_str()).await.unwrap();
    assert_eq!(run.summary.state, RunState::Open);
    assert_eq!(run.prompt.as_deref(), Some("Write."));
    let attempts = other.attempts(token.id()).await.unwrap();
    assert_eq!(attempts.len(), 1);
    assert_eq!((attempts[0].number, attempts[0].state), (1, AttemptState::Open));
}

async fn a_finished_run_reads_back_whole(bed: Bed) {
    let ledger = bed.open().await;
    let parent = RunId::from("parent".to_owned());
    let run = NewRun {
        parent: Some(parent.clone()),
        key: Some("k".to_owned()),
        batch: Some("b".to_owned()),
        position: Some(4),
        ..new_run()
    };
    let token = begin(&ledger, run).await;
    let second = ledger.open_attempt(&token, new_attempt()).await.unwrap();
    let end = |number, ending: &str| AttemptEnd {
        number,
        ending: ending.to_owned(),
        rung: Some("tool".to_owned()),
        output: Some(b"{}".to_vec()),
        violations: Some(r#"["n is missing"]"#.to_owned()),
        error: None,
        usage: Usage { input_tokens: Some(5), ..Usage::default() },
        cost: Cost::from_usd(0.5),
    };
    ledger.close_attempt(&token, end(1, "rejected")).await.unwrap();
    let mut finish = met();
    finish.ended = vec![end(second, "accepted")];
    finish.elapsed = Some(Duration::from_millis(1234));
    ledger.finish(&token, finish).await.unwrap();

    let run = ledger.run("k").await;
    assert!(matches!(run, Err(StoreError::NotFound { .. })), "a key is no name");
    let run = ledger.run(token.id().as_str()).await.unwrap();
    let summary = &run.summary;
    assert_eq!(summary.parent, Some(parent));
    assert_eq!((summary.key.as_deref(), summary.batch.as_deref()), (Some("k"), Some("b")));
    assert_eq!((summary.position, summary.elapsed_ms), (Some(4), Some(1234)));
    assert_eq!((summary.contract.as_str(), summary.contract_version.as_str()), ("blog-writer", "2"));
    assert_eq!((summary.provider.as_str(), summary.model.as_str()), ("anthropic", "claude-x"));
    assert_eq!((summary.driver.as_str(), summary.mode.as_str()), ("api", "tool"));
    assert_eq!((summary.state, summary.review), (RunState::Done, Review::None));
    assert_eq!((summary.outcome.as_deref(), summary.rung.as_deref()), (Some("met"), Some("tool")));
    assert!(summary.output_valid);
    assert_eq!(summary.usage, met().usage);
    assert_eq!(summary.cost_usd, met().cost);
    assert_eq!(run.system.as_deref(), Some("You write."));
    assert_eq!(run.input.as_deref(), Some(&b"a document"[..]));
    assert_eq!(run.output.as_deref(), Some(&br#"{"n":1}"#[..]));
    assert_eq!(run.parsed_output.as_deref(), Some(r#"{"n":1}"#));

    let attempts = ledger.attempts(token.id()).await.unwrap();
    let endings: Vec<_> =
        attempts.iter().map(|a| (a.number, a.state, a.ending.as_deref().unwrap())).collect();
    let closed = AttemptState::Closed;
    assert_eq!(endings, [(1, closed, "rejected"), (2, closed, "accepted")]);
    assert_eq!(attempts[0].output.as_deref(), Some(&b"{}"[..]));
    assert_eq!(attempts[0].cost_usd, Cost::from_usd(0.5));
}

async fn the_json_form_keeps_raw_and_parsed_output_apart(bed: Bed) {
    let ledger = bed.open().await;
    let good = store(&ledger, new_run(), met()).await;
    let bad = store(&ledger, new_run(), failed()).await;
    let json = |run| serde_json::to_value(run).unwrap();
    let good = json(ledger.run(good.id().as_str()).await.unwrap());
    assert_eq!(good["output"], r#"{"n":1}"#);
    assert_eq!(good["parsedOutput"], json!({ "n": 1 }));
    assert_eq!((&good["outputValid"], &good["outputErrors"]), (&json!(true), &json!(null)));
    let bad = json(ledger.run(bad.id().as_str()).await.unwrap());
    assert_eq!(bad["output"], "no JSON at all");
    assert_eq!((&bad["parsedOutput"], &bad["outputValid"]), (&json!(null), &json!(false)));
    assert_eq!(bad["outputErrors"][0]["message"], "not an object");
}

/// Strings that break things, after the Big List of Naughty Strings.
const NAUGHTY: [&str; 16] = [
    "",
    "\0",
    "a\0b",
    "'; DROP TABLE runs; --",
    "\" OR 1=1",
    "$1",
    "{LOCK}",
    "%s%n",
    "\u{feff}bom",
    "\u{202e}rtl",
    "\u{ffff}\u{10ffff}",
    "\u{1b}]52;c;x\u{7}",
    "<img src=x onerror=alert(1)>",
    "=cmd|' /C calc'!A0",
    "Ω≈ç√∫˜µ≤≥÷ 👩‍👩‍👧‍👦 ಠ_ಠ",
    "\\\\?\\C:\\con\r\n",
];

async fn bytes_come_back_as_they_went(bed: Bed) {
    let ledger = bed.open().await;
    let mut outputs: Vec<Vec<u8>> = NAUGHTY.iter().map(|text| text.as_bytes().to_vec()).collect();
    outputs.extend([b"\xff\xfe".to_vec(), b"ok\xc3".to_vec(), vec![b'x'; 1 << 20], (0..=255).collect()]);
    for output in outputs {
        let text = String::from_utf8_lossy(&output).into_owned();
        let mut run = new_run();
        run.job.prompt.clone_from(&text);
        run.job.input = Some(output.clone());
        let token = begin(&ledger, run).await;
        let body = serde_json::to_string(&text).unwrap();
        let event = NewEvent { kind: "said".to_owned(), body: body.clone() };
        ledger.append(&token, vec![event]).await.unwrap();
        let mut finish = failed();
        finish.output = Some(output.clone());
        finish.parsed = Some(body.clone());
        ledger.finish(&token, finish).await.unwrap();
        let run = ledger.run(token.id().as_str()).await.unwrap();
        assert_eq!(run.output.as_ref(), Some(&output));
        assert_eq!(run.input.as_ref(), Some(&output));
        assert_eq!(run.prompt.as_ref(), Some(&text));
        assert_eq!(run.parsed_output.as_ref(), Some(&body));
        let events = ledger.events(token.id(), 0, 10).await.unwrap();
        assert_eq!(events[0].body.as_ref(), Some(&body));
    }
    // In names a NUL is refused, and everything else is a name.
    for name in NAUGHTY {
        let mut run = new_run();
        run.driver.model = name.to_owned();
        run.key = Some(format!("key {name}"));
        if name.contains('\0') {
            assert!(matches!(ledger.begin(run).await, Err(StoreError::Nul { .. })));
            continue;
        }
        let token = begin(&ledger, run).await;
        let run = ledger.run(token.id().as_str()).await.unwrap();
        assert_eq!((run.summary.model.as_str(), run.summary.key), (name, Some(format!("key {name}"))));
    }
}

async fn a_key_has_one_final_result(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, keyed("k")).await;
    let other = bed.open().await;
    let Begun::Busy { id, owner } = other.begin(keyed("k")).await.unwrap() else { panic!() };
    assert_eq!(&id, token.id());
    assert!(owner.contains(&std::process::id().to_string()), "{owner}");
    ledger.finish(&token, met()).await.unwrap();
    let Begun::Finished(run) = other.begin(keyed("k")).await.unwrap() else { panic!() };
    assert_eq!(&run.summary.id, token.id());
    assert_eq!(run.parsed_output.as_deref(), Some(r#"{"n":1}"#));
    assert!(matches!(ledger.finish(&token, failed()).await, Ok(())), "told twice, stored once");
    let run = ledger.run(token.id().as_str()).await.unwrap();
    assert_eq!(run.summary.outcome.as_deref(), Some("met"));
}

async fn a_key_may_give_up_its_result(bed: Bed) {
    let ledger = bed.open().await;
    let first = store(&ledger, keyed("k"), failed()).await;
    let again = |repeat| NewRun { repeat, ..keyed("k") };
    let kept = ledger.begin(again(Repeat::Never)).await.unwrap();
    assert!(matches!(kept, Begun::Finished(_)));
    let second = store(&ledger, again(Repeat::Failed), met()).await;
    let run = ledger.run(second.id().as_str()).await.unwrap();
    assert_eq!(run.summary.parent.as_ref(), Some(first.id()));
    let kept = ledger.begin(again(Repeat::Failed)).await.unwrap();
    assert!(matches!(kept, Begun::Finished(run) if &run.summary.id == second.id()));
    begin(&ledger, again(Repeat::Always)).await;
    assert_eq!(ledger.run(first.id().as_str()).await.unwrap().summary.key, None);
}

async fn a_run_whose_process_is_gone_is_taken_over(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, keyed("k")).await;
    let event = || vec![NewEvent { kind: "e".to_owned(), body: "1".to_owned() }];
    ledger.append(&token, event()).await.unwrap();
    // Another host that is silent for a minute, and then one that speaks.
    let quiet = "UPDATE runs SET owner = 'elsewhere:1:2/1/1/1', started_at = started_at - 60000";
    bed.meddle(quiet).await;
    let run = ledger.run(token.id().as_str()).await.unwrap();
    assert_eq!(run.summary.state, RunState::Unknown);
    assert_eq!(ledger.attempts(token.id()).await.unwrap()[0].state, AttemptState::Unknown);
    let now = ledger.now_ms();
    bed.meddle(&format!("INSERT INTO owners VALUES ('elsewhere:1:2/1/1/1', {now})")).await;
    let run = ledger.run(token.id().as_str()).await.unwrap();
    assert_eq!(run.summary.state, RunState::Open);
    assert!(matches!(ledger.begin(keyed("k")).await.unwrap(), Begun::Busy { .. }));
    bed.meddle("DELETE FROM owners").await;

    let taken = begin(&ledger, keyed("k")).await;
    assert_eq!(taken.id(), token.id());
    assert!(taken.is_taken_over() && !token.is_taken_over());
    assert_eq!(taken.attempt(), 2, "numbers go on");
    ledger.append(&taken, event()).await.unwrap();
    assert_eq!(ledger.events(taken.id(), 0, 10).await.unwrap().len(), 2);
    for late in [ledger.append(&token, event()).await, ledger.finish(&token, met()).await] {
        assert!(matches!(late, Err(StoreError::Fenced)), "{late:?}");
    }
    ledger.finish(&taken, met()).await.unwrap();
}

async fn a_postponed_run_goes_on_with_its_key(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, keyed("k")).await;
    let end = AttemptEnd { number: 1, ending: "failed".to_owned(), ..AttemptEnd::default() };
    let later = Postponed { error: "overloaded".to_owned(), ended: vec![end], ..Postponed::default() };
    ledger.postpone(&token, later).await.unwrap();
    let run = ledger.run(token.id().as_str()).await.unwrap();
    assert_eq!(run.summary.state, RunState::Postponed);
    let again = begin(&ledger, keyed("k")).await;
    assert_eq!((again.id(), again.attempt()), (token.id(), 2));
    ledger.finish(&again, met()).await.unwrap();
    assert_eq!(ledger.attempts(token.id()).await.unwrap()[0].state, AttemptState::Closed);
}

async fn a_late_end_is_fenced_and_kept_as_a_stray(bed: Bed) {
    let ledger = bed.open().await;
    let late = begin(&ledger, keyed("k")).await;
    bed.meddle("UPDATE runs SET owner = ''").await;
    let taken = begin(&ledger, keyed("k")).await;
    let mut finish = met();
    finish.output = Some(b"too late".to_vec());
    for _ in 0..2 {
        let refused = ledger.finish(&late, finish.clone()).await;
        assert!(matches!(refused, Err(StoreError::Fenced)));
    }
    let next = ledger.open_attempt(&taken, new_attempt()).await.unwrap();
    assert_eq!(next, 3);
    ledger.finish(&taken, failed()).await.unwrap();
    let run = ledger.run(taken.id().as_str()).await.unwrap();
    assert_eq!(run.summary.outcome.as_deref(), Some("attempts_exhausted"));
    let attempts = ledger.attempts(taken.id()).await.unwrap();
    let strays: Vec<_> = attempts.iter().filter(|a| a.state == AttemptState::Stray).collect();
    assert_eq!(strays.len(), 1);
    assert_eq!(strays[0].output.as_deref(), Some(&b"too late"[..]));
    assert_eq!(ledger.stats(&Default::default(), &[]).await.unwrap()[0].runs, 1);
}

async fn a_name_is_taken_once(bed: Bed) {
    let ledger = bed.open().await;
    let id = Some(RunId::from("mine".to_owned()));
    begin(&ledger, NewRun { id: id.clone(), ..new_run() }).await;
    let second = ledger.begin(NewRun { id, ..new_run() }).await;
    assert!(matches!(second, Err(StoreError::Taken { .. })), "{second:?}");
}

async fn events_are_numbered_and_read_from_anywhere(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, new_run()).await;
    let events = |from: usize, to: usize| {
        let event = |n| NewEvent { kind: format!("k{n}"), body: format!("{{\"n\":{n}}}") };
        (from..=to).map(event).collect::<Vec<_>>()
    };
    ledger.append(&token, events(1, 120)).await.unwrap();
    ledger.append(&token, Vec::new()).await.unwrap();
    let mut finish = met();
    finish.events = events(121, 125);
    ledger.finish(&token, finish).await.unwrap();
    let all = ledger.events(token.id(), 0, 1000).await.unwrap();
    assert!(all.iter().zip(1i64..).all(|(event, n)| event.number == n && event.kind == format!("k{n}")));
    assert_eq!(all.len(), 125);
    let some = ledger.events(token.id(), 118, 4).await.unwrap();
    assert_eq!(some.iter().map(|event| event.number).collect::<Vec<_>>(), [119, 120, 121, 122]);
}

async fn attempts_left_open_are_unknown(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, new_run()).await;
    ledger.open_attempt(&token, new_attempt()).await.unwrap();
    ledger.finish(&token, met()).await.unwrap();
    let attempts = ledger.attempts(token.id()).await.unwrap();
    assert!(attempts.iter().all(|attempt| attempt.state == AttemptState::Unknown));
}

async fn secrets_are_masked_before_they_are_stored(bed: Bed) {
    const SECRET: &str = "hunter2-hunter2-hunter2";
    let ledger = bed.open_masking(SECRET).await;
    let mut run = new_run();
    run.retention.level = Level::Masked;
    run.job.prompt = format!("use {SECRET}");
    run.job.system = Some(SECRET.to_owned());
    run.job.input = Some(format!("\u{fffd}{SECRET}").into_bytes());
    let token = begin(&ledger, run).await;
    let quoted = format!("{{\"a\":\"{SECRET}\"}}");
    let end = AttemptEnd {
        number: 1,
        ending: "failed".to_owned(),
        output: Some(quoted.clone().into_bytes()),
        violations: Some(quoted.clone()),
        error: Some(SECRET.to_owned()),
        ..AttemptEnd::default()
    };
    ledger.close_attempt(&token, end).await.unwrap();
    let event = NewEvent { kind: "said".to_owned(), body: quoted.clone() };
    let mut finish = met();
    finish.output = Some(quoted.clone().into_bytes());
    finish.parsed = Some(quoted.clone());
    finish.errors = Some(quoted.clone());
    finish.events = vec![event];
    ledger.finish(&token, finish).await.unwrap();
    // An error text is masked, whatever is kept of the run.
    let full = begin(&ledger, new_run()).await;
    let error = Some(format!("401 for {SECRET}"));
    let end = AttemptEnd { number: 1, error, ..AttemptEnd::default() };
    ledger.close_attempt(&full, end).await.unwrap();

    let run = ledger.run(token.id().as_str()).await.unwrap();
    assert_eq!(run.prompt.as_deref(), Some("use [masked]"));
    assert_eq!(run.parsed_output.as_deref(), Some(r#"{"a":"[masked]"}"#));
    ledger.close().await;
    if let Some(folder) = bed.is_sqlite().then(|| bed.folder.path()) {
        for file in std::fs::read_dir(folder).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()));
        }
    }
}

async fn metadata_holds_no_text(bed: Bed) {
    let ledger = bed.open().await;
    let mut run = new_run();
    run.retention.level = Level::Metadata;
    let token = begin(&ledger, run).await;
    let mut finish = met();
    finish.events = vec![NewEvent { kind: "said".to_owned(), body: "1".to_owned() }];
    ledger.finish(&token, finish).await.unwrap();
    let run = ledger.run(token.id().as_str()).await.unwrap();
    assert_eq!((run.prompt, run.system, run.input), (None, None, None));
    assert_eq!((run.output, run.parsed_output), (None, None));
    assert!(run.summary.output_valid);
    assert_eq!(ledger.events(token.id(), 0, 9).await.unwrap()[0].body, None);
}

async fn what_is_kept_no_longer_is_pruned_and_still_counted(bed: Bed) {
    let ledger = bed.open().await;
    let day = Duration::from_secs(86_400);
    let retention = Retention { level: Level::Full, keep: Some(day) };
    let brief = store(&ledger, NewRun { retention, ..new_run() }, met()).await;
    let lasting = store(&ledger, new_run(), met()).await;
    assert_eq!(ledger.prune(ledger.now_ms()).await.unwrap().runs, 0);
    assert_eq!(ledger.prune(ledger.now_ms() + 2 * 86_400_000).await.unwrap().runs, 1);
    assert!(matches!(ledger.run(brief.id().as_str()).await, Err(StoreError::NotFound { .. })));
    assert!(ledger.attempts(brief.id()).await.is_err());
    ledger.run(lasting.id().as_str()).await.unwrap();
    assert_eq!(ledger.stats(&Default::default(), &[]).await.unwrap()[0].runs, 2);
    assert_eq!(ledger.prune_older(ledger.now_ms() + 1).await.unwrap().runs, 1);
}

async fn pages_hold_every_run_once(bed: Bed) {
    let ledger = bed.open().await;
    for _ in 0..25 {
        begin(&ledger, new_run()).await;
    }
    for order in [Order::NewestFirst, Order::OldestFirst] {
        let mut numbers = Vec::new();
        let mut page = Page { limit: 7, after: None, order };
        loop {
            let runs = ledger.runs(&Filter::default(), page).await.unwrap();
            let Some(last) = runs.last() else { break };
            page.after = Some(last.number);
            numbers.extend(runs.iter().map(|run| run.number));
        }
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!((numbers.len(), sorted.len()), (25, 25));
        if order == Order::NewestFirst {
            numbers.reverse();
        }
        assert_eq!(numbers, sorted);
    }
}

async fn filters_mean_what_they_say(bed: Bed) {
    let ledger = bed.open().await;
    let good = store(&ledger, NewRun { batch: Some("b".to_owned()), ..new_run() }, met()).await;
    let mut finish = failed();
    finish.review = Review::Flagged;
    let flagged = store(&ledger, new_run(), finish).await;
    let mut other = new_run();
    other.driver.model = "gpt".to_owned();
    other.contract.name = "other".to_owned();
    other.contract.fingerprint = "beef".repeat(16);
    let open = begin(&ledger, other).await;
    let text = |text: &str| Some(text.to_owned());
    let now = ledger.now_ms();
    let cases = [
        (Filter { outcome: text("met"), ..Filter::default() }, vec![&good]),
        (Filter { rung: text("tool"), ..Filter::default() }, vec![&good]),
        (Filter { valid: Some(Validity::Invalid), ..Filter::default() }, vec![&open, &flagged]),
        (Filter { valid: Some(Validity::Valid), ..Filter::default() }, vec![&good]),
        (Filter { state: Some(RunState::Open), ..Filter::default() }, vec![&open]),
        (Filter { state: Some(RunState::Unknown), ..Filter::default() }, vec![]),
        (Filter { state: Some(RunState::Done), ..Filter::default() }, vec![&flagged, &good]),
        (Filter { review: Some(Review::Flagged), ..Filter::default() }, vec![&flagged]),
        (Filter { batch: text("b"), ..Filter::default() }, vec![&good]),
        (Filter { model: text("gpt"), provider: text("anthropic"), ..Filter::default() }, vec![&open]),
        (Filter { contract: text("other"), ..Filter::default() }, vec![&open]),
        (Filter { contract: text("beefbeefbeef"), ..Filter::default() }, vec![&open]),
        (Filter { contract_version: text("1"), ..Filter::default() }, vec![]),
        (Filter { since: Some(now + 60_000), ..Filter::default() }, vec![]),
        (Filter { until: Some(now + 60_000), ..Filter::default() }, vec![&open, &flagged, &good]),
        (Filter { id: text(good.id().as_str()), ..Filter::default() }, vec![&good]),
        (Filter { model: text("'; DROP TABLE runs; --"), ..Filter::default() }, vec![]),
        (Filter { model: text("\0"), ..Filter::default() }, vec![]),
    ];
    for (filter, expected) in cases {
        let found = ledger.runs(&filter, Page::default()).await.unwrap();
        let found: Vec<&RunId> = found.iter().map(|run| &run.id).collect();
        let expected: Vec<&RunId> = expected.iter().map(|token| token.id()).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
}

async fn a_run_is_found_by_the_beginning_of_its_name(bed: Bed) {
    let ledger = bed.open().await;
    let named = |name: &str| NewRun { id: Some(RunId::from(name.to_owned())), ..new_run() };
    for name in ["abc", "abcd", "abx", "B", "ä%_"] {
        begin(&ledger, named(name)).await;
    }
    for (prefix, name) in [("abc", "abc"), ("abcd", "abcd"), ("abx", "abx"), ("B", "B"), ("ä", "ä%_")] {
        assert_eq!(ledger.run(prefix).await.unwrap().summary.id.as_str(), name);
    }
    assert!(matches!(ledger.run("ab").await, Err(StoreError::Ambiguous { .. })));
    for absent in ["b", "%", "", "\0", "abcde", "99"] {
        assert!(matches!(ledger.run(absent).await, Err(StoreError::NotFound { .. })), "{absent}");
    }
    let first = ledger.run("abc").await.unwrap();
    let number = first.summary.number.to_string();
    assert_eq!(ledger.run(&number).await.unwrap(), first);
}

async fn an_export_tells_every_run_in_order(bed: Bed) {
    let ledger = bed.open().await;
    for n in 0..50 {
        let mut finish = met();
        finish.output = Some(format!("answer {n}").into_bytes());
        store(&ledger, new_run(), if n % 2 == 0 { finish } else { failed() }).await;
    }
    let filter = Filter { outcome: Some("met".to_owned()), ..Filter::default() };
    let runs: Vec<_> = ledger.export(&filter).try_collect().await.unwrap();
    let outputs: Vec<_> = runs.into_iter().map(|run| run.output.unwrap()).collect();
    let expected: Vec<_> = (0..50).step_by(2).map(|n| format!("answer {n}").into_bytes()).collect();
    assert_eq!(outputs, expected);
}

async fn writes_that_wait_together_share_a_commit(bed: Bed) {
    let ledger = bed.open().await;
    let before = ledger.commits();
    let runs = (0..400).map(|n| store_one(ledger.clone(), n));
    futures_util::future::join_all(runs.map(tokio::spawn)).await;
    let commits = ledger.commits() - before;
    assert_eq!(ledger.stats(&Default::default(), &[]).await.unwrap()[0].runs, 400);
    assert!(commits <= 200, "800 writes took {commits} commits");
}

async fn store_one(ledger: airtight_store::Ledger, n: usize) {
    store(&ledger, keyed(&format!("key {n}")), met()).await;
}

async fn a_write_that_fails_takes_nobody_with_it(bed: Bed) {
    let ledger = bed.open().await;
    let id = Some(RunId::from("taken".to_owned()));
    begin(&ledger, NewRun { id: id.clone(), ..new_run() }).await;
    let writes = (0..200).map(|n| {
        let id = id.clone().filter(|_| n % 10 == 0);
        ledger.begin(NewRun { id, ..new_run() })
    });
    let done = futures_util::future::join_all(writes).await;
    for (n, begun) in done.iter().enumerate() {
        assert_eq!(begun.is_err(), n % 10 == 0, "{n}: {begun:?}");
    }
    let page = Page { limit: 1000, ..Page::default() };
    assert_eq!(ledger.runs(&Filter::default(), page).await.unwrap().len(), 181);
}

async fn a_contract_is_stored_once(bed: Bed) {
    let ledger = bed.open().await;
    for _ in 0..3 {
        begin(&ledger, new_run()).await;
    }
    let contract = new_run().contract;
    assert_eq!(ledger.contract("blog-writer").await.unwrap(), contract);
    assert_eq!(ledger.contract("f00df00d").await.unwrap(), contract);
    assert!(matches!(ledger.contract("nobody").await, Err(StoreError::NotFound { .. })));
    assert_eq!(bed.meddle("SELECT name FROM contracts").await.len(), 1);
}

async fn nothing_is_written_after_the_close(bed: Bed) {
    let ledger = bed.open().await;
    let other = ledger.clone();
    let pending = tokio::spawn({
        let ledger = ledger.clone();
        async move { begin(&ledger, new_run()).await }
    });
    let token = pending.await.unwrap();
    ledger.close().await;
    assert!(matches!(other.begin(new_run()).await, Err(StoreError::Closed)));
    assert!(matches!(other.run(token.id().as_str()).await, Err(StoreError::Closed)));
}
