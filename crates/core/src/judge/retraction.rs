//! What takes a draft back without being a value: an answer behind it that cannot be read, or was cut off.
//!
//! It protects the answer that was meant from being replaced by an example of it. Only what is behind the
//! last conforming value is looked at, and only if there is but one: most texts have nothing there.

use std::collections::BTreeSet;

use memchr::memmem;

use super::names::{self, Names, Said};
use super::tally::{Conforming, Tally};
use crate::contract::Contract;
use crate::json::{Document, Kind, ParseError, ParseErrorKind};
use crate::recover::{Damage, Damaged, Fenced, Language, Trouble};

/// How far a piece of prose is read for names: each bracket of a hostile text may start one.
const PROSE_LIMIT: usize = 1024;

/// How many words of a value are looked for in a block that may say the same: each is looked for in all of it.
const LEAF_LIMIT: usize = 64;

/// What a string may be quoted with.
const QUOTES: [char; 6] = ['"', '\'', '“', '”', '‘', '’'];

/// What is behind the only conforming value of a text.
struct Behind<'j> {
    text: &'j str,
    names: &'j Names,
    value: &'j Document,
    /// The bracket that the value opens with.
    bracket: Option<char>,
    /// What cannot be read, in order.
    pieces: Vec<Damaged>,
}

/// Returns what takes the only conforming value back.
pub(super) fn retraction(tally: &Tally, contract: &Contract, text: &str) -> Option<Trouble> {
    let [Conforming { accepted, range, until, .. }] = tally.conforming.as_slice() else {
        return None;
    };
    let is_behind = |piece: &Damaged| piece.start >= *until;
    let mut pieces: Vec<_> = tally.damaged.iter().copied().filter(is_behind).collect();
    let blocks = tally.blocks.partition_point(|block| block.start < *until);
    let blocks = tally.blocks.get(blocks..).unwrap_or_default();
    if pieces.is_empty() && blocks.is_empty() && tally.open.is_none() {
        return None;
    }
    pieces.sort_by_key(|piece| piece.start);
    let bracket = text.get(range.start..).and_then(|value| value.chars().next());
    let value = &accepted.value;
    let behind = Behind { text, names: contract.names(), value, bracket, pieces };
    if let Some(piece) = behind.pieces.iter().find(|piece| behind.opens(piece)) {
        return behind.unreadable(piece.start);
    }
    let is_cut = |piece: &Damaged| piece.kind == Damage::Cut;
    if tally.open.is_some() || behind.pieces.iter().any(is_cut) {
        return Some(Trouble::Truncated { offset: tally.open.unwrap_or(text.len()) });
    }
    let named = behind.names_member().or_else(|| behind.names_all(blocks));
    named.and_then(|start| behind.unreadable(start))
}

