//! Follows an answer through its plan, and refuses the first byte that no completion can mend.

use std::sync::Arc;

use super::claims::{CONTRACT, ClaimId, Claims, Fall};
use super::lexer::Listener;
use super::lexicon::{Candidates, Lexicon};
use super::names::{Names, Scope};
use super::plan::{Breach, Plan, Shape, ShapeId};
use crate::json::{Kind, Pointer};
use crate::verdict::Violation;

/// A value that has begun and not ended.
#[derive(Debug)]
struct Frame {
    kind: Kind,
    /// Items or members that have begun.
    count: usize,
    names: Scope,
}

/// What has been read of the open key or string.
#[derive(Debug, Default)]
struct Reading {
    bytes: usize,
    characters: usize,
    /// The string itself, if something judges it whole.
    text: String,
    keeps_text: bool,
    /// Whether any shape cares what it says.
    matters: bool,
}

/// The open values and what is still possible for them.
#[derive(Debug)]
pub(super) struct Tracker {
    plan: Arc<Plan>,
    claims: Claims,
    frames: Vec<Frame>,
    names: Names,
    reading: Reading,
    /// Which claims need the next value to have which shape.
    demands: Vec<(ClaimId, ShapeId)>,
}

impl Tracker {
    pub(super) fn new(plan: Arc<Plan>) -> Self {
        let demands = vec![(CONTRACT, plan.root())];
        Self {
            plan,
            claims: Claims::new(),
            frames: Vec::new(),
            names: Names::default(),
            reading: Reading::default(),
            demands,
        }
    }

    /// Returns where in the answer the innermost open value is.
    pub(super) fn pointer(&self) -> Pointer {
        self.pointer_at(self.frames.len().saturating_sub(1))
    }

    fn pointer_at(&self, depth: usize) -> Pointer {
        let mut pointer = Pointer::root();
        for (enclosing, inner) in self.frames.iter().zip(self.frames.iter().skip(1)).take(depth) {
            match enclosing.kind {
                Kind::Array => pointer = pointer.index(enclosing.count.saturating_sub(1)),
                Kind::Object | Kind::Null | Kind::Boolean | Kind::Number | Kind::String => {
                    pointer.push_key(self.names.last_before(&inner.names));
                }
            }
        }
        pointer
    }

    fn refuse(&self, fall: &Fall) -> Violation {
        let (keyword, message) = self.plan.shape(fall.shape).explain(fall.breach);
        let pointer = self.pointer_at(fall.depth);
        let Some((depth, alternatives)) = fall.alternatives else {
            return violation(pointer, keyword, message);
        };
        let words = format!("no alternative of `{alternatives}` is left; the last fails");
        // The way to a value consists of its keys.
        let masked = format!("{words}: {message}");
        let message = format!("{words} at {pointer}: {message}");
        let (pointer, keyword) = (self.pointer_at(depth), alternatives.to_owned());
        Violation { pointer, keyword, message, masked }
    }

    /// Lets every claim on the innermost value fall whose shape `judge` finds broken.
    fn judge(
        &mut self,
        judge: impl Fn(&Self, &Shape) -> Result<(), Breach>,
    ) -> Result<(), Violation> {
        for claim in self.claims.innermost() {
            let Some(shape) = self.claims.standing(claim) else {
                continue;
            };
            if let Err(breach) = judge(self, self.plan.shape(shape)) {
                self.refute(claim, breach)?;
            }
        }
        Ok(())
    }

    fn refute(&mut self, claim: ClaimId, breach: Breach) -> Result<(), Violation> {
        self.claims.refute(claim, breach).map_err(|fall| self.refuse(&fall))
    }

    /// Collects what the shapes of the innermost array demand of its next item.
    fn demand_item(&mut self, position: usize) -> Result<(), Violation> {
        self.demands.clear();
        self.judge(|_, shape| match &shape.array {
            Some(array) if array.most.is_some_and(|most| position >= most) => {
                Err(Breach::TooManyItems)
            }
            _ => Ok(()),
        })?;
        for claim in self.claims.innermost() {
            let shape = self.claims.standing(claim).map(|shape| self.plan.shape(shape));
            if let Some(array) = shape.and_then(|shape| shape.array.as_ref()) {
                self.demands.push((claim, array.item(position)));
            }
        }
        Ok(())
    }

