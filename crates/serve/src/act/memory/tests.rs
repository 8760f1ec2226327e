use airtight_store::Location;
use tempfile::TempDir;

use super::*;

async fn ledger() -> (TempDir, Ledger) {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&Location::Sqlite(folder.path().join("ledger.db"))).await.unwrap();
    (folder, ledger)
}

fn draft(observation: &str) -> MemoryDraft {
    MemoryDraft {
        service: Some(" caddy ".to_owned()),
        category: "Timing".to_owned(),
        observation: observation.to_owned(),
        confidence: None,
    }
}

#[tokio::test]
async fn a_memory_of_an_operator_is_trusted_and_can_be_changed_and_deleted() {
    let (_folder, ledger) = ledger().await;
    let made = add_memory(&ledger, draft("  starts slowly ")).await.unwrap();
    assert_eq!(
        (made.service.as_deref(), made.category.as_str(), made.observation.as_str()),
        (Some("caddy"), "timing", "starts slowly")
    );
    assert_eq!((made.confidence, made.trust, made.tier), (700, Trust::Trusted, None));
    let changes = MemoryChanges {
        service: Some(None),
        observation: Some("starts at once".to_owned()),
        confidence: Some(7.5),
        ..MemoryChanges::default()
    };
    let changed = edit_memory(&ledger, &made.id, changes).await.unwrap();
    assert_eq!((changed.service, changed.category.as_str()), (None, "timing"));
    assert_eq!((changed.observation.as_str(), changed.confidence), ("starts at once", 1_000));
    delete_memory(&ledger, &made.id).await.unwrap();
    let again = delete_memory(&ledger, &made.id).await.unwrap_err();
    assert!(matches!(again, Refusal::Absent { what: "memory", .. }), "{again:?}");
}

#[tokio::test]
async fn what_cannot_be_a_memory_is_refused_with_the_member_to_blame() {
    let (_folder, ledger) = ledger().await;
    let blamed = async |draft: MemoryDraft| match add_memory(&ledger, draft).await {
        Err(Refusal::Request { parameter, .. }) => parameter,
        other => panic!("{other:?}"),
    };
    assert_eq!(blamed(draft(" ")).await, "observation");
    assert_eq!(blamed(draft(&"x".repeat(1_001))).await, "observation");
    let category = MemoryDraft { category: "mood".to_owned(), ..draft("a") };
    assert_eq!(blamed(category).await, "category");
    let service = MemoryDraft { service: Some("s".repeat(10_000)), ..draft("a") };
    assert_eq!(blamed(service).await, "service");
    let confidence = MemoryDraft { confidence: Some(f64::NAN), ..draft("a") };
    assert_eq!(blamed(confidence).await, "confidence");
    let gone = edit_memory(&ledger, "nobody", MemoryChanges::default()).await.unwrap_err();
    assert!(matches!(gone, Refusal::Absent { .. }), "{gone:?}");
}
