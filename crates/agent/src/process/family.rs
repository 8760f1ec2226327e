//! A command that is gone with everything that descends from it, wherever that went.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::Signal;
use tokio::process::Command;
use tokio::time::Instant;

use super::guard::Guard;
use super::kin::{Identity, Kin, SharedKin, Sight, lock};
use super::{DEATH, GRACE, Group, roster};

/// How often is looked whether kin that was told to end has ended.
const LOOK: Duration = Duration::from_millis(20);

/// A group and its kin, which die with it.
#[derive(Debug)]
pub(crate) struct Family {
    group: Group,
    /// Absent once all of it is gone.
    kin: Option<SharedKin>,
    /// Ends it if this process is killed; dismissed last.
    _guard: Option<Guard>,
}

/// Who outlived the leader of a family.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Remains {
    /// How many there were.
    pub(crate) outlived: usize,
    /// The numbers of those that could not be ended.
    pub(crate) left: Vec<i32>,
}

impl Drop for Family {
    fn drop(&mut self) {
        let Some(kin) = &self.kin else { return };
        let mut kin = lock(kin);
        // Who descends from whom is only known while those between are alive.
        kin.remember();
        self.group.signal(Signal::KILL);
        kin.kill();
    }
}

impl Family {
    /// Starts `command`, with a variable that marks its kin, as the leader of a session of its own;
    /// `helper`, a program that calls [`guard_family`](super::guard_family), ends it if this process
    /// is killed.
    pub(crate) fn spawn(mut command: Command, helper: Option<&Path>) -> io::Result<Self> {
        let kin = Kin::new()?;
        let (name, mark) = kin.variable();
        command.env(name, mark);
        // The job can be done all the same.
        let unguarded = |error: io::Error| {
            tracing::warn!(%error, "nobody ends the program if this process is killed");
        };
        let posted = helper.map(|helper| Guard::post(helper, mark));
        let mut guard = posted.and_then(|posted| posted.map_err(unguarded).ok());
        let kin = Arc::new(Mutex::new(kin));
        // Before there is any: whoever ends the process overlooks none.
        roster::enlist_kin(&kin)?;
        let group = Group::spawn(command)?;
        let leader = group.leader().and_then(|leader| lock(&kin).find_leader(leader));
        if let Some((guard, leader)) = guard.as_mut().zip(leader) {
            guard.tell(leader).unwrap_or_else(unguarded);
        }
        Ok(Self { group, kin: Some(kin), _guard: guard })
    }

    /// Takes note of all kin there is; to be called now and then.
    pub(crate) fn remember(&self) {
        if let Some(kin) = &self.kin {
            lock(kin).remember();
        }
    }

    /// Waits for the leader to exit.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.group.wait().await
    }

    /// Returns how the leader ended, if it has.
    pub(crate) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.group.child.try_wait()
    }

    /// Asks the group to end; if its leader does not, ends it.
    pub(crate) async fn stop(&mut self) -> io::Result<ExitStatus> {
        self.remember();
        self.group.signal(Signal::TERM);
        match tokio::time::timeout(GRACE, self.group.wait()).await {
            Ok(status) => status,
            Err(_) => self.group.end().await,
        }
    }

    /// Ends the group without asking.
    pub(crate) async fn end(&mut self) -> io::Result<ExitStatus> {
        self.remember();
        self.group.end().await
    }

    /// Ends whoever is left now that the leader is gone: asks, waits, kills.
    pub(crate) async fn settle(&mut self) -> io::Result<Remains> {
        let Some(kin) = self.kin.clone() else { return Ok(Remains::default()) };
        let sight = lock(&kin).look();
        // A leader that even a kill did not end is not for us to reap with the rest.
        if let Ok(Some(_)) = self.try_wait() {
            self.group.stop_rest().await;
        }
        let mut outlived: HashSet<Identity> = sight?.living.into_iter().collect();
        let mut sight = tell(&kin, Signal::TERM, GRACE, &mut outlived).await?;
        if !sight.is_empty() {
            sight = tell(&kin, Signal::KILL, DEATH, &mut outlived).await?;
        }
        if sight.is_empty() {
            self.kin = None;
        }
        let left = sight.living.iter().map(|relative| relative.pid.as_raw_pid()).collect();
        Ok(Remains { outlived: outlived.len(), left })
    }
}

/// Sends `signal` to everybody once and waits for all to be gone; returns what is left.
async fn tell(
    kin: &SharedKin,
    signal: Signal,
    patience: Duration,
    outlived: &mut HashSet<Identity>,
) -> io::Result<Sight> {
    let until = Instant::now() + patience;
    let mut told = HashSet::new();
    loop {
        let sight = lock(kin).look()?;
        for relative in sight.living.iter().filter(|relative| told.insert(**relative)) {
            outlived.insert(*relative);
            relative.signal(signal);
        }
        if sight.is_empty() || Instant::now() >= until {
            return Ok(sight);
        }
        tokio::time::sleep(LOOK).await;
    }
}
