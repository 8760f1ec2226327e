//! Byte-pair merges, applied in the order of their rank.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use toktrie::TokenId;

/// What two neighbouring tokens become, and how early.
#[derive(Debug)]
pub(super) struct Merges {
    /// The token of each single byte.
    bytes: [Option<TokenId>; 256],
    pairs: HashMap<(TokenId, TokenId), (u32, TokenId)>,
}

/// A token in a chain; `next` is the place of the one behind it.
#[derive(Clone, Copy)]
struct Link {
    token: TokenId,
    previous: usize,
    next: usize,
    live: bool,
}

impl Merges {
    /// Reads merges of the form `left right`; those of unknown tokens never apply.
    pub(super) fn new(merges: &[String], tokens: &HashMap<Vec<u8>, TokenId>) -> Self {
        let mut bytes = [None; 256];
        for (slot, byte) in bytes.iter_mut().zip(0u8..=255) {
            *slot = tokens.get([byte].as_slice()).copied();
        }
        let pairs = (0u32..)
            .zip(merges)
            .filter_map(|(rank, merge)| {
                let (left, right) = merge.split_once(' ')?;
                let (left, right) = (super::alphabet_bytes(left)?, super::alphabet_bytes(right)?);
                let merged = [left.as_slice(), right.as_slice()].concat();
                let pair = (*tokens.get(&left)?, *tokens.get(&right)?);
                Some((pair, (rank, *tokens.get(&merged)?)))
            })
            .collect();
        Self { bytes, pairs }
    }

    /// Appends the tokens of one piece of text.
    pub(super) fn apply(&self, piece: &[u8], tokens: &mut Vec<TokenId>) {
        let singles =
            piece.iter().filter_map(|byte| self.bytes.get(usize::from(*byte)).copied()?);
        let mut chain: Vec<Link> = singles
            .enumerate()
            .map(|(place, token)| Link {
                token,
                previous: place.wrapping_sub(1),
                next: place + 1,
                live: true,
            })
            .collect();
        let mut queue = BinaryHeap::new();
        for place in 0..chain.len() {
            self.propose(&chain, place, &mut queue);
        }
        while let Some(Reverse((rank, place))) = queue.pop() {
            // A proposal is stale if one of its two tokens was merged away meanwhile.
            if self.proposal(&chain, place).is_none_or(|(current, _)| current != rank) {
                continue;
            }
            let Some(previous) = self.join(&mut chain, place) else { continue };
            self.propose(&chain, place, &mut queue);
            self.propose(&chain, previous, &mut queue);
        }
        tokens.extend(chain.iter().filter(|link| link.live).map(|link| link.token));
    }

    /// Returns rank and result of merging the token at `place` with the next.
    fn proposal(&self, chain: &[Link], place: usize) -> Option<(u32, TokenId)> {
        let link = chain.get(place).filter(|link| link.live)?;
        let next = chain.get(link.next)?;
        self.pairs.get(&(link.token, next.token)).copied()
    }

    fn propose(&self, chain: &[Link], place: usize, queue: &mut BinaryHeap<Reverse<(u32, usize)>>) {
        if let Some((rank, _)) = self.proposal(chain, place) {
            queue.push(Reverse((rank, place)));
        }
    }

    /// Merges the token at `place` with the next, and returns the place before.
    fn join(&self, chain: &mut [Link], place: usize) -> Option<usize> {
        let (_, merged) = self.proposal(chain, place)?;
        let next = chain.get(place)?.next;
        let behind = chain.get(next)?.next;
        chain.get_mut(next)?.live = false;
        if let Some(link) = chain.get_mut(behind) {
            link.previous = place;
        }
        let link = chain.get_mut(place)?;
        (link.token, link.next) = (merged, behind);
        Some(link.previous)
    }
}
