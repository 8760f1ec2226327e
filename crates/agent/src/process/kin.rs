//! Everything that descends from one process, also what left its group.
//!
//! The tools of agent CLIs run in sessions of their own, so a signal to the group does not reach
//! them, and what they leave running outlives everybody. Kin is therefore looked for in the table of
//! processes: whatever has the family's mark in its environment, is in the leader's session, or was
//! started by kin. While the leader lives the table is looked at again and again, and this process
//! adopts orphans, so that a process without the mark is known by its parent before that is gone.
//!
//! By hand, because `process-wrap` knows groups and sessions alone, and what could hold kin for
//! good needs rights that a user seldom has: a cgroup a delegated tree, a pid namespace a user
//! namespace. Left out: a process that clears its environment and leaves the session, and whose
//! parents are all gone before the next look; and orphans that were dead before they were seen, which
//! stay in the table until this process ends, because they could be somebody else's children. Other
//! systems than Linux show no such table: there the group is all that is ended.

#[cfg(target_os = "linux")]
mod table;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal};

use table::{Life, Process, Reaped};

/// The variable that marks kin.
const MARK: &str = "AIRTIGHT_CHILD";

/// How often is looked again whether killed kin is gone, where nothing can be awaited: together with
/// the pause a tenth of a second.
const SWEEPS: usize = 50;

/// How long each of these looks waits for the one before.
const SWEEP_PAUSE: Duration = Duration::from_millis(2);

/// How often is looked for kin of a keeper that was killed before it told who leads: together with
/// the pause a fifth of a second. A process that was being started then holds the pipe that the guard
/// waits at, and shows its mark in the next moment.
const VIGIL: usize = 10;

/// How long each of these looks waits for the one before.
const VIGIL_PAUSE: Duration = Duration::from_millis(20);

/// Kin that its family and the roster share.
pub(super) type SharedKin = Arc<Mutex<Kin>>;

/// One process, whatever becomes of its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    pub(super) pid: Pid,
    /// In ticks since the machine started.
    started: u64,
}

/// The kin of one family.
#[derive(Debug)]
pub(super) struct Kin {
    mark: String,
    leader: Option<Identity>,
    /// Who was found and has not vanished, the leader included: when each was started, by number.
    known: HashMap<Pid, u64>,
}

/// What a look at kin shows; the leader is left out, if it is known.
#[derive(Debug)]
pub(super) struct Sight {
    /// Who lives.
    pub(super) living: Vec<Identity>,
    /// How many have ended and are still waited for.
    dying: usize,
}

impl Sight {
    /// Claims that nothing is left, not even a line in the table.
    pub(super) fn is_empty(&self) -> bool {
        self.living.is_empty() && self.dying == 0
    }
}

/// Locks kin; it is whole even if a thread has panicked meanwhile.
pub(super) fn lock(kin: &SharedKin) -> MutexGuard<'_, Kin> {
    kin.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.pid.as_raw_pid(), self.started)
    }
}

impl FromStr for Identity {
    type Err = io::Error;

    fn from_str(text: &str) -> io::Result<Self> {
        let unreadable = || io::Error::other("a number and a start are missing");
        let (pid, started) = text.trim().split_once(' ').ok_or_else(unreadable)?;
        let pid = pid.parse().ok().and_then(Pid::from_raw).ok_or_else(unreadable)?;
        Ok(Self { pid, started: started.parse().map_err(io::Error::other)? })
    }
}

impl Kin {
    /// Makes kin of nobody with a mark of its own; from now on this process adopts orphans.
    pub(super) fn new() -> io::Result<Self> {
        table::adopt_orphans()?;
        Ok(Self::marked(format!("{}-{:016x}", std::process::id(), fastrand::u64(..))))
    }

    /// Returns kin with this mark, of whom nobody is known.
    pub(super) fn marked(mark: String) -> Self {
        Self { mark, leader: None, known: HashMap::new() }
    }

    /// Returns the variable that the leader must be given.
    pub(super) fn variable(&self) -> (&'static str, &str) {
        (MARK, &self.mark)
    }

    /// Takes note of the leader, which must not have been waited for, and returns who it is.
    pub(super) fn find_leader(&mut self, leader: Pid) -> Option<Identity> {
        let leader = table::process(leader)?.identity;
        self.led_by(leader);
        Some(leader)
    }

    /// Takes note of a leader, who may be gone.
    pub(super) fn led_by(&mut self, leader: Identity) {
        self.leader = Some(leader);
        self.known.insert(leader.pid, leader.started);
    }

    /// Takes note of all kin there is.
    pub(super) fn remember(&mut self) {
        // Whoever must know says so later, when kin is ended.
        let _seen = self.look().is_ok();
    }

    /// Finds all kin, and lets go of those that this process adopted and that have ended.
    pub(super) fn look(&mut self) -> io::Result<Sight> {
        let table = table::read()?;
        self.find(&table);
        let us = rustix::process::getpid();
        let mut sight = Sight { living: Vec::new(), dying: 0 };
        // Somebody else waits for the leader.
        let is_other =
            |process: &&Process| Some(process.identity) != self.leader && self.holds(process);
        for process in table.iter().filter(is_other) {
            match process.life {
                Life::Living => sight.living.push(process.identity),
                // When its parent is gone, too, it is for us to let go of it, unless it may lead.
                Life::Over if process.parent != Some(us) || self.leader.is_none() => {
                    sight.dying += 1;
                }
                Life::Over => match table::reap(process.identity.pid) {
                    Reaped::Gone => {}
                    Reaped::Not => sight.living.push(process.identity),
                },
            }
        }
        Ok(sight)
    }

