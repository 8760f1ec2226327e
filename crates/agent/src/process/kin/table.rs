//! The table of processes, as Linux shows it in `/proc`.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, pidfd_open, pidfd_send_signal,
    set_child_subreaper, waitpid,
};

use super::Identity;

/// The most that is read of an environment: Linux starts no program with more than 6 MiB of arguments
/// and variables.
const ENVIRONMENT_LIMIT_BYTES: u64 = 6 * 1024 * 1024;

/// More than a line can have: fifty numbers, and a name of at most 64 bytes.
const LINE_LIMIT_BYTES: usize = 2048;

/// How many fields there are between the session and the start of a process.
const FIELDS_BETWEEN: usize = 15;

/// One line of the table.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) identity: Identity,
    pub(super) parent: Option<Pid>,
    pub(super) session: Option<Pid>,
    pub(super) life: Life,
}

/// Whether a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// It runs, or could.
    Living,
    /// It has ended, and its parent has not asked how.
    Over,
}

/// Makes this process the parent of all orphans among its descendants.
pub(super) fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Reads the whole table.
pub(super) fn read() -> io::Result<Vec<Process>> {
    // In the table of another namespace the same numbers are other processes.
    if fs::read_link("/proc/self")? != Path::new(&std::process::id().to_string()) {
        return Err(io::Error::other("/proc is that of another process namespace"));
    }
    let mut table = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        table.extend(name.to_str().and_then(number).and_then(process));
    }
    Ok(table)
}

/// Reads one line; none if there is no such process.
pub(super) fn process(pid: Pid) -> Option<Process> {
    let mut line = [0; LINE_LIMIT_BYTES];
    // Linux writes the whole line at the first read. Asking how long it is, and whether there is more, makes
    // eight calls of three, for every process of the machine.
    let file = File::open(format!("/proc/{pid}/stat")).ok()?;
    let length = retry_on_intr(|| rustix::io::read(&file, &mut line)).ok()?;
    parse(pid, &String::from_utf8_lossy(line.get(..length)?))
}

fn parse(pid: Pid, line: &str) -> Option<Process> {
    // The name of the program stands in parentheses and may hold anything, parentheses too.
    let (_, fields) = line.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let life = match fields.next()? {
        "Z" | "X" => Life::Over,
        _ => Life::Living,
    };
    let parent = fields.next().and_then(number);
    let _group = fields.next()?;
    let session = fields.next().and_then(number);
    let started = fields.nth(FIELDS_BETWEEN)?.parse().ok()?;
    Some(Process { identity: Identity { pid, started }, parent, session, life })
}

/// Claims that a process was started with this variable, given as `NAME=value`.
///
/// Nobody may look into processes of other users; those are not ours.
pub(super) fn has_variable(pid: Pid, variable: &[u8]) -> bool {
    let Ok(environment) = File::open(format!("/proc/{pid}/environ")) else { return false };
    let mut variables = Vec::new();
    // What was read before an error counts.
    let _whole = environment.take(ENVIRONMENT_LIMIT_BYTES).read_to_end(&mut variables).is_ok();
    variables.split(|byte| *byte == 0).any(|other| other == variable)
}

/// Sends `signal` to this process and, whatever becomes of its number, to no other.
pub(super) fn signal(identity: Identity, signal: Signal) -> io::Result<()> {
    // The handle is of one process for good, and of the right one if that is still there.
    let handle = pidfd_open(identity.pid, PidfdFlags::empty())?;
    if process(identity.pid).is_some_and(|now| now.identity == identity) {
        pidfd_send_signal(handle, signal)?;
    }
    Ok(())
}

/// What became of an adopted process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reaped {
    /// It is gone for good.
    Gone,
    /// Only its first thread has ended.
    Not,
}

/// Lets go of an adopted process that has ended.
pub(super) fn reap(pid: Pid) -> Reaped {
    match waitpid(Some(pid), WaitOptions::NOHANG) {
        Ok(None) => Reaped::Not,
        // Who is not our child any more is gone as well.
        Ok(Some(_)) | Err(_) => Reaped::Gone,
    }
}

fn number(text: &str) -> Option<Pid> {
    let number: u32 = text.parse().ok()?;
    Pid::from_raw(i32::try_from(number).ok()?)
}

#[cfg(test)]
mod tests {
    use rustix::process::getppid;

    use super::*;

    #[test]
    fn a_name_passes_for_nothing_but_a_name() {
        let line = "7 (a) Z 1 (b) S 3 4 5 0 -1 6 7 8 9 10 11 12 13 14 15 16 17 0 1234 18 19\n";
        let process = parse(getpid(), line).unwrap();
        assert_eq!((process.parent, process.session), (number("3"), number("5")));
        assert_eq!((process.life, process.identity.started), (Life::Living, 1234));
    }

    #[test]
    fn this_process_is_in_the_table() {
        let table = read().unwrap();
        let us = table.iter().find(|process| process.identity.pid == getpid()).unwrap();
        assert_eq!((us.parent, us.life), (getppid(), Life::Living));
    }
}
