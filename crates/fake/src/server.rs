//! The server: a listener on loopback and a thread of its own.

use std::fmt;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::serve::ListenerExt;
use tokio_util::sync::CancellationToken;

use crate::answer::{self, Shared};
use crate::control;
use crate::gate::{Gate, Gates};
use crate::log::{Cancel, Ending, Exchange, Log, Request};
use crate::script::{Playlist, Script};
use crate::turn::Turn;

/// More than any conversation in a test; a client gone wild is refused.
const BODY_BYTES: usize = 64 << 20;

/// What can be chosen about a server, apart from its script.
#[derive(Default)]
pub struct Options {
    /// The port; 0 takes a free one.
    pub port: u16,
    /// Where the log is also written, one JSON document on a line.
    pub log: Option<Box<dyn Write + Send>>,
    /// Whether exchanges are remembered.
    pub memory: Memory,
}

/// Whether a server remembers exchanges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Memory {
    /// All of them: whoever started it may ask.
    #[default]
    Kept,
    /// None: it serves as many as it likes.
    None,
}

impl fmt::Debug for Options {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Options").field("port", &self.port).finish_non_exhaustive()
    }
}

/// A scripted model server on loopback, which ends when this is dropped.
///
/// It has a thread and a runtime of its own, so that a test may block or stop its clock.
#[derive(Debug)]
pub struct Fake {
    address: SocketAddr,
    shared: Arc<Shared>,
    ended: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Fake {
    /// Starts a server on a free port.
    #[expect(clippy::unused_async, reason = "starting may come to wait for something")]
    pub async fn start(script: impl Into<Script>) -> io::Result<Self> {
        Self::start_with(script, Options::default())
    }

    /// Starts a server on a free port, outside of any runtime.
    pub fn start_blocking(script: impl Into<Script>) -> io::Result<Self> {
        Self::start_with(script, Options::default())
    }

    /// Starts a server.
    pub fn start_with(script: impl Into<Script>, options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let script = script.into();
        let shared = Arc::new(Shared {
            checks: script.checks,
            playlist: Playlist::new(script),
            gates: Gates::default(),
            log: Arc::new(Log::new(options.log, options.memory)),
        });
        let ended = CancellationToken::new();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        let (router, end) = (router(Arc::clone(&shared)), ended.clone());
        let thread = thread::Builder::new().name("airtight-fake".to_owned()).spawn(move || {
            // Dropping the runtime drops every connection with it.
            runtime.block_on(end.run_until_cancelled(serve(listener, router)));
        })?;
        Ok(Self { address, shared, ended, thread: Some(thread) })
    }

    /// Returns the address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the base URL for Anthropic's clients, to which they add `/v1/messages`.
    pub fn anthropic_base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the base URL for `OpenAI`'s clients, to which they add `/chat/completions`.
    pub fn openai_base(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the base URL for Gemini's clients, to which they add `/v1beta/models/…`.
    pub fn gemini_base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds a turn at the end of the script.
    pub fn push(&self, turn: Turn) {
        self.shared.playlist.push(turn);
    }

    /// Returns how many turns are left in the script, those that repeat included.
    pub fn remaining(&self) -> usize {
        self.shared.playlist.remaining()
    }

    /// Returns the gate of this name, whether or not a stream has reached it yet.
    pub fn gate(&self, name: &str) -> Gate {
        self.shared.gates.named(name)
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.exchanges().into_iter().map(|exchange| exchange.request).collect()
    }

    /// Returns the requests so far, and how each ended.
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.shared.log.exchanges()
    }

    /// Waits for the next request that this has not returned before.
    pub async fn next_request(&self) -> Request {
        self.shared.log.next_request().await
    }

    /// Waits for the next hang-up of a client that this has not returned before.
    pub async fn next_cancel(&self) -> Cancel {
        self.shared.log.next_cancel().await
    }

    /// Waits until the exchange of the request of this number has ended.
    pub async fn ending(&self, request: usize) -> Ending {
        self.shared.log.ending(request).await
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.ended.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic of the server has been reported on its thread already.
            let _joined = thread.join().is_ok();
        }
    }
}

fn router(shared: Arc<Shared>) -> Router {
    control::routes()
        .fallback(answer::answer)
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .with_state(shared)
}

async fn serve(listener: tokio::net::TcpListener, router: Router) {
    // Without Nagle's algorithm a chunk leaves when it is written, not when the next one comes. A
    // socket that refuses the option is merely slower.
    let listener = listener.tap_io(|socket| {
        let _set = socket.set_nodelay(true).is_ok();
    });
    // `serve` retries when accepting fails and never returns.
    let _served = axum::serve(listener, router).await.is_ok();
}
