//! How it is told that a contract is not met which nothing may go on without, where there are many runs.

use crate::ledger::Books;
use crate::printer::{Printer, Span, Tone};

/// Says, as loudly as can be, that `lacking` runs by the critical contract `name` have no answer; none of
/// them is known if the work ended before.
pub(crate) fn cry(name: &str, lacking: u64, books: &Books, printer: &mut Printer) {
    let who = match lacking {
        0 => "not every input has an answer".to_owned(),
        1 => "1 input has no answer".to_owned(),
        many => format!("{many} inputs have no answer"),
    };
    let words = format!(" CRITICAL: the contract `{name}` is not met: {who}");
    printer.note(&[Span::new(Tone::Bad, "error:"), Span::plain(words)]);
    let command = books.command("runs review");
    let hint =
        format!(" nothing that needs these answers may go on: `{command}` has what was said");
    printer.note(&[Span::new(Tone::Good, "hint:"), Span::plain(hint)]);
}
