use std::pin::Pin;
use std::time::Duration;

use airtight_store::{
    Begun, ContractRow, Driver, Finish, Job, Ledger, Location, NewEvent, NewRun, RunState, RunToken,
};
use futures_util::{Stream, StreamExt as _};
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::hub::{RING, Rhythm};
use super::*;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// A ledger, and a handle of its own as another process has it.
struct Stage {
    _folder: TempDir,
    ledger: Ledger,
    elsewhere: Ledger,
    hub: Hub,
    ending: CancellationToken,
}

/// One message of a stream.
#[derive(Debug, Clone, PartialEq)]
struct Told {
    id: Option<i64>,
    event: String,
    data: Value,
}

type Stream0 = Pin<Box<dyn Stream<Item = Result<bytes::Bytes, std::convert::Infallible>> + Send>>;

/// A viewer that reads what it is sent.
struct Reader(Stream0);

impl Stage {
    async fn new() -> Self {
        Self::beating(Duration::from_mins(10)).await
    }

    async fn beating(heartbeat: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Location::Sqlite(folder.path().join("ledger.db"));
        let ledger = Ledger::open(&place).await.unwrap();
        let elsewhere = Ledger::open(&place).await.unwrap();
        let ending = CancellationToken::new();
        let hub = Hub::with(ledger.clone(), Rhythm { heartbeat, ending: ending.clone() });
        Self { _folder: folder, ledger, elsewhere, hub, ending }
    }

    async fn begin(&self) -> RunToken {
        let run = NewRun {
            contract: ContractRow { schema: "{}".to_owned(), ..ContractRow::default() },
            job: Job { prompt: "p".to_owned(), ..Job::default() },
            driver: Driver::default(),
            ..NewRun::default()
        };
        match self.elsewhere.begin(run).await.unwrap() {
            Begun::Fresh(token) => token,
            other @ (Begun::Finished(_) | Begun::Busy { .. }) => panic!("{other:?}"),
        }
    }

    async fn append(&self, token: &RunToken, count: usize) {
        let event = NewEvent { kind: "assistant".to_owned(), body: "{}".to_owned() };
        self.elsewhere.append(token, vec![event; count]).await.unwrap();
    }

    async fn finish(&self, token: &RunToken) {
        let events = vec![NewEvent { kind: "last".to_owned(), body: "{}".to_owned() }];
        let finish = Finish { outcome: "met".to_owned(), events, ..Finish::default() };
        self.elsewhere.finish(token, finish).await.unwrap();
    }

    async fn view(&self, token: &RunToken, after: Option<i64>) -> Reader {
        let subject = Subject::Run(token.id().clone());
        Reader(Box::pin(self.hub.join(subject, after).await.unwrap().frames()))
    }

    async fn nobody_follows(&self) {
        let gone = async {
            while self.hub.followers() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, gone).await.unwrap();
    }
}

impl Reader {
    /// Returns the next frame as it is; none at the end.
    async fn raw(&mut self) -> Option<String> {
        let next = timeout(PATIENCE, self.0.next()).await.expect("in time")?;
        Some(String::from_utf8(next.unwrap().to_vec()).unwrap())
    }

    /// Returns the next message; none at the end.
    async fn next(&mut self) -> Option<Told> {
        loop {
            let text = self.raw().await?;
            let field = |name: &str| {
                let prefix = format!("{name}: ");
                text.lines().find_map(|line| line.strip_prefix(prefix.as_str()).map(str::to_owned))
            };
            let Some(data) = field("data") else { continue };
            return Some(Told {
                id: field("id").map(|id| id.parse().unwrap()),
                event: field("event").unwrap_or_default(),
                data: serde_json::from_str(&data).unwrap(),
            });
        }
    }

    /// Reads numbers until `last` has come.
    async fn numbers(&mut self, last: i64) -> Vec<i64> {
        let mut numbers = Vec::new();
        while numbers.last() != Some(&last) {
            numbers.extend(self.next().await.unwrap().id);
        }
        numbers
    }

