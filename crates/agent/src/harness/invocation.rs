//! One call of a program, put together by its own file.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use airtight_core::codec::{CONTRACT_TOO_LONG, FailureKind, QUESTION_TOO_LONG, SESSION_LOST};
use airtight_core::transcript::Program;
use serde_json::Value;

use super::child::Launch;
use super::question::Question;
use super::{Setup, claude, codex, gemini, opencode, qwen};

/// The longest argument that Linux takes.
pub(super) const ARGUMENT_LIMIT_BYTES: usize = 128 * 1024 - 1;

/// Why a program cannot be asked; it would refuse, so it is not started.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    /// The question is too long for it.
    #[error("the question is longer than the {limit} characters it takes")]
    TooLong {
        /// The most it takes.
        limit: usize,
    },
    /// What it takes as an argument alone is too long for one: the schema.
    #[error(
        "it takes the contract as an argument of at most {ARGUMENT_LIMIT_BYTES} bytes, and it has {size}"
    )]
    ArgumentTooLong {
        /// How long it is.
        size: usize,
    },
    /// It does not do everything unasked for a user who may do everything.
    #[error(
        "it refuses `yolo` as root: set `IS_SANDBOX=1` if this machine is a sandbox, or use `auto-edit`"
    )]
    Root,
    /// It would take the name of the model for a flag.
    #[error("no model has a name that begins with `-`")]
    Model,
    /// It worked in a session that cannot go on.
    #[error(
        "it called tools ({calls} times) and named no session to go on with: asked again, it might do the \
         same once more; give the job again if that does no harm"
    )]
    Repeats {
        /// How often.
        calls: u64,
    },
    /// What it should read cannot be written.
    #[error("what it should read cannot be written")]
    Unwritable(#[from] io::Error),
}

impl Refused {
    /// Returns what it means, and the word for it, if it has one.
    pub(super) fn kind(&self) -> (FailureKind, Option<&'static str>) {
        match self {
            Self::TooLong { .. } => (FailureKind::Unfit, Some(QUESTION_TOO_LONG)),
            Self::ArgumentTooLong { .. } => (FailureKind::Unfit, Some(CONTRACT_TOO_LONG)),
            Self::Root | Self::Model => (FailureKind::Unfit, None),
            Self::Repeats { .. } => (FailureKind::Rejected, Some(SESSION_LOST)),
            Self::Unwritable(_) => (FailureKind::Program, None),
        }
    }
}

/// One call of a program, as far as it is put together.
pub(super) struct Invocation<'a> {
    pub(super) setup: &'a Setup,
    pub(super) question: Question,
    schema: Option<&'a Value>,
    scratch: &'a Path,
    arguments: Vec<OsString>,
    last: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    insisted: Vec<(OsString, OsString)>,
    input: Vec<u8>,
    output: Option<PathBuf>,
}

impl<'a> Invocation<'a> {
    /// Begins a call; files for it go to `scratch`.
    pub(super) fn new(
        setup: &'a Setup,
        question: Question,
        schema: Option<&'a Value>,
        scratch: &'a Path,
    ) -> Self {
        let arguments = setup.installed.leading.clone();
        Self {
            setup,
            question,
            schema,
            scratch,
            arguments,
            last: Vec::new(),
            variables: Vec::new(),
            insisted: Vec::new(),
            input: Vec::new(),
            output: None,
        }
    }

    /// Puts it together as the program wants it.
    pub(super) fn complete(&mut self) -> Result<(), Refused> {
        // The name may be a stranger's: whoever asks a server names the model.
        if self.setup.model.as_ref().is_some_and(|model| model.starts_with('-')) {
            return Err(Refused::Model);
        }
        if let Some(calls) = self.question.repeats {
            return Err(Refused::Repeats { calls });
        }
        match self.setup.program {
            Program::Claude => claude::invoke(self)?,
            Program::Codex => codex::invoke(self)?,
            Program::Qwen => qwen::invoke(self)?,
            Program::Gemini => gemini::invoke(self),
            Program::Opencode => opencode::invoke(self),
        }
        let mut sizes = self.arguments.iter().map(|argument| argument.len());
        match sizes.find(|size| *size > ARGUMENT_LIMIT_BYTES) {
            Some(size) => Err(Refused::ArgumentTooLong { size }),
            None => Ok(()),
        }
    }

