//! What the program notes for those who look for a mistake in it: on stderr, if `AIRTIGHT_LOG` asks,
//! and without secrets. Spans go to a collector, where there is one.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use airtight_core::redact::Redactor;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

#[cfg(feature = "otlp")]
use super::telemetry::Telemetry;
use crate::env::Environment;

/// Somebody who listens to spans and events.
pub(super) type Listener = Box<dyn Layer<Registry> + Send + Sync>;

/// What is noted, until it is dropped: then what is left goes to the collector.
#[must_use]
pub(in crate::commands) struct Log {
    redactor: Arc<Mutex<Redactor>>,
    /// Why spans do not reach their collector, if there is one.
    pub(in crate::commands) fault: Option<String>,
    #[cfg(feature = "otlp")]
    _telemetry: Option<Telemetry>,
}

impl Log {
    /// Takes out what `redactor` knows from now on.
    pub(in crate::commands) fn mask(&self, redactor: Redactor) {
        *self.redactor.lock().unwrap_or_else(PoisonError::into_inner) = redactor;
    }
}

/// Masks each line; a subscriber writes a line at once.
struct Masking<W> {
    redactor: Redactor,
    to: W,
}

impl<W: Write> Write for Masking<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        self.to.write_all(self.redactor.mask(&text).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Starts to log as `AIRTIGHT_LOG` says, such as `debug` or `airtight_agent=trace`, and to export
/// spans as `OTEL_*` says. Without either nobody listens, and nothing is started.
pub(in crate::commands) fn start(environment: &Environment) -> Log {
    let redactor = Arc::new(Mutex::new(Redactor::new(environment.secrets())));
    let mut listeners: Vec<Listener> = Vec::new();
    if let Some(filter) = environment.variable("AIRTIGHT_LOG") {
        listeners.push(notes(filter, Arc::clone(&redactor)));
    }
    #[cfg(feature = "otlp")]
    let (telemetry, fault) = match Telemetry::start(environment, &mut listeners) {
        Ok(telemetry) => (telemetry, None),
        Err(error) => (None, Some(format!("spans cannot be exported: {error}"))),
    };
    #[cfg(not(feature = "otlp"))]
    let fault = None;
    if !listeners.is_empty() {
        // Only a second start could fail, and there is none.
        drop(tracing_subscriber::registry().with(listeners).try_init());
    }
    Log {
        redactor,
        fault,
        #[cfg(feature = "otlp")]
        _telemetry: telemetry,
    }
}

/// Writes what passes `filter` to stderr, masked by whatever `redactor` holds then.
fn notes(filter: &str, redactor: Arc<Mutex<Redactor>>) -> Listener {
    let writer = move || {
        let redactor = redactor.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Masking { redactor, to: io::stderr() }
    };
    let layer = fmt::layer().json().with_writer(writer).with_ansi(false);
    // Else it would complain on stderr that stderr cannot be written to, and panic over that.
    let layer = layer.log_internal_errors(false);
    layer.with_filter(EnvFilter::new(filter)).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_masked_whole() {
        let mut to = Vec::new();
        let redactor = Redactor::new(["hunter2-hunter2"]);
        Masking { redactor, to: &mut to }.write_all(b"{\"key\":\"hunter2-hunter2\"}\n").unwrap();
        assert_eq!(to, b"{\"key\":\"[masked]\"}\n");
    }
}
