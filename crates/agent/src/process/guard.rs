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

use rustix::process::Pid;

use super::kin::Kin;

/// The first argument of the guard, which the program looks for before anything else.
pub const GUARD_ARGUMENT: &str = "__guard";

/// A guard at its post.
#[derive(Debug)]
pub(super) struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        // It is ours until it is waited for, and takes no time to die.
        let _gone = self.0.kill().and_then(|()| self.0.wait()).is_ok();
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
            .map(Self)
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
