//! What the stand-in does when it is asked to end.

use std::io;
use std::sync::mpsc::sync_channel;
use std::thread;

use tokio::runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{Sink, write};

/// Catches `SIGTERM` from now on: says something and exits, or goes on if it has no code to exit
/// with.
pub(super) fn catch(say: String, exit: Option<u8>) -> io::Result<()> {
    let (ready, caught) = sync_channel(1);
    thread::spawn(move || {
        let runtime = match runtime::Builder::new_current_thread().enable_io().build() {
            Ok(runtime) => runtime,
            Err(error) => return drop(ready.send(Err(error))),
        };
        runtime.block_on(async {
            let term = match signal(SignalKind::terminate()) {
                Ok(term) => term,
                Err(error) => return drop(ready.send(Err(error))),
            };
            drop(ready.send(Ok(())));
            answer(term, &say, exit).await;
        });
    });
    caught.recv().unwrap_or_else(|_| Err(io::Error::other("the thread for signals ended")))
}

#[expect(clippy::exit, reason = "the script may be waiting for something that never comes")]
async fn answer(mut term: Signal, say: &str, exit: Option<u8>) {
    while term.recv().await.is_some() {
        // Nobody may be left to read it.
        let _said = write(Sink::Stdout, say.as_bytes()).is_ok();
        if let Some(code) = exit {
            std::process::exit(i32::from(code));
        }
    }
}
