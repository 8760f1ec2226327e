//! Where the diff comes from: git, a file or stdin.

use airtight_agent::{Environment as Variables, Git, GitError};
use airtight_core::review::DIFF_LIMIT_BYTES;
use airtight_core::run;
use tokio_util::sync::CancellationToken;

use crate::cli::ReviewArgs;
use crate::commands::run::limit::Limit;
use crate::commands::run::stdin::{self, Piped};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::file::{self, FileError};
use crate::input::unreadable;

/// Where work is taken to have begun if nobody says, the likeliest first.
const BASES: [&str; 5] = ["main", "master", "origin/HEAD", "origin/main", "origin/master"];

/// The variable in which GitHub Actions name the branch that a pull request is for.
const BASE_VARIABLE: &str = "GITHUB_BASE_REF";

/// What stdin is called in errors.
const STDIN: &str = "(stdin)";

/// A diff, and what is worth a note about it.
#[derive(Debug, Default)]
pub(super) struct Material {
    pub(super) text: Vec<u8>,
    /// The commit that git compared with, if it was asked.
    pub(super) base: Option<Base>,
    /// What deserves a warning.
    pub(super) notes: Vec<String>,
}

/// The commit that the work began from.
#[derive(Debug)]
pub(super) enum Base {
    /// As it was typed.
    Named(String),
    /// The likeliest, as nobody said.
    Likely(String),
}

impl Material {
    /// Says what git was asked for, where that is worth a line: with its word, and what it means.
    pub(super) fn told(&self) -> Option<(&'static str, String)> {
        let another = "`--base` names another commit";
        match self.base.as_ref()? {
            Base::Named(base) | Base::Likely(base) if self.text.is_empty() => {
                Some(("unchanged:", format!("nothing changed since `{base}`; {another}")))
            }
            Base::Named(_) => None,
            Base::Likely(base) => {
                Some(("reviewed:", format!("what changed since `{base}`; {another}")))
            }
        }
    }
}

/// Reads the diff from where it was said to be, unless that is git.
pub(super) fn read(
    args: &ReviewArgs,
    environment: &Environment,
    limit: &Limit,
) -> Result<Option<Material>, Error> {
    match (&args.stdin, args.diff.as_deref()) {
        (Some(_), _) | (None, Some("-")) => match stdin::read(DIFF_LIMIT_BYTES, None, limit)? {
            Piped::All(text) => given(STDIN, text),
            Piped::Silence => given(STDIN, Vec::new()),
            Piped::Unreadable(error) => Err(too_large_or(STDIN, error)),
        },
        (None, Some(path)) => {
            let text = file::read(&environment.resolve(path), DIFF_LIMIT_BYTES);
            given(path, text.map_err(|error| too_large_or(path, error))?)
        }
        (None, None) => Ok(None),
    }
}

/// Takes a diff that somebody made. That of no change is empty, and so is that of a command that failed: only
/// git itself is believed that nothing changed.
fn given(label: &str, text: Vec<u8>) -> Result<Option<Material>, Error> {
    if text.trim_ascii().is_empty() {
        return Err(Error::new(Outcome::Input, format!("the diff is empty: `{label}`"))
            .hint("see whether the command that made it failed")
            .hint("where nothing may have changed, type `airtight review --base COMMIT`"));
    }
    Ok(Some(Material { text, ..Material::default() }))
}

fn too_large_or(label: &str, error: FileError) -> Error {
    let is_large = matches!(error, FileError::TooLarge { .. });
    let error = unreadable(label, error);
    if is_large { error.hint("review it in pieces: a diff for each folder") } else { error }
}

/// Asks git what changed since the work left its base.
pub(super) async fn ask(
    args: &ReviewArgs,
    environment: &Environment,
    interrupt: CancellationToken,
) -> Result<Material, Error> {
    let variables = Variables::without_secrets(environment.all());
    let git = Git::new(environment.launch_directory(), variables, interrupt);
    let base = match &args.base {
        Some(base) => Base::Named(base.clone()),
        None => Base::Likely(usual_base(&git, environment).await?),
    };
    let (Base::Named(commit) | Base::Likely(commit)) = &base;
    let text = git.diff(commit, DIFF_LIMIT_BYTES).await.map_err(untold)?;
    let mut notes = Vec::new();
    // What is not known to git is no reason to fail.
    if let Ok(count @ 1..) = git.untracked().await {
        let files = if count == 1 { "file" } else { "files" };
        notes.push(format!(
            "not reviewed: {count} {files} that git does not track; `git add -N FILE` shows them to it"
        ));
    }
    Ok(Material { text, base: Some(base), notes })
}

async fn usual_base(git: &Git, environment: &Environment) -> Result<String, Error> {
    let target = environment.variable(BASE_VARIABLE);
    let named: Vec<String> =
        target.iter().flat_map(|name| [format!("origin/{name}"), (*name).to_owned()]).collect();
    let names: Vec<&str> = named.iter().map(String::as_str).chain(BASES).collect();
    match git.first_commit(&names).await.map_err(untold)? {
        Some(base) => Ok(base.to_owned()),
        None => Err(Error::new(Outcome::Input, "there is no branch `main` or `master` here")
            .hint("name the commit that the work began from: `airtight review --base COMMIT`")),
    }
}

/// Says what it means that git did not tell.
fn untold(error: GitError) -> Error {
    let (outcome, hint) = match &error {
        GitError::Missing(_) => {
            (Outcome::Input, "install git, or pass the diff: `airtight review --diff FILE`")
        }
        GitError::NoRepository => {
            (Outcome::Input, "`cd` to one, or pass the diff: `airtight review --diff FILE`")
        }
        GitError::NoCommit { .. } => (
            Outcome::Usage,
            "`git branch --all` shows branches; a shallow clone may lack it: `git fetch --unshallow`",
        ),
        GitError::NoAncestor { .. } => {
            (Outcome::Input, "a shallow clone may lack it: type `git fetch --unshallow`")
        }
        GitError::TooLarge { .. } => (
            Outcome::Input,
            "choose a nearer `--base`, or review a folder: `git diff BASE -- FOLDER | airtight review -`",
        ),
        GitError::TimedOut { .. } | GitError::Failed { .. } => {
            (Outcome::Input, "try `git diff --merge-base COMMIT` by hand")
        }
        GitError::Cancelled => {
            let outcome = Outcome::Run(run::Outcome::Interrupted);
            return Error::new(outcome, "the review was interrupted, and nothing was asked");
        }
    };
    Error::new(outcome, "there is no diff to review").caused_by(error).hint(hint)
}
