//! Writes one answer: token by token, under the grammar, never beyond the budget.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use toktrie::{SimpleVob, TokenId};

use crate::closing::Exits;
use crate::completion::{Completion, Stop, Timings};
use crate::constraint::{Constraint, ConstraintError};
use crate::embedded::{Closing, EmbeddedError};
use crate::memory::Memory;
use crate::place::Place;
use crate::repetition::Repetition;
use crate::sampling::{Sampler, Sampling};
use crate::tokenizer::Tokenizer;

/// How many tokens are kept back beyond the way out: the same text may be cut into tokens in
/// other ways than planned.
const MARGIN: usize = 8;

/// Follows in a text that may be of any words, and in hardly any other.
const ANY_WORDS: &str = " ~ #9z";

/// How many circles are led out of before the answer is led to its end.
const CIRCLE_LIMIT: usize = 3;

/// How an answer is to be written.
pub(crate) struct Voice<'a> {
    pub(crate) tokenizer: &'a Tokenizer,
    pub(crate) exits: &'a Exits,
    pub(crate) constraint: Option<Constraint>,
    pub(crate) sampling: Sampling,
    pub(crate) budget: usize,
    pub(crate) closing: Closing,
}

/// An answer that is being written.
pub(crate) struct Writer<'a> {
    tokenizer: &'a Tokenizer,
    exits: &'a Exits,
    constraint: Option<Constraint>,
    sampler: Sampler,
    /// What is left of the budget.
    left: usize,
    /// The way out, where one is known.
    plan: Option<Vec<TokenId>>,
    place: Place,
    closing: Closing,
    repetition: Repetition,
    circles: usize,
    /// Whether a circle was left in which the model would have gone on.
    is_shortened: bool,
    /// What the model has said but not read yet.
    unread: Vec<TokenId>,
    text: Vec<u8>,
    /// How much of the text the listener has heard.
    told: usize,
    counts: Counts,
    started: Instant,
    grammar: Duration,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    sampled: usize,
    forced: usize,
    closing: usize,
}

/// How far the way out is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Out of the innermost string or container; one token may lead out of more.
    Innermost,
    /// To its end.
    All,
}

impl<'a> Writer<'a> {
    /// Begins an answer; refused if even the shortest one does not fit the budget.
    pub(crate) fn new(voice: Voice<'a>) -> Result<Self, EmbeddedError> {
        let Voice { tokenizer, exits, mut constraint, sampling, budget, closing } = voice;
        let started = Instant::now();
        let plan = match &mut constraint {
            Some(constraint) => exits.plan(constraint, &Place::default(), tokenizer)?,
            None => None,
        };
        if let Some(plan) = &plan
            && plan.len() > budget
        {
            return Err(EmbeddedError::Budget { needed: plan.len(), limit: budget });
        }
        Ok(Self {
            tokenizer,
            exits,
            constraint,
            sampler: Sampler::new(sampling),
            left: budget,
            plan,
            place: Place::default(),
            closing,
            repetition: Repetition::default(),
            circles: 0,
            is_shortened: false,
            unread: Vec::new(),
            text: Vec::new(),
            told: 0,
            counts: Counts::default(),
            started: Instant::now(),
            grammar: started.elapsed(),
        })
    }

