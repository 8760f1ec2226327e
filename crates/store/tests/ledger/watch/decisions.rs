//! What people decide for the watch: which memories count, and which escalations go on.

use airtight_core::watch::Trust;
use airtight_store::{
    EscalationFilter, EscalationState, MemoryFilter, MemoryUpdate, Minutes, NewEscalation, Page,
    StoreError,
};

use super::{lead, memory};
use crate::bed::Bed;

crate::laws! {
    a_memory_is_judged_by_anybody_and_keeps_that,
    an_escalation_waits_for_leave_and_is_acted_on_once,
}

async fn a_memory_is_judged_by_anybody_and_keeps_that(bed: Bed) {
    let ledger = bed.open().await;
    let lead = lead(&ledger).await;
    let learnt = Minutes { memories: vec![memory()], ..Minutes::default() };
    ledger.minute(lead, learnt).await.unwrap();
    let operator = bed.open().await;
    let judged = |id: &str, trust| MemoryUpdate {
        id: id.to_owned(),
        trust: Some(trust),
        ..MemoryUpdate::default()
    };
    operator.judge_memories(vec![judged("m1", Trust::Trusted)]).await.unwrap();
    let unknown = operator.judge_memories(vec![judged("m2", Trust::Trusted)]).await;
    assert!(matches!(unknown, Err(StoreError::NotFound { what: "memory", .. })));
    let reinforced = MemoryUpdate {
        id: "m1".to_owned(),
        confidence: Some(800),
        reinforced_at: Some(99),
        trust: None,
    };
    let minutes = Minutes { updates: vec![reinforced], ..Minutes::default() };
    ledger.minute(lead, minutes).await.unwrap();
    let trusted = MemoryFilter { trust: Some(Trust::Trusted), ..MemoryFilter::default() };
    let memories = ledger.memories(&trusted, Page::default()).await.unwrap();
    assert_eq!(memories.len(), 1);
    assert_eq!((memories[0].confidence, memories[0].reinforced_at), (800, 99));
    let much = MemoryFilter { least: Some(801), ..MemoryFilter::default() };
    assert_eq!(ledger.memories(&much, Page::default()).await.unwrap(), []);
}

async fn an_escalation_waits_for_leave_and_is_acted_on_once(bed: Bed) {
    let ledger = bed.open().await;
    let lead = lead(&ledger).await;
    let proposed = NewEscalation {
        session: "s1".to_owned(),
        chain: "c1".to_owned(),
        tier: 3,
        affected: vec!["web".to_owned()],
        context: Some("web is down".to_owned()),
        state: EscalationState::Proposed,
    };
    let minutes = Minutes { at_ms: 7, escalations: vec![proposed], ..Minutes::default() };
    ledger.minute(lead, minutes).await.unwrap();
    let of = |state| EscalationFilter { state: Some(state), ..EscalationFilter::default() };
    let waiting = ledger.escalations(&of(EscalationState::Proposed), Page::default()).await;
    let waiting = waiting.unwrap().remove(0);
    assert_eq!((waiting.tier, waiting.affected.as_slice()), (3, &["web".to_owned()][..]));
    assert_eq!((waiting.context.as_deref(), waiting.at), (Some("web is down"), 7));
    let operator = bed.open().await;
    operator.answer_escalation(&waiting.id, EscalationState::Approved).await.unwrap();
    let again = operator.answer_escalation(&waiting.id, EscalationState::Declined).await;
    assert!(matches!(again, Err(StoreError::NotFound { .. })));
    let approved = ledger.escalations(&of(EscalationState::Approved), Page::default()).await;
    assert_eq!(approved.unwrap().len(), 1);
    let acted = Minutes { acted: vec![waiting.id.clone()], ..Minutes::default() };
    ledger.minute(lead, acted).await.unwrap();
    let late = Minutes { declined: vec![waiting.id], ..Minutes::default() };
    ledger.minute(lead, late).await.unwrap();
    let since = EscalationFilter { since: Some(7), ..EscalationFilter::default() };
    let all = ledger.escalations(&since, Page::default()).await.unwrap();
    assert_eq!((all.len(), all[0].state), (1, EscalationState::Acted));
}
