//! What the pages of the dashboard ask: the catalogue of contracts, a search of runs, the tiles of the watch.

use std::time::Duration;

use airtight_core::price::Cost;
use airtight_core::watch::{FADING_MS, GRACE_MS, Trust};
use airtight_store::{
    Filter, Memory, Minutes, NewRun, NewSession, NewWatchEvent, Page, RunId, Service, SessionEnd,
    StoreError, WatchOverview,
};

use crate::bed::{Bed, begin, met, new_run, store};

crate::laws! {
    the_catalogue_has_every_contract_once_and_goes_on_by_title,
    a_contract_is_meant_by_its_name_before_the_beginning_of_a_fingerprint,
    runs_are_found_by_what_occurs_in_their_names,
    services_are_pages_by_name,
    the_tiles_of_co_102_are_zero_at_first_and_count_after,
}

fn under(name: &str, version: &str, fingerprint: &str) -> NewRun {
    let mut run = new_run();
    name.clone_into(&mut run.contract.name);
    version.clone_into(&mut run.contract.version);
    run.contract.fingerprint = fingerprint.repeat(16);
    run.contract.schema = format!(r#"{{"x-version":"{version}"}}"#);
    run
}

async fn the_catalogue_has_every_contract_once_and_goes_on_by_title(bed: Bed) {
    let ledger = bed.open().await;
    assert_eq!(ledger.catalogue(None, 10).await.unwrap(), []);
    for run in [
        under("review", "1.0.0", "aaaa"),
        under("review", "2.0.0", "bbbb"),
        under("", "", "cccc"),
        under("Zebra", "", "dddd"),
        under("review", "1.0.0", "aaaa"),
    ] {
        begin(&ledger, run).await;
    }
    let all = ledger.catalogue(None, 10).await.unwrap();
    let told: Vec<(&str, &str, i64)> =
        all.iter().map(|it| (it.title.as_str(), it.name.as_str(), it.versions)).collect();
    let nameless = "cccc".repeat(16);
    assert_eq!(told, [("Zebra", "Zebra", 1), (nameless.as_str(), "", 1), ("review", "review", 2)]);
    let after = ledger.catalogue(Some("Zebra"), 1).await.unwrap();
    assert_eq!((after.len(), after[0].title.as_str()), (1, nameless.as_str()));
    let versions = ledger.contract_versions("review").await.unwrap();
    let mut versions: Vec<_> = versions.into_iter().map(|it| it.version).collect();
    versions.sort();
    assert_eq!(versions, ["1.0.0", "2.0.0"]);
    let one = ledger.contract_versions("cccccccccccc").await.unwrap();
    assert_eq!(one.len(), 1);
    let schema = ledger.contract_version(&one[0]).await.unwrap().schema;
    assert_eq!(schema, r#"{"x-version":""}"#);
    for absent in ["", "\0", "nobody", "cccccccc"] {
        let asked = ledger.contract_versions(absent).await;
        assert!(matches!(asked, Err(StoreError::NotFound { .. })), "{absent}");
    }
}

async fn services_are_pages_by_name(bed: Bed) {
    let ledger = bed.open().await;
    let lead = ledger.lead(Duration::from_mins(1)).await.unwrap().unwrap();
    assert_eq!(ledger.service_states().await.unwrap(), [].into());
    let service = |name: &str, status: &str| Service {
        name: name.to_owned(),
        status: status.to_owned(),
        ..Service::default()
    };
    let services = vec![
        service("web", "healthy"),
        service("db", "down"),
        service("Zoo", "healthy"),
        service("éclair", "healthy"),
    ];
    let minutes = Minutes { at_ms: 10, services, ..Minutes::default() };
    ledger.minute(lead, minutes).await.unwrap();
    let names = async |after: Option<&str>, limit| {
        let page = ledger.services_after(after, limit).await.unwrap();
        page.into_iter().map(|it| it.name).collect::<Vec<_>>()
    };
    // Byte by byte, in every language of a server.
    assert_eq!(names(None, 2).await, ["Zoo", "db"]);
    assert_eq!(names(Some("db"), 2).await, ["web", "éclair"]);
    assert_eq!(names(Some("éclair"), 2).await, [""; 0]);
    assert_eq!(names(Some("da"), 1).await, ["db"]);
    assert_eq!(ledger.service("db").await.unwrap().status, "down");
    for absent in ["", "\0", "DB"] {
        let asked = ledger.service(absent).await;
        assert!(matches!(asked, Err(StoreError::NotFound { what: "service", .. })), "{absent}");
    }
    let counted = [("down".to_owned(), 1), ("healthy".to_owned(), 3)];
    assert_eq!(ledger.service_states().await.unwrap(), counted.into());
}

async fn a_contract_is_meant_by_its_name_before_the_beginning_of_a_fingerprint(bed: Bed) {
    let ledger = bed.open().await;
    // The name of one is how the fingerprint of another begins.
    begin(&ledger, under("", "", "aaaa")).await;
    begin(&ledger, under(&"a".repeat(12), "1.0.0", "bbbb")).await;
    begin(&ledger, under("aaaa", "1.0.0", "cccc")).await;
    let meant = async |title: &str| {
        let versions = ledger.contract_versions(title).await.unwrap();
        versions.into_iter().map(|it| it.fingerprint).collect::<Vec<_>>()
    };
    assert_eq!(meant(&"a".repeat(12)).await, ["bbbb".repeat(16)]);
    assert_eq!(meant(&"a".repeat(13)).await, ["aaaa".repeat(16)]);
    assert_eq!(meant("aaaa").await, ["cccc".repeat(16)]);
    // What decides about a value goes by the whole fingerprint alone.
    let exact = ledger.contract(&"aaaa".repeat(16)).await.unwrap();
    assert_eq!((exact.name.as_str(), exact.fingerprint), ("", "aaaa".repeat(16)));
    for beginning in ["a".repeat(12), "a".repeat(63), "aaaa".to_owned(), String::new()] {
        let asked = ledger.contract(&beginning).await;
        assert!(matches!(asked, Err(StoreError::NotFound { .. })), "{beginning}");
    }
}

async fn runs_are_found_by_what_occurs_in_their_names(bed: Bed) {
    let ledger = bed.open().await;
    let mut other = new_run();
    "claude".clone_into(&mut other.driver.driver);
    "Opus_100%".clone_into(&mut other.driver.model);
    other.batch = Some("nightly\\run".to_owned());
    let other = begin(&ledger, other).await;
    let plain = store(&ledger, new_run(), met()).await;
    let (all, none) = (vec![plain.id(), other.id()], Vec::<&RunId>::new());
    for (search, expected) in [
        ("BLOG", all.clone()),
        ("opus_", vec![other.id()]),
        ("0%", vec![other.id()]),
        ("nightly\\", vec![other.id()]),
        ("%", vec![other.id()]),
        ("o_s", none.clone()),
        ("'; DROP TABLE runs; --", none.clone()),
        ("\0", none.clone()),
        (plain.id().as_str(), vec![plain.id()]),
    ] {
        let filter = Filter { search: Some(search.to_owned()), ..Filter::default() };
        let found = ledger.runs(&filter, Page::default()).await.unwrap();
        let found: Vec<&RunId> = found.iter().map(|run| &run.id).collect();
        assert_eq!(found, expected, "{search}");
    }
    let filter = Filter { driver: Some("claude".to_owned()), ..Filter::default() };
    let found = ledger.runs(&filter, Page::default()).await.unwrap();
    assert_eq!((found.len(), &found[0].id), (1, other.id()));
}

fn remembered(id: &str, trust: Trust, confidence: i64, reinforced_at: i64) -> Memory {
    Memory {
        number: 0,
        id: id.to_owned(),
        service: None,
        category: "timing".to_owned(),
        observation: format!("observation {id}"),
        confidence,
        reinforced_at,
        trust,
        tier: None,
        session: None,
        created_at: reinforced_at,
    }
}

async fn the_tiles_of_co_102_are_zero_at_first_and_count_after(bed: Bed) {
    let ledger = bed.open().await;
    assert_eq!(ledger.watch_overview().await.unwrap(), WatchOverview::default());
    let lead = ledger.lead(Duration::from_hours(1)).await.unwrap().unwrap();
    let now = ledger.now_ms();
    for (id, parent, tier) in [("s1", None, 1), ("s2", Some("s1"), 2), ("s3", Some("s2"), 3)] {
        let begun = NewSession {
            id: id.to_owned(),
            chain: "c1".to_owned(),
            parent: parent.map(str::to_owned),
            tier,
            ..NewSession::default()
        };
        let minutes = Minutes { at_ms: now, begun: Some(begun), ..Minutes::default() };
        ledger.minute(lead, minutes).await.unwrap();
    }
    let ended = |id: &str, cost: Option<Cost>| SessionEnd {
        id: id.to_owned(),
        status: "completed".to_owned(),
        cost,
        ..SessionEnd::default()
    };
    let event = |level: &str| NewWatchEvent {
        level: level.to_owned(),
        message: "web".to_owned(),
        ..NewWatchEvent::default()
    };
    // 400 thousandths last one full week beyond the grace, and not two.
    let week = |weeks: i64| now - GRACE_MS - weeks * FADING_MS;
    ledger
        .minute(
            lead,
            Minutes {
                at_ms: now + 3_000,
                ended: vec![ended("s1", Cost::from_usd(0.5)), ended("s2", None)],
                events: vec![event("critical"), event("info"), event("critical")],
                memories: vec![
                    remembered("fresh", Trust::Trusted, 300, now),
                    remembered("fading", Trust::Trusted, 400, week(2) + 60_000),
                    remembered("faded", Trust::Trusted, 400, week(2) - 60_000),
                    remembered("weak", Trust::Trusted, 299, now),
                    remembered("pending", Trust::Pending, 900, now),
                ],
                ..Minutes::default()
            },
        )
        .await
        .unwrap();
    let expected = WatchOverview {
        roots: 1,
        children: 2,
        third_tier: 1,
        completed_roots: 1,
        cost: Cost::from_usd(0.5).unwrap(),
        unpriced: 1,
        critical: 2,
        active_memories: 2,
        mean_ms: 3_000,
    };
    assert_eq!(ledger.watch_overview().await.unwrap(), expected);
}
