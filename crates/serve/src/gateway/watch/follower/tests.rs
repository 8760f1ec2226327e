use airtight_store::{ChainState, Lead, Location, Minutes, NewWish, Patience, Wished};
use tempfile::TempDir;

use super::*;

/// A ledger whose watch is led.
struct Stage {
    _folder: TempDir,
    ledger: Ledger,
    lead: Lead,
}

impl Stage {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Location::Sqlite(folder.path().join("ledger.db"));
        let ledger = Ledger::open(&place).await.unwrap();
        let lead = ledger.lead(Duration::from_hours(1)).await.unwrap().unwrap();
        Self { _folder: folder, ledger, lead }
    }

    async fn wish(&self) -> Wish {
        let request = Some("Look.".to_owned());
        let wish = NewWish { cause: "api".to_owned(), tier: 1, request, patience: Patience::None };
        match self.ledger.wish(wish).await.unwrap() {
            Wished::Waiting(wish) => wish,
            other @ (Wished::Busy | Wished::Unwatched) => panic!("{other:?}"),
        }
    }

    /// Begins a chain, which may grant a wish.
    async fn begin(&self, granted: Option<String>) {
        let chain = ChainState {
            id: "c1".to_owned(),
            cause: "api".to_owned(),
            machine: "{}".to_owned(),
            started_at: 1,
            ended_at: None,
        };
        let minutes = Minutes { at_ms: 1, chain: Some(chain), granted, ..Minutes::default() };
        self.ledger.minute(self.lead, minutes).await.unwrap();
    }

    async fn heard(&self, wish: Wish) -> String {
        let ending = CancellationToken::new();
        let followers = TaskTracker::new();
        let put = Ok((self.ledger.clone(), wish));
        let asking = std::future::ready(put);
        let said = Follower::start(&followers, asking, ending, Tier::Observe).await.unwrap();
        let said = text(said).await;
        followers.close();
        followers.wait().await;
        said
    }
}

async fn text(mut said: mpsc::Receiver<Said>) -> String {
    let mut text = String::new();
    while let Some(said) = said.recv().await {
        match said {
            Said::Text(more) => text.push_str(&more),
            Said::Call(call) => panic!("{call:?}"),
        }
    }
    text
}

#[tokio::test]
async fn co_106_what_nobody_would_begin_is_taken_back() {
    let stage = Stage::new().await;
    let wish = stage.wish().await;
    stage.ledger.resign().await.unwrap();
    assert_eq!(stage.heard(wish).await, UNWATCHED);
    assert_eq!(stage.ledger.next_wish().await.unwrap(), None);
}

#[tokio::test]
async fn co_106_what_another_chain_came_before_is_taken_back() {
    let stage = Stage::new().await;
    let wish = stage.wish().await;
    stage.begin(None).await;
    assert_eq!(stage.heard(wish).await, BUSY);
    assert_eq!(stage.ledger.next_wish().await.unwrap(), None);
}

#[tokio::test]
async fn co_106_a_chain_that_takes_too_long_goes_on_and_that_is_said() {
    let stage = Stage::new().await;
    let wish = stage.wish().await;
    stage.begin(Some(wish.id.clone())).await;
    let (tell, told) = mpsc::channel(ROOM);
    let ending = CancellationToken::new();
    let mut follower = Follower::new(stage.ledger.clone(), ending, tell, Tier::Observe);
    follower.patience = Duration::ZERO;
    follower.follow(wish).await;
    let text = text(told).await;
    assert!(text.starts_with("(The chain goes on"), "{text}");
    assert!(text.contains("/sessions?chain=c1"), "{text}");
    assert!(stage.ledger.open_chain().await.unwrap().is_some());
}
