//! The way out: a short sequence of tokens that completes an answer, so that it is never cut.
//!
//! There is always a plan that fits what is left of the budget. A token of the model's choice is
//! taken only if a plan that fits follows it; else the plan itself is taken, to its end.

use std::collections::HashMap;

use toktrie::TokenId;

use crate::constraint::{Constraint, ConstraintError};
use crate::place::Place;
use crate::tokenizer::Tokenizer;

/// How long a way out may be. What needs more was not going to fit a small model's context.
const PLAN_LIMIT: usize = 2048;

/// Tokens that lead out of strings and containers, best first.
#[derive(Debug)]
pub(crate) struct Exits {
    /// Inside strings.
    inside: Vec<TokenId>,
    /// Elsewhere.
    outside: Vec<TokenId>,
    /// Tokens of a single byte, for where none of the above is allowed.
    single: Vec<TokenId>,
}

impl Exits {
    /// Finds them in a vocabulary.
    pub(crate) fn of(tokenizer: &Tokenizer) -> Self {
        let (mut inside, mut outside, mut single) = (Vec::new(), Vec::new(), Vec::new());
        for token in 0..tokenizer.size() {
            let bytes = tokenizer.bytes(token);
            if bytes.len() == 1 {
                single.push(token);
            }
            if bytes.iter().all(|byte| b"\"]}".contains(byte)) {
                match bytes.first() {
                    Some(b'"') => inside.push(token),
                    Some(_) if !bytes.contains(&b'"') => outside.push(token),
                    _ => {}
                }
            }
        }
        let longest_first = |token: &TokenId| std::cmp::Reverse(tokenizer.bytes(*token).len());
        inside.sort_by_key(longest_first);
        outside.sort_by_key(longest_first);
        // A comma ends a number; short values come before containers, whose members may all be
        // required.
        let words = [",", ":", "null", "\"\"", "\"", "true", "false", "0", "1", "[]", "{}"];
        outside.extend(words.iter().filter_map(|word| match tokenizer.encode(word).as_slice() {
            [token] => Some(*token),
            _ => None,
        }));
        Self { inside, outside, single }
    }

    /// Finds a way out from where `constraint` stands, if there is one within the limit.
    pub(crate) fn plan(
        &self,
        constraint: &mut Constraint,
        place: &Place,
        tokenizer: &Tokenizer,
    ) -> Result<Option<Vec<TokenId>>, ConstraintError> {
        let (tokens, used) = (Vec::new(), HashMap::new());
        let mut search = Search { exits: self, place: place.clone(), tokens, used };
        let found = search.run(constraint, tokenizer);
        let walked = search.tokens.len();
        constraint.take_back(walked)?;
        // What is forced, and what is the only thing allowed, may still be a key that is there.
        let bytes = search.tokens.iter().map(|token| tokenizer.bytes(*token));
        let leads_out = found? && !place.repeats(bytes);
        Ok(leads_out.then_some(search.tokens))
    }
}

/// A walk along the grammar without the model.
struct Search<'a> {
    exits: &'a Exits,
    place: Place,
    tokens: Vec<TokenId>,
    /// How often each filler was used: the least used one is next, so that patterns make progress.
    used: HashMap<TokenId, usize>,
}

impl Search<'_> {
    fn run(
        &mut self,
        constraint: &mut Constraint,
        tokenizer: &Tokenizer,
    ) -> Result<bool, ConstraintError> {
        while !constraint.is_complete() {
            if self.tokens.len() > PLAN_LIMIT {
                return Ok(false);
            }
            let forced = constraint.forced();
            let next = if forced.is_empty() {
                self.choose(constraint, tokenizer)?.into_iter().collect()
            } else {
                forced
            };
            if next.is_empty() {
                return Ok(false);
            }
            constraint.take(&next)?;
            for token in &next {
                self.place.follow(tokenizer.bytes(*token));
            }
            self.tokens.extend(next);
        }
        Ok(true)
    }

    fn choose(
        &mut self,
        constraint: &mut Constraint,
        tokenizer: &Tokenizer,
    ) -> Result<Option<TokenId>, ConstraintError> {
        let Exits { inside, outside, .. } = self.exits;
        let exits = if self.place.is_inside_string() { inside } else { outside };
        let used = |token: &TokenId| self.used.get(token).copied().unwrap_or(0);
        // The same digit again and again may lead nowhere: 0.000… never exceeds 0.
        let spent = |token: &TokenId| {
            used(token) > 0 && tokenizer.bytes(*token).iter().all(u8::is_ascii_digit)
        };
        let repeats = |token: &TokenId| self.place.repeats([tokenizer.bytes(*token)]);
        let exit = exits
            .iter()
            .find(|token| !spent(token) && !repeats(token) && constraint.allows(**token));
        if let Some(exit) = exit {
            *self.used.entry(*exit).or_default() += 1;
            return Ok(Some(*exit));
        }
        let allowed = constraint.allowed()?;
        let filler = self
            .exits
            .single
            .iter()
            .copied()
            .filter(|token| allowed.is_allowed(*token) && !repeats(token))
            .min_by_key(used)
            .or_else(|| allowed.iter().find(|token| *token != tokenizer.end()));
        if let Some(token) = filler {
            *self.used.entry(token).or_default() += 1;
        }
        Ok(filler)
    }
}
