//! `airtight watch services`: how services are, and the history of one.

use airtight_core::nearest;
use airtight_core::watch::GONE;
use airtight_store::{Check, Ledger, Page, Service};

use super::lists::{Printed, Sheet, asked};
use crate::cli::WatchServiceArgs;
use crate::error::{Error, Outcome};
use crate::printer::{Span, Tone};
use crate::when;

impl Sheet<'_> {
    /// Prints how services are, or every check of the one that is named.
    pub(super) async fn services(
        &mut self,
        args: &WatchServiceArgs,
        ledger: &Ledger,
        page: Page,
    ) -> Printed {
        let services = asked!(ledger.services());
        if let Some(name) = &args.name {
            let checks = asked!(ledger.service_checks(Some(name), page));
            let is_known = services.iter().any(|it| it.name == *name);
            if checks.is_empty() && !is_known {
                return Err(unknown(name, &services));
            }
            self.history(&checks)?;
        } else {
            let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
            let is_shown = |it: &Service| args.all || it.status != GONE;
            let shown = services.into_iter().filter(is_shown).take(limit);
            self.states(&shown.collect::<Vec<_>>())?;
        }
        self.printer.flush()?;
        Ok(Ok(()))
    }

    fn states(&mut self, services: &[Service]) -> Result<(), Error> {
        if self.is_json {
            return services.iter().try_for_each(|service| self.json(service));
        }
        if services.is_empty() {
            self.printer.note(&[Span::plain("no service was checked yet")]);
            return Ok(());
        }
        let names = ["service", "state", "streak", "since", "last check", ""];
        let head = names.map(|name| Span::new(Tone::Dim, name)).to_vec();
        let rows = services.iter().map(|it| {
            vec![
                Span::new(Tone::Strong, &it.name),
                Span::new(tone(&it.status), &it.status),
                Span::plain(it.healthy_streak.max(it.unhealthy_streak).to_string()),
                Span::plain(when::write(it.changed_at)),
                Span::plain(when::write(it.checked_at)),
                Span::plain(it.detail.as_deref().unwrap_or_default()),
            ]
        });
        let rows: Vec<Vec<Span>> = std::iter::once(head).chain(rows).collect();
        self.printer.table(0, &rows)
    }

    fn history(&mut self, checks: &[Check]) -> Result<(), Error> {
        if self.is_json {
            return checks.iter().try_for_each(|check| self.json(check));
        }
        let rows = checks.iter().map(|it| {
            vec![
                Span::new(Tone::Dim, when::write(it.checked_at)),
                Span::new(tone(&it.status), &it.status),
                Span::plain(it.session.as_deref().unwrap_or("-")),
                Span::plain(it.detail.as_deref().unwrap_or_default()),
            ]
        });
        self.printer.table(0, &rows.collect::<Vec<_>>())
    }

    fn json(&mut self, row: &impl serde::Serialize) -> Result<(), Error> {
        self.printer.json(&serde_json::to_string(row).unwrap_or_default())
    }
}

/// Colour never says anything that the word does not.
pub(super) fn tone(status: &str) -> Tone {
    match status {
        "healthy" => Tone::Good,
        GONE => Tone::Dim,
        "degraded" | "in_cooldown" | "unreachable" => Tone::Warning,
        _ => Tone::Bad,
    }
}

fn unknown(name: &str, services: &[Service]) -> Error {
    let error = Error::new(Outcome::Input, format!("no service was ever called that: `{name}`"));
    match nearest(name, services.iter().map(|service| service.name.as_str())) {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error.hint("`airtight watch services --all` lists them"),
    }
}
