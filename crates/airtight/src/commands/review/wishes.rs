//! What is to be looked for, left out and reported: what the settings say of reviews.
//!
//! A repository may add rules and leave files out; that is told, since whoever changes the code may
//! change these too. It can name a baseline only within itself.

use std::collections::HashSet;
use std::io;
use std::path::{Component, Path, PathBuf};

use airtight_core::review::{
    BASELINE_LIMIT_BYTES, Baseline, Change, Diff, FileDiff, Name, Review, Severity, Trouble,
    Unreviewed, Wishes as Reportable,
};
use globset::{Glob, GlobBuilder, GlobMatcher};

use crate::cli::ReviewArgs;
use crate::config::{self, Config, Entry, Key, Origin};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::file::{self, FileError};

/// The longest rules of a house, all together: a model heeds no more, and reads them with each part.
const RULES_LIMIT_BYTES: usize = 32 * 1024;

/// The most patterns of files, each of which is tried on each file.
const PATTERN_LIMIT: usize = 1_000;

/// What is to be looked for, left out and reported.
#[derive(Debug)]
pub(super) struct Wishes {
    pub(super) rules: Vec<String>,
    ignored: Vec<(String, GlobMatcher)>,
    severities: Vec<Severity>,
    pub(super) fail_on: Option<Severity>,
    /// The file, and what is in it.
    baseline: Option<(PathBuf, Baseline)>,
    /// The files of the project that say some of this.
    project: Vec<PathBuf>,
}

impl Wishes {
    /// Reads the settings.
    pub(super) fn read(
        args: &ReviewArgs,
        config: &Config,
        environment: &Environment,
    ) -> Result<Self, Error> {
        let rules = config.list(Key::ReviewRules).unwrap_or_default();
        let size: usize = rules.iter().map(String::len).sum();
        if size > RULES_LIMIT_BYTES {
            let message =
                format!("`review.rules` have {size} bytes, over the limit of {RULES_LIMIT_BYTES}");
            return Err(Error::new(Outcome::Contract, message).hint("say less, or more shortly"));
        }
        let named = |word: &String| Severity::named(word);
        let severities = config.list(Key::ReviewIgnoreSeverities).unwrap_or_default();
        Ok(Self {
            rules,
            ignored: patterns(config)?,
            severities: severities.iter().filter_map(named).collect(),
            fail_on: config.text(Key::ReviewFailOn).and_then(Severity::named),
            baseline: baseline(args, config, environment)?,
            project: project_files(config),
        })
    }

    /// Takes files out that are not to be reviewed, with what cannot be read of them, and lists them.
    pub(super) fn leave_out(&self, diff: &mut Diff<'_>) -> Vec<Unreviewed> {
        let mut left_out = Vec::new();
        let mut names = HashSet::new();
        diff.files.retain(|file| {
            let Some(pattern) = self.pattern_of(&path_of(file)) else { return true };
            names.insert(file.name.shown());
            left_out.push(ignored(file.name.shown(), pattern));
            false
        });
        diff.unread.retain(|unread| {
            let Some(shown) = &unread.file else { return true };
            if names.contains(shown) {
                return false;
            }
            // Of a file that is not merged a diff may have nothing but the name.
            let is_bare = unread.trouble == Trouble::Unmerged;
            let pattern = is_bare.then(|| self.pattern_of(Path::new(shown))).flatten();
            let Some(pattern) = pattern else { return true };
            names.insert(shown.clone());
            left_out.push(ignored(shown.clone(), pattern));
            false
        });
        left_out
    }

    fn pattern_of(&self, path: &Path) -> Option<&str> {
        let mut patterns = self.ignored.iter();
        patterns.find(|(_, matcher)| matcher.is_match(path)).map(|(pattern, _)| pattern.as_str())
    }

    /// Returns what deserves a warning about a change of the rules themselves.
    pub(super) fn notes(&self, diff: &Diff<'_>) -> Vec<String> {
        let baseline = self.baseline.iter().map(|(path, _)| path);
        let known: Vec<&PathBuf> = self.project.iter().chain(baseline).collect();
        let is_rules = |path: &Path| {
            // Those that are gone, or moved away, were rules as well.
            path.ends_with(config::NAME)
                || path.ends_with(config::REVIEW)
                || known.iter().any(|known| known.ends_with(path))
        };
        let paths = diff.files.iter().flat_map(|file| {
            let before = match &file.change {
                Change::Renamed(from) => Some(path_named(from)),
                Change::Added | Change::Deleted | Change::Modified | Change::Copied(_) => None,
            };
            std::iter::once(path_of(file)).chain(before)
        });
        let notes = paths.filter(|path| is_rules(path)).map(|path| {
            format!("the change is reviewed by rules that it changes itself: `{}`", path.display())
        });
        notes.collect()
    }

    /// Returns what is to be reported.
    pub(super) fn reportable(&self) -> Reportable {
        Reportable {
            ignored: self.severities.clone(),
            baseline: self.baseline.as_ref().map(|(_, baseline)| baseline.clone()),
        }
    }

    /// Writes the baseline, with what `review` found in it.
    pub(super) fn update_baseline(self, review: &Review) -> Result<(), Error> {
        let Some((path, baseline)) = self.baseline else { return Ok(()) };
        let text = baseline.with(&review.findings).to_json();
        file::replace(&path, text.as_bytes()).map_err(|error| {
            let message = format!("could not write the baseline: `{}`", path.display());
            Error::new(Outcome::Machine, message).caused_by(error)
        })
    }
}

fn ignored(file: String, pattern: &str) -> Unreviewed {
    let why = format!("it is ignored by `{pattern}`");
    Unreviewed { file: Some(file), line: None, why, is_loss: false }
}

