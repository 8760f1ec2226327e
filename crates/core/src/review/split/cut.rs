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
    let (mut old_next, mut new_next) = (hunk.old_start, hunk.new_start);
    let whole_old = lines_of(&hunk.lines, Side::Added);
    let whole_new = lines_of(&hunk.lines, Side::Removed);
    let mut rest = hunk.lines.as_slice();
    while !rest.is_empty() {
        let (lines, behind) = rest.split_at(length(rest, room));
        rest = behind;
        let (old, new) = (lines_of(lines, Side::Added), lines_of(lines, Side::Removed));
        let piece = Hunk {
            old_start: start(old_next, (old, whole_old)),
            new_start: start(new_next, (new, whole_new)),
            section: hunk.section,
            lines: lines.to_vec(),
        };
        old_next = old_next.saturating_add(old);
        new_next = new_next.saturating_add(new);
        let size = size(&piece);
        pieces.push((piece, size));
    }
    pieces
}

/// Returns how many lines there are, but for those of the other side.
fn lines_of(lines: &[Line<'_>], other: Side) -> u32 {
    let count = lines.iter().filter(|line| line.side != other).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Returns where a piece starts on a side on which it has so many lines of those of the hunk; `next` is the
/// number of the first of them. What has none is said to start at the line before, as the hunk is already.
fn start(next: u32, (count, whole): (u32, u32)) -> u32 {
    if count == 0 && whole > 0 { next.saturating_sub(1) } else { next }
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
