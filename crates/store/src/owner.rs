//! Who is at a run: a process, and whether it still lives.
//!
//! On the same machine the kernel is asked; for others, a heartbeat in the ledger speaks, which every
//! process that lives for a while leaves there.

use std::fmt;
use std::fs;

/// How often a process says that it lives.
pub(crate) const HEARTBEAT_SECONDS: u64 = 10;

/// Who has not been heard of for so long is dead: three heartbeats.
pub(crate) const SILENCE_MS: i64 = 30_000;

/// One process, for as long as it has this ledger open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    /// The machine and the space in which its process ids mean something.
    host: String,
    pid: u32,
    /// When the process began, in the kernel's ticks; 0 if nobody knows.
    born: u64,
    /// Tells apart ledgers that one process opens.
    nonce: u64,
}

/// Whether somebody lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Alive,
    Dead,
    /// Another machine's: its heartbeat must say.
    Elsewhere,
}

impl Owner {
    /// Returns this process.
    pub(crate) fn this() -> Self {
        let pid = std::process::id();
        Self { host: host(), pid, born: born(pid).unwrap_or(0), nonce: fastrand::u64(..) }
    }

    /// Reads what [`Display`](fmt::Display) wrote.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.rsplitn(4, '/');
        let nonce = u64::from_str_radix(parts.next()?, 16).ok()?;
        let born = parts.next()?.parse().ok()?;
        let pid = parts.next()?.parse().ok()?;
        Some(Self { host: parts.next()?.to_owned(), pid, born, nonce })
    }

    /// Says whether the owner `text` lives, as far as this process can see.
    pub(crate) fn life_of(&self, text: &str) -> Life {
        match Self::parse(text) {
            Some(other) if other.host == self.host => {
                let lives = match born(other.pid) {
                    None => false,
                    Some(born) => born == other.born || born == 0 || other.born == 0,
                };
                if lives { Life::Alive } else { Life::Dead }
            }
            // Nobody's, as postponed runs are.
            _ if text.is_empty() => Life::Dead,
            _ => Life::Elsewhere,
        }
    }

    /// Returns the owner `text` in words.
    pub(crate) fn shown(text: &str) -> String {
        Self::parse(text).map_or_else(
            || text.to_owned(),
            |owner| {
                let host = owner.host.split(':').next().unwrap_or_default();
                format!("process {} on {host}", owner.pid)
            },
        )
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}/{}/{:x}", self.host, self.pid, self.born, self.nonce)
    }
}

/// Returns the name of the machine, its boot, and the space of process ids.
fn host() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let boot = boot.split('-').next().unwrap_or_default().trim().to_owned();
    let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let space: String = space.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    format!("{}:{boot}:{space}", name.replace([':', '/', '\0'], "-"))
}

/// Returns when the process `pid` began, in ticks since the boot, 0 if that is not known; `None` if there is no such process.
#[cfg(target_os = "linux")]
fn born(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in parentheses, may hold anything; the start is the 20th word after.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace();
    // A zombie has ended, whoever has not looked at it yet.
    if matches!(words.next(), Some("Z" | "X")) {
        return None;
    }
    Some(words.nth(18).and_then(|word| word.parse().ok()).unwrap_or(0))
}

#[cfg(not(target_os = "linux"))]
fn born(pid: u32) -> Option<u64> {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)?;
    match rustix::process::test_kill_process(pid) {
        Ok(()) | Err(rustix::io::Errno::PERM) => Some(0),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_reads_itself_back() {
        let owner = Owner::this();
        assert_eq!(Owner::parse(&owner.to_string()), Some(owner.clone()));
        assert_eq!(owner.life_of(&owner.to_string()), Life::Alive);
    }

    #[test]
    fn a_process_that_ended_is_dead_and_so_is_the_one_before_it() {
        let owner = Owner::this();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let gone = Owner { pid: child.id(), ..owner.clone() };
        child.wait().unwrap();
        assert_eq!(owner.life_of(&gone.to_string()), Life::Dead);
        let earlier = Owner { born: owner.born + 1, ..owner.clone() };
        assert_eq!(owner.life_of(&earlier.to_string()), Life::Dead);
    }

    #[test]
    fn another_machine_must_speak_for_itself() {
        let owner = Owner::this();
        let other = Owner { host: "elsewhere:1:2".to_owned(), ..owner.clone() };
        assert_eq!(owner.life_of(&other.to_string()), Life::Elsewhere);
        assert_eq!(Owner::shown(&other.to_string()), format!("process {} on elsewhere", owner.pid));
        assert_eq!(owner.life_of(""), Life::Dead);
    }
}