fn path_of(file: &FileDiff<'_>) -> PathBuf {
    path_named(&file.name)
}

#[cfg(unix)]
fn path_named(name: &Name) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(name.as_bytes()))
}

#[cfg(not(unix))]
fn path_named(name: &Name) -> PathBuf {
    PathBuf::from(name.exact())
}

/// Returns the files of the project that say something of reviews.
fn project_files(config: &Config) -> Vec<PathBuf> {
    let keys = [
        Key::ReviewRules,
        Key::ReviewIgnore,
        Key::ReviewIgnoreSeverities,
        Key::ReviewBaseline,
        Key::ReviewPartTokens,
        Key::ReviewFailOn,
    ];
    let said = keys.into_iter().flat_map(|key| config.said(key));
    let places = said.filter_map(|entry| match &entry.origin {
        Origin::Project(place) => Some(place.path.clone()),
        Origin::Borrowed(_)
        | Origin::User(_)
        | Origin::Contract(_)
        | Origin::Tier(_)
        | Origin::Environment(_)
        | Origin::Flag(_) => None,
    });
    let mut places: Vec<PathBuf> = places.collect();
    places.sort();
    places.dedup();
    places
}

fn patterns(config: &Config) -> Result<Vec<(String, GlobMatcher)>, Error> {
    let mut matchers = Vec::new();
    for entry in config.said(Key::ReviewIgnore) {
        for pattern in entry.value.as_list().unwrap_or_default() {
            let refused = |message: String| Error::new(Outcome::Contract, message);
            if matchers.len() == PATTERN_LIMIT {
                let message = format!("{}: more than {PATTERN_LIMIT} patterns", entry.origin);
                return Err(refused(message).hint("name folders: `vendor/**`"));
            }
            let glob = compile(pattern).map_err(|error| {
                refused(format!("{}: no pattern of files: `{pattern}`", entry.origin))
                    .caused_by(error)
                    .hint("write `*.lock`, `vendor/**` or `src/generated.rs`")
            })?;
            matchers.push((pattern.clone(), glob.compile_matcher()));
        }
    }
    Ok(matchers)
}

/// Reads a pattern: without a slash it is about names in any folder, with one about paths from the
/// root; a slash at the end means all of a folder.
fn compile(pattern: &str) -> Result<Glob, globset::Error> {
    let path = pattern.strip_prefix('/').unwrap_or(pattern);
    let path = match path.strip_suffix('/') {
        Some(folder) => format!("{folder}/**"),
        None if pattern.contains('/') => path.to_owned(),
        None => format!("**/{path}"),
    };
    GlobBuilder::new(&path).literal_separator(true).build()
}

fn baseline(
    args: &ReviewArgs,
    config: &Config,
    environment: &Environment,
) -> Result<Option<(PathBuf, Baseline)>, Error> {
    let Some(entry) = config.strongest(Key::ReviewBaseline) else {
        if args.update_baseline {
            return Err(Error::new(Outcome::Usage, "there is no baseline to update")
                .hint("name the file: `--baseline FILE --update-baseline`"));
        }
        return Ok(None);
    };
    let path = place(entry, environment)?;
    let unreadable = |error| {
        let message = format!("could not read the baseline: `{}`", path.display());
        Error::new(Outcome::Input, message).caused_by(error)
    };
    let baseline = match file::read(&path, BASELINE_LIMIT_BYTES) {
        Ok(bytes) => Baseline::parse(&bytes).map_err(|error| {
            let message = format!("could not read the baseline: `{}`", path.display());
            Error::new(Outcome::Input, message).caused_by(error)
        })?,
        Err(FileError::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => {
            if !args.update_baseline {
                let error = unreadable(FileError::Unreadable(error));
                return Err(error.hint("`--update-baseline` makes it"));
            }
            Baseline::default()
        }
        Err(error) => return Err(unreadable(error)),
    };
    Ok(Some((path, baseline)))
}

/// Returns where the baseline is. One that a project names must be in the project: it is written to.
fn place(entry: &Entry, environment: &Environment) -> Result<PathBuf, Error> {
    let text = entry.value.to_string();
    let Origin::Project(place) = &entry.origin else { return Ok(environment.resolve(&text)) };
    let folder = place.path.parent().unwrap_or(&place.path);
    let root =
        if folder.ends_with(".airtight") { folder.parent().unwrap_or(folder) } else { folder };
    let stays = Path::new(&text).components().all(|part| matches!(part, Component::Normal(_)));
    let path = root.join(&text);
    let is_inside = |path: &Path| {
        let real = path.canonicalize().or_else(|_| path.parent().unwrap_or(path).canonicalize());
        real.ok().zip(root.canonicalize().ok()).is_some_and(|(real, root)| real.starts_with(root))
    };
    if text.is_empty() || !stays || !is_inside(&path) {
        let message = format!("{}: `baseline` must be in the project", entry.origin);
        return Err(
            Error::new(Outcome::Contract, message).hint("name another file by `--baseline FILE`")
        );
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("*.lock", "Cargo.lock" => true)]
    #[test_case("*.lock", "a/b/Cargo.lock" => true; "names in any folder")]
    #[test_case("vendor/**", "vendor/a/b.c" => true)]
    #[test_case("vendor/**", "src/vendor/b.c" => false; "paths begin at the root")]
    #[test_case("vendor/", "vendor/a.c" => true; "all of a folder")]
    #[test_case("/a.c", "b/a.c" => false; "only at the root")]
    #[test_case("src/*.rs", "src/a/b.rs" => false; "a star is within a folder")]
    #[test_case("**/gen/*.rs", "a/gen/b.rs" => true)]
    fn patterns_are_about_names_or_about_paths(pattern: &str, path: &str) -> bool {
        compile(pattern).unwrap().compile_matcher().is_match(path)
    }
}
