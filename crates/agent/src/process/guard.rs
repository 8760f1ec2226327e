//! A process that ends a family whose keeper was killed.
//!
//! Who is killed ends nobody. So before there is a family a second process, this program again, is
//! started and waits for the end of a pipe that the keeper holds: whatever is left of the family then
//! is killed. The keeper tells it who leads the family, and dismisses it when that is gone.

use std::ffi::OsString;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use super::kin::{Identity, Kin};

/// The first argument of the guard, which the program looks for before anything else.
pub const GUARD_ARGUMENT: &str = "__guard";

/// How long the line that tells the leader may be: two numbers.
const LINE_LIMIT_BYTES: u64 = 64;

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
    /// Starts `helper`, a program that calls [`guard_family`], for kin with this mark. Before there
    /// is any, so that none is ever without.
    pub(super) fn post(helper: &Path, mark: &str) -> io::Result<Self> {
        Command::new(helper)
            .args([GUARD_ARGUMENT, mark])
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

    /// Tells who leads the family.
    pub(super) fn tell(&mut self, leader: Identity) -> io::Result<()> {
        let Some(pipe) = self.0.as_mut().and_then(|guard| guard.stdin.as_mut()) else {
            return Ok(());
        };
        pipe.write_all(format!("{leader}\n").as_bytes())
    }
}

/// Waits for the end of stdin, which begins with who leads the family, and kills whoever is left of
/// it.
///
/// `arguments` is what follows [`GUARD_ARGUMENT`]: the mark.
pub fn guard_family(arguments: impl IntoIterator<Item = OsString>) -> io::Result<()> {
    let unreadable = || io::Error::other(format!("{GUARD_ARGUMENT}: the mark is missing"));
    let mark = arguments.into_iter().next().and_then(|mark| mark.into_string().ok());
    let mut kin = Kin::marked(mark.ok_or_else(unreadable)?);
    let mut stdin = io::stdin().lock();
    let mut told = String::new();
    stdin.by_ref().take(LINE_LIMIT_BYTES).read_line(&mut told)?;
    match told.parse() {
        Ok(leader) => {
            kin.led_by(leader);
            io::copy(&mut stdin, &mut io::sink())?;
            kin.kill_with_leader();
        }
        // Killed while it started the leader, or just before or after.
        Err(_) => kin.kill_whoever_comes(),
    }
    Ok(())
}