    /// Adds arguments.
    pub(super) fn arguments<'t>(&mut self, arguments: impl IntoIterator<Item = &'t str>) {
        self.arguments.extend(arguments.into_iter().map(OsString::from));
    }

    /// Adds a long flag with its value, if there is one.
    pub(super) fn option(&mut self, flag: &str, value: Option<String>) {
        // One word, so that a value such as `-x` is none of the program's flags.
        self.arguments.extend(value.map(|value| OsString::from(format!("{flag}={value}"))));
    }

    /// Adds what comes behind everything else, the user's arguments included.
    pub(super) fn last<T: Into<OsString>>(&mut self, arguments: impl IntoIterator<Item = T>) {
        self.last.extend(arguments.into_iter().map(Into::into));
    }

    /// Sets a variable, unless the user has set it.
    pub(super) fn variable(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.push((name.into(), value.into()));
    }

    /// Sets a variable, whatever the user has set.
    pub(super) fn insist(&mut self, name: &str, value: impl Into<OsString>) {
        self.insisted.push((name.into(), value.into()));
    }

    /// Claims that the program gets a variable of this name.
    pub(super) fn has_variable(&self, name: &str) -> bool {
        self.setup.environment.iter().any(|(known, _)| known == name)
    }

    /// Adds the schema as an argument.
    pub(super) fn inline_schema(&mut self) {
        let schema = self.schema.map(Value::to_string);
        self.option("--json-schema", schema);
    }

    /// Adds the schema as the file that stands behind `flag`.
    pub(super) fn schema_file(&mut self, flag: &str) -> Result<(), Refused> {
        let schema = self.schema.map(Value::to_string);
        self.file_option(flag, "schema.json", schema)
    }

    /// Adds what stands behind `flag` as the name of a file that holds it, if there is any.
    pub(super) fn file_option(
        &mut self,
        flag: &str,
        name: &str,
        content: Option<String>,
    ) -> Result<(), Refused> {
        let Some(content) = content else { return Ok(()) };
        let mut argument = OsString::from(flag);
        argument.push(self.file(name, content.as_bytes())?);
        self.arguments.push(argument);
        Ok(())
    }

    /// Adds the name of a file behind `flag` that the program writes, beside its stream.
    pub(super) fn output_file(&mut self, flag: &str, name: &str) {
        let path = self.scratch.join(name);
        let mut argument = OsString::from(flag);
        argument.push(&path);
        self.arguments.push(argument);
        self.output = Some(path);
    }

    /// Returns the file that the program writes beside its stream, if it was told one.
    pub(super) fn output(&self) -> Option<PathBuf> {
        self.output.clone()
    }

    /// Writes a file for the program.
    pub(super) fn file(&self, name: &str, content: &[u8]) -> Result<PathBuf, Refused> {
        let path = self.scratch.join(name);
        std::fs::write(&path, content)?;
        Ok(path)
    }

    /// Goes on with a session, if there is one.
    pub(super) fn resume(&mut self) {
        if let Some(session) = self.question.session.take() {
            self.arguments(["--resume", &session.session_id]);
        }
    }

    /// Asks the question on stdin: arguments are too short for it, and everybody can read them.
    pub(super) fn ask_on_stdin(&mut self) {
        self.input = std::mem::take(&mut self.question.text).into_bytes();
    }

    /// Returns what is to be started.
    pub(super) fn launch(self) -> Launch {
        let Self { setup, mut arguments, last, variables, insisted, input, .. } = self;
        arguments.extend(setup.arguments.iter().map(OsString::from));
        arguments.extend(last);
        // What is said last counts: the user knows better, up to a point.
        let given = setup.environment.iter().cloned();
        let environment = variables.into_iter().chain(given).chain(insisted).collect();
        let program = setup.installed.launched.clone();
        let (folder, guard) = (setup.folder.clone(), setup.guard.clone());
        Launch { program, arguments, environment, folder, input, guard, seat: None }
    }
}
