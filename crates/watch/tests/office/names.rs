//! Names of services that look like secrets.

use airtight_core::watch::{Tier, Trigger};
use airtight_store::ActionFilter;
use airtight_watch::Wish;
use tokio_util::sync::CancellationToken;

use crate::bench::{ALL, Bench};
use crate::crew::{Act, Crew};

const RESTART: &str = "docker restart jellyfin";

/// CO-90, CO-109: a service whose name is the value of a secret is masked on record, and its restarts
/// count all the same.
#[tokio::test]
async fn co_90_a_service_that_is_named_like_a_secret_is_counted() {
    let bench = Bench::masking(["jellyfin"]).await;
    let crew = Crew::new(bench.ledger.clone(), [Act::Runs(&[RESTART; 3])]);
    let admitted = std::sync::Arc::clone(&crew.admitted);
    let watcher = bench.watcher(crew, i64::MAX, CancellationToken::new());
    let wish = Wish { trigger: Trigger::Manual, tier: Tier::Remediate, request: None };
    watcher.once(wish).await.unwrap();
    assert_eq!(*admitted.lock().unwrap(), [true, true, false]);
    let actions = bench.ledger.actions(&ActionFilter::default(), ALL).await.unwrap();
    let names: Vec<&str> = actions.iter().map(|it| it.service.as_str()).collect();
    assert_eq!(names, ["[masked]", "[masked]"]);
}
