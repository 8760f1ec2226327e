//! What happens apart from the watch: a file of lines, which no `kill -9` takes back.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use airtight_watch::Clock;
use serde::{Deserialize, Serialize};

pub(crate) const HOUR_MS: i64 = 3_600_000;
pub(crate) const DAY_MS: i64 = 24 * HOUR_MS;
pub(crate) const BEGIN_MS: i64 = 1_790_000_000_000;
pub(crate) const END_MS: i64 = BEGIN_MS + 30 * DAY_MS;
pub(crate) const SERVICES: [&str; 5] = ["web", "db", "mail", "cache", "dns"];

/// When no model answers.
pub(crate) const OUTAGE_MS: std::ops::Range<i64> =
    BEGIN_MS + 10 * DAY_MS..BEGIN_MS + 10 * DAY_MS + 12 * HOUR_MS;

/// Something that happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Line {
    /// A process began to watch.
    Life,
    /// It is this late.
    Now { at_ms: i64 },
    /// A service is like this from now on.
    Service { name: String, fault: Fault },
    /// A session began to work.
    Began { session: String },
    /// Something was really done to a service.
    Did { session: String, service: String, action: String },
    /// A session is about to be put on record with this.
    Said(Said),
    /// It was.
    Kept { session: String },
    /// An operator decided about what a session remembers.
    Decided { observation: String, trusted: bool, at_ms: i64 },
}

/// What is wrong with a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fault {
    None,
    /// A restart may help.
    Hung,
    /// Only a redeployment does.
    Broken,
}

/// What a session said.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Said {
    pub(crate) session: String,
    pub(crate) tier: u8,
    pub(crate) events: Vec<String>,
    /// Key and observation.
    pub(crate) memories: Vec<(String, String)>,
}

/// The world, as one process sees it.
pub(crate) struct World {
    now_ms: AtomicI64,
    inner: Mutex<(File, BTreeMap<String, Fault>)>,
    /// What was in the file when it was opened.
    pub(crate) lines: Vec<Line>,
}

impl World {
    pub(crate) fn open(folder: &Path) -> Self {
        let path = folder.join("world.jsonl");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        // The last line may be cut off.
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let lines: Vec<Line> =
            whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        if !text.is_empty() && !text.ends_with('\n') {
            file.set_len(whole.len() as u64 + u64::from(!whole.is_empty())).unwrap();
            file.flush().unwrap();
        }
        let mut faults = BTreeMap::new();
        let mut now_ms = BEGIN_MS;
        for line in &lines {
            if let Line::Now { at_ms } = line {
                now_ms = now_ms.max(*at_ms);
            }
            if let Line::Service { name, fault } = line {
                faults.insert(name.clone(), *fault);
            }
        }
        Self { now_ms: AtomicI64::new(now_ms), inner: Mutex::new((file, faults)), lines }
    }

    /// Writes down what happens, in one write.
    pub(crate) fn write(&self, line: &Line) {
        let text = format!("{}\n", serde_json::to_string(line).unwrap());
        let mut inner = self.inner.lock().unwrap();
        if let Line::Service { name, fault } = line {
            inner.1.insert(name.clone(), *fault);
        }
        inner.0.write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn fault(&self, name: &str) -> Fault {
        self.inner.lock().unwrap().1.get(name).copied().unwrap_or(Fault::None)
    }

    pub(crate) fn now(&self) -> i64 {
        self.now_ms.load(Ordering::SeqCst)
    }

    /// Lets it become `at_ms`.
    pub(crate) fn pass_to(&self, at_ms: i64) {
        if self.now_ms.fetch_max(at_ms, Ordering::SeqCst) < at_ms {
            self.write(&Line::Now { at_ms });
        }
    }

    pub(crate) fn lives(&self) -> usize {
        self.lines.iter().filter(|line| matches!(line, Line::Life)).count()
    }

    pub(crate) fn said(&self) -> impl Iterator<Item = &Said> {
        self.lines.iter().filter_map(|line| {
            let Line::Said(said) = line else { return None };
            Some(said)
        })
    }

    pub(crate) fn is_kept(&self, id: &str) -> bool {
        let is_it = |line: &Line| matches!(line, Line::Kept { session } if session == id);
        self.lines.iter().any(is_it)
    }
}

/// A clock that passes as fast as somebody waits for it.
#[derive(Clone)]
pub(crate) struct Passing(pub(crate) Arc<World>);

impl Clock for Passing {
    fn now_ms(&self) -> i64 {
        self.0.now()
    }

    async fn sleep_until(&self, at_ms: i64) {
        self.0.pass_to(at_ms);
        tokio::task::yield_now().await;
    }
}
