//! What is told of runs whose end nobody planned.

use std::time::Instant;

use airtight_agent::{Event, Observer as _};
use airtight_core::codec::{Reply, Usage};
use airtight_core::run::{EventKind, Words};
use tokio_util::sync::CancellationToken;

use super::{Manner, Output, Pieces, Raw};
use crate::cli::OutputFormat;
use crate::error::{Error, Outcome};
use crate::printer::Printer;

#[test]
fn a_run_that_we_fail_to_end_tells_what_it_used_so_far() {
    let mut printer = Printer::new();
    let manner = Manner { format: OutputFormat::Json, pieces: Pieces::LeftOut, raw: Raw::Kept };
    let interrupt = CancellationToken::new();
    let mut output = Output::new(&mut printer, "session", Instant::now(), manner, interrupt);
    let usage = Usage { input_tokens: Some(7), output_tokens: Some(3), ..Usage::default() };
    let reply = Box::new(Reply { usage, ..Reply::default() });
    let kind = EventKind::Said { reply, text: Words::Prose };
    for parent_call_id in [None, Some("call".to_owned())] {
        output.event(&Event { seq: 0, at_ms: 0, parent_call_id, kind: kind.clone() });
    }
    let result = output.refusal(&Error::new(Outcome::Machine, "a mistake"));
    assert_eq!((result.num_turns, result.usage.total_tokens), (1, Some(20)));
    assert_eq!(result.total_cost_usd, None);
}
