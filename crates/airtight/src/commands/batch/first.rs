//! The first input, waited for before anything is touched: without one there is nothing to do.

use std::thread;

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::inputs::Inputs;
use crate::batch::Stop;
use crate::error::{Error, Outcome};

/// Waits for the first of `inputs`, and refuses to go on without one; `named` is what was typed.
pub(super) async fn wait(
    mut inputs: Inputs,
    named: &[String],
    interrupt: &CancellationToken,
) -> Result<Inputs, Error> {
    let (sender, receiver) = oneshot::channel();
    // On a thread of its own: a pipe makes its reader wait, and an interrupt does not.
    thread::spawn(move || {
        let is_there = inputs.fill();
        drop(sender.send((inputs, is_there)));
    });
    let read = tokio::select! {
        () = interrupt.cancelled() => return Err(Stop::Interrupted.into_error("")),
        read = receiver => read,
    };
    match read {
        Ok((inputs, true)) => Ok(inputs),
        Ok((_, false)) => Err(missing(named)),
        Err(error) => {
            Err(Error::new(Outcome::Machine, "the inputs cannot be read").caused_by(error))
        }
    }
}

fn missing(named: &[String]) -> Error {
    let message = match named {
        [one] if one == "-" => "there is no input: nothing came from stdin".to_owned(),
        [one] => format!("there is no input: nothing is in `{one}`"),
        _ => format!("there is no input: nothing is in any of the {} places named", named.len()),
    };
    Error::new(Outcome::Input, message)
        .hint("an input is a line of JSON, a row below the header of a table, or a file")
        .hint("of a folder, only files count that are directly in it and begin with no dot")
}