impl Behind<'_> {
    /// Claims that an answer starts here, by its first member, or by its bracket where the contract names none.
    fn opens(&self, piece: &Damaged) -> bool {
        let damaged = self.text.get(piece.start..).unwrap_or_default();
        if !self.names.near.is_empty() {
            return self.names.open(damaged);
        }
        let mut inside = damaged.chars();
        let bracket = inside.next();
        let is_quoted = || inside.as_str().trim_start().starts_with(QUOTES);
        bracket == self.bracket && (piece.kind != Damage::Foreign || is_quoted())
    }

    /// Returns where a piece starts that names a member further in.
    ///
    /// What is broken has lost its end: a name in quotes behind it may always belong to it, another one if
    /// it stands in the same paragraph.
    fn names_member(&self) -> Option<usize> {
        let all = |part| names::named(&self.names.near, part).filter(|it| it.said != Said::Nothing);
        let mut broken = self.pieces.iter().filter(|piece| piece.kind == Damage::Broken);
        let first = broken.clone().next().map(|piece| piece.start);
        if let Some(first) = first
            && all(self.text.get(first..)?).any(|naming| naming.is_quoted)
        {
            return Some(first);
        }
        let mut read = 0;
        let in_words = broken.find(|piece| {
            if piece.start < read {
                return false;
            }
            let paragraph = paragraph(self.text.get(piece.start..).unwrap_or_default());
            read = piece.start + paragraph.len();
            all(paragraph).next().is_some()
        });
        let mut foreign = self.pieces.iter().filter(|piece| piece.kind == Damage::Foreign);
        let in_prose = || {
            foreign.find(|piece| {
                let inside = enclosed(self.text.get(piece.start..).unwrap_or_default());
                names::named(&self.names.near, inside).any(|it| it.said != Said::Nothing)
            })
        };
        in_words.or_else(in_prose).map(|piece| piece.start)
    }

    /// Returns where a block starts that gives all that an answer must have, in another notation, and says
    /// something else than the conforming value.
    fn names_all(&self, blocks: &[Fenced]) -> Option<usize> {
        let ends = blocks.iter().skip(1).map(|next| next.start).chain([self.text.len()]);
        let is_answer = |(block, end): &(&Fenced, usize)| {
            let content = content(self.text.get(block.start..*end).unwrap_or_default());
            let given = names::named(&self.names.near, content)
                .filter(|naming| match block.language {
                    Language::Text => naming.leads && naming.colon != '=' || naming.is_member(),
                    Language::Notation => naming.leads || naming.is_member(),
                    Language::Program => naming.is_member(),
                })
                .filter(|naming| naming.said != Said::Nothing);
            let given: BTreeSet<String> =
                given.map(|naming| naming.name.to_ascii_lowercase()).collect();
            let is_whole = !self.names.needed.is_empty() && self.names.needed.is_subset(&given);
            is_whole && !self.says_the_same(content)
        };
        blocks.iter().zip(ends).find(is_answer).map(|(block, _)| block.start)
    }

    /// Claims that what the conforming value says stands in `content`, in whatever notation.
    fn says_the_same(&self, content: &str) -> bool {
        let leaves = self.value.root().values().filter_map(|node| match node.kind() {
            Kind::String => node.as_str(),
            Kind::Number => Some(node.raw()),
            Kind::Null | Kind::Boolean | Kind::Array | Kind::Object => None,
        });
        let mut leaves = leaves.take(LEAF_LIMIT + 1);
        let mut count = 0;
        leaves.all(|leaf| {
            count += 1;
            count <= LEAF_LIMIT && memmem::find(content.as_bytes(), leaf.as_bytes()).is_some()
        })
    }

    fn unreadable(&self, start: usize) -> Option<Trouble> {
        let found = self.text.get(start..)?.chars().next()?;
        let expected = "nothing that may take the value before it back";
        let kind = ParseErrorKind::Unexpected { found, expected };
        Some(Trouble::Damaged(ParseError::new(kind, self.text, start)))
    }
}

/// Returns what stands in `text` before an empty line.
fn paragraph(text: &str) -> &str {
    let lines = text.split_inclusive('\n');
    let length = lines.take_while(|line| !line.trim().is_empty()).map(str::len).sum();
    text.get(..length).unwrap_or_default()
}

/// Returns what the bracket at the start of `text` encloses, in its paragraph.
fn enclosed(text: &str) -> &str {
    let near = text.get(..text.floor_char_boundary(PROSE_LIMIT)).unwrap_or_default();
    let near = paragraph(near);
    let mut open = 0_usize;
    let end = near.find(|mark: char| {
        match mark {
            '{' | '[' => open += 1,
            '}' | ']' => open = open.saturating_sub(1),
            _ => {}
        }
        open == 0
    });
    end.and_then(|end| near.get(..end)).unwrap_or(near)
}

/// Returns what stands in `text` before the next fence.
fn content(text: &str) -> &str {
    let fences = ["```", "~~~"].iter().filter_map(|fence| text.find(fence));
    fences.min().and_then(|end| text.get(..end)).unwrap_or(text)
}
