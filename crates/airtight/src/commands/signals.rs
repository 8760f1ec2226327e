//! Ctrl-C, `kill` and a terminal that goes away: the first signal ends a command cleanly, the second one
//! ends the process and everything that it started.

use std::io;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use airtight_core::run::Outcome;
use futures_util::future::select_all;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How long a command has for its result after the second signal: more than it takes, and less than
/// anybody notices.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// All that the thread does is wait.
const STACK_BYTES: usize = 512 * 1024;

/// Cancels `interrupt` at the first signal; returns once signals are caught.
///
/// On a thread of its own, because the command's may be waiting for a reader that takes nothing.
pub(super) fn listen(interrupt: CancellationToken) -> io::Result<()> {
    let (ready, caught) = sync_channel(1);
    let listening = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => return drop(ready.send(Err(error))),
        };
        runtime.block_on(async {
            let mut signals = match catch() {
                Ok(signals) => signals,
                Err(error) => return drop(ready.send(Err(error))),
            };
            drop(ready.send(Ok(())));
            next(&mut signals).await;
            interrupt.cancel();
            next(&mut signals).await;
            kill();
        });
    };
    let thread = thread::Builder::new().name("signals".to_owned()).stack_size(STACK_BYTES);
    thread.spawn(listening)?;
    caught.recv().unwrap_or_else(|_| Err(io::Error::other("the signal thread ended")))
}

fn catch() -> io::Result<Vec<Signal>> {
    let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
    if !ignores_hangups() {
        kinds.push(SignalKind::hangup());
    }
    kinds.into_iter().map(signal).collect()
}

/// Claims that whoever started us wants us to outlive the terminal, as `nohup` does.
fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The lowest bit stands for the first signal, which is `SIGHUP`.
    ignored.is_some_and(|mask| mask & 1 == 1)
}

async fn next(signals: &mut [Signal]) {
    let each = signals.iter_mut().map(|signal| Box::pin(signal.recv()));
    drop(select_all(each).await);
}

#[expect(clippy::exit, reason = "whoever signals twice wants the process gone, not an orderly end")]
fn kill() {
    airtight_agent::kill_groups();
    // What the command waited for is gone: unless its reader takes nothing, it is about to end.
    thread::sleep(LAST_WORDS);
    std::process::exit(i32::from(Outcome::Interrupted.exit_code()))
}
