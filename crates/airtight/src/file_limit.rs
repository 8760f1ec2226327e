//! A limit on the size of files (`ulimit -f`): a write that fails, not a death without a word.

use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};

/// Makes writes past the limit fail with an error that says so.
///
/// The system would end the process otherwise. What catches the signal stays when the runtime that
/// it is asked of is gone; where it cannot be caught, all is as the system has it.
pub(crate) fn outlive() {
    let Ok(runtime) = runtime::Builder::new_current_thread().enable_io().build() else { return };
    let caught = runtime.block_on(async { signal(SignalKind::from_raw(libc::SIGXFSZ)) });
    drop(caught);
}
