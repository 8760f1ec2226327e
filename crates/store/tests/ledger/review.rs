//! What people decide about runs.

use airtight_store::{Filter, Level, NewDecision, Page, Review, StatsFilter, StoreError};

use crate::bed::{Bed, begin, failed, met, new_run, store};

crate::laws! {
    a_flagged_run_waits_until_somebody_decides,
    an_accepted_value_keeps_what_was_there_before,
    a_value_that_would_not_be_kept_is_not_accepted,
    nobody_decides_about_a_run_that_is_not_over,
}

fn flagged() -> airtight_store::Finish {
    airtight_store::Finish { review: Review::Flagged, ..failed() }
}

async fn a_flagged_run_waits_until_somebody_decides(bed: Bed) {
    let ledger = bed.open().await;
    let accepted = store(&ledger, new_run(), flagged()).await;
    let rejected = store(&ledger, new_run(), flagged()).await;
    store(&ledger, new_run(), met()).await;
    let filter = Filter { review: Some(Review::Flagged), ..Filter::default() };
    assert_eq!(ledger.runs(&filter, Page::default()).await.unwrap().len(), 2);

    let value = NewDecision::Accept { value: r#"{"n":2}"#.to_owned() };
    let run = ledger.decide(accepted.id().as_str(), value, "ada", Some("by hand")).await.unwrap();
    assert_eq!(
        (run.summary.review, run.summary.rung.as_deref()),
        (Review::Accepted, Some("human"))
    );
    assert!(run.summary.output_valid);
    assert_eq!(run.parsed_output.as_deref(), Some(r#"{"n":2}"#));
    assert_eq!(run.output.as_deref(), Some(&b"no JSON at all"[..]), "the raw output stays");
    assert_eq!(run.output_errors, failed().errors);

    let name = rejected.id().as_str();
    let run = ledger.decide(name, NewDecision::Reject, "bob", None).await.unwrap();
    assert_eq!((run.summary.review, run.summary.output_valid), (Review::Rejected, false));
    assert_eq!(ledger.runs(&filter, Page::default()).await.unwrap(), []);
    let stat = &ledger.stats(&StatsFilter::default(), &[]).await.unwrap()[0];
    assert_eq!((stat.runs, stat.failed), (3, 2), "the model failed, whoever mended it");
}

async fn an_accepted_value_keeps_what_was_there_before(bed: Bed) {
    let ledger = bed.open().await;
    let mut finish = met();
    finish.output = Some(b"\xff raw".to_vec());
    let token = store(&ledger, new_run(), finish).await;
    let name = token.id().as_str();
    for (value, who) in [("[1]", "ada"), ("\"\\u0000\"", "bob")] {
        let value = NewDecision::Accept { value: value.to_owned() };
        ledger.decide(name, value, who, Some("note \0")).await.unwrap();
    }
    let run = ledger.run(name).await.unwrap();
    assert_eq!(run.output.as_deref(), Some(&b"\xff raw"[..]));
    let decisions = ledger.decisions(token.id()).await.unwrap();
    let told: Vec<_> = decisions
        .iter()
        .map(|d| (d.who.as_str(), d.before.as_deref().unwrap(), d.after.as_deref().unwrap()))
        .collect();
    assert!(told.contains(&("ada", r#"{"n":1}"#, "[1]")), "{told:?}");
    assert!(told.contains(&("bob", "[1]", "\"\\u0000\"")), "{told:?}");
    assert_eq!(decisions[0].note.as_deref(), Some("note \0"));
}

async fn a_value_that_would_not_be_kept_is_not_accepted(bed: Bed) {
    let ledger = bed.open().await;
    let mut run = new_run();
    run.retention.level = Level::Metadata;
    let token = store(&ledger, run, flagged()).await;
    let value = NewDecision::Accept { value: "[1]".to_owned() };
    let refused = ledger.decide(token.id().as_str(), value, "ada", None).await;
    assert!(matches!(refused, Err(StoreError::Unkept { level: "metadata", .. })), "{refused:?}");
    let run = ledger.run(token.id().as_str()).await.unwrap();
    assert_eq!((run.summary.review, run.summary.output_valid), (Review::Flagged, false));
}

async fn nobody_decides_about_a_run_that_is_not_over(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, new_run()).await;
    let name = token.id().as_str();
    let refused = ledger.decide(name, NewDecision::Reject, "ada", None).await;
    assert!(matches!(refused, Err(StoreError::NotOver { .. })));
    let absent = ledger.decide("nothing", NewDecision::Reject, "ada", None).await;
    assert!(matches!(absent, Err(StoreError::NotFound { .. })));
}
