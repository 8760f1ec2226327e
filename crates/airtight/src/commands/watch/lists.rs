//! What a watch has on record, for people and for programs.

use airtight_core::watch::{GONE, Trust};
use airtight_store::{
    ActionFilter, EscalationFilter, EscalationState, EventFilter, Ledger, MemoryFilter, Order,
    Page, SessionFilter, StoreError,
};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::runtime;

use super::services::tone;
use crate::batch::unusable;
use crate::cli::{WatchAction, WatchListArgs};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::ledger::Books;
use crate::printer::{Printer, Span, Tone};
use crate::when;

/// Lists what was asked for.
pub(super) fn run(
    action: &WatchAction,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let Some(list) = list_args(action) else { return Ok(Outcome::Met) };
    let books = Books::asked(list.ledger.database.as_deref(), environment)?;
    let place = books.place();
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let ledger = books.read().await?;
        let is_json = list.json || !printer.is_terminal();
        let mut sheet = Sheet { printer, is_json };
        let page = Page { limit: list.limit, after: None, order: Order::NewestFirst };
        let done = sheet.print(action, &ledger, page).await;
        ledger.close().await;
        done?.map_err(|error: StoreError| unusable(error, &place))?;
        Ok(Outcome::Met)
    })
}

fn list_args(action: &WatchAction) -> Option<&WatchListArgs> {
    match action {
        WatchAction::Status(list)
        | WatchAction::Sessions(list)
        | WatchAction::Cooldowns(list)
        | WatchAction::Notifications(list) => Some(list),
        WatchAction::Services(args) => Some(&args.list),
        WatchAction::Events(args) => Some(&args.list),
        WatchAction::Memories(args) => Some(&args.list),
        WatchAction::Approve(_) | WatchAction::Decline(_) => None,
    }
}

pub(super) struct Sheet<'p> {
    pub(super) printer: &'p mut Printer,
    pub(super) is_json: bool,
}

/// The outer error is of the output, the inner one of the ledger.
pub(super) type Printed = Result<Result<(), StoreError>, Error>;

/// Takes a value from the ledger, or leaves.
macro_rules! asked {
    ($asked:expr) => {
        match $asked.await {
            Ok(value) => value,
            Err(error) => return Ok(Err(error)),
        }
    };
}
pub(super) use asked;

impl Sheet<'_> {
    async fn print(&mut self, action: &WatchAction, ledger: &Ledger, page: Page) -> Printed {
        match action {
            WatchAction::Status(_) => return self.status(ledger).await,
            WatchAction::Services(args) => return self.services(args, ledger, page).await,
            WatchAction::Sessions(_) => {
                for it in asked!(ledger.sessions(&SessionFilter::default(), page)) {
                    let summary = it.summary.as_deref().unwrap_or_default();
                    let left = if it.pending { ", work left behind" } else { "" };
                    let words = format!(
                        "tier {} {:<9} ({}{left}) {summary}",
                        it.tier, it.status, it.extraction
                    );
                    self.row(&it, it.started_at, tone_of_status(&it.status), &words)?;
                }
            }
            WatchAction::Events(args) => {
                let (level, service) = (args.level.clone(), args.service.clone());
                let filter = EventFilter { level, service, ..EventFilter::default() };
                for it in asked!(ledger.watch_events(&filter, page)) {
                    let service = it.service.as_deref().unwrap_or("-");
                    let words = format!("{:<8} {service}: {}", it.level, it.message);
                    self.row(&it, it.at, tone_of_level(&it.level), &words)?;
                }
            }
            WatchAction::Memories(args) => {
                let trust = args.pending.then_some(Trust::Pending);
                let filter = MemoryFilter { trust, ..MemoryFilter::default() };
                for it in asked!(ledger.memories(&filter, page)) {
                    let at = it.created_at;
                    let shown = ShownMemory::at(it, ledger.now_ms());
                    self.row(&shown.row(), at, Tone::Plain, &shown.words())?;
                }
            }
            WatchAction::Cooldowns(_) => {
                for it in asked!(ledger.actions(&ActionFilter::default(), page)) {
                    let words = format!("{} of {}: {}", it.kind, it.service, it.state.name());
                    self.row(&it, it.reserved_at, Tone::Plain, &words)?;
                }
            }
            WatchAction::Notifications(_) => {
                for it in asked!(ledger.notifications(None, page)) {
                    let words = format!("{} to {}: {}", it.state.name(), it.target, it.title);
                    self.row(&it, it.queued_at, Tone::Plain, &words)?;
                }
            }
            WatchAction::Approve(_) | WatchAction::Decline(_) => {}
        }
        self.printer.flush()?;
        Ok(Ok(()))
    }

    fn row(
        &mut self,
        row: &impl Serialize,
        at_ms: i64,
        tone: Tone,
        words: &str,
    ) -> Result<(), Error> {
        if self.is_json {
            return self.printer.json(&serde_json::to_string(row).unwrap_or_default());
        }
        let at = Span::new(Tone::Dim, format!("{}  ", when::write(at_ms)));
        self.printer.line(&[at, Span::new(tone, words)])
    }

    async fn status(&mut self, ledger: &Ledger) -> Printed {
        let leader = asked!(ledger.leader());
        let leader = leader.filter(|leader| leader.leased_until > ledger.now_ms());
        let services = asked!(ledger.services());
        let services: Vec<_> = services.into_iter().filter(|it| it.status != GONE).collect();
        let last_run = asked!(ledger.mark("last_run")).and_then(|mark| mark.parse::<i64>().ok());
        let proposed = EscalationFilter { state: Some(EscalationState::Proposed), since: None };
        let escalations = asked!(ledger.escalations(&proposed, Page::default()));
        let pending = MemoryFilter { trust: Some(Trust::Pending), ..MemoryFilter::default() };
        let memories = asked!(ledger.memories(&pending, Page::default()));
        let memories: Vec<ShownMemory> =
            memories.into_iter().map(|it| ShownMemory::at(it, ledger.now_ms())).collect();
        if self.is_json {
            let status = json!({
                "leader": leader,
                "lastRun": last_run,
                "services": services,
                "escalations": escalations,
                "memories": memories.iter().map(ShownMemory::row).collect::<Vec<_>>(),
            });
            self.printer.json(&status.to_string())?;
            self.printer.flush()?;
            return Ok(Ok(()));
        }
        let leads = leader.map_or("nobody leads".to_owned(), |it| format!("{} leads", it.owner));
        let ran = last_run.map_or("no chain has ended yet".to_owned(), |at| {
            format!("the last chain ended at {} UTC", when::write(at))
        });
        self.printer.line(&[Span::new(Tone::Strong, leads), Span::plain(format!("; {ran}"))])?;
        for it in &services {
            let since = when::write(it.changed_at);
            let detail = it.detail.as_deref().map(|it| format!(": {it}")).unwrap_or_default();
            let tone = tone(&it.status);
            let text = format!("  {} since {since}{detail}", it.name);
            self.printer
                .line(&[Span::new(tone, format!("{:<11}", it.status)), Span::plain(text)])?;
        }
        for it in &escalations {
            let text = format!("  {} to tier {} ({})", it.id, it.tier, it.affected.join(", "));
            self.printer.line(&[Span::new(Tone::Warning, "escalation"), Span::plain(text)])?;
        }
        for it in &memories {
            let text = format!("  {}", it.words());
            self.printer.line(&[Span::new(Tone::Warning, "memory    "), Span::plain(text)])?;
        }
        if !escalations.is_empty() || !memories.is_empty() {
            let hint = " `airtight watch approve ID` gives leave, `decline ID` does not";
            self.printer.note(&[Span::new(Tone::Strong, "hint:"), Span::plain(hint)]);
        }
        self.printer.flush()?;
        Ok(Ok(()))
    }
}

