//! How many files the server may have open: a request under way needs a connection to its client and one
//! to its provider, and most systems start programs with room for 1,024.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Takes all the room that the system allows. Where it does not, connections wait to be accepted.
pub(super) fn make_room() {
    let now = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: now.maximum, ..now };
    if let Err(error) = setrlimit(Resource::Nofile, wanted) {
        tracing::warn!(%error, "the limit on open files stays as it is");
    }
}
