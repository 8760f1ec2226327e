//! Puts what happens on the way between the chunks of an answer.

use std::time::Duration;

use bytes::Bytes;

use crate::endpoint::Wire;
use crate::gate::Gates;
use crate::pace::{FILLER_BYTES, Load, Step};
use crate::render;
use crate::turn::{Act, Point, Raw};

/// Whether anything follows.
enum Onward {
    Yes,
    No,
}

/// Puts what happens at `points` between the `sends`.
pub(crate) fn weave(sends: Vec<Step>, points: &[Point], wire: Wire, gates: &Gates) -> Vec<Step> {
    let total = sends.iter().filter(|step| is_content(step)).count();
    let mut points: Vec<&Point> = points.iter().collect();
    points.sort_by_key(|point| point.after);
    let mut points = points.into_iter().peekable();
    let mut sends = sends.into_iter().peekable();
    let mut steps = Vec::new();
    if total > 0 {
        // What opens the answer comes before the first point.
        while let Some(opening) = sends.next_if(|step| !is_content(step)) {
            steps.push(opening);
        }
    }
    let mut chunks = 0;
    loop {
        while let Some(point) = points.next_if(|point| point.after.min(total) == chunks) {
            if let Onward::No = act(&point.act, &mut steps, sends.peek(), (wire, gates)) {
                return steps;
            }
        }
        let Some(send) = sends.next() else { return steps };
        chunks += usize::from(is_content(&send));
        steps.push(send);
    }
}

fn is_content(step: &Step) -> bool {
    matches!(step, Step::Send(_, Load::Content))
}

fn act(
    act: &Act,
    steps: &mut Vec<Step>,
    next: Option<&Step>,
    (wire, gates): (Wire, &Gates),
) -> Onward {
    match act {
        Act::Gate { name } => steps.push(Step::Wait(gates.named(name))),
        Act::Pause { ms } => steps.push(Step::Pause(Duration::from_millis(*ms))),
        Act::Raw { raw } => steps.push(Step::Send(raw_bytes(raw), Load::Frame)),
        Act::Filler { bytes } => fill(steps, wire, *bytes),
        Act::End => return Onward::No,
        Act::Stall => {
            steps.push(Step::Stall);
            return Onward::No;
        }
        Act::Cut => {
            if let Some(Step::Send(next, _)) = next {
                steps.push(Step::Send(next.slice(..next.len() / 2), Load::Frame));
            }
            steps.push(Step::Cut);
            return Onward::No;
        }
        Act::Error { status, message } => {
            let sent = steps.iter().filter(|step| matches!(step, Step::Send(..))).count();
            let event = render::failure(wire, *status, message.as_deref(), sent);
            steps.push(Step::Send(event.to_bytes(wire), Load::Frame));
            return Onward::No;
        }
    }
    Onward::Yes
}

fn fill(steps: &mut Vec<Step>, wire: Wire, bytes: usize) {
    let (before, behind) = render::filler(wire);
    let block = Bytes::from(vec![b'x'; FILLER_BYTES]);
    steps.push(Step::Send(Bytes::from_static(before.as_bytes()), Load::Frame));
    let whole = std::iter::repeat_n(block.clone(), bytes / FILLER_BYTES);
    let rest = block.slice(..bytes % FILLER_BYTES);
    steps.extend(whole.chain([rest]).map(|bytes| Step::Send(bytes, Load::Frame)));
    steps.push(Step::Send(Bytes::from_static(behind.as_bytes()), Load::Frame));
}

/// Returns the bytes.
pub(crate) fn raw_bytes(raw: &Raw) -> Bytes {
    match raw {
        Raw::Text { text } => Bytes::copy_from_slice(text.as_bytes()),
        Raw::Bytes { bytes } => Bytes::copy_from_slice(bytes),
    }
}
