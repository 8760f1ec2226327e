//! What becomes of a session whose log cannot be kept.

use airtight_core::watch::{Tier, Trigger};
use airtight_store::{EventFilter, SessionFilter};

use crate::bench::{ALL, Bench};
use crate::crew::{Act, well};

/// A disk that refuses costs the log alone; the record of the session says so, and why.
#[tokio::test]
async fn a_session_whose_log_fails_has_that_on_record() {
    let bench = Bench::new().await;
    // A file where the folder should be.
    std::fs::write(&bench.estate.logs, "in the way").unwrap();
    bench.once((Trigger::Scheduled, Tier::Observe), [Act::Says(well())]).await;
    let session = bench.ledger.sessions(&SessionFilter::default(), ALL).await.unwrap().remove(0);
    assert_eq!((session.status.as_str(), session.log), ("completed", None));
    let events = bench.ledger.watch_events(&EventFilter::default(), ALL).await.unwrap();
    let told: Vec<(&str, &str)> =
        events.iter().map(|it| (it.origin.as_str(), it.level.as_str())).collect();
    assert_eq!(told, [("structured", "info"), ("watch", "warning")]);
    let [_, fault] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(fault.session.as_ref(), Some(&session.id));
    let folder = bench.estate.logs.display();
    let words = format!("this session has no log: none can be made in {folder}: ");
    assert!(fault.message.starts_with(&words), "{}", fault.message);
}