    /// Reads to the end: the numbers, and the messages that have names.
    async fn rest(&mut self) -> (Vec<i64>, Vec<Told>) {
        let (mut numbers, mut named) = (Vec::new(), Vec::new());
        while let Some(told) = self.next().await {
            match told.id {
                Some(id) => numbers.push(id),
                None => named.push(told),
            }
        }
        (numbers, named)
    }
}

#[tokio::test]
async fn a_run_of_another_process_is_replayed_and_followed_to_its_end() {
    let stage = Stage::new().await;
    let token = stage.begin().await;
    stage.append(&token, 100).await;
    let mut early = stage.view(&token, None).await;
    assert_eq!(early.numbers(100).await, (1..=100).collect::<Vec<_>>());
    stage.append(&token, 30).await;
    let mut late = stage.view(&token, Some(90)).await;
    stage.finish(&token).await;
    let (numbers, named) = early.rest().await;
    assert_eq!(numbers, (101..=131).collect::<Vec<_>>());
    let events: Vec<&str> = named.iter().map(|told| told.event.as_str()).collect();
    assert_eq!(events, ["end"]);
    assert_eq!(named[0].data["outcome"], "met");
    // CO-14: the end is told once it is on record, with everything that belongs to it.
    let on_record = stage.ledger.summary(token.id().as_str()).await.unwrap();
    assert_eq!(on_record.state, RunState::Done);
    let (numbers, named) = late.rest().await;
    assert_eq!(numbers, (91..=131).collect::<Vec<_>>());
    let events: Vec<&str> = named.iter().map(|told| told.event.as_str()).collect();
    assert_eq!(events, ["state", "end"]);
}

#[tokio::test]
async fn a_run_that_is_over_is_replayed_and_ends() {
    let stage = Stage::new().await;
    let token = stage.begin().await;
    stage.append(&token, 200).await;
    stage.finish(&token).await;
    for after in [None, Some(0), Some(150), Some(201), Some(9_999)] {
        let (numbers, named) = stage.view(&token, after).await.rest().await;
        assert_eq!(numbers, (after.unwrap_or(0) + 1..=201).collect::<Vec<_>>());
        assert_eq!(named.last().unwrap().event, "end");
    }
    stage.nobody_follows().await;
}

/// S4: whoever leaves and comes back a thousand times sees every event once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s4_a_thousand_reconnects_lose_and_double_nothing() {
    let stage = Stage::new().await;
    let token = stage.begin().await;
    let writing = async {
        for _ in 0..1_000 {
            stage.append(&token, 1).await;
        }
        stage.finish(&token).await;
    };
    let reading = async {
        let (mut seen, mut visits) = (Vec::new(), 0);
        loop {
            visits += 1;
            let mut reader = stage.view(&token, seen.last().copied()).await;
            loop {
                let told = reader.next().await.unwrap();
                match (told.id, told.event.as_str()) {
                    (Some(id), _) => seen.push(id),
                    (None, "end") => return (seen, visits),
                    (None, _) => continue,
                }
                break;
            }
        }
    };
    let ((), (seen, visits)) = tokio::join!(writing, reading);
    assert_eq!(seen, (1..=1_001).collect::<Vec<_>>());
    assert_eq!(visits, 1_002);
    stage.nobody_follows().await;
}

