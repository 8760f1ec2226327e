//! A process that ends a family whose keeper was killed.
//!
//! Who is killed ends nobody. So while there is a family a second process, this program again, waits
//! for the end of a pipe that the keeper holds: whatever is left of the family then is killed. The
//! keeper dismisses it when the family is gone.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::Pid;

use super::kin::Kin;

/// The first argument of the guard, which the program looks for before anything else.
pub const GUARD_ARGUMENT: &str = "__guard";

/// Guards that were killed and may not be dead yet: a run does not wait for that.
static DISMISSED: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// A guard at its post. Not by tokio, which would lose one that starts and cannot be watched, and
/// its pipe with it: that guard would do its work.
#[derive(Debug)]
pub(super) struct Guard(Option<Child>);

impl Drop for Guard {
    fn drop(&mut self) {
        let mut dismissed = DISMISSED.lock().unwrap_or_else(PoisonError::into_inner);
        dismissed.retain_mut(|guard| matches!(guard.try_wait(), Ok(None)));
        let Some(mut guard) = self.0.take() else { return };
        // Before its pipe closes, so that it does nothing; it is ours until it is waited for.
        let _gone = guard.kill().is_err();
        dismissed.push(guard);
    }
}

impl Guard {
    /// Starts `helper`, a program that calls [`guard_family`], for kin with this mark and leader.
    pub(super) fn post(helper: &Path, leader: Pid, mark: &str) -> io::Result<Self> {
        Command::new(helper)
            .args([GUARD_ARGUMENT, &leader.as_raw_pid().to_string(), mark])
            .env_clear()
            .current_dir("/")
            // Dropped with the keeper, however that ends.
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // What is typed in the terminal is for the keeper.
            .process_group(0)
            .spawn()
            .map(|guard| Self(Some(guard)))
    }
}

/// Waits for the end of stdin, and kills whoever is left of a family.
///
/// `arguments` is what follows [`GUARD_ARGUMENT`].
pub fn guard_family(arguments: impl IntoIterator<Item = OsString>) -> io::Result<()> {
    let unreadable = || io::Error::other(format!("{GUARD_ARGUMENT}: leader and mark are missing"));
    let mut arguments = arguments.into_iter().map(OsString::into_string);
    let leader = arguments.next().and_then(|leader| Pid::from_raw(leader.ok()?.parse().ok()?));
    let mark = arguments.next().and_then(Result::ok);
    let (leader, mark) = leader.zip(mark).ok_or_else(unreadable)?;
    let mut kin = Kin::marked(mark);
    kin.led_by(leader);
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    kin.kill_with_leader();
    Ok(())
}
