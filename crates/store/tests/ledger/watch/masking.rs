//! What the watch keeps holds no secret, and stays readable.

use airtight_store::{ChainState, Memory, MemoryFilter, Minutes, NewSession, Page, Service};

use super::{event, lead, memory, messages, service, session};
use crate::bed::Bed;

crate::laws! {
    texts_are_masked_and_hold_no_nul,
    what_the_watch_remembers_of_itself_stays_readable_and_holds_no_secret,
}

async fn texts_are_masked_and_hold_no_nul(bed: Bed) {
    let ledger = bed.open_masking("hunter2-hunter2").await;
    let lead = lead(&ledger).await;
    let secret = "the key\0 is hunter2-hunter2";
    let minutes = Minutes {
        at_ms: 1,
        begun: Some(NewSession { context: Some(secret.to_owned()), ..session() }),
        events: vec![event(secret)],
        memories: vec![Memory { observation: secret.to_owned(), ..memory() }],
        services: vec![Service { detail: Some(secret.to_owned()), ..service() }],
        ..Minutes::default()
    };
    ledger.minute(lead, minutes).await.unwrap();
    let kept = "the key\u{fffd} is [masked]";
    assert_eq!(messages(&ledger).await, [kept]);
    let memories = ledger.memories(&MemoryFilter::default(), Page::default()).await.unwrap();
    assert_eq!(memories[0].observation, kept);
    assert_eq!(ledger.services().await.unwrap()[0].detail.as_deref(), Some(kept));
    assert_eq!(ledger.session("s1").await.unwrap().1.context.as_deref(), Some(kept));
}

/// CO-109: a secret in the middle of JSON takes no quotation mark with it.
async fn what_the_watch_remembers_of_itself_stays_readable_and_holds_no_secret(bed: Bed) {
    let ledger = bed.open_masking("hunter2-\"hunter2").await;
    let lead = lead(&ledger).await;
    let said = "-----BEGIN PRIVATE KEY-----\nMIIE and hunter2-\"hunter2";
    let machine = serde_json::json!({ "brief": { "escalation": said }, "moved_at_ms": 12_345_678 });
    let chain = ChainState {
        id: "c1".to_owned(),
        cause: "scheduled".to_owned(),
        machine: machine.to_string(),
        started_at: 5,
        ended_at: None,
    };
    let marks = vec![("schedule".to_owned(), machine.to_string())];
    let minutes = Minutes { chain: Some(chain), marks, ..Minutes::default() };
    ledger.minute(lead, minutes).await.unwrap();
    let kept = [
        ledger.open_chain().await.unwrap().unwrap().machine,
        ledger.mark("schedule").await.unwrap().unwrap(),
    ];
    for kept in kept {
        assert!(!kept.contains("hunter2") && !kept.contains("MIIE"), "{kept}");
        let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
        assert_eq!(kept["moved_at_ms"], 12_345_678);
        assert_eq!(kept["brief"]["escalation"], "[masked]");
    }
}
