//! What a watch tells: lines for people on a terminal, one JSON object a line in a pipe.

use std::sync::Arc;

use airtight_core::redact::Redactor;
use airtight_watch::{Notice, Teller};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::cli::WatchArgs;
use crate::error::Error;
use crate::printer::{Printer, Span, Tone};
use crate::when;

/// The version of the lines; a change that breaks readers raises it.
const VERSION: u8 = 1;

/// Tells what happens.
pub(super) struct Telling {
    notices: UnboundedReceiver<Notice>,
    sender: UnboundedSender<Notice>,
    form: Form,
    redactor: Redactor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Lines,
}

/// Passes notices on, and never waits: there are few, and a reader who takes none is noticed.
struct Wire(UnboundedSender<Notice>);

impl Teller for Wire {
    fn tell(&self, notice: Notice) {
        // Whoever listened may be gone; then everything ends.
        drop(self.0.send(notice));
    }
}

impl Telling {
    pub(super) fn new(args: &WatchArgs, is_terminal: bool, redactor: Redactor) -> Self {
        let (sender, notices) = unbounded_channel();
        let form = if args.json || !is_terminal { Form::Json } else { Form::Lines };
        Self { notices, sender, form, redactor }
    }

    pub(super) fn teller(&self) -> Arc<dyn Teller> {
        Arc::new(Wire(self.sender.clone()))
    }

    /// Tells what happens while `watching` goes on; a reader that is gone ends it by `stop`.
    pub(super) async fn during<T>(
        mut self,
        watching: impl Future<Output = T>,
        stop: &CancellationToken,
        printer: &mut Printer,
    ) -> Result<T, Error> {
        let mut failure = None;
        let mut watching = std::pin::pin!(watching);
        let watched = loop {
            tokio::select! {
                biased;
                Some(notice) = self.notices.recv() => {
                    if failure.is_none() && let Err(error) = self.print(&notice, printer) {
                        failure = Some(error);
                        stop.cancel();
                    }
                }
                watched = &mut watching => break watched,
            }
        };
        while let Ok(notice) = self.notices.try_recv() {
            if failure.is_none()
                && let Err(error) = self.print(&notice, printer)
            {
                failure = Some(error);
            }
        }
        failure.map_or(Ok(watched), Err)
    }

    fn print(&self, notice: &Notice, printer: &mut Printer) -> Result<(), Error> {
        match self.form {
            Form::Json => {
                let mut line = serde_json::to_value(notice).unwrap_or_default();
                if let Value::Object(members) = &mut line {
                    members.insert("version".to_owned(), VERSION.into());
                }
                self.redactor.mask_value(&mut line);
                printer.json(&line.to_string())?;
            }
            Form::Lines => printer.line(&self.spans(notice))?,
        }
        printer.flush()
    }

    fn spans(&self, notice: &Notice) -> Vec<Span> {
        let masked = |text: &str| self.redactor.mask(text).into_owned();
        let plain = |text: String| Span::plain(masked(&text));
        match notice {
            Notice::Standby { leader } => {
                vec![Span::new(Tone::Dim, "standby  "), plain(format!("{leader} leads"))]
            }
            Notice::Leading { .. } => vec![Span::new(Tone::Dim, "leading")],
            Notice::Recovered { chain } => {
                vec![Span::new(Tone::Warning, "recover  "), plain(format!("chain {chain}"))]
            }
            Notice::ChainBegan { chain, trigger } => {
                vec![Span::new(Tone::Strong, "chain    "), plain(format!("{chain} ({trigger})"))]
            }
            Notice::SessionBegan { session, tier, driver, model, .. } => {
                let text = format!("tier {tier} by {driver} {model}, session {session}");
                vec![Span::new(Tone::Strong, "session  "), plain(text)]
            }
            Notice::Event { level, service, message, .. } => {
                let tone = match *level {
                    "critical" => Tone::Bad,
                    "warning" => Tone::Warning,
                    _ => Tone::Plain,
                };
                let service = service.as_ref().map(|it| format!("{it}: ")).unwrap_or_default();
                vec![Span::new(tone, format!("{level:<9}")), plain(format!("{service}{message}"))]
            }
            Notice::SessionEnded { tier, status, extraction, summary, .. } => {
                let summary = summary.as_deref().map(|it| format!(": {it}")).unwrap_or_default();
                let text = format!("tier {tier} {status} ({extraction}){summary}");
                vec![Span::new(Tone::Strong, "ended    "), plain(text)]
            }
            Notice::ChainEnded { outcome, .. } => {
                vec![Span::new(Tone::Strong, "chain    "), plain(outcome.clone())]
            }
            Notice::Undelivered { target, error, again } => {
                let what = if *again { "; it is tried again" } else { "; it is given up" };
                let text = format!("notification to {target}: {error}{what}");
                vec![Span::new(Tone::Warning, "warning  "), plain(text)]
            }
            Notice::Waiting { until_ms } => {
                let text = format!("until {} UTC", when::write(*until_ms));
                vec![Span::new(Tone::Dim, "waiting  "), plain(text)]
            }
        }
    }
}