    /// Forgets who vanished and finds who joined.
    fn find(&mut self, table: &[Process]) {
        let numbers: HashMap<Pid, u64> = table.iter().map(Process::entry).collect();
        self.known.retain(|pid, started| numbers.get(pid) == Some(started));
        // No kin is older than the leader; that spares a look into most of the machine.
        let oldest = self.leader.map_or(0, |leader| leader.started);
        // Its number is nobody else's while its session lasts.
        let session = self.leader.map(|leader| leader.pid);
        let session =
            session.filter(|pid| !numbers.contains_key(pid) || self.known.contains_key(pid));
        let is_stranger =
            |process: &&Process| process.identity.started >= oldest && !self.holds(process);
        let strangers = table.iter().filter(is_stranger).collect();

        let mark = format!("{MARK}={}", self.mark);
        let mut strangers = self.join(strangers, |_, process| {
            // Nobody enters a session from outside.
            (session.is_some() && process.session == session)
                || table::has_variable(process.identity.pid, mark.as_bytes())
        });
        loop {
            let count = self.known.len();
            strangers = self.join(strangers, Self::has_parent_of);
            if self.known.len() == count {
                return;
            }
        }
    }

    /// Takes in those who are kin and returns the others.
    fn join<'t>(
        &mut self,
        strangers: Vec<&'t Process>,
        is_kin: impl Fn(&Self, &Process) -> bool,
    ) -> Vec<&'t Process> {
        let (kin, strangers): (Vec<_>, Vec<_>) =
            strangers.into_iter().partition(|process| is_kin(self, process));
        self.known.extend(kin.into_iter().map(Process::entry));
        strangers
    }

    fn has_parent_of(&self, process: &Process) -> bool {
        process.parent.is_some_and(|parent| self.known.contains_key(&parent))
    }

    fn holds(&self, process: &Process) -> bool {
        self.known.get(&process.identity.pid) == Some(&process.identity.started)
    }

    /// Kills all kin and its leader, for which somebody else was to wait.
    pub(super) fn kill_with_leader(&mut self) {
        // Who descends from whom is only known while those between are alive.
        self.remember();
        if let Some(leader) = self.leader {
            leader.signal(Signal::KILL);
        }
        self.kill();
    }

    /// Kills kin that may be about to come, for it has no leader yet.
    pub(super) fn kill_whoever_comes(&mut self) {
        for _ in 0..VIGIL {
            let Ok(sight) = self.look() else { return };
            sight.living.iter().for_each(|relative| relative.signal(Signal::KILL));
            thread::sleep(VIGIL_PAUSE);
        }
    }

    /// Kills all kin, without asking; returns when it is gone, or after a moment.
    ///
    /// For those who cannot await anything: who is dropped, and who ends the process.
    pub(super) fn kill(&mut self) {
        for _ in 0..SWEEPS {
            // Who cannot look cannot do more than end the group.
            let Ok(sight) = self.look() else { return };
            if sight.is_empty() {
                return;
            }
            sight.living.iter().for_each(|relative| relative.signal(Signal::KILL));
            thread::sleep(SWEEP_PAUSE);
        }
    }
}

impl Process {
    /// Returns the process as it is remembered.
    fn entry(&self) -> (Pid, u64) {
        (self.identity.pid, self.identity.started)
    }
}

impl Identity {
    /// Sends `signal` to this process and, whatever becomes of its number, to no other.
    pub(super) fn signal(self, signal: Signal) {
        // Who is gone, or belongs to somebody else, is found again or not at the next look.
        let _sent = table::signal(self, signal).is_ok();
    }
}

#[cfg(not(target_os = "linux"))]
mod table {
    //! Other systems show no table of processes in files.

    use std::io;

    use rustix::process::{Pid, Signal};

    use super::Identity;

    pub(super) struct Process {
        pub(super) identity: Identity,
        pub(super) parent: Option<Pid>,
        pub(super) session: Option<Pid>,
        pub(super) life: Life,
    }

    pub(super) enum Life {
        Living,
        #[expect(dead_code, reason = "nobody in the table has ended")]
        Over,
    }

    pub(super) fn adopt_orphans() -> io::Result<()> {
        Ok(())
    }

    pub(super) fn read() -> io::Result<Vec<Process>> {
        Ok(Vec::new())
    }

    pub(super) fn process(pid: Pid) -> Option<Process> {
        let identity = Identity { pid, started: 0 };
        Some(Process { identity, parent: None, session: None, life: Life::Living })
    }

    pub(super) fn has_variable(_pid: Pid, _variable: &[u8]) -> bool {
        false
    }

    pub(super) fn signal(_identity: Identity, _signal: Signal) -> io::Result<()> {
        Ok(())
    }

    pub(super) enum Reaped {
        Gone,
        #[expect(dead_code, reason = "nobody is adopted")]
        Not,
    }

    pub(super) fn reap(_pid: Pid) -> Reaped {
        Reaped::Gone
    }
}
