//! Where results go.
//!
//! A file of results is put in place as a whole, and what was there is gone: so it may be no file that
//! the command reads or keeps.

use std::path::{Path, PathBuf};

use super::inputs::Inputs;
use super::sheet::{self, is_stream};
use crate::cli::BatchArgs;
use crate::config::Config;
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::ledger::Books;
use crate::source::ContractSource;

/// What SQLite adds to the name of a ledger for the files beside it.
const BESIDE_LEDGER: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// The flags that name them.
const ANSWERS: &str = "--output";
const FAILURES: &str = "--failures";

/// Where answers and failures go, if they go to files.
#[derive(Debug)]
pub(super) struct Targets {
    pub(super) answers: Option<Target>,
    pub(super) failures: Option<Target>,
}

/// A file of results.
#[derive(Debug)]
pub(super) struct Target {
    flag: &'static str,
    /// As it was typed, or would be.
    pub(super) typed: String,
    pub(super) path: PathBuf,
}

/// What the command reads or keeps.
#[derive(Debug)]
struct Kept {
    what: &'static str,
    path: PathBuf,
    reach: Reach,
}

/// How much of it there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    File,
    /// Every file in a folder, also one that is not there yet: it would be read the next time.
    Folder,
}

impl Targets {
    /// Finds where results go. Failures go beside the answers if nobody says; the whole name of their
    /// file is kept, so that no two of them share one. Beside a device there is no place.
    pub(super) fn find(args: &BatchArgs, environment: &Environment) -> Result<Self, Error> {
        let target = |flag, typed: &String| Target::new(flag, typed.clone(), environment);
        let answers = args.output.as_ref().map(|typed| target(ANSWERS, typed)).transpose()?;
        let beside = answers.as_ref().filter(|answers| !is_stream(&answers.path));
        let beside = beside.map(|answers| format!("{}.failures.jsonl", answers.typed));
        let failures = args.failures.as_ref().or(beside.as_ref());
        let failures = failures.map(|typed| target(FAILURES, typed)).transpose()?;
        Ok(Self { answers, failures })
    }

    /// Refuses results that would replace what the command reads or keeps, or each other.
    pub(super) fn refuse_overwriting(
        &self,
        args: &BatchArgs,
        source: &ContractSource,
        (config, environment): (&Config, &Environment),
        inputs: &Inputs,
    ) -> Result<(), Error> {
        if self.answers.is_none() && self.failures.is_none() {
            return Ok(());
        }
        let mut kept = of_contract(source);
        kept.extend(of_command(args, config, environment)?);
        kept.extend(inputs.paths().map(|path| Kept::file("an input", path)));
        for target in self.answers.iter().chain(&self.failures) {
            target.refuse_overwriting(&kept)?;
        }
        let (Some(answers), Some(failures)) = (&self.answers, &self.failures) else {
            return Ok(());
        };
        let others = failures.written();
        match answers.written().into_iter().find(|path| others.contains(path)) {
            Some(path) => {
                let message =
                    format!("answers and failures would go to the same file: `{}`", path.display());
                Err(refused(message, FAILURES))
            }
            None => Ok(()),
        }
    }
}

impl Target {
    fn new(flag: &'static str, typed: String, environment: &Environment) -> Result<Self, Error> {
        if typed == "-" {
            let hint = if flag == ANSWERS {
                "leave `-o` out to print answers"
            } else {
                "name a file, or `/dev/stderr`"
            };
            let message = format!("`{flag} -` names no file");
            return Err(Error::new(Outcome::Usage, message).hint(hint));
        }
        let path = environment.resolve(&typed);
        if typed.ends_with('/') || path.is_dir() {
            return Err(refused(format!("results go to a file, and `{typed}` is a folder"), flag));
        }
        Ok(Self { flag, typed, path })
    }

    /// Returns the files that are replaced or removed: a device is neither.
    fn written(&self) -> Vec<PathBuf> {
        if is_stream(&self.path) {
            return Vec::new();
        }
        let path = place(&self.path);
        let partial = sheet::partial(&path);
        vec![path, place(&partial)]
    }

    fn refuse_overwriting(&self, kept: &[Kept]) -> Result<(), Error> {
        for path in self.written() {
            if let Some(Kept { what, .. }) = kept.iter().find(|kept| kept.holds(&path)) {
                let message = format!("results would be written over {what}: `{}`", path.display());
                return Err(refused(message, self.flag));
            }
        }
        Ok(())
    }
}

impl Kept {
    fn file(what: &'static str, path: &Path) -> Self {
        Self { what, path: place(path), reach: Reach::File }
    }

    fn folder(what: &'static str, path: &Path) -> Self {
        Self { what, path: place(path), reach: Reach::Folder }
    }

    fn holds(&self, path: &Path) -> bool {
        match self.reach {
            Reach::File => self.path == path,
            Reach::Folder => path.parent() == Some(self.path.as_path()),
        }
    }
}

/// Returns what is read because it was typed or set, and the ledger.
fn of_command(
    args: &BatchArgs,
    config: &Config,
    environment: &Environment,
) -> Result<Vec<Kept>, Error> {
    let mut kept: Vec<Kept> =
        config.files.iter().map(|path| Kept::file("the settings", path)).collect();
    let prompt = args.prompt.as_deref().and_then(|typed| typed.strip_prefix('@'));
    kept.extend(prompt.map(|typed| Kept::file("the prompt", &environment.resolve(typed))));
    let examples = args.model.examples.as_deref();
    kept.extend(examples.map(|typed| Kept::folder("the examples", &environment.resolve(typed))));
    let books = Books::configured(config, environment)?;
    if let Some(ledger) = books.as_ref().and_then(Books::file) {
        let ledger = place(ledger).into_os_string();
        kept.extend(BESIDE_LEDGER.map(|ending| {
            let mut path = ledger.clone();
            path.push(ending);
            Kept::file("the ledger", Path::new(&path))
        }));
    }
    Ok(kept)
}

/// Returns what is read for the contract.
fn of_contract(source: &ContractSource) -> Vec<Kept> {
    let contract = |path: &Path| Kept::file("the contract", path);
    let mut kept: Vec<Kept> = source.paths().into_iter().map(contract).collect();
    if let Some(role) = source.role() {
        kept.extend(role.older.iter().map(|older| contract(&older.schema)));
        let prompt = role.prompt_file.as_deref();
        kept.extend(prompt.map(|path| Kept::file("the prompt of the contract", path)));
        let examples = role.examples.as_deref();
        kept.extend(examples.map(|path| Kept::folder("the examples of the contract", path)));
    }
    kept
}

fn refused(message: String, flag: &str) -> Error {
    Error::new(Outcome::Usage, message).hint(format!("name another file by `{flag}`"))
}

/// Returns where a path leads, also if nothing is there yet.
fn place(path: &Path) -> PathBuf {
    let new = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(new).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_same_however_it_is_typed_also_if_nothing_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("a")).unwrap();
        std::os::unix::fs::symlink(root.join("a"), root.join("b")).unwrap();
        assert_eq!(place(&root.join("a/../b/new")), root.join("a/new"));
        assert_eq!(place(&root.join("none/new")), root.join("none/new"));
    }

    #[test]
    fn a_folder_holds_what_is_directly_in_it() {
        let kept = Kept::folder("the examples", Path::new("/nowhere/examples"));
        let holds = |path| kept.holds(Path::new(path));
        assert!(holds("/nowhere/examples/new.out.json"));
        assert!(!holds("/nowhere/examples") && !holds("/nowhere/examples/a/b"));
    }
}
