//! What a watch tells: lines for people on a terminal, one JSON object a line in a pipe.
//!
//! Whoever reads must not hold up the watch: it prints on a thread of its own, behind a queue. What finds no
//! place in that is counted, and told.

mod queue;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use airtight_core::redact::Redactor;
use airtight_watch::{Notice, Teller};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::cli::WatchArgs;
use crate::error::Error;
use crate::printer::{Printer, Span, Tone};
use crate::when;
use queue::Queue;

/// The version of the lines; a change that breaks readers raises it.
const VERSION: u8 = 1;

/// How long a reader has to take the last words.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Tells what happens.
pub(super) struct Telling {
    queue: Arc<Queue>,
    voice: Voice,
}

/// How it is told.
struct Voice {
    form: Form,
    redactor: Redactor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Lines,
}

impl Telling {
    pub(super) fn new(args: &WatchArgs, is_terminal: bool, redactor: Redactor) -> Self {
        let form = if args.json || !is_terminal { Form::Json } else { Form::Lines };
        Self { queue: Arc::default(), voice: Voice { form, redactor } }
    }

    pub(super) fn teller(&self) -> Arc<dyn Teller> {
        Arc::clone(&self.queue) as Arc<dyn Teller>
    }

    /// Tells what happens while `watching` goes on; a reader that is gone ends it by `stop`.
    pub(super) async fn during<T>(
        self,
        watching: impl Future<Output = T>,
        stop: &CancellationToken,
        printer: &mut Printer,
    ) -> Result<T, Error> {
        let Self { queue, voice } = self;
        let mut apart = printer.apart()?;
        let (ended, ending) = oneshot::channel();
        let (speaking, stop) = (Arc::clone(&queue), stop.clone());
        thread::Builder::new().name("telling".to_owned()).spawn(move || {
            let told = speaking.speak(|notice| voice.print(notice, &mut apart));
            if told.is_err() {
                stop.cancel();
            }
            // Whoever waited may have lost patience.
            drop(ended.send(told));
        })?;
        let watched = watching.await;
        queue.end();
        if let Ok(Ok(told)) = tokio::time::timeout(LAST_WORDS, ending).await {
            return told.map(|()| watched);
        }
        let count = queue.left();
        let text = format!(" nobody takes what is told on stdout: {count} lines are lost");
        printer.note(&[Span::new(Tone::Warning, "warning:"), Span::plain(text)]);
        Ok(watched)
    }
}

impl Voice {
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
            Notice::Dropped { count } => {
                let text = format!("{count} lines are left out here: nobody took them");
                vec![Span::new(Tone::Warning, "warning  "), plain(text)]
            }
            Notice::Waiting { until_ms } => {
                let text = format!("until {} UTC", when::write(*until_ms));
                vec![Span::new(Tone::Dim, "waiting  "), plain(text)]
            }
        }
    }
}
