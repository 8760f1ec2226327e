//! Cuts a hunk that is too large for one part.

use super::super::diff::{Hunk, Line, Side};
use super::{head_size, line_size, size};

/// Returns the hunk in pieces of at most `room` tokens, each with its size.
pub(super) fn to_fit(hunk: Hunk<'_>, whole: u64, room: u64) -> Vec<(Hunk<'_>, u64)> {
    if whole <= room {
        return vec![(hunk, whole)];
    }
    let room = room.saturating_sub(head_size(&hunk));
    let mut pieces = Vec::new();
    let (mut old_start, mut new_start) = (hunk.old_start, hunk.new_start);
    let mut rest = hunk.lines.as_slice();
    while !rest.is_empty() {
        let (lines, behind) = rest.split_at(length(rest, room));
        rest = behind;
        let piece = Hunk { old_start, new_start, section: hunk.section, lines: lines.to_vec() };
        let count = |other: Side| lines.iter().filter(|line| line.side != other).count();
        let after = |start: u32, count: usize| {
            start.saturating_add(u32::try_from(count).unwrap_or(u32::MAX))
        };
        old_start = after(old_start, count(Side::Added));
        new_start = after(new_start, count(Side::Removed));
        let size = size(&piece);
        pieces.push((piece, size));
    }
    pieces
}

/// Returns how many of `lines` go into one piece: at least one, and up to the start of a change if that
/// leaves no more than half of the room empty.
fn length(lines: &[Line<'_>], room: u64) -> usize {
    let mut taken = 0;
    let mut clean = None;
    let mut before = None;
    for (position, line) in lines.iter().enumerate() {
        let size = line_size(line);
        if is_clean(before, line.side) && taken * 2 >= room {
            clean = Some(position);
        }
        if taken + size > room && position > 0 {
            return clean.filter(|clean| *clean > 0).unwrap_or(position);
        }
        taken += size;
        before = Some(line.side);
    }
    lines.len()
}

/// Claims that no change is cut before a line of this side.
fn is_clean(before: Option<Side>, side: Side) -> bool {
    before == Some(Side::Context)
        || side == Side::Context
        || before != Some(Side::Removed) && side == Side::Removed
}
