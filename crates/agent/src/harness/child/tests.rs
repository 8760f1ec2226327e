//! A stand-in for agent CLIs does what the real ones were seen to do, and worse.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use airtight_fake::{Deed, Matter, Sink, Variables};
use tempfile::TempDir;

use super::{Deadlines, Ended, Heard, Launch, StartError, attend};

mod bytes;
mod ends;
mod kin;
mod starts;

const LONG: Duration = Duration::from_mins(1);

/// Nobody waits for these to pass but the tests in which they do.
const PATIENT: Deadlines = Deadlines { first_line: LONG, idle: LONG, total: LONG, exit: LONG };

/// What passes while a program does nothing.
const SOON: Duration = Duration::from_millis(200);

/// A folder to work in, and what was heard there.
struct Scene {
    folder: TempDir,
    heard: Vec<u8>,
}

impl Scene {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), heard: Vec::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn launch(&self, deeds: &[Deed]) -> Launch {
        launch(self.folder.path(), deeds)
    }

    /// Plays `deeds` to the end; `done` on a line of its own concludes, and once anything is heard there
    /// is a file `go`.
    async fn play(&mut self, deeds: &[Deed], deadlines: &Deadlines) -> Ended {
        self.attend(self.launch(deeds), deadlines).await.unwrap()
    }

    async fn attend(&mut self, launch: Launch, deadlines: &Deadlines) -> Result<Ended, StartError> {
        let (heard, go) = (&mut self.heard, self.folder.path().join("go"));
        let mut listen = |bytes: &[u8]| {
            heard.extend_from_slice(bytes);
            fs::write(&go, "").unwrap();
            if heard.ends_with(b"done\n") { Heard::Concluded } else { Heard::More }
        };
        attend(launch, deadlines, &mut listen, std::future::pending()).await
    }

    fn heard(&self) -> &str {
        std::str::from_utf8(&self.heard).unwrap()
    }

    /// Fails if the process whose number is in this file, or anything that it was, is still there.
    fn assert_gone(&self, name: &str) {
        let pid = fs::read_to_string(self.path(name)).unwrap();
        assert!(!Path::new("/proc").join(&pid).exists(), "{pid} is still there");
    }
}

fn launch(folder: &Path, deeds: &[Deed]) -> Launch {
    Launch {
        program: standin(),
        arguments: vec!["--deeds".into(), serde_json::to_string(deeds).unwrap().into()],
        environment: Vec::new(),
        folder: folder.to_owned(),
        input: Vec::new(),
        guard: None,
        seat: None,
    }
}

/// Examples lie beside the folder of the tests.
fn standin() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples/standin")
}

fn say(text: &str) -> Deed {
    Deed::Say { text: text.to_owned() }
}

fn exit(code: u8) -> Deed {
    Deed::Exit { code }
}

/// Writes the number of the process to a file.
fn note(path: &str) -> Deed {
    Deed::Note { what: Matter::Pid, path: path.into() }
}

fn wait_for(path: &str) -> Deed {
    Deed::Await { path: path.into() }
}

fn ignore_term() -> Deed {
    Deed::CatchTerm { say: String::new(), exit: None }
}

fn start(variables: Variables, deeds: &[Deed]) -> Deed {
    Deed::Start { deeds: deeds.to_vec(), variables }
}
