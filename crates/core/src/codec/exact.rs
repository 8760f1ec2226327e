//! Arguments that come as JSON inside an event, as they are written there.

use crate::json::{Document, Pointer};

/// Returns the text of the value at `pointer`: a number must not change on its way through a
/// float, and a repeated key must not vanish.
pub(super) fn text_at(event: &str, pointer: &str) -> Option<String> {
    let document = Document::parse(event).ok()?;
    let node = document.at(&Pointer::from(pointer))?;
    Some(node.raw().to_owned())
}
