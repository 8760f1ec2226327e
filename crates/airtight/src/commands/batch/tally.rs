//! How far a batch has come, and what it came to.

use std::time::{Duration, Instant};

use airtight_core::codec::Usage;
use airtight_core::price::Cost;
use airtight_core::run;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::batch::Settled;
use crate::error::{Error, Outcome};

/// How often the line moves.
const TICK: Duration = Duration::from_millis(200);

/// How many inputs that were left are told with their reasons.
const TOLD: usize = 10;

/// What a batch came to so far.
#[derive(Debug)]
pub(super) struct Tally {
    started: Instant,
    met: u64,
    failed: u64,
    /// Inputs that are left to the next command, and why the first of them are.
    left: u64,
    reasons: Vec<String>,
    /// Inputs that were never begun; absent if nobody counted them.
    unread: Option<u64>,
    is_stopped: bool,
    usage: Usage,
    /// Absent once a run has no price, or no count.
    cost: Option<Cost>,
    bar: ProgressBar,
}

/// What a batch came to, for programs.
#[derive(Debug, Serialize)]
pub(super) struct Summary<'a> {
    batch: &'a str,
    inputs: u64,
    met: u64,
    failed: u64,
    /// Absent if not all inputs were read.
    left: Option<u64>,
    /// Whether every input has its result.
    complete: bool,
    tokens: u64,
    cost_usd: Option<Cost>,
    seconds: f64,
    per_second: f64,
}

impl Tally {
    /// Starts to count inputs of `total_bytes`.
    pub(super) fn start(total_bytes: Option<u64>, is_shown: bool) -> Self {
        let target =
            if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(total_bytes, target);
        let template = match total_bytes {
            Some(_) => "{bar:24} {percent:>3} % {msg} · {eta} left",
            None => "{spinner} {msg} · {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        Self {
            started: Instant::now(),
            met: 0,
            failed: 0,
            left: 0,
            reasons: Vec::new(),
            unread: Some(0),
            is_stopped: false,
            usage: Usage::default(),
            cost: Some(Cost::default()),
            bar,
        }
    }

    /// Counts a result; its input had `size` bytes.
    pub(super) fn count(&mut self, settled: &Settled, size: u64) {
        if settled.is_met() {
            self.met += 1;
        } else {
            self.failed += 1;
        }
        self.usage.add(&settled.usage);
        self.cost = self.cost.zip(settled.cost).map(|(all, one)| [all, one].into_iter().sum());
        self.bar.inc(size);
        if !self.bar.is_hidden() {
            self.bar.set_message(self.words());
        }
    }

    /// Counts an input of `size` bytes that is left to the next command.
    pub(super) fn leave(&mut self, why: String, size: u64) {
        if self.reasons.len() < TOLD {
            self.reasons.push(why);
        }
        self.postpone(size);
    }

    /// Counts an input of `size` bytes that the end of everything leaves without a result.
    pub(super) fn postpone(&mut self, size: u64) {
        self.left += 1;
        self.bar.inc(size);
    }

    /// Counts inputs that were never begun; nobody may know how many they are.
    pub(super) fn leave_unread(&mut self, unread: Option<u64>) {
        self.unread = unread;
    }

    /// Says that it ended before all was done.
    pub(super) fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// Returns how many inputs have no result, if that is known.
    fn left(&self) -> Option<u64> {
        self.unread.map(|unread| self.left + unread)
    }

    /// Returns how many inputs have no answer, 0 if nobody knows.
    pub(super) fn lacking(&self) -> u64 {
        self.left().map_or(0, |left| self.failed + left)
    }

    /// Refuses to call it done if inputs were left.
    pub(super) fn require_all(&self) -> Result<(), Error> {
        let message = match self.left {
            0 => return Ok(()),
            1 => "1 input has no result: the program broke down".to_owned(),
            left => format!("{left} inputs have no result: the program broke down"),
        };
        let error = Error::new(Outcome::Run(run::Outcome::Harness), message);
        Err(error.with_findings(self.reasons.clone()))
    }

    /// Refuses to call it met if inputs failed; `place` is where the reasons are.
    pub(super) fn require_answers(&self, place: Option<&str>) -> Result<(), Error> {
        if self.failed == 0 {
            return Ok(());
        }
        let counted = format!("{} of {} inputs failed", self.failed, self.done());
        Err(match place {
            Some(place) => Error::new(Outcome::Rejected, format!("{counted}, see: `{place}`")),
            None => Error::new(Outcome::Rejected, counted)
                .hint("`--failures FILE` has the reasons, without asking again"),
        })
    }

    /// Returns how many inputs have their result.
    pub(super) fn done(&self) -> u64 {
        self.met + self.failed
    }

    /// Takes the line away.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Returns the summary for programs.
    pub(super) fn summary<'a>(&self, batch: &'a str) -> Summary<'a> {
        let seconds = self.started.elapsed().as_secs_f64();
        Summary {
            batch,
            inputs: self.done() + self.left + self.unread.unwrap_or(0),
            met: self.met,
            failed: self.failed,
            left: self.left(),
            complete: !self.is_stopped && self.left() == Some(0),
            tokens: self.usage.total(),
            cost_usd: self.cost,
            seconds: (seconds * 1e3).round() / 1e3,
            per_second: (self.rate() * 10.0).round() / 10.0,
        }
    }

    /// Returns the summary for people.
    pub(super) fn words(&self) -> String {
        let mut words = format!("{} met · {} failed · {:.0}/s", self.met, self.failed, self.rate());
        if self.is_stopped {
            words.push_str(" · stopped early");
        }
        match self.left() {
            Some(0) => {}
            Some(left) => words.extend([" · ", &left.to_string(), " left"]),
            None => words.push_str(" · not all inputs were read"),
        }
        let tokens = self.usage.total();
        if tokens > 0 {
            words.extend([" · ", &tokens.to_string(), " tokens"]);
        }
        if let Some(cost) = self.cost.filter(|_| tokens > 0) {
            words.extend([" · $", &format!("{:.4}", cost.usd())]);
        }
        words
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    fn rate(&self) -> f64 {
        let seconds = self.started.elapsed().as_secs_f64();
        if seconds > 0.0 { self.done() as f64 / seconds } else { 0.0 }
    }
}