    /// Collects what the shapes of the innermost object demand of the member just named.
    fn demand_member(&mut self) -> Result<(), Violation> {
        self.demands.clear();
        for claim in self.claims.innermost() {
            let Some(shape) = self.claims.standing(claim) else {
                continue;
            };
            let Some(object) = &self.plan.shape(shape).object else {
                continue;
            };
            let mut is_allowed = true;
            object.member(self.names.last(), |shape| {
                is_allowed &= shape != ShapeId::NOTHING;
                self.demands.push((claim, shape));
            });
            if !is_allowed {
                self.refute(claim, Breach::UnknownKey)?;
            }
        }
        Ok(())
    }

    /// Starts to follow a key or string.
    fn begin_reading(&mut self) {
        let Reading { mut text, .. } = std::mem::take(&mut self.reading);
        text.clear();
        let mut reading = Reading { text, ..Reading::default() };
        let is_key = self.is_in_key();
        for claim in self.claims.innermost() {
            let Some(shape) = self.claims.standing(claim) else {
                continue;
            };
            let shape = self.plan.shape(shape);
            let words = words(shape, is_key);
            let text = shape.text.as_ref().filter(|_| !is_key);
            reading.matters |= words.is_some() || text.is_some();
            reading.keeps_text |= text.is_some_and(|text| text.needs_text());
            if let Some(words) = words {
                self.claims.set_candidates(claim, words.all());
            }
        }
        self.reading = reading;
    }

    fn is_in_key(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.kind == Kind::Object)
    }

    /// Returns the candidates that `piece` leaves of a claim, or how it breaks the shape.
    fn outlook(&self, claim: ClaimId, shape: &Shape, piece: &str) -> Result<Candidates, Breach> {
        let is_key = self.is_in_key();
        let most = shape.text.as_ref().filter(|_| !is_key).and_then(|text| text.most);
        if most.is_some_and(|most| self.reading.characters + piece.chars().count() > most) {
            return Err(Breach::TooLong);
        }
        let Some(words) = words(shape, is_key) else {
            return Ok(0..0);
        };
        let left = words.narrow(&self.claims.candidates(claim), self.reading.bytes, piece);
        match (left.is_empty(), is_key) {
            (false, _) => Ok(left),
            (true, true) => Err(Breach::UnknownKey),
            (true, false) => Err(Breach::Choice),
        }
    }

    fn survives(&self, piece: &str) -> bool {
        self.claims.innermost().all(|claim| match self.claims.standing(claim) {
            Some(shape) => self.outlook(claim, self.plan.shape(shape), piece).is_ok(),
            None => true,
        })
    }

    fn read(&mut self, piece: &str) -> Result<(), Violation> {
        for claim in self.claims.innermost() {
            let Some(shape) = self.claims.standing(claim) else {
                continue;
            };
            match self.outlook(claim, self.plan.shape(shape), piece) {
                Ok(candidates) => self.claims.set_candidates(claim, candidates),
                Err(breach) => self.refute(claim, breach)?,
            }
        }
        self.reading.bytes += piece.len();
        self.reading.characters += piece.chars().count();
        if self.reading.keeps_text {
            self.reading.text.push_str(piece);
        }
        Ok(())
    }

    fn end_string(&mut self) -> Result<(), Violation> {
        for claim in self.claims.innermost() {
            let Some(shape) = self.claims.standing(claim) else {
                continue;
            };
            let shape = self.plan.shape(shape);
            let candidates = self.claims.candidates(claim);
            let is_cut =
                shape.texts().is_some_and(|words| !words.is_word(&candidates, self.reading.bytes));
            let judged = match &shape.text {
                _ if is_cut => Err(Breach::Choice),
                Some(text) if self.reading.characters < text.least => Err(Breach::TooShort),
                Some(text) => text.judge(&self.reading.text),
                None => Ok(()),
            };
            if let Err(breach) = judged {
                self.refute(claim, breach)?;
            }
        }
        Ok(())
    }

    fn end_array(&mut self, count: usize) -> Result<(), Violation> {
        self.judge(|_, shape| match &shape.array {
            Some(array) if count < array.least => Err(Breach::TooFewItems),
            _ => Ok(()),
        })
    }

    fn end_object(&mut self, count: usize) -> Result<(), Violation> {
        self.judge(|tracker, shape| {
            let (Some(object), Some(frame)) = (&shape.object, tracker.frames.last()) else {
                return Ok(());
            };
            let has = |key: &str| tracker.names.contains(&frame.names, key);
            if let Some(place) = object.required.iter().position(|key| !has(key)) {
                return Err(Breach::Required(place));
            }
            if count < object.least { Err(Breach::TooFewProperties) } else { Ok(()) }
        })
    }

    fn leave(&mut self) {
        self.claims.close();
        if let Some(frame) = self.frames.pop() {
            self.names.close(&frame.names);
        }
    }
}

