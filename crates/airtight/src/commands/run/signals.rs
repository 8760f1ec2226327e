//! Ctrl-C and `kill`: the first one ends a run cleanly, the second one ends the process.

use std::io;
use std::sync::mpsc::sync_channel;
use std::thread;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use airtight_core::run::Outcome;

/// Cancels `interrupt` at the first signal; returns once signals are caught.
///
/// On a thread of its own, because the run's may be waiting for a reader that takes nothing.
pub(super) fn listen(interrupt: CancellationToken) -> io::Result<()> {
    let (ready, caught) = sync_channel(1);
    let listening = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => return drop(ready.send(Err(error))),
        };
        runtime.block_on(async {
            let both = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
            let (mut interrupts, mut terminations) = match both {
                (Ok(interrupts), Ok(terminations)) => (interrupts, terminations),
                (Err(error), _) | (_, Err(error)) => return drop(ready.send(Err(error))),
            };
            drop(ready.send(Ok(())));
            next(&mut interrupts, &mut terminations).await;
            interrupt.cancel();
            next(&mut interrupts, &mut terminations).await;
            kill();
        });
    };
    thread::Builder::new().name("signals".to_owned()).spawn(listening)?;
    caught.recv().unwrap_or_else(|_| Err(io::Error::other("the signal thread ended")))
}

async fn next(interrupts: &mut Signal, terminations: &mut Signal) {
    tokio::select! {
        _ = interrupts.recv() => {}
        _ = terminations.recv() => {}
    }
}

#[expect(clippy::exit, reason = "whoever signals twice wants the process gone, not an orderly end")]
fn kill() {
    std::process::exit(i32::from(Outcome::Interrupted.exit_code()))
}