#[tokio::test]
async fn a_viewer_that_is_too_slow_is_told_what_it_missed_and_may_read_it() {
    let stage = Stage::new().await;
    let token = stage.begin().await;
    stage.append(&token, 3).await;
    let mut slow = stage.view(&token, None).await;
    let mut quick = stage.view(&token, None).await;
    assert_eq!(slow.numbers(3).await, [1, 2, 3]);
    // It must have turned from the ledger to what is new before it stops reading.
    stage.append(&token, 1).await;
    assert_eq!(slow.numbers(4).await, [4]);
    for _ in 0..20 {
        stage.append(&token, 50).await;
        let last = quick.numbers(stage.ledger.last_event(token.id()).await.unwrap()).await;
        assert!(last.is_sorted());
    }
    stage.finish(&token).await;
    let (numbers, named) = slow.rest().await;
    assert_eq!(named[0].event, "gap");
    let (from, to) =
        (named[0].data["from"].as_i64().unwrap(), named[0].data["to"].as_i64().unwrap());
    assert_eq!((from, numbers[0], *numbers.last().unwrap()), (5, to + 1, 1_005));
    // What the ring holds, and the end beside it.
    assert!(numbers.len() <= RING + 1, "{}", numbers.len());
    let missed = stage.ledger.events(token.id(), from - 1, 10_000).await.unwrap();
    let missed: Vec<i64> = missed.iter().map(|it| it.number).take_while(|it| *it <= to).collect();
    assert_eq!(missed, (from..=to).collect::<Vec<_>>());
}

/// S4: viewers that never read hold nothing but their place.
#[tokio::test]
async fn s4_viewers_that_stall_share_one_ring_and_one_follower() {
    let stage = Stage::new().await;
    let token = stage.begin().await;
    stage.append(&token, 1).await;
    let mut stalled = Vec::new();
    for _ in 0..200 {
        let mut viewer = stage.view(&token, None).await;
        assert_eq!(viewer.numbers(1).await, [1]);
        stalled.push(viewer);
    }
    let mut quick = stage.view(&token, None).await;
    assert_eq!(quick.numbers(1).await, [1]);
    for round in 1..=40 {
        stage.append(&token, 100).await;
        assert_eq!(*quick.numbers(1 + round * 100).await.last().unwrap(), 1 + round * 100);
    }
    assert_eq!(stage.hub.followers(), 1);
    assert!(stage.hub.ring(&Subject::Run(token.id().clone())) <= RING);
    drop((stalled, quick));
    stage.nobody_follows().await;
}

/// How long that takes is measured by `bench/run --only viewers`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_viewers_of_one_run_see_every_event_and_its_end() {
    const VIEWERS: usize = 1_000;
    let stage = Stage::new().await;
    let token = stage.begin().await;
    let mut viewers = Vec::new();
    for _ in 0..VIEWERS {
        viewers.push(stage.view(&token, None).await);
    }
    let mut stalled = Vec::new();
    for _ in 0..100 {
        stalled.push(stage.view(&token, None).await);
    }
    let reading: Vec<_> =
        viewers.into_iter().map(|mut it| tokio::spawn(async move { it.rest().await })).collect();
    for _ in 0..50 {
        stage.append(&token, 2).await;
    }
    assert_eq!(stage.hub.followers(), 1);
    stage.finish(&token).await;
    for reading in reading {
        let (numbers, named) = timeout(PATIENCE, reading).await.unwrap().unwrap();
        assert_eq!(numbers, (1..=101).collect::<Vec<_>>());
        assert_eq!(named.last().unwrap().event, "end");
    }
    drop(stalled);
    stage.nobody_follows().await;
}

#[tokio::test]
async fn s5_something_is_said_while_nothing_happens() {
    let stage = Stage::beating(Duration::from_millis(20)).await;
    let token = stage.begin().await;
    let mut viewer = stage.view(&token, None).await;
    assert_eq!(viewer.raw().await.unwrap(), "retry: 1000\n\n");
    assert!(viewer.raw().await.unwrap().starts_with("event: state\n"));
    assert_eq!(viewer.raw().await.unwrap(), ": waiting\n\n");
    stage.ending.cancel();
    assert_eq!(viewer.raw().await, None);
}

