//! Every group of processes that was started here and has not been ended.
//!
//! A group ends with its owner. A process that is killed has no time for its owners, so whoever
//! kills it ends all groups first, and all kin that left them: nothing that a model started may
//! outlive the run.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use process_wrap::tokio::ChildWrapper;
use rustix::process::{Pid, Signal, kill_process_group};

use super::kin::{self, Kin, SharedKin};

static ROSTER: Mutex<Roster> = Mutex::new(Roster::Open { groups: Vec::new(), kin: Vec::new() });

#[derive(Debug)]
enum Roster {
    Open {
        groups: Vec<Pid>,
        /// Of those families that are not over.
        kin: Vec<Weak<Mutex<Kin>>>,
    },
    /// All groups were ended for good: none may be added.
    Closed,
}

/// A place on the roster, which ends with its group.
#[derive(Debug)]
pub(super) struct Place(Pid);

impl Place {
    /// Returns the number of the group's leader.
    pub(super) fn leader(&self) -> Pid {
        self.0
    }
}

/// Starts the leader of a group and puts it on the roster, in one step: no group is overlooked.
pub(super) fn enlist(
    spawn: impl FnOnce() -> io::Result<Box<dyn ChildWrapper>>,
) -> io::Result<(Box<dyn ChildWrapper>, Place)> {
    let mut roster = roster();
    let Roster::Open { groups, .. } = &mut *roster else { return Err(closed()) };
    let leader = spawn()?;
    let id = leader.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let id = id.ok_or_else(|| io::Error::other("the process has no number"))?;
    groups.push(id);
    Ok((leader, Place(id)))
}

/// Puts kin on the roster, where it stays until it is dropped.
pub(super) fn enlist_kin(kin: &SharedKin) -> io::Result<()> {
    match &mut *roster() {
        Roster::Open { kin: all, .. } => {
            all.retain(|other| other.strong_count() > 0);
            all.push(Arc::downgrade(kin));
            Ok(())
        }
        Roster::Closed => Err(closed()),
    }
}

/// Kills every group that was started and not ended, with all kin, and lets no other start.
///
/// For a process that ends at once; any other leaves groups to their owners.
pub fn kill_groups() {
    let (groups, kin) = match std::mem::replace(&mut *roster(), Roster::Closed) {
        Roster::Open { groups, kin } => (groups, kin),
        Roster::Closed => return,
    };
    let kin: Vec<SharedKin> = kin.iter().filter_map(Weak::upgrade).collect();
    // Who descends from whom is only known while those between are alive.
    for kin in &kin {
        kin::lock(kin).remember();
    }
    for group in groups {
        // An error means that nobody is left.
        let _nobody_left = kill_process_group(group, Signal::KILL).is_err();
    }
    for kin in &kin {
        kin::lock(kin).kill();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Roster::Open { groups, .. } = &mut *roster() {
            groups.retain(|group| *group != self.0);
        }
    }
}

fn closed() -> io::Error {
    io::Error::other("the process is about to end")
}

fn roster() -> MutexGuard<'static, Roster> {
    ROSTER.lock().unwrap_or_else(PoisonError::into_inner)
}
