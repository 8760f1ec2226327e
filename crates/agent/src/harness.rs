//! Agent CLIs as drivers: each answer is one call of the real program, whose stream is decoded and
//! whose payload our own verdict judges.
//!
//! The machine of a run sees a provider like any other. What a program says of itself is recorded, and
//! never believed: `docs/design/harness.md` has the rules. One file for each program says how it is
//! asked; how streams are read is in `airtight_core::transcript`.

pub(crate) mod child;
mod claude;
mod codex;
mod environment;
mod gemini;
mod hearing;
mod hooks;
mod installed;
mod invocation;
mod opencode;
mod outcome;
mod project;
mod question;
mod qwen;
mod session;
mod version;

use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use airtight_core::codec::{FailureKind, ProviderFailure, Reply, Request};
use airtight_core::lower::Dialect;
use airtight_core::run::{Account, Mode};
use airtight_core::transcript::{Category, Program, Record};
use serde_json::Value;

use crate::hooks::Hook;
use crate::permission::ApprovalMode;
use crate::provider::{End, Exchange, Listen};
use crate::scratch::private_folder;
use child::Launch;
use hearing::Hearing;
use invocation::{Invocation, Refused};
use question::Question;

pub use child::Deadlines;
pub use installed::{Installed, NotInstalled};
pub use project::{Project, Untrusted};

/// How a program is to be used.
pub struct Setup {
    /// Which one.
    pub program: Program,
    /// Where it is.
    pub installed: Installed,
    /// The folder that it works in.
    pub folder: PathBuf,
    /// What that folder sets for it.
    pub project: Project,
    /// Everything of the user's environment that it gets: [`Setup::environment_of`].
    pub environment: Vec<(OsString, OsString)>,
    /// The model, by the program's own name for it; its default if absent.
    pub model: Option<String>,
    /// What it may do without asking.
    pub approval: ApprovalMode,
    /// The most model calls of one call of the program, where it has a flag for that.
    pub max_turns: Option<u32>,
    /// How often a program asks its model again by itself, where it does.
    pub reasks: u8,
    /// The user's own arguments for it.
    pub arguments: Vec<String>,
    /// The user's hooks; those before a tool is called are handed on where the program has such.
    pub hooks: Vec<Hook>,
    /// What ends it if this process is killed: a program that calls
    /// [`guard_family`](crate::guard_family).
    pub guard: Option<PathBuf>,
    /// How long it may take.
    pub deadlines: Deadlines,
}

impl fmt::Debug for Setup {
    /// Leaves out arguments and variables: some are keys.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Setup");
        shown.field("program", &self.program).field("installed", &self.installed);
        shown.finish_non_exhaustive()
    }
}

impl Setup {
    /// Returns what `program` gets of `variables`: what every program needs, what is its own, and what
    /// is named `besides`.
    pub fn environment_of(
        program: Program,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        besides: &[String],
    ) -> Vec<(OsString, OsString)> {
        environment::of(program, variables, besides)
    }
}

/// An agent CLI, as a driver. Clones share it.
#[derive(Debug, Clone)]
pub struct Harness(Arc<Setup>);

/// What programs can do that have different ways of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traits {
    /// How the contract is put to it.
    pub mode: Mode,
    /// What it accepts of JSON Schema.
    pub dialect: Dialect,
    /// Whether it says what an answer cost.
    pub account: Account,
    /// Whether it can be told how often it may call its model.
    pub has_turn_cap: bool,
    /// Whether it asks hooks before it calls a tool.
    pub takes_guards: bool,
}

impl Traits {
    /// Returns what `program` can do.
    pub fn of(program: Program) -> Self {
        let (mode, dialect) = match program {
            Program::Claude | Program::Qwen => (Mode::Tool, Dialect::ClaudeCode),
            Program::Codex => (Mode::Native, Dialect::Codex),
            // The dialect is that of examples alone: nobody is asked to enforce anything.
            Program::Gemini | Program::Opencode => (Mode::Prompt, Dialect::ClaudeCode),
        };
        let account = match program {
            Program::Claude => Account::Driver,
            // Opencode tells nothing for models whose price it does not know.
            Program::Codex | Program::Qwen | Program::Gemini | Program::Opencode => Account::Price,
        };
        // Both are flags or settings of the family that claude began.
        let is_like_claude = match program {
            Program::Claude | Program::Qwen => true,
            Program::Codex | Program::Gemini | Program::Opencode => false,
        };
        let (has_turn_cap, takes_guards) = (is_like_claude, is_like_claude);
        Self { mode, dialect, account, has_turn_cap, takes_guards }
    }
}

