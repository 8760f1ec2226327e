//! What happens between two chains.

use std::time::Duration;

use crate::bench::{Bench, HOUR_MS};
use crate::crew::{Act, well};

/// CO-95: a digest comes once a day, however seldom anybody looks.
#[tokio::test]
async fn co_95_a_digest_comes_once_a_day_whatever_the_interval() {
    let mut bench = Bench::new().await;
    bench.estate.interval = Duration::from_hours(24 * 7);
    bench.estate.look_every = Duration::from_hours(1);
    bench.run(3 * 24 * HOUR_MS + 5 * HOUR_MS, [Act::Says(well())]).await.unwrap();
    let titles = bench.titles().await;
    assert_eq!(titles, ["Daily digest: no service was checked"; 4], "one with the first chain");
    assert_eq!(bench.sessions().await.len(), 1);
}