impl Listener for Tracker {
    fn begin(&mut self, kind: Kind) -> Result<(), Violation> {
        if let Some(Frame { kind: Kind::Array, count, .. }) = self.frames.last_mut() {
            let position = *count;
            *count += 1;
            self.demand_item(position)?;
        }
        self.frames.push(Frame { kind, count: 0, names: self.names.open() });
        let opened = self.claims.open(&self.plan, kind, &self.demands);
        opened.map_err(|fall| self.refuse(&fall))?;
        if kind == Kind::String {
            self.begin_reading();
        }
        Ok(())
    }

    fn begin_key(&mut self) -> Result<(), Violation> {
        self.names.begin();
        let Some(frame) = self.frames.last_mut() else {
            return Ok(());
        };
        frame.count += 1;
        let count = frame.count;
        self.judge(|_, shape| match &shape.object {
            Some(object) if object.most.is_some_and(|most| count > most) => {
                Err(Breach::TooManyProperties)
            }
            _ => Ok(()),
        })?;
        self.begin_reading();
        Ok(())
    }

    fn text(&mut self, piece: &str) -> Result<(), (usize, Violation)> {
        if self.is_in_key() {
            self.names.extend(piece);
        }
        if !self.reading.matters {
            return Ok(());
        }
        if self.survives(piece) {
            return self.read(piece).map_err(|refused| (piece.len(), refused));
        }
        // One character at a time, so that claims fall in the same order however the text is cut.
        let mut end = 0;
        for character in piece.chars() {
            end += character.len_utf8();
            let mut buffer = [0; 4];
            self.read(character.encode_utf8(&mut buffer)).map_err(|refused| (end, refused))?;
        }
        Ok(())
    }

    fn end_key(&mut self) -> Result<(), Violation> {
        let Some(frame) = self.frames.last_mut() else {
            return Ok(());
        };
        if self.names.is_repeated(&mut frame.names) {
            let pointer = self.pointer().key(self.names.last());
            return Err(violation(pointer, "duplicate_key", "the key occurs twice".to_owned()));
        }
        self.demand_member()
    }

    fn literal(&mut self, literal: &str) -> Result<(), Violation> {
        let kind = self.frames.last().map_or(Kind::Null, |frame| frame.kind);
        self.judge(|_, shape| shape.judge_literal(kind, literal))?;
        self.leave();
        Ok(())
    }

    fn end(&mut self) -> Result<(), Violation> {
        match self.frames.last() {
            Some(Frame { kind: Kind::Array, count, .. }) => self.end_array(*count)?,
            Some(Frame { kind: Kind::Object, count, .. }) => self.end_object(*count)?,
            _ => self.end_string()?,
        }
        self.leave();
        Ok(())
    }
}

/// Returns the words that the key or string being read is limited to.
fn words(shape: &Shape, is_key: bool) -> Option<&Lexicon> {
    if is_key { shape.object.as_ref()?.keys.as_ref() } else { shape.texts() }
}

/// Makes a violation whose message repeats nothing of the answer.
pub(super) fn violation(pointer: Pointer, keyword: &str, message: String) -> Violation {
    Violation { pointer, keyword: keyword.to_owned(), masked: message.clone(), message }
}
