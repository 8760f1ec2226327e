//! What people decide about memories and escalations that wait for leave.

use airtight_core::redact::Redactor;
use airtight_core::watch::{Memory, MemoryChange, Trust, approve};
use airtight_store::{
    EscalationFilter, EscalationState, Ledger, MemoryFilter, MemoryUpdate, Order, PAGE_LIMIT, Page,
    StoreError,
};

use crate::batch::unusable;
use crate::cli::WatchDecisionArgs;
use crate::commands::batch::runtime;
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::ledger::Books;
use crate::printer::{Printer, Span, Tone};

/// As many as one page has.
const ALL: Page = Page { limit: PAGE_LIMIT, after: None, order: Order::NewestFirst };

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Approve,
    Decline,
}

/// What waits for leave.
enum Waiting {
    Memory(String),
    Escalation(String),
}

/// Records what was decided.
pub(super) fn run(
    args: &WatchDecisionArgs,
    answer: Answer,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let books = Books::asked(args.ledger.database.as_deref(), environment)?;
    let place = books.place();
    runtime()?.block_on(async {
        let ledger = books.open(Redactor::new(environment.secrets())).await?;
        let done = decide(&ledger, &args.id, answer, &place).await;
        ledger.close().await;
        let what = done?;
        let word = match answer {
            Answer::Approve => "approved:",
            Answer::Decline => "declined:",
        };
        printer.note(&[Span::new(Tone::Strong, word), Span::plain(format!(" {what}"))]);
        Ok(Outcome::Met)
    })
}

async fn decide(
    ledger: &Ledger,
    named: &str,
    answer: Answer,
    place: &str,
) -> Result<String, Error> {
    let failed = |error: StoreError| unusable(error, place);
    let rows = ledger.memories(&MemoryFilter::default(), ALL).await.map_err(failed)?;
    let memories: Vec<Memory> =
        rows.into_iter().filter_map(airtight_store::Memory::known).collect();
    match find(ledger, &memories, named).await.map_err(failed)? {
        Some(Waiting::Memory(id)) => {
            let changes = match answer {
                Answer::Approve => approve(&memories, &id, ledger.now_ms()),
                Answer::Decline => {
                    vec![MemoryChange::Trust { id: id.clone(), trust: Trust::Rejected }]
                }
            };
            let updates = changes.iter().filter_map(MemoryUpdate::of).collect();
            ledger.judge_memories(updates).await.map_err(failed)?;
            Ok(format!("memory {id}"))
        }
        Some(Waiting::Escalation(id)) => {
            let state = match answer {
                Answer::Approve => EscalationState::Approved,
                Answer::Decline => EscalationState::Declined,
            };
            ledger.answer_escalation(&id, state).await.map_err(failed)?;
            Ok(format!("escalation {id}"))
        }
        None => {
            let message =
                format!("nothing that waits for leave is called `{named}`, or several are");
            Err(Error::new(Outcome::Input, message)
                .hint("`airtight watch status` shows what waits"))
        }
    }
}

/// Finds what waits and has this name, or a name that begins so.
async fn find(
    ledger: &Ledger,
    memories: &[Memory],
    named: &str,
) -> Result<Option<Waiting>, StoreError> {
    let is_meant = |id: &str| id.starts_with(named);
    let filter = EscalationFilter { state: Some(EscalationState::Proposed), since: None };
    let escalations = ledger.escalations(&filter, ALL).await?;
    let memories = memories.iter().filter(|it| it.trust == Trust::Pending && is_meant(&it.id));
    let memories = memories.map(|it| Waiting::Memory(it.id.clone()));
    let escalations = escalations.into_iter().filter(|it| is_meant(&it.id));
    let mut all = memories.chain(escalations.map(|it| Waiting::Escalation(it.id)));
    Ok(all.next().filter(|_| all.next().is_none()))
}
