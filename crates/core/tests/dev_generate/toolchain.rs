//! The compilers and libraries that generated code is tested with.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A language, with the library that its types are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Toolchain {
    /// node, typescript and zod.
    Typescript,
    /// python and pydantic.
    Python,
    /// go alone.
    Go,
}

impl Toolchain {
    /// Returns what runs its programs, and nothing if it is not what is pinned.
    pub(crate) fn find(self) -> Option<PathBuf> {
        match self {
            Self::Typescript => {
                let tsc = is_pinned("package.json")?.join("node_modules/.bin/tsc");
                (tsc.exists() && runs("node", "--version")).then_some(tsc)
            }
            Self::Python => {
                let python = is_pinned("requirements.txt")?.join("venv/bin/python");
                python.exists().then_some(python)
            }
            Self::Go => runs("go", "version").then(|| PathBuf::from("go")),
        }
    }
}

/// Returns the folder outside of the tree for what is installed and built.
pub(crate) fn cache() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let caches = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")))?;
    Some(caches.join("airtight-generate"))
}

/// Returns the cache, if what is installed there is what `file` says.
fn is_pinned(file: &str) -> Option<PathBuf> {
    let pins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/generate").join(file);
    let cache = cache()?;
    let installed = std::fs::read(cache.join(file)).ok()?;
    (installed == std::fs::read(pins).unwrap()).then_some(cache)
}

fn runs(program: &str, argument: &str) -> bool {
    let mut command = Command::new(program);
    command.arg(argument).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Says that a test did not run.
#[expect(clippy::print_stderr, reason = "a test that did not run has to say so")]
pub(crate) fn say_missing(toolchain: Toolchain) {
    eprintln!("NOT RUN: the toolchain of {toolchain:?} is not installed");
}

#[test]
#[expect(clippy::print_stderr, reason = "what was not tested has to be said")]
fn what_is_not_tested_is_said() {
    for toolchain in [Toolchain::Typescript, Toolchain::Python, Toolchain::Go] {
        if toolchain.find().is_none() {
            eprintln!("NOT TESTED: generated code for {toolchain:?}");
            eprintln!("`scripts/setup generate` installs what it needs, and says why it cannot");
        }
    }
}
