//! What is stored of a run, and for how long.

use std::time::Duration;

use airtight_store::{
    AttemptEnd, Finish, Level, NewEvent, NewRun, Postponed, Retention, RunId, StoreError,
};

use crate::bed::{Bed, begin, counted, failed, keyed, met, new_run, store};
use crate::child::Child;

crate::laws! {
    bytes_come_back_as_they_went,
    the_longest_names_are_stored,
    secrets_are_masked_before_they_are_stored,
    metadata_holds_no_text,
    what_is_kept_no_longer_is_pruned_and_still_counted,
    what_never_ended_is_kept_no_longer_unless_somebody_is_at_it,
    what_an_older_program_began_is_kept_no_longer_either,
    a_process_elsewhere_keeps_its_run_while_it_is_heard_of,
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
    outputs.extend([
        b"\xff\xfe".to_vec(),
        b"ok\xc3".to_vec(),
        vec![b'x'; 1 << 20],
        (0..=255).collect(),
    ]);
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
        assert_eq!(
            (run.summary.model.as_str(), run.summary.key),
            (name, Some(format!("key {name}")))
        );
    }
}

async fn the_longest_names_are_stored(bed: Bed) {
    let ledger = bed.open().await;
    let name = |length| -> String { (0..length).map(|_| fastrand::alphanumeric()).collect() };
    let longest = || name(400);
    let mut run = new_run();
    run.id = Some(RunId::from(longest()));
    run.parent = Some(RunId::from(longest()));
    (run.key, run.batch) = (Some(longest()), Some(longest()));
    (run.contract.name, run.contract.version) = (longest(), longest());
    (run.driver.provider, run.driver.model) = (longest(), longest());
    let finish = Finish { outcome: longest(), rung: Some(longest()), ..met() };
    let token = store(&ledger, run.clone(), finish).await;
    let found = ledger.run(token.id().as_str()).await.unwrap();
    assert_eq!(
        (found.summary.key, found.summary.model),
        (run.key.clone(), run.driver.model.clone())
    );
    let too_long = NewRun { id: None, key: Some(name(401)), ..run };
    assert!(matches!(ledger.begin(too_long).await, Err(StoreError::TooLarge { size: 401, .. })));
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
    let day = Duration::from_hours(24);
    let retention = Retention { level: Level::Full, keep: Some(day) };
    let brief = store(&ledger, NewRun { retention, ..new_run() }, met()).await;
    let lasting = store(&ledger, new_run(), met()).await;
    assert_eq!(ledger.prune(ledger.now_ms()).await.unwrap().runs, 0);
    assert_eq!(ledger.prune(ledger.now_ms() + 2 * 86_400_000).await.unwrap().runs, 1);
    assert!(matches!(ledger.run(brief.id().as_str()).await, Err(StoreError::NotFound { .. })));
    assert!(ledger.attempts(brief.id()).await.is_err());
    ledger.run(lasting.id().as_str()).await.unwrap();
    assert_eq!(counted(&ledger).await, 2);
    assert_eq!(ledger.prune_older(ledger.now_ms() + 1).await.unwrap().runs, 1);
}

async fn what_never_ended_is_kept_no_longer_unless_somebody_is_at_it(bed: Bed) {
    let ledger = bed.open().await;
    let retention = Retention { level: Level::Full, keep: Some(Duration::from_hours(24)) };
    let mine = begin(&ledger, NewRun { retention, ..keyed("mine") }).await;
    let put_off = begin(&ledger, NewRun { retention, ..keyed("put off") }).await;
    ledger.postpone(&put_off, Postponed::default()).await.unwrap();
    let run = ledger.summary(mine.id().as_str()).await.unwrap();
    assert_eq!(run.expires_at, Some(run.started_at + 86_400_000));
    let mut child = Child::start(&bed.url);
    child.tell("begin theirs");
    bed.meddle("UPDATE runs SET expires_at = 1 WHERE job_key = 'theirs'").await;
    assert_eq!(ledger.prune(ledger.now_ms()).await.unwrap().runs, 0, "its process lives");
    let later = ledger.now_ms() + 2 * 86_400_000;
    assert_eq!(ledger.prune(later).await.unwrap().runs, 1, "nobody is at what was put off");
    assert!(ledger.run(put_off.id().as_str()).await.is_err());
    child.kill();
    assert_eq!(ledger.prune(later).await.unwrap().runs, 1, "its process is gone");
    assert_eq!(ledger.prune_older(later).await.unwrap().runs, 0, "this process lives");
    ledger.finish(&mine, met()).await.unwrap();
    assert_eq!(ledger.prune(later).await.unwrap().runs, 1);
    assert_eq!(bed.meddle("SELECT run FROM attempts").await.len(), 0);
}

/// Older programs wrote how long a run is kept when it began, and when it expires only at its end.
async fn what_an_older_program_began_is_kept_no_longer_either(bed: Bed) {
    let ledger = bed.open().await;
    let retention = Retention { level: Level::Full, keep: Some(Duration::from_hours(24)) };
    let brief = begin(&ledger, NewRun { retention, ..keyed("brief") }).await;
    let lasting = begin(&ledger, keyed("lasting")).await;
    for left in [&brief, &lasting] {
        ledger.postpone(left, Postponed::default()).await.unwrap();
    }
    bed.meddle("UPDATE runs SET expires_at = NULL").await;
    let run = ledger.summary(brief.id().as_str()).await.unwrap();
    assert_eq!(run.expires_at, None);
    let over = run.started_at + 86_400_000;
    assert_eq!(ledger.prune(over - 1).await.unwrap().runs, 0);
    assert_eq!(ledger.prune(over).await.unwrap().runs, 1);
    assert!(matches!(ledger.run(brief.id().as_str()).await, Err(StoreError::NotFound { .. })));
    ledger.run(lasting.id().as_str()).await.unwrap();
}

async fn a_process_elsewhere_keeps_its_run_while_it_is_heard_of(bed: Bed) {
    let ledger = bed.open().await;
    begin(&ledger, new_run()).await;
    bed.meddle(
        "UPDATE runs SET owner = 'elsewhere:1:2/3/4/5', expires_at = 1, \
         started_at = started_at - 3600000",
    )
    .await;
    let now_ms = ledger.now_ms();
    let heard =
        format!("INSERT INTO owners (id, seen_at) VALUES ('elsewhere:1:2/3/4/5', {now_ms})");
    bed.meddle(&heard).await;
    assert_eq!(ledger.prune(now_ms).await.unwrap().runs, 0);
    assert_eq!(ledger.prune_older(now_ms + 1).await.unwrap().runs, 0);
    bed.meddle("UPDATE owners SET seen_at = seen_at - 60000").await;
    assert_eq!(ledger.prune(now_ms).await.unwrap().runs, 1);
}
