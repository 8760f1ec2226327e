//! Asks git what changed, whatever the user has set for diffs that people read.
//!
//! Nothing that a repository names is run: no external diff, no conversion to text, no pager and no
//! monitor. Secrets of the environment are not passed on.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use crate::process::{CollectError, Collected, Environment, collect};

/// How long git may take: minutes on a cold disk with a large history.
const TIME_LIMIT: Duration = Duration::from_mins(5);

/// The most that git may say besides diffs: names of files.
const WORDS_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// Settings of the user's that would change what a diff looks like, as they are by default.
const SETTINGS: [&str; 8] = [
    "core.fsmonitor=false",
    "core.quotePath=true",
    "diff.external=",
    "diff.ignoreSubmodules=none",
    "diff.mnemonicPrefix=false",
    "diff.noprefix=false",
    "diff.suppressBlankEmpty=false",
    "submodule.recurse=false",
];

/// Flags for what has no setting, or one that is not enough.
const FLAGS: [&str; 12] = [
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--find-renames",
    "--unified=3",
    "--inter-hunk-context=0",
    "--diff-algorithm=histogram",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--submodule=short",
    "-O/dev/null",
];

/// Variables that would change what a diff looks like, or which repository is meant.
const VARIABLES: [&str; 4] = ["GIT_DIFF_OPTS", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_TRACE"];

/// Why git did not tell.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git.
    #[error("`git` cannot be started")]
    Missing(#[source] io::Error),
    /// The folder is in no repository.
    #[error("the folder is in no git repository")]
    NoRepository,
    /// There is no such commit.
    #[error("there is no commit called `{name}`")]
    NoCommit {
        /// As it was named.
        name: String,
    },
    /// The commits have nothing in common.
    #[error("`{name}` and the current commit have no common ancestor here")]
    NoAncestor {
        /// As it was named.
        name: String,
    },
    /// It took too long.
    #[error("git took longer than {} s", limit.as_secs())]
    TimedOut {
        /// The longest that it may take.
        limit: Duration,
    },
    /// It was stopped.
    #[error("git was interrupted")]
    Cancelled,
    /// The diff is too large.
    #[error("the diff has more than {limit_bytes} bytes")]
    TooLarge {
        /// The most that is read.
        limit_bytes: usize,
    },
    /// It failed in another way.
    #[error("git failed: {words}")]
    Failed {
        /// What it says.
        words: String,
    },
}

/// The git repository around a folder.
#[derive(Debug)]
pub struct Git {
    folder: PathBuf,
    environment: Environment,
    cancel: CancellationToken,
}

impl Git {
    /// Asks about `folder`, until `cancel` says that nobody wants to know.
    pub fn new(folder: &Path, environment: Environment, cancel: CancellationToken) -> Self {
        Self { folder: folder.to_owned(), environment, cancel }
    }

    /// Returns the first of `names` that names a commit.
    pub async fn first_commit<'n>(&self, names: &[&'n str]) -> Result<Option<&'n str>, GitError> {
        for name in names {
            match self.commit(name).await {
                Ok(_) => return Ok(Some(name)),
                Err(GitError::NoCommit { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Returns the hash of the commit called `name`.
    async fn commit(&self, name: &str) -> Result<String, GitError> {
        let commit = format!("{name}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        let said = self.ask(&arguments, WORDS_LIMIT_BYTES).await?;
        if said.status.success() {
            return Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned());
        }
        if self.is_outside().await? {
            return Err(GitError::NoRepository);
        }
        Err(GitError::NoCommit { name: name.to_owned() })
    }

    async fn is_outside(&self) -> Result<bool, GitError> {
        let said = self.ask(&["rev-parse", "--git-dir"], WORDS_LIMIT_BYTES).await?;
        Ok(!said.status.success())
    }

    /// Returns how the files of the folder's repository differ from where they left the commit called
    /// `base`.
    pub async fn diff(&self, base: &str, limit_bytes: usize) -> Result<Vec<u8>, GitError> {
        let commit = self.commit(base).await?;
        let mut arguments = vec!["diff"];
        arguments.extend(FLAGS);
        arguments.extend(["--merge-base", &commit, "--"]);
        let said = self.ask(&arguments, limit_bytes).await?;
        if said.status.success() {
            return Ok(said.stdout);
        }
        if said.stderr.contains("no merge base") {
            return Err(GitError::NoAncestor { name: base.to_owned() });
        }
        Err(failed(&said))
    }

    /// Counts the files that git does not know, and that no diff has.
    pub async fn untracked(&self) -> Result<usize, GitError> {
        let arguments = ["ls-files", "--others", "--exclude-standard", "-z", "--full-name", ":/"];
        let said = self.ask(&arguments, WORDS_LIMIT_BYTES).await?;
        if !said.status.success() {
            return Err(failed(&said));
        }
        Ok(said.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()).count())
    }

    async fn ask(&self, arguments: &[&str], limit_bytes: usize) -> Result<Collected, GitError> {
        let mut command = Command::new("git");
        command.current_dir(&self.folder).env_clear().envs(self.environment.iter());
        for variable in VARIABLES {
            command.env_remove(variable);
        }
        // Words that are compared are in English; nobody is asked for a password.
        command.env("LC_ALL", "C").env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
        command.arg("--no-pager");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(arguments);
        collect(command, TIME_LIMIT, limit_bytes, &self.cancel).await.map_err(GitError::from)
    }
}

fn failed(said: &Collected) -> GitError {
    let words = said.stderr.lines().map(str::trim).find(|line| !line.is_empty());
    let words = words.map_or_else(|| said.status.to_string(), str::to_owned);
    GitError::Failed { words }
}

impl From<CollectError> for GitError {
    fn from(error: CollectError) -> Self {
        match error {
            CollectError::Io(error) => Self::Missing(error),
            CollectError::TimedOut { limit } => Self::TimedOut { limit },
            CollectError::Cancelled => Self::Cancelled,
            CollectError::TooLarge { limit_bytes } => Self::TooLarge { limit_bytes },
        }
    }
}
