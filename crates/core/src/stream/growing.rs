//! The value so far, for showing it while it grows.
//!
//! An append-only tape like that of a [`Document`](crate::Document), and typed apart from it: what
//! is read here has not been judged and may end anywhere. Strings show as far as they have come;
//! numbers, words and keys only once they are complete, for half of one is another value.

use serde_json::Value;

use super::lexer::Listener;
use crate::json::{Kind, Number};
use crate::verdict::Violation;

/// A value that is still being said.
#[derive(Debug, Default)]
pub struct Growing {
    slots: Vec<Slot>,
    /// Every string, key and literal, one behind the other.
    text: String,
    /// Slots of what is open, from the outermost inward.
    open: Vec<u32>,
}

#[derive(Debug)]
struct Slot {
    kind: Kind,
    /// Where the text starts.
    start: u32,
    /// Where it ends; meaningless while open.
    end: u32,
    /// The slot behind this value and everything in it; 0 while open.
    next: u32,
}

/// A value within a [`Growing`] one.
#[derive(Debug, Clone, Copy)]
pub struct GrowingNode<'g> {
    growing: &'g Growing,
    index: u32,
}

impl Growing {
    /// Returns the outermost value, once it has begun to show.
    pub fn root(&self) -> Option<GrowingNode<'_>> {
        self.node(0)
    }

    /// Returns a copy of the value so far.
    pub fn to_value(&self) -> Option<Value> {
        self.root().map(GrowingNode::to_value)
    }

    fn node(&self, index: u32) -> Option<GrowingNode<'_>> {
        self.slots.get(index as usize).map(|_| GrowingNode { growing: self, index })
    }

    fn push(&mut self, kind: Kind) -> u32 {
        let index = narrow(self.slots.len());
        let start = narrow(self.text.len());
        self.slots.push(Slot { kind, start, end: start, next: 0 });
        index
    }

    fn begin_open(&mut self, kind: Kind) {
        let index = self.push(kind);
        self.open.push(index);
    }

    fn complete(&mut self, index: u32) {
        let (next, end) = (narrow(self.slots.len()), narrow(self.text.len()));
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.next = next;
            slot.end = end;
        }
    }

    fn end_open(&mut self) {
        if let Some(index) = self.open.pop() {
            self.complete(index);
        }
    }
}

/// Narrows an offset that the limits have bounded.
fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

impl Listener for Growing {
    fn begin(&mut self, kind: Kind) -> Result<(), Violation> {
        match kind {
            Kind::Null | Kind::Boolean | Kind::Number => {}
            Kind::String | Kind::Array | Kind::Object => self.begin_open(kind),
        }
        Ok(())
    }

    fn begin_key(&mut self) -> Result<(), Violation> {
        self.begin_open(Kind::String);
        Ok(())
    }

    fn text(&mut self, piece: &str) -> Result<(), (usize, Violation)> {
        self.text.push_str(piece);
        Ok(())
    }

    fn end_key(&mut self) -> Result<(), Violation> {
        self.end_open();
        Ok(())
    }

    fn literal(&mut self, literal: &str) -> Result<(), Violation> {
        let kind = match literal.as_bytes().first() {
            Some(b'n') => Kind::Null,
            Some(b't' | b'f') => Kind::Boolean,
            _ => Kind::Number,
        };
        let index = self.push(kind);
        self.text.push_str(literal);
        self.complete(index);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Violation> {
        self.end_open();
        Ok(())
    }
}

impl<'g> GrowingNode<'g> {
    fn slot(self) -> Option<&'g Slot> {
        self.growing.slots.get(self.index as usize)
    }

    /// Returns what this value is.
    pub fn kind(self) -> Kind {
        self.slot().map_or(Kind::Null, |slot| slot.kind)
    }

    /// Claims that nothing will be added to this value.
    pub fn is_complete(self) -> bool {
        self.slot().is_some_and(|slot| slot.next != 0)
    }

    /// Returns a string as far as it has come, or a number or word as written.
    pub fn text(self) -> &'g str {
        let text = &self.growing.text;
        let Some(slot) = self.slot() else {
            return "";
        };
        let end = if self.is_complete() { slot.end as usize } else { text.len() };
        match slot.kind {
            Kind::Array | Kind::Object => "",
            Kind::Null | Kind::Boolean | Kind::Number | Kind::String => {
                text.get(slot.start as usize..end).unwrap_or_default()
            }
        }
    }

    /// Returns an array's items so far; nothing for anything else.
    pub fn items(self) -> impl Iterator<Item = GrowingNode<'g>> + use<'g> {
        self.children_of(Kind::Array)
    }

    /// Returns an object's members so far, each once its value begins to show.
    pub fn members(self) -> impl Iterator<Item = (&'g str, GrowingNode<'g>)> + use<'g> {
        let mut children = self.children_of(Kind::Object);
        std::iter::from_fn(move || {
            let (key, value) = (children.next()?, children.next()?);
            Some((key.text(), value))
        })
    }

    fn children_of(self, kind: Kind) -> impl Iterator<Item = GrowingNode<'g>> + use<'g> {
        let growing = self.growing;
        let end = match self.slot() {
            Some(slot) if slot.kind != kind => 0,
            Some(slot) if slot.next != 0 => slot.next,
            _ => narrow(growing.slots.len()),
        };
        let mut index = self.index + 1;
        std::iter::from_fn(move || {
            let child = growing.node(index).filter(|_| index < end)?;
            index = child.slot().map_or(end, |slot| if slot.next == 0 { end } else { slot.next });
            Some(child)
        })
    }

    /// Returns a copy of the value so far.
    ///
    /// Recurses as deep as the value, which the reader has bounded.
    pub fn to_value(self) -> Value {
        match self.kind() {
            Kind::Null => Value::Null,
            Kind::Boolean => Value::Bool(self.text() == "true"),
            Kind::Number => Value::Number(Number::new(self.text()).to_machine()),
            Kind::String => Value::String(self.text().to_owned()),
            Kind::Array => self.items().map(Self::to_value).collect(),
            Kind::Object => {
                self.members().map(|(key, value)| (key.to_owned(), value.to_value())).collect()
            }
        }
    }
}
