//! Every group of processes that was started here and has not been ended.
//!
//! A group ends with its owner. A process that is killed has no time for its owners, so whoever
//! kills it ends all groups first: nothing that a model started may outlive the run.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use process_wrap::tokio::ChildWrapper;
use rustix::process::{Pid, Signal, kill_process_group};

static ROSTER: Mutex<Roster> = Mutex::new(Roster::Open(Vec::new()));

#[derive(Debug)]
enum Roster {
    Open(Vec<Pid>),
    /// All groups were ended for good: none may be added.
    Closed,
}

/// A place on the roster, which ends with its group.
#[derive(Debug)]
pub(super) struct Place(Option<Pid>);

/// Starts the leader of a group and puts it on the roster, in one step: no group is overlooked.
pub(super) fn enlist(
    spawn: impl FnOnce() -> io::Result<Box<dyn ChildWrapper>>,
) -> io::Result<(Box<dyn ChildWrapper>, Place)> {
    let mut roster = roster();
    let Roster::Open(groups) = &mut *roster else {
        return Err(io::Error::other("the process is about to end"));
    };
    let leader = spawn()?;
    let id = leader.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    groups.extend(id);
    Ok((leader, Place(id)))
}

/// Kills every group that was started and not ended, and lets no other start.
///
/// For a process that ends at once; any other leaves groups to their owners.
pub fn kill_groups() {
    let groups = match std::mem::replace(&mut *roster(), Roster::Closed) {
        Roster::Open(groups) => groups,
        Roster::Closed => Vec::new(),
    };
    for group in groups {
        // An error means that nobody is left.
        let _nobody_left = kill_process_group(group, Signal::KILL).is_err();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Roster::Open(groups) = &mut *roster() {
            groups.retain(|group| Some(*group) != self.0);
        }
    }
}

fn roster() -> MutexGuard<'static, Roster> {
    ROSTER.lock().unwrap_or_else(PoisonError::into_inner)
}
