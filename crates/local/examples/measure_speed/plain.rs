//! Constrained decoding as it is without fast-forward: a mask, an evaluation and a choice for
//! every token, and no planned way out. What the product is compared with.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use airtight_local::{Engine as _, Llama, Tokenizer, Weights};
use llguidance::ParserFactory;
use serde_json::{Value, json};
use toktrie::SimpleVob;

use crate::asked::{Asked, name};
use crate::masks::{factory, matcher};
use crate::nanoseconds;

pub(crate) struct Plain {
    tokenizer: Tokenizer,
    engine: Llama,
    factory: ParserFactory,
    /// What the engine remembers.
    read: Vec<u32>,
}

impl Plain {
    pub(crate) fn open(path: &Path, threads: usize) -> Result<Self, Box<dyn Error>> {
        let mut weights = Weights::open(path)?;
        let tokenizer = Tokenizer::of(weights.header())?;
        let engine = Llama::load(&mut weights, threads)?;
        Ok(Self { factory: factory(&tokenizer)?, tokenizer, engine, read: Vec::new() })
    }

    pub(crate) fn answer(&mut self, asked: &Asked, budget: usize) -> Result<Value, Box<dyn Error>> {
        let started = Instant::now();
        let mut matcher = matcher(&self.factory, &asked.lowered);
        let prompt = self.prompt(asked)?;
        let reading = Instant::now();
        let prompt_tokens = self.begin(&prompt)?;
        let prompt_ns = nanoseconds(reading.elapsed());
        let writing = Instant::now();
        let (mut tokens, mut text) = (Vec::new(), Vec::new());
        while tokens.len() < budget && !matcher.is_stopped() {
            if let Some(last) = tokens.last() {
                self.engine.evaluate(&[*last])?;
                self.read.push(*last);
            }
            let allowed = matcher.compute_mask()?;
            let token = likeliest(&self.engine.scores(Some(&allowed))?, &allowed);
            let Some(token) = token.filter(|token| *token != self.tokenizer.end()) else { break };
            matcher.consume_token(token)?;
            text.extend_from_slice(self.tokenizer.bytes(token));
            tokens.push(token);
        }
        Ok(json!({
            "text": String::from_utf8_lossy(&text),
            "tokens": tokens,
            "ns": nanoseconds(started.elapsed()),
            "prompt_ns": prompt_ns,
            "prompt_tokens": prompt_tokens,
            "answer_ns": nanoseconds(writing.elapsed()),
            "answer_tokens": tokens.len(),
            "forced_tokens": 0,
        }))
    }

    /// Reads what is new in a prompt, and returns how many tokens that were.
    fn begin(&mut self, prompt: &[u32]) -> Result<usize, Box<dyn Error>> {
        let same = self.read.iter().zip(prompt).take_while(|(old, new)| old == new).count();
        let kept = same.min(prompt.len().saturating_sub(1));
        let new = prompt.get(kept..).unwrap_or_default();
        self.engine.truncate(kept);
        self.engine.evaluate(new)?;
        self.read.truncate(kept);
        self.read.extend_from_slice(new);
        Ok(new.len())
    }

    /// Writes the turns as `ChatML`, the template of the default weights.
    fn prompt(&self, asked: &Asked) -> Result<Vec<u32>, Box<dyn Error>> {
        let control = |name| self.tokenizer.control(name).ok_or("the template is not ChatML");
        let (open, close) = (control("<|im_start|>")?, control("<|im_end|>")?);
        let mut tokens = Vec::new();
        for turn in &asked.turns {
            tokens.push(open);
            tokens.extend(self.tokenizer.encode(&format!("{}\n{}", name(turn.role), turn.text)));
            tokens.push(close);
            tokens.extend(self.tokenizer.encode("\n"));
        }
        tokens.push(open);
        tokens.extend(self.tokenizer.encode("assistant\n"));
        Ok(tokens)
    }
}

fn likeliest(scores: &[f32], allowed: &SimpleVob) -> Option<u32> {
    (0..)
        .zip(scores)
        .filter(|(token, _)| allowed.is_allowed(*token))
        .max_by(|left, right| left.1.total_cmp(right.1))
        .map(|(token, _)| token)
}
