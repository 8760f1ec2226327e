//! What the program notes for those who look for a mistake in it: on stderr, if `AIRTIGHT_LOG` asks,
//! and without secrets.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use airtight_core::redact::Redactor;
use tracing_subscriber::EnvFilter;

use crate::env::Environment;

/// Decides what is taken out of the log.
#[derive(Debug, Clone)]
pub(super) struct Log(Arc<Mutex<Redactor>>);

impl Log {
    /// Takes out what `redactor` knows from now on.
    pub(super) fn mask(&self, redactor: Redactor) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = redactor;
    }

    fn redactor(&self) -> Redactor {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
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

/// Starts to log as `AIRTIGHT_LOG` says, such as `debug` or `airtight_agent=trace`.
pub(super) fn start(environment: &Environment) -> Log {
    let log = Log(Arc::new(Mutex::new(Redactor::new(environment.secrets()))));
    let Some(filter) = environment.variable("AIRTIGHT_LOG") else { return log };
    let writing = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_writer(move || Masking { redactor: writing.redactor(), to: io::stderr() })
        .with_ansi(false)
        .json();
    // Only a second start could fail, and there is none.
    drop(subscriber.try_init());
    log
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
