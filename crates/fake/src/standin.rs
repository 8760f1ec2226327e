//! A program by script: stands in for an agent CLI and misbehaves as told.
//!
//! Its deeds are in its arguments (`--deeds JSON`) or, so that it can stand in for a program with
//! arguments of its own, in a file beside it: `claude.json` beside `claude`, which may be a link.

mod term;

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _, Write};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process, setsid};
use serde::{Deserialize, Serialize};

/// The argument before the deeds.
const DEEDS_ARGUMENT: &str = "--deeds";

/// The exit code of a script that cannot be played: `EX_SOFTWARE`, which no agent CLI uses.
const BROKEN: u8 = 70;

/// How often is looked for a file that is awaited.
const GLANCE: Duration = Duration::from_millis(5);

/// One write of a flood.
const FLOOD_BYTES: usize = 64 * 1024;

/// One thing that the stand-in does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Deed {
    /// Writes a text to stdout as it is; a line needs its end.
    Say {
        /// The text.
        text: String,
    },
    /// Writes bytes to stdout that need not be text.
    Bytes {
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Writes a text to stderr as it is.
    Warn {
        /// The text.
        text: String,
    },
    /// Writes so many letters, in one line without an end.
    Flood {
        /// Where to.
        sink: Sink,
        /// How many.
        bytes: u64,
    },
    /// Makes stdout, which must be a file, as long as this without writing anything.
    Stretch {
        /// How long.
        bytes: u64,
    },
    /// Writes what it knows to a file, which is there only when it is whole.
    Note {
        /// What.
        what: Matter,
        /// Where to, from the folder it works in.
        path: PathBuf,
    },
    /// Writes a text to the file that an argument names: the last one of the form `FLAG=FILE`.
    Leave {
        /// The flag.
        flag: String,
        /// The text.
        text: String,
    },
    /// Waits for a file.
    Await {
        /// Which.
        path: PathBuf,
    },
    /// Waits.
    Pause {
        /// How long.
        ms: u64,
    },
    /// Does nothing for ever.
    Stall,
    /// Writes one letter after the other to stdout for ever.
    Drip {
        /// How long to wait between two.
        every_ms: u64,
    },
    /// Is not ended by `SIGTERM` any more.
    CatchTerm {
        /// What it then says on stdout.
        say: String,
        /// The code it then exits with; without one it goes on.
        exit: Option<u8>,
    },
    /// Becomes the leader of a session of its own, out of reach of signals to its old group.
    LeaveSession,
    /// Starts itself once more, for other deeds and with the same streams, and does not wait for it.
    Start {
        /// What that one does.
        deeds: Vec<Self>,
        /// What it is given of the environment.
        variables: Variables,
    },
    /// Exits.
    Exit {
        /// The code.
        code: u8,
    },
    /// Ends itself by a signal.
    Die {
        /// Its number.
        signal: i32,
    },
}

/// A stream to write to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sink {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What the stand-in knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Matter {
    /// Its process number.
    Pid,
    /// Its arguments, one on a line.
    Arguments,
    /// Its environment, one variable on a line, sorted.
    Environment,
    /// All that it reads on stdin.
    Input,
}

/// What is handed down of the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variables {
    /// Everything.
    Kept,
    /// Nothing.
    Cleared,
}

/// Plays the script that the arguments of a program lead to; returns what it exits with.
pub fn perform(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let played = read(&arguments).and_then(|deeds| play(&deeds, &arguments));
    played.unwrap_or_else(|error| {
        // Nobody is left to tell when stderr is closed.
        let _told = writeln!(io::stderr(), "stand-in: {error}").is_ok();
        ExitCode::from(BROKEN)
    })
}

fn read(arguments: &[OsString]) -> io::Result<Vec<Deed>> {
    let script = match arguments {
        [_, flag, deeds, ..] if flag == DEEDS_ARGUMENT => deeds.to_string_lossy().into_owned(),
        [program, ..] => fs::read_to_string(Path::new(program).with_extension("json"))?,
        [] => return Err(io::Error::other("it does not know where it is")),
    };
    Ok(serde_json::from_str(&script)?)
}