    /// Writes until the answer ends.
    pub(crate) fn write(
        &mut self,
        memory: &mut Memory,
        listen: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Stop, EmbeddedError> {
        self.started = Instant::now();
        loop {
            let stop = self.step(memory)?;
            if self.tell(listen).is_break() {
                return Ok(Stop::Cancelled);
            }
            match stop {
                Some(Stop::Complete) if self.is_shortened => return Ok(Stop::Circles),
                Some(stop) => return Ok(stop),
                None => {}
            }
        }
    }

    /// Returns the finished answer: what the listener has heard.
    pub(crate) fn finish(self, stop: Stop) -> Completion {
        Completion {
            text: String::from_utf8_lossy(self.text.get(..self.told).unwrap_or_default())
                .into_owned(),
            stop,
            prompt_tokens: 0,
            reused_tokens: 0,
            sampled_tokens: self.counts.sampled,
            forced_tokens: self.counts.forced,
            closing_tokens: self.counts.closing,
            timings: Timings {
                prompt: Duration::ZERO,
                answer: self.started.elapsed(),
                grammar: self.grammar,
            },
        }
    }

    fn step(&mut self, memory: &mut Memory) -> Result<Option<Stop>, EmbeddedError> {
        let began = Instant::now();
        let forced = self.constraint.as_mut().map(Constraint::forced).unwrap_or_default();
        if self.constraint.as_ref().is_some_and(Constraint::is_over) {
            return Ok(Some(Stop::Complete));
        }
        if !forced.is_empty() {
            self.take_forced(&forced)?;
            self.grammar += began.elapsed();
            return Ok((self.left == 0 && !self.is_complete()).then_some(Stop::Cut));
        }
        if self.left == 0 {
            return Ok(Some(if self.is_complete() { Stop::Closed } else { Stop::Cut }));
        }
        let allowed = self.constraint.as_mut().map(Constraint::allowed).transpose()?;
        self.grammar += began.elapsed();
        let token = match &allowed {
            Some(set) if set.num_set() == 1 => set.iter().next(),
            _ => {
                memory.read(&std::mem::take(&mut self.unread))?;
                let scores = memory.scores(allowed.as_ref())?;
                self.choose(&scores, allowed)
            }
        };
        // Scores that are no numbers, or keys that are there already: what follows would not be the
        // model's.
        let Some(token) = token else { return Ok(Some(Stop::Cut)) };
        if token == self.tokenizer.end() {
            return Ok(Some(Stop::Complete));
        }
        let began = Instant::now();
        let stop = self.take_chosen(token);
        self.grammar += began.elapsed();
        Ok(stop?)
    }

    /// Returns the model's choice among `allowed`, but no key that its object has already.
    fn choose(&mut self, scores: &[f32], mut allowed: Option<SimpleVob>) -> Option<TokenId> {
        loop {
            let token = self.sampler.choose(scores, allowed.as_ref())?;
            match &mut allowed {
                Some(set) if self.place.repeats([self.tokenizer.bytes(token)]) => {
                    set.disallow_token(token);
                }
                _ => return Some(token),
            }
        }
    }

    /// Takes what the grammar leaves no choice about.
    fn take_forced(&mut self, forced: &[TokenId]) -> Result<(), ConstraintError> {
        let Some(constraint) = &mut self.constraint else { return Ok(()) };
        constraint.take(forced)?;
        self.counts.forced += forced.len();
        self.note(forced);
        match &mut self.plan {
            Some(plan) if plan.starts_with(forced) => drop(plan.drain(..forced.len())),
            Some(_) => self.plan = self.way_out()?,
            None => {}
        }
        Ok(())
    }

    /// Takes the model's choice if a way out remains, else the way out.
    fn take_chosen(&mut self, token: TokenId) -> Result<Option<Stop>, ConstraintError> {
        if !self.keeps_way_out(token)? {
            return self.end(Stop::Closed).map(Some);
        }
        self.counts.sampled += 1;
        self.note(&[token]);
        if self.plan.is_none() || !self.repetition.follow(token) {
            return Ok(None);
        }
        self.repetition.forget();
        self.circles += 1;
        if self.circles >= CIRCLE_LIMIT {
            return self.end(Stop::Circles).map(Some);
        }
        // Out of the string, or the container, that goes in circles; then on. What cannot be ended may end by
        // itself: formats know how long a text may be.
        if self.may_follow_plan(Reach::Innermost)? {
            self.is_shortened |= self.steps(Reach::Innermost) > 0;
            self.follow_plan(Reach::Innermost)?;
        }
        Ok(None)
    }

    /// Leads the answer to its end, if that may be written without the model.
    fn end(&mut self, stop: Stop) -> Result<Stop, ConstraintError> {
        if !self.may_follow_plan(Reach::All)? {
            return Ok(Stop::Cut);
        }
        self.follow_plan(Reach::All)?;
        Ok(stop)
    }

    /// Claims that the way out may be written so far without the model; finds a more direct one for that
    /// if there is.
    fn may_follow_plan(&mut self, reach: Reach) -> Result<bool, ConstraintError> {
        if self.closing == Closing::Anything {
            return Ok(true);
        }
        // The beginning of an address, or of a word in a list, may be another value.
        if self.place.is_inside_string() && !self.is_in_free_text()? {
            return Ok(false);
        }
        if !self.only_ends(reach)
            && let Some(plan) = self.way_out()?
            && plan.len() <= self.left
        {
            // The one there was is older than what was said last.
            self.plan = Some(plan);
        }
        Ok(self.only_ends(reach))
    }

    /// Claims that the way out, so far, only ends what the model has begun.
    fn only_ends(&self, reach: Reach) -> bool {
        let plan = self.plan.iter().flatten().take(self.steps(reach));
        let bytes = plan.flat_map(|token| self.tokenizer.bytes(*token).iter().copied());
        self.place.only_ends(bytes)
    }

    /// Claims that any words may follow in the string.
    fn is_in_free_text(&mut self) -> Result<bool, ConstraintError> {
        let words = self.tokenizer.encode(ANY_WORDS);
        self.constraint.as_mut().map_or(Ok(false), |constraint| constraint.allows_all(&words))
    }

    /// Takes `token` if a way out that fits the budget follows it.
    fn keeps_way_out(&mut self, token: TokenId) -> Result<bool, ConstraintError> {
        let Some(constraint) = &mut self.constraint else { return Ok(true) };
        constraint.take(&[token])?;
        let Some(plan) = &mut self.plan else { return Ok(true) };
        if plan.first() == Some(&token) {
            plan.remove(0);
            return Ok(true);
        }
        let room = self.left.saturating_sub(1 + MARGIN);
        let mut place = self.place.clone();
        place.follow(self.tokenizer.bytes(token));
        let planned = plan.iter().map(|token| self.tokenizer.bytes(*token));
        if plan.len() <= room && constraint.completes(plan)? && !place.repeats(planned) {
            return Ok(true);
        }
        match self.exits.plan(constraint, &place, self.tokenizer)? {
            Some(shorter) if shorter.len() <= room => {
                *plan = shorter;
                Ok(true)
            }
            _ => {
                constraint.take_back(1)?;
                self.place.foresee(self.tokenizer.bytes(token));
                Ok(false)
            }
        }
    }

    /// Takes the way out, so far.
    fn follow_plan(&mut self, reach: Reach) -> Result<(), ConstraintError> {
        let steps = self.steps(reach);
        let Some((constraint, plan)) = self.constraint.as_mut().zip(self.plan.as_mut()) else {
            return Ok(());
        };
        let taken: Vec<TokenId> = plan.drain(..steps).collect();
        constraint.take(&taken)?;
        self.counts.closing += taken.len();
        self.note(&taken);
        Ok(())
    }

    /// Returns how many tokens of the way out lead so far.
    fn steps(&self, reach: Reach) -> usize {
        let plan = self.plan.as_deref().unwrap_or_default();
        let exits = |token: &TokenId| {
            self.tokenizer.bytes(*token).iter().any(|byte| b"\"]}".contains(byte))
        };
        match reach {
            Reach::All => plan.len(),
            Reach::Innermost => plan.iter().position(exits).map_or(plan.len(), |place| place + 1),
        }
    }

    fn way_out(&mut self) -> Result<Option<Vec<TokenId>>, ConstraintError> {
        match &mut self.constraint {
            Some(constraint) => self.exits.plan(constraint, &self.place, self.tokenizer),
            None => Ok(None),
        }
    }

    fn is_complete(&mut self) -> bool {
        self.constraint.as_mut().is_some_and(Constraint::is_complete)
    }

    /// Writes tokens down.
    fn note(&mut self, tokens: &[TokenId]) {
        self.left = self.left.saturating_sub(tokens.len());
        self.unread.extend_from_slice(tokens);
        for token in tokens {
            let bytes = self.tokenizer.bytes(*token);
            self.place.follow(bytes);
            self.text.extend_from_slice(bytes);
        }
    }

    /// Tells the listener what is new, up to the last whole character; bytes that begin none are
    /// told as U+FFFD.
    fn tell(&mut self, listen: &mut dyn FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
        let new = self.text.get(self.told..).unwrap_or_default();
        let tail = new.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
        let is_begun = std::str::from_utf8(tail).is_err_and(|error| error.error_len().is_none());
        let (whole, _) = new.split_at(new.len() - if is_begun { tail.len() } else { 0 });
        if whole.is_empty() {
            return ControlFlow::Continue(());
        }
        self.told += whole.len();
        listen(&String::from_utf8_lossy(whole))
    }
}
