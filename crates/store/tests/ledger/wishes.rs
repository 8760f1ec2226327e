//! What somebody asks of the watch waits until whoever leads grants it, once.

use std::time::Duration;

use airtight_store::{
    ChainState, Ledger, Minutes, NewWish, Order, Page, Patience, StoreError, WISHES_WAITING, Wish,
    Wished,
};

use crate::bed::Bed;

crate::laws! {
    a_wish_waits_and_is_granted_with_its_chain,
    without_patience_a_wish_is_refused_while_others_come_first,
    where_nobody_watches_only_the_patient_wait,
    a_wish_that_was_taken_back_becomes_no_chain,
    a_chain_that_goes_on_can_be_stopped,
}

fn wish(patience: Patience) -> NewWish {
    let request = Some("Look at web: token-of-somebody".to_owned());
    NewWish { cause: "api".to_owned(), tier: 2, request, patience }
}

fn chain(ended_at: Option<i64>) -> ChainState {
    ChainState {
        id: "c1".to_owned(),
        cause: "api".to_owned(),
        machine: "{}".to_owned(),
        started_at: 1,
        ended_at,
    }
}

async fn waiting(ledger: &Ledger) -> Vec<Wish> {
    let all = Page { limit: WISHES_WAITING, after: None, order: Order::OldestFirst };
    ledger.waiting_wishes(all).await.unwrap()
}

fn is_waiting(wished: &Wished) -> bool {
    matches!(wished, Wished::Waiting(_))
}

async fn a_wish_waits_and_is_granted_with_its_chain(bed: Bed) {
    let ledger = bed.open().await;
    let lead = ledger.lead(Duration::from_hours(1)).await.unwrap().unwrap();
    assert_eq!(ledger.next_wish().await.unwrap(), None);
    assert!(is_waiting(&ledger.wish(wish(Patience::Some)).await.unwrap()));
    assert!(is_waiting(&ledger.wish(wish(Patience::Some)).await.unwrap()));
    let first = ledger.next_wish().await.unwrap().unwrap();
    assert_eq!((first.cause.as_str(), first.tier, &first.chain), ("api", 2, &None));
    let granted = Some(first.id.clone());
    let minutes = Minutes { at_ms: 1, chain: Some(chain(None)), granted, ..Minutes::default() };
    ledger.minute(lead, minutes).await.unwrap();
    let second = ledger.next_wish().await.unwrap().unwrap();
    assert!(second.number > first.number);
    assert_eq!(waiting(&ledger).await, [second]);
    ledger.close().await;
}

async fn without_patience_a_wish_is_refused_while_others_come_first(bed: Bed) {
    let ledger = bed.open().await;
    let lead = ledger.lead(Duration::from_hours(1)).await.unwrap().unwrap();
    let state = |ended_at| Minutes { chain: Some(chain(ended_at)), ..Minutes::default() };
    ledger.minute(lead, state(None)).await.unwrap();
    assert_eq!(ledger.wish(wish(Patience::None)).await.unwrap(), Wished::Busy);
    ledger.minute(lead, state(Some(2))).await.unwrap();
    assert!(is_waiting(&ledger.wish(wish(Patience::None)).await.unwrap()));
    assert_eq!(ledger.wish(wish(Patience::None)).await.unwrap(), Wished::Busy);
    for _ in 1..WISHES_WAITING {
        assert!(is_waiting(&ledger.wish(wish(Patience::Some)).await.unwrap()));
    }
    assert_eq!(ledger.wish(wish(Patience::Some)).await.unwrap(), Wished::Busy);
    ledger.close().await;
}

async fn where_nobody_watches_only_the_patient_wait(bed: Bed) {
    let ledger = bed.open().await;
    assert_eq!(ledger.wish(wish(Patience::None)).await.unwrap(), Wished::Unwatched);
    ledger.lead(Duration::from_hours(1)).await.unwrap().unwrap();
    ledger.resign().await.unwrap();
    assert_eq!(ledger.wish(wish(Patience::None)).await.unwrap(), Wished::Unwatched);
    assert_eq!(waiting(&ledger).await, []);
    assert!(is_waiting(&ledger.wish(wish(Patience::Some)).await.unwrap()));
    assert_eq!(waiting(&ledger).await.len(), 1);
    ledger.close().await;
}

/// CO-106: whoever was told that nothing was begun must find nothing begun.
async fn a_wish_that_was_taken_back_becomes_no_chain(bed: Bed) {
    let ledger = bed.open().await;
    let lead = ledger.lead(Duration::from_hours(1)).await.unwrap().unwrap();
    let granting = |wish: &Wish| Minutes {
        chain: Some(chain(None)),
        granted: Some(wish.id.clone()),
        ..Minutes::default()
    };
    assert!(is_waiting(&ledger.wish(wish(Patience::None)).await.unwrap()));
    let first = ledger.next_wish().await.unwrap().unwrap();
    assert!(ledger.withdraw_wish(&first.id).await.unwrap());
    assert!(!ledger.withdraw_wish(&first.id).await.unwrap(), "once");
    assert_eq!(ledger.wish_named(&first.id).await.unwrap(), None);
    let refused = ledger.minute(lead, granting(&first)).await;
    assert!(matches!(refused, Err(StoreError::NotFound { what: "wish", .. })), "{refused:?}");
    assert_eq!(ledger.open_chain().await.unwrap(), None);

    assert!(is_waiting(&ledger.wish(wish(Patience::None)).await.unwrap()));
    let second = ledger.next_wish().await.unwrap().unwrap();
    ledger.minute(lead, granting(&second)).await.unwrap();
    ledger.minute(lead, granting(&second)).await.unwrap();
    assert!(!ledger.withdraw_wish(&second.id).await.unwrap(), "it has become a chain");
    let granted = ledger.wish_named(&second.id).await.unwrap().unwrap();
    assert_eq!(granted.chain.as_deref(), Some("c1"));
    ledger.close().await;
}

async fn a_chain_that_goes_on_can_be_stopped(bed: Bed) {
    let ledger = bed.open().await;
    let lead = ledger.lead(Duration::from_hours(1)).await.unwrap().unwrap();
    assert!(!ledger.stop_chain().await.unwrap(), "nothing goes on");
    let minutes = Minutes { chain: Some(chain(None)), ..Minutes::default() };
    ledger.minute(lead, minutes).await.unwrap();
    assert!(!ledger.is_stop_asked("c1").await.unwrap());
    assert!(ledger.stop_chain().await.unwrap());
    assert!(ledger.stop_chain().await.unwrap(), "asked twice, it is the same");
    assert!(ledger.is_stop_asked("c1").await.unwrap());
    assert!(!ledger.is_stop_asked("c2").await.unwrap());
    ledger.close().await;
}
