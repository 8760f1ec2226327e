//! Tells an answer from a form that was not filled in.
//!
//! A value is a placeholder if one of its strings only marks a place (`...`, `<summary>`,
//! `string`), and all others are words that the contract itself spells out. Such a value is the
//! answer only if nothing else is said: in a text, it is quoted from the request.

use std::ops::Range;

use super::Shape;
use crate::contract::Contract;
use crate::json::{Document, Node, Pointer};
use crate::verdict::{Violation, Violations};

/// Claims that nothing is said in `text` from `said_from` on but what stands at `range`, the fence
/// around it, and tokens of the chat template.
pub(super) fn is_alone(text: &str, said_from: usize, range: &Range<usize>) -> bool {
    let around = [text.get(said_from..range.start), text.get(range.end..)];
    let mut lines = around.into_iter().flatten().flat_map(str::lines);
    lines.all(|line| is_silent(line.trim_start_matches('\u{feff}').trim()))
}

/// Claims that `line` is empty, a fence with its language, or tokens of a template: none has a blank in it.
fn is_silent(line: &str) -> bool {
    let fence = ["```", "~~~"].iter().find_map(|fence| line.strip_prefix(fence));
    let token = || line.strip_prefix("<|").and_then(|line| line.strip_suffix("|>"));
    let name = if line.is_empty() { Some("") } else { fence.or_else(token) };
    name.is_some_and(|name| !name.trim().contains(char::is_whitespace))
}

/// Claims that `value` has strings to fill in, and none that was.
pub(super) fn is_placeholder(contract: &Contract, value: &Document) -> bool {
    // The first string that was filled in settles it: few answers are read any further.
    let mut strings = value.root().values().filter_map(Node::as_str);
    strings.all(|text| marks_place(text) || contract.spells_out(text))
        && has_place(contract, value.root())
}

/// Claims that a string in `root` marks a place, and is not listed by the contract for just that one.
fn has_place(contract: &Contract, root: Node<'_>) -> bool {
    let mut pending = vec![(root, Shape::of_root(contract))];
    while let Some((node, shape)) = pending.pop() {
        if node.as_str().is_some_and(marks_place) && !shape.lists(node) {
            return true;
        }
        pending.extend(node.members().map(|(key, member)| (member, shape.member(key))));
        pending.extend(node.items().map(|item| (item, shape.item())));
    }
    false
}

fn marks_place(text: &str) -> bool {
    let text = text.trim();
    let is_dots = text == "…" || text.len() >= 3 && text.bytes().all(|byte| byte == b'.');
    let name = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
    is_dots || text == "string" || name.is_some_and(|name| !name.contains(['<', '>', '/']))
}

/// Says what is wrong with a placeholder.
pub(super) fn violations() -> Violations {
    let message = "a placeholder amid other text is no answer".to_owned();
    Violations::from(Violation {
        pointer: Pointer::root(),
        keyword: "placeholder".to_owned(),
        masked: message.clone(),
        message,
    })
}
