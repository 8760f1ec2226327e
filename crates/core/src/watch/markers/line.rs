//! One line: the marker that it is, or why it is none.

use super::{Refused, action};
use crate::nearest;
use crate::watch::cooldown::{ClaimedResult, CooldownClaim};
use crate::watch::event::Event;
use crate::watch::level::Level;
use crate::watch::memory::{MemoryClaim, MemoryKey};
use crate::watch::services::SERVICE_NAME_LIMIT_BYTES;

/// A marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Marker {
    Event(Event),
    Memory(MemoryClaim),
    Cooldown(CooldownClaim),
}

/// What is found in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    Marker(Marker),
    /// Something at this place looks like a marker and is none.
    At(usize, Refused),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Event,
    Memory,
    Cooldown,
}

const WORDS: [(&str, Word); 3] =
    [("EVENT", Word::Event), ("MEMORY", Word::Memory), ("COOLDOWN", Word::Cooldown)];

/// The longest level, category or action: anything longer is a sentence.
const WORD_LIMIT_BYTES: usize = 64;

/// What stands for a slot where the format is explained.
const SLOTS: [&str; 8] =
    ["level", "service", "category", "action", "message", "observation", "text", "service-name"];

/// Returns the marker that a trimmed line is, and what else in it looks like one.
pub(super) fn markers(line: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let first = match look(line) {
        Look::Marker(word, inside) => {
            let read = read(word, line, inside);
            found.push(read.map_or_else(|reason| Found::At(0, reason), Found::Marker));
            1
        }
        Look::Slip(reason) => {
            found.push(Found::At(0, reason));
            1
        }
        Look::Nothing => 0,
    };
    let is_first = first > 0;
    if let Some(at) = later(line, first) {
        found.push(Found::At(at, if is_first { Refused::Second } else { Refused::Amid }));
    }
    found
}

enum Look {
    /// A marker of this kind, with what it holds beginning here.
    Marker(Word, usize),
    /// Nearly.
    Slip(Refused),
    Nothing,
}

/// Looks at the beginning of a line.
fn look(line: &str) -> Look {
    let Some(rest) = line.strip_prefix(['[', '(', '{', '<']) else {
        return Look::Nothing;
    };
    let word = rest.split(|next: char| !next.is_ascii_alphabetic()).next().unwrap_or_default();
    let behind = rest.get(word.len()..).unwrap_or_default();
    let Some((_, kind)) = WORDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)) else {
        let is_near = word.len() > 3 && nearest(word, WORDS.map(|(name, _)| name)).is_some();
        let is_marker = behind.starts_with(':') && line.starts_with('[');
        return if is_near && is_marker { Look::Slip(Refused::Word) } else { Look::Nothing };
    };
    let is_upper = word.bytes().all(|byte| byte.is_ascii_uppercase());
    match (line.starts_with('['), behind.chars().next(), is_upper) {
        (true, Some(':'), true) => Look::Marker(*kind, word.len() + 2),
        (true, Some(':'), false) => Look::Slip(Refused::Word),
        (true, Some(']' | ' '), true) => Look::Slip(Refused::Parts),
        (false, Some(':'), _) => Look::Slip(Refused::Bracket),
        (true, None, true) => Look::Slip(Refused::Bracket),
        (true | false, _, _) => Look::Nothing,
    }
}

/// Finds a marker behind the beginning of a line.
fn later(line: &str, from: usize) -> Option<usize> {
    let rest = line.get(from..)?;
    let places = rest.match_indices('[').map(|(at, _)| from + at).filter(|at| *at > 0 || from > 0);
    let mut places = places.filter(|at| {
        let inside = line.get(at + 1..).unwrap_or_default();
        WORDS.iter().any(|(name, _)| {
            inside.strip_prefix(name).is_some_and(|behind| behind.starts_with(':'))
        })
    });
    places.next()
}

/// Reads a marker whose parts begin at `inside`.
fn read(word: Word, line: &str, inside: usize) -> Result<Marker, Refused> {
    let (inner, message) =
        line.get(inside..).and_then(|it| it.split_once(']')).ok_or(Refused::Bracket)?;
    let message = message.trim();
    let parts: Vec<&str> = inner.split(':').map(str::trim).collect();
    let is_shown = |part: &&str| is_placeholder(part) || part.contains('|');
    if parts.iter().any(is_shown) || is_placeholder(message) {
        return Err(Refused::Placeholder);
    }
    let (first, service) = match (parts.as_slice(), word) {
        ([first], Word::Event | Word::Memory) => (*first, None),
        ([first, service], _) => (*first, Some(*service)),
        _ => return Err(Refused::Parts),
    };
    if first.is_empty() || first.len() > WORD_LIMIT_BYTES {
        return Err(Refused::Parts);
    }
    if service.is_some_and(|name| !is_service(name)) {
        return Err(Refused::Service);
    }
    if service.is_some_and(|name| name.len() > SERVICE_NAME_LIMIT_BYTES) {
        return Err(Refused::LongService);
    }
    if message.is_empty() {
        return Err(Refused::Message);
    }
    match word {
        Word::Event => {
            let (level, edit) = Level::normalise(first);
            Ok(Marker::Event(Event { edit, ..Event::of_session(level, service, message) }))
        }
        Word::Memory => {
            let key = MemoryKey::new(service, first).map_err(|_| Refused::Category)?;
            Ok(Marker::Memory(MemoryClaim { key, observation: message.to_owned() }))
        }
        Word::Cooldown => cooldown(first, service.unwrap_or_default(), message),
    }
}

fn cooldown(name: &str, service: &str, message: &str) -> Result<Marker, Refused> {
    let action = action(name).ok_or(Refused::Action)?;
    let results = [("success", ClaimedResult::Success), ("failure", ClaimedResult::Failure)];
    let (result, rest) = results
        .into_iter()
        .find_map(|(name, result)| Some((result, message.strip_prefix(name)?)))
        .ok_or(Refused::Result)?;
    let why = rest.trim_start().strip_prefix(['—', '–', '-']).ok_or(Refused::Result)?;
    let why = why.trim_start_matches('-').trim();
    if why.is_empty() {
        return Err(Refused::Result);
    }
    let (service, message) = (service.to_owned(), why.to_owned());
    Ok(Marker::Cooldown(CooldownClaim { action, service, result, message }))
}

fn is_service(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || "_-".contains(it))
}

/// Claims that a slot holds its own name, or nothing but dots.
fn is_placeholder(slot: &str) -> bool {
    let is_word = |next: char| next.is_alphanumeric() || " _-".contains(next);
    let is_named = [('<', '>'), ('{', '}')].into_iter().any(|(open, close)| {
        let inner = slot.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        inner.is_some_and(|inner| inner.chars().all(is_word))
    });
    let is_dots = !slot.is_empty() && slot.chars().all(|next| matches!(next, '.' | '…'));
    is_named || is_dots || SLOTS.iter().any(|name| name.eq_ignore_ascii_case(slot))
}