fn play(deeds: &[Deed], arguments: &[OsString]) -> io::Result<ExitCode> {
    for deed in deeds {
        if let Deed::Exit { code } = deed {
            return Ok(ExitCode::from(*code));
        }
        deed.perform(arguments)?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Deed {
    fn perform(&self, arguments: &[OsString]) -> io::Result<()> {
        match self {
            Self::Say { text } => write(Sink::Stdout, text.as_bytes()),
            Self::Bytes { bytes } => write(Sink::Stdout, bytes),
            Self::Warn { text } => write(Sink::Stderr, text.as_bytes()),
            Self::Flood { sink, bytes } => flood(*sink, *bytes),
            Self::Stretch { bytes } => {
                File::from(io::stdout().as_fd().try_clone_to_owned()?).set_len(*bytes)
            }
            Self::Note { what, path } => what.note(path, arguments),
            Self::Leave { flag, text } => {
                let named = |it: &OsString| {
                    let (name, path) = it.to_str()?.split_once('=')?;
                    (name == flag).then(|| PathBuf::from(path))
                };
                let path = arguments.iter().rev().find_map(named);
                let path = path.ok_or_else(|| io::Error::other(format!("no argument {flag}=…")))?;
                fs::write(path, text)
            }
            Self::Await { path } => {
                while !path.exists() {
                    thread::sleep(GLANCE);
                }
                Ok(())
            }
            Self::Pause { ms } => {
                thread::sleep(Duration::from_millis(*ms));
                Ok(())
            }
            Self::Stall => loop {
                thread::park();
            },
            Self::Drip { every_ms } => loop {
                write(Sink::Stdout, b"x")?;
                thread::sleep(Duration::from_millis(*every_ms));
            },
            Self::CatchTerm { say, exit } => term::catch(say.clone(), *exit),
            Self::LeaveSession => Ok(setsid().map(|_| ())?),
            Self::Start { deeds, variables } => start(deeds, *variables),
            Self::Exit { .. } => Ok(()),
            Self::Die { signal } => {
                let signal = Signal::from_named_raw(*signal);
                let signal = signal.ok_or_else(|| io::Error::other("there is no such signal"))?;
                Ok(kill_process(getpid(), signal)?)
            }
        }
    }
}

impl Matter {
    fn note(self, path: &Path, arguments: &[OsString]) -> io::Result<()> {
        let lines = |lines: Vec<String>| lines.concat().into_bytes();
        let text = match self {
            Self::Pid => std::process::id().to_string().into_bytes(),
            Self::Arguments => {
                lines(arguments.iter().skip(1).map(|it| format!("{}\n", it.display())).collect())
            }
            Self::Environment => {
                let variable = |(name, value): (OsString, OsString)| {
                    format!("{}={}\n", name.display(), value.display())
                };
                let mut all: Vec<String> = env::vars_os().map(variable).collect();
                all.sort();
                lines(all)
            }
            Self::Input => {
                let mut input = Vec::new();
                io::stdin().read_to_end(&mut input)?;
                input
            }
        };
        let unfinished = path.with_extension("unfinished");
        fs::write(&unfinished, text)?;
        fs::rename(unfinished, path)
    }
}

fn write(sink: Sink, bytes: &[u8]) -> io::Result<()> {
    match sink {
        Sink::Stdout => {
            let mut stdout = io::stdout().lock();
            stdout.write_all(bytes)?;
            stdout.flush()
        }
        Sink::Stderr => io::stderr().write_all(bytes),
    }
}

fn flood(sink: Sink, bytes: u64) -> io::Result<()> {
    let letters = vec![b'x'; FLOOD_BYTES];
    let mut left = usize::try_from(bytes).map_err(io::Error::other)?;
    while left > 0 {
        let count = left.min(FLOOD_BYTES);
        write(sink, letters.get(..count).unwrap_or_default())?;
        left -= count;
    }
    Ok(())
}

fn start(deeds: &[Deed], variables: Variables) -> io::Result<()> {
    let mut command = Command::new(env::current_exe()?);
    command.arg(DEEDS_ARGUMENT).arg(serde_json::to_string(deeds)?);
    if variables == Variables::Cleared {
        command.env_clear();
    }
    // It is not waited for: whoever starts this program sees what becomes of it.
    drop(command.spawn()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deeds_are_among_the_arguments_or_beside_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let deeds = [Deed::Say { text: "x\n".to_owned() }, Deed::Exit { code: 3 }];
        let script = r#"[{"type":"say","text":"x\n"},{"type":"exit","code":3}]"#;
        fs::write(folder.path().join("claude.json"), script).unwrap();
        let program = folder.path().join("claude").into_os_string();
        let told = [program.clone(), DEEDS_ARGUMENT.into(), "[]".into()];
        assert_eq!(read(&told).unwrap(), []);
        assert_eq!(read(&[program, "-p".into(), "a prompt".into()]).unwrap(), deeds);
    }

    #[test]
    fn a_script_that_is_misspelt_is_refused() {
        let arguments =
            ["claude", DEEDS_ARGUMENT, r#"[{"type":"exit","cod":3}]"#].map(OsString::from);
        assert!(read(&arguments).is_err());
    }
}