#[tokio::test]
async fn everything_is_told_from_how_things_stand() {
    let stage = Stage::new().await;
    let before = stage.begin().await;
    let everything = stage.hub.join(Subject::Everything, None).await.unwrap();
    let mut viewer = Reader(Box::pin(everything.frames()));
    let snapshot = viewer.next().await.unwrap();
    assert_eq!(snapshot.event, "snapshot");
    assert_eq!(snapshot.data["open"][0]["id"], before.id().as_str());
    let after = stage.begin().await;
    let began = viewer.next().await.unwrap();
    assert_eq!((began.event.as_str(), &began.data["state"]), ("run", &"open".into()));
    assert_eq!(began.data["id"], after.id().as_str());
    stage.finish(&before).await;
    let ended = viewer.next().await.unwrap();
    assert_eq!(
        (&ended.data["id"], &ended.data["state"]),
        (&before.id().as_str().into(), &"done".into())
    );
}

#[tokio::test]
async fn a_viewer_of_everything_that_is_too_slow_is_told_so_and_how_things_stand() {
    let stage = Stage::new().await;
    let view = async || {
        let everything = stage.hub.join(Subject::Everything, None).await.unwrap();
        Reader(Box::pin(everything.frames()))
    };
    let (mut slow, mut quick) = (view().await, view().await);
    // Both must have turned from the ledger to what is new.
    let mut last = stage.begin().await;
    for viewer in [&mut slow, &mut quick] {
        assert_eq!(viewer.next().await.unwrap().event, "snapshot");
        assert_eq!(viewer.next().await.unwrap().event, "run");
    }
    for _ in 0..RING + 64 {
        last = stage.begin().await;
    }
    while quick.next().await.unwrap().data["id"] != last.id().as_str() {}
    let gap = slow.next().await.unwrap();
    assert_eq!((gap.event.as_str(), gap.id), ("gap", None));
    assert!(gap.data["messages"].as_u64().unwrap() > 0, "{gap:?}");
    assert_eq!(slow.next().await.unwrap().event, "snapshot");
}

#[tokio::test]
async fn long_bodies_are_replayed_a_few_at_a_time_and_the_longest_are_left_out() {
    let stage = Stage::new().await;
    let token = stage.begin().await;
    let lengths = [60_000, 60_000, 60_000, 200_000, 60_000, 60_000];
    let event = |length: usize| NewEvent {
        kind: "assistant".to_owned(),
        body: format!("\"{}\"", "x".repeat(length - 2)),
    };
    stage.elsewhere.append(&token, lengths.map(event).to_vec()).await.unwrap();
    let mut viewer = stage.view(&token, None).await;
    for (number, length) in (1..).zip(lengths) {
        let told = loop {
            let told = viewer.next().await.unwrap();
            if told.id.is_some() {
                break told;
            }
        };
        assert_eq!(told.id, Some(number));
        let body = told.data["body"].as_str().map(|body| body.len() + 2);
        let expected =
            if length > 65_536 { (None, length.into()) } else { (Some(length), Value::Null) };
        assert_eq!((body, told.data["bodyBytes"].clone()), expected);
    }
}

#[tokio::test]
async fn a_viewer_says_where_it_goes_on_in_numbers() {
    let said = |value: &str| {
        let headers = HeaderMap::from_iter([(
            HeaderName::from_static(LAST_EVENT_ID),
            HeaderValue::from_str(value).unwrap(),
        )]);
        goes_on_after(&headers, Some(3)).map_err(|problem| problem.code)
    };
    assert_eq!(said("7"), Ok(Some(7)));
    assert_eq!(said(""), Ok(Some(3)));
    assert_eq!(said("x"), Err("invalid_request"));
    assert_eq!(said("-1"), Err("invalid_request"));
    assert_eq!(goes_on_after(&HeaderMap::new(), None), Ok(None));
    let absent = Stage::new().await;
    let nobody = Subject::Run(airtight_store::RunId::from("nobody".to_owned()));
    assert!(absent.hub.join(nobody, None).await.is_err());
}
