//! Calls that come in pieces, told apart by an index that some servers leave out or repeat.

use super::ARGUMENTS;
use crate::codec::Delta;
use crate::codec::fields::Fields;
use crate::codec::made_up::id_or_made_up;
use crate::codec::tree::Tree;

#[derive(Debug, Default)]
pub(super) struct ToolCalls(Vec<Pieces>);

/// One call, as far as it came.
#[derive(Debug)]
struct Pieces {
    /// The server's index.
    index: Option<u64>,
    id: Option<String>,
    name: String,
    told: Told,
}

/// Whether the call was told; it cannot be before its name is known.
#[derive(Debug)]
enum Told {
    Started,
    Waiting { arguments: String },
}

impl ToolCalls {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads a piece.
    pub(super) fn read(&mut self, piece: &Tree<'_>, deltas: &mut Vec<Delta>) {
        let at = self.find(piece).unwrap_or_else(|| {
            let told = Told::Waiting { arguments: String::new() };
            let index = piece.count("index");
            self.0.push(Pieces { index, id: None, name: String::new(), told });
            self.0.len() - 1
        });
        let Some(call) = self.0.get_mut(at) else { return };
        let function = piece.member("function");
        if let Some(id) = piece.words("id") {
            call.id.get_or_insert_with(|| id.to_owned());
        }
        if let (Told::Waiting { .. }, Some(name)) = (&call.told, function.words("name")) {
            name.clone_into(&mut call.name);
            call.start(at, deltas);
        }
        if let Some(text) = function.text(ARGUMENTS) {
            call.add(at, text.to_owned(), deltas);
        }
    }

    /// Tells the calls that never got a name.
    pub(super) fn close(&mut self, deltas: &mut Vec<Delta>) {
        for (at, call) in self.0.iter_mut().enumerate() {
            call.start(at, deltas);
        }
    }

    /// Finds the call that a piece continues.
    fn find(&self, piece: &Tree<'_>) -> Option<usize> {
        let id = piece.words("id");
        let index = piece.count("index");
        // Servers that give every call the index 0 give each its id.
        let is_other = |call: &Pieces| call.id.as_deref().zip(id).is_some_and(|(a, b)| a != b);
        let is_same = |call: &Pieces| !is_other(call) && (index.is_none() || call.index == index);
        let at = self.0.iter().rposition(is_same)?;
        // Without index and id, a name begins another call.
        let begins =
            id.is_none() && index.is_none() && piece.member("function").words("name").is_some();
        (!begins).then_some(at)
    }
}

impl Pieces {
    fn start(&mut self, at: usize, deltas: &mut Vec<Delta>) {
        let Told::Waiting { arguments } = std::mem::replace(&mut self.told, Told::Started) else {
            return;
        };
        let id = id_or_made_up(self.id.as_deref(), at);
        let name = self.name.clone();
        deltas.push(Delta::CallStarted { index: at, id, name, signature: None });
        self.add(at, arguments, deltas);
    }

    fn add(&mut self, at: usize, text: String, deltas: &mut Vec<Delta>) {
        if text.is_empty() {
            return;
        }
        match &mut self.told {
            Told::Started => deltas.push(Delta::CallArguments { index: at, text }),
            Told::Waiting { arguments } => arguments.push_str(&text),
        }
    }
}