impl Harness {
    /// Makes a driver of a program.
    pub fn new(setup: Setup) -> Self {
        Self(Arc::new(setup))
    }

    /// Returns which program it is.
    pub fn program(&self) -> Program {
        self.0.program
    }

    /// Returns the files whose settings for the program are left out.
    pub fn left_out(&self) -> &[PathBuf] {
        match &self.0.project {
            Project::LeftOut(files) => files,
            Project::Trusted | Project::Plain => &[],
        }
    }

    /// Returns the model that was asked for, else the program.
    pub fn model(&self) -> &str {
        self.0.model.as_deref().unwrap_or_else(|| self.program().name())
    }

    /// Has `request` answered by one call of the program, which has ended with everything that it
    /// started when this returns.
    pub(crate) async fn exchange(
        &self,
        request: &Request,
        listen: Listen<'_>,
        stop: impl Future<Output = ()> + Send,
    ) -> Exchange {
        let asked = Instant::now();
        let question = self.question(request);
        let before = question.session.as_ref().map(|session| session.counted);
        let scratch = match private_folder(&std::env::temp_dir()) {
            Ok(scratch) => scratch,
            Err(error) => return self.refused(&Refused::from(error), asked.elapsed()),
        };
        let schema = schema(request);
        let mut invocation = Invocation::new(&self.0, question, schema, scratch.path());
        if let Err(refused) = invocation.complete() {
            return self.refused(&refused, asked.elapsed());
        }
        let mut hearing = Hearing::new(self.program(), schema.is_some(), listen);
        let enough = hearing.enough.clone();
        let stop = async {
            tokio::select! {
                () = stop => {}
                () = enough.cancelled() => {}
            }
        };
        let seat = child::free_seat();
        if seat.is_none() {
            hearing.queue();
        }
        let output = invocation.output();
        let launch = Launch { seat, ..invocation.launch() };
        let mut hear = |bytes: &[u8]| hearing.hear(bytes);
        match child::attend(launch, &self.0.deadlines, &mut hear, stop).await {
            Ok(mut ended) => {
                match output.map_or(Ok(None), |path| codex::last_message(&path)) {
                    Ok(left) => hearing.note_last_message(left.as_deref()),
                    Err(error) => ended.warnings.push(format!("last-message-unreadable: {error}")),
                }
                let (record, reason, calls) = hearing.finish(&ended);
                self.conclude(record, &ended, (&reason, calls), before.as_ref())
            }
            Err(error) => self.not_started(FailureKind::Program, &error, asked.elapsed()),
        }
    }

    fn question(&self, request: &Request) -> Question {
        let question = Question::of(self.program(), request);
        match self.program() {
            Program::Claude => question.guarded(),
            Program::Qwen => question.with_long_instructions_inside().guarded(),
            Program::Codex => question.with_long_instructions_inside(),
            Program::Gemini | Program::Opencode => question.with_instructions_inside().guarded(),
        }
    }

    /// Makes the exchange of a program that cannot be asked this.
    fn refused(&self, refused: &Refused, elapsed: Duration) -> Exchange {
        let (kind, code) = refused.kind();
        let mut exchange = self.not_started(kind, refused, elapsed);
        if let End::Failed(failure) = &mut exchange.end {
            failure.code = code.map(str::to_owned);
        }
        exchange
    }

    /// Makes the exchange of a program that was never started. Who reads the record of a call looks
    /// there for its end, so this has one too.
    fn not_started(
        &self,
        kind: FailureKind,
        why: &(dyn Error + 'static),
        elapsed: Duration,
    ) -> Exchange {
        let causes = std::iter::successors(Some(why), |cause| (*cause).source());
        let why = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
        let end = End::Failed(failure(kind, format!("{}: {why}", self.program().name())));
        let mut record = Record {
            program: Some(self.program()),
            program_version: self.0.installed.version.clone(),
            model: self.0.model.clone(),
            duration_seconds: Some(elapsed.as_secs_f64()),
            error: Some(why),
            error_category: Some(Category::Subprocess),
            ..Record::empty()
        };
        if self.program() == Program::Codex {
            codex::complete(&mut record.harness_metadata, &self.0);
        }
        Exchange { reply: Reply::default(), end, record: Some(Box::new(record)) }
    }
}

/// Returns the schema that the program is given.
fn schema(request: &Request) -> Option<&Value> {
    let format = request.format.as_ref().map(|format| &format.schema);
    format.or_else(|| request.tools.first().map(|tool| &tool.parameters)).map(Arc::as_ref)
}

fn failure(kind: FailureKind, message: String) -> ProviderFailure {
    ProviderFailure { kind, status: None, code: None, message, retry_after: None }
}

#[cfg(test)]
mod tests;
