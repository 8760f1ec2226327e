//! What was asked, and how each exchange ended.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, Method, Uri};
use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::endpoint::Wire;
use crate::server::Memory;

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Request {
    /// Its place among all requests, from 0.
    pub number: usize,
    /// When it was read whole, counted from the server's start.
    pub arrived: Duration,
    /// The HTTP method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The query, without the question mark.
    pub query: String,
    /// The headers in order, names in lower case; bytes that are no text are replaced.
    pub headers: Vec<(String, String)>,
    /// The format, where the path tells one.
    pub wire: Option<Wire>,
    /// The body as JSON; null if it is none.
    pub body: Value,
    /// The body as it came.
    #[serde(skip)]
    pub bytes: Bytes,
}

impl Request {
    /// Returns the first header of this name, which is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// How an exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Ending {
    /// Everything that the script says was handed over.
    Complete {
        /// How many chunks of content that was.
        chunks: usize,
    },
    /// The client hung up before.
    Cancelled {
        /// How many chunks of content had been handed over.
        chunks: usize,
    },
    /// The script broke the connection.
    Cut {
        /// How many chunks of content had been handed over.
        chunks: usize,
    },
}

/// A request, and how its exchange ended if it did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exchange {
    /// The request.
    pub request: Request,
    /// How it ended; `None` while the answer is on its way.
    pub ending: Option<Ending>,
}

/// A client hung up before the answer was complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancel {
    /// The number of the request.
    pub request: usize,
    /// How many chunks of content had been handed over.
    pub chunks: usize,
}

/// The log of a server.
pub(crate) struct Log {
    started: Instant,
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    memory: Memory,
    /// How many requests there were.
    count: usize,
    exchanges: Vec<Exchange>,
    cancels: Vec<Cancel>,
    requests_taken: usize,
    cancels_taken: usize,
    sink: Option<Box<dyn Write + Send>>,
}

impl fmt::Debug for Log {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Log").field("exchanges", &self.lock().exchanges).finish_non_exhaustive()
    }
}

impl Log {
    /// Starts a log that is also written to `sink`, one JSON document on a line.
    pub(crate) fn new(sink: Option<Box<dyn Write + Send>>, memory: Memory) -> Self {
        Self {
            started: Instant::now(),
            state: Mutex::new(State { memory, sink, ..State::default() }),
            changed: watch::Sender::new(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request and returns its number.
    pub(crate) fn record(
        &self,
        (method, uri, headers): (&Method, &Uri, &HeaderMap),
        wire: Option<Wire>,
        (bytes, body): (Bytes, Value),
    ) -> io::Result<usize> {
        let mut state = self.lock();
        let number = state.count;
        state.count += 1;
        if state.memory == Memory::None && state.sink.is_none() {
            return Ok(number);
        }
        let request = Request {
            number,
            arrived: self.started.elapsed(),
            method: method.to_string(),
            path: uri.path().to_owned(),
            query: uri.query().unwrap_or_default().to_owned(),
            headers: headers
                .iter()
                .map(|(name, value)| {
                    (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
                })
                .collect(),
            wire,
            body,
            bytes,
        };
        let written = match state.sink {
            Some(_) => state.write(&json!({"type": "request", "request": request})),
            None => Ok(()),
        };
        if state.memory == Memory::Kept {
            state.exchanges.push(Exchange { request, ending: None });
        }
        drop(state);
        self.changed.send_replace(());
        written.map(|()| number)
    }

    fn end(&self, request: usize, ending: Ending) {
        let mut state = self.lock();
        if let Some(exchange) = state.exchanges.get_mut(request) {
            exchange.ending = Some(ending);
        }
        if let (Ending::Cancelled { chunks }, Memory::Kept) = (ending, state.memory) {
            state.cancels.push(Cancel { request, chunks });
        }
        // The request was written, so the sink works; an answer cannot fail for its last line.
        let _written = state.write(&json!({"type": "end", "request": request, "ending": ending}));
        drop(state);
        self.changed.send_replace(());
    }

    /// Returns everything so far.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.lock().exchanges.clone()
    }

    /// Waits for the next request that this has not returned before.
    pub(crate) async fn next_request(&self) -> Request {
        self.next(|state| {
            let next = state.exchanges.get(state.requests_taken)?.request.clone();
            state.requests_taken += 1;
            Some(next)
        })
        .await
    }

    /// Waits for the next hang-up that this has not returned before.
    pub(crate) async fn next_cancel(&self) -> Cancel {
        self.next(|state| {
            let next = *state.cancels.get(state.cancels_taken)?;
            state.cancels_taken += 1;
            Some(next)
        })
        .await
    }

    /// Waits until the exchange of this number has ended.
    pub(crate) async fn ending(&self, request: usize) -> Ending {
        self.next(|state| state.exchanges.get(request)?.ending).await
    }

    async fn next<T>(&self, mut take: impl FnMut(&mut State) -> Option<T>) -> T {
        let mut changes = self.changed.subscribe();
        loop {
            if let Some(taken) = take(&mut self.lock()) {
                return taken;
            }
            // The sender lives as long as `self`, so waiting cannot fail.
            let _changed = changes.changed().await.is_ok();
        }
    }
}

impl State {
    fn write(&mut self, line: &Value) -> io::Result<()> {
        let Some(sink) = &mut self.sink else { return Ok(()) };
        writeln!(sink, "{line}")?;
        sink.flush()
    }
}

/// Watches one exchange: dropped before the end is named, the client has hung up.
#[derive(Debug)]
pub(crate) struct Witness {
    log: Arc<Log>,
    request: usize,
    chunks: usize,
    watching: bool,
}

impl Witness {
    /// Starts to watch.
    pub(crate) fn new(log: Arc<Log>, request: usize) -> Self {
        Self { log, request, chunks: 0, watching: true }
    }

    /// Counts a chunk of content.
    pub(crate) fn count(&mut self) {
        self.chunks += 1;
    }

    /// Notes that everything was handed over.
    pub(crate) fn complete(&mut self) {
        self.end(Ending::Complete { chunks: self.chunks });
    }

    /// Notes that the script broke the connection.
    pub(crate) fn cut(&mut self) {
        self.end(Ending::Cut { chunks: self.chunks });
    }

    fn end(&mut self, ending: Ending) {
        if self.watching {
            self.watching = false;
            self.log.end(self.request, ending);
        }
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.end(Ending::Cancelled { chunks: self.chunks });
    }
}
