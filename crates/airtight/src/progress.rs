//! A progress bar for work that takes long, shown on a terminal only.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget};

/// How long work may take before a bar is worth the attention.
const PATIENCE: Duration = Duration::from_secs(2);

/// How far a command has come.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    started: Instant,
}

impl Progress {
    /// Starts counting to `total`, without showing anything yet.
    pub(crate) fn new(total: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
        Self { bar, started: Instant::now() }
    }

    /// Starts a line that says what is waited for and for how long, without showing anything yet.
    #[cfg(feature = "embedded")]
    pub(crate) fn waiting(what: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = indicatif::ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| indicatif::ProgressStyle::default_spinner()));
        bar.set_message(what);
        Self { bar, started: Instant::now() }
    }

    /// Counts one more.
    pub(crate) fn advance(&self) {
        self.bar.inc(1);
        self.tick();
    }

    /// Shows the bar if it is time; indicatif hides it where stderr is no terminal.
    pub(crate) fn tick(&self) {
        if self.started.elapsed() < PATIENCE {
            return;
        }
        if self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