/// A memory, and what it is worth by now.
struct ShownMemory {
    memory: airtight_store::Memory,
    /// In thousandths.
    worth: i64,
    is_active: bool,
}

impl ShownMemory {
    fn at(memory: airtight_store::Memory, now_ms: i64) -> Self {
        // What only a newer version understands is worth what is stored.
        let known = memory.clone().known();
        let worth = known.as_ref().map(|it| i64::from(it.confidence_at(now_ms).thousandths()));
        Self {
            worth: worth.unwrap_or(memory.confidence),
            is_active: known.is_none_or(|it| it.is_active_at(now_ms)),
            memory,
        }
    }

    /// Returns what is on record, with what it is worth by now.
    fn row(&self) -> Value {
        let mut row = json!(self.memory);
        if let Some(members) = row.as_object_mut() {
            members.insert("confidenceNow".to_owned(), self.worth.into());
            members.insert("active".to_owned(), self.is_active.into());
        }
        row
    }

    fn words(&self) -> String {
        let Self { memory, worth, is_active } = self;
        let service = memory.service.as_deref().unwrap_or("general");
        let faded = if *is_active { "" } else { " inactive" };
        format!(
            "{} {}{faded} {service}:{} {}.{:03} {}",
            memory.id,
            memory.trust.name(),
            memory.category,
            worth / 1_000,
            worth % 1_000,
            memory.observation
        )
    }
}

fn tone_of_level(level: &str) -> Tone {
    match level {
        "critical" => Tone::Bad,
        "warning" => Tone::Warning,
        _ => Tone::Plain,
    }
}

fn tone_of_status(status: &str) -> Tone {
    match status {
        "failed" | "timed_out" => Tone::Bad,
        "running" | "stopped" => Tone::Warning,
        _ => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CO-53, CO-55: what a list shows is what a memory is worth by now, not when it was last confirmed.
    #[test]
    fn co_53_a_memory_is_shown_with_what_it_is_worth_now() {
        let memory = airtight_store::Memory {
            number: 1,
            id: "m".to_owned(),
            service: None,
            category: "timing".to_owned(),
            observation: "slow".to_owned(),
            confidence: 700,
            reinforced_at: 0,
            trust: Trust::Trusted,
            tier: None,
            session: None,
            created_at: 0,
        };
        let shown = |days: i64| ShownMemory::at(memory.clone(), days * 24 * 3_600_000);
        assert_eq!(shown(1).words(), "m trusted general:timing 0.700 slow");
        assert_eq!(shown(38).words(), "m trusted general:timing 0.600 slow");
        assert_eq!(shown(300).words(), "m trusted inactive general:timing 0.000 slow");
        let row = shown(38).row();
        assert_eq!((&row["confidence"], &row["confidenceNow"]), (&json!(700), &json!(600)));
        assert_eq!(row["active"], json!(true));
    }
}
