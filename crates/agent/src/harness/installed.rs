//! Where a program is, which version it has, and what is really launched.
//!
//! Launchers are passed over: qwen's leaves the real program behind when it is killed, and codex's
//! costs a start of Node. Versions are read from the package beside the program, without running it:
//! `gemini --version` takes four seconds. Who has that time can ask (`version.rs`).

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use airtight_core::transcript::Program;
use serde_json::Value;

/// How far above a program its package may lie.
const PACKAGE_DEPTH: usize = 4;

/// The largest package description that is read; they have a few kilobytes.
const PACKAGE_LIMIT_BYTES: u64 = 1024 * 1024;

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Where it was found.
    pub path: PathBuf,
    /// Its version, if that stands beside it.
    pub version: Option<String>,
    /// What is launched.
    pub(super) launched: PathBuf,
    /// What comes before all other arguments.
    pub(super) leading: Vec<OsString>,
}

/// Why a program cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotInstalled {
    /// It is not on the path.
    #[error("`{}` is not installed: it is in no folder of `PATH`", .0.name())]
    Missing(Program),
    /// The file that was named is none that can be run.
    #[error("`{0}` is no program that can be run")]
    NoProgram(PathBuf),
    /// It is older than any version that is known to work.
    #[error("`{}` {found} is too old: {oldest} is the oldest that is known to work", .program.name())]
    TooOld {
        /// Which program.
        program: Program,
        /// Its version.
        found: String,
        /// The oldest that works.
        oldest: &'static str,
    },
}

impl NotInstalled {
    /// Returns what to type.
    pub fn hint(&self) -> String {
        match self {
            Self::Missing(program) => {
                let package = package(*program);
                format!("type `npm install --global {package}`, or name it by `--via-path`")
            }
            Self::NoProgram(_) => "check `--via-path`".to_owned(),
            Self::TooOld { program, .. } => {
                format!("type `npm install --global {}@latest`", package(*program))
            }
        }
    }
}

/// Returns the package of a program.
fn package(program: Program) -> &'static str {
    match program {
        Program::Claude => "@anthropic-ai/claude-code",
        Program::Codex => "@openai/codex",
        Program::Qwen => "@qwen-code/qwen-code",
        Program::Gemini => "@google/gemini-cli",
        Program::Opencode => "opencode-ai",
    }
}

/// Returns the oldest version that was seen to work.
fn oldest(program: Program) -> &'static str {
    match program {
        Program::Claude => "2.1.197",
        Program::Codex => "0.166.0",
        Program::Qwen => "0.15.10",
        Program::Gemini => "0.61.0",
        Program::Opencode => "1.18.33",
    }
}

impl Installed {
    /// Finds `program`: at `given`, else in the folders of `search`, which is a `PATH`.
    pub fn find(
        program: Program,
        given: Option<&Path>,
        search: &OsStr,
    ) -> Result<Self, NotInstalled> {
        let path = match given {
            Some(path) if is_runnable(path) => path.to_owned(),
            Some(path) => return Err(NotInstalled::NoProgram(path.to_owned())),
            None => on_path(program.name(), search).ok_or(NotInstalled::Missing(program))?,
        };
        let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        let home = Package::around(&real, package(program));
        let version = home.as_ref().map(|it| it.version.clone()).or_else(|| named_version(&real));
        if let Some(found) = &version
            && Self::is_too_old(program, found)
        {
            let (found, oldest) = (found.clone(), oldest(program));
            return Err(NotInstalled::TooOld { program, found, oldest });
        }
        let (launched, leading) = inner(program, &path, home.as_ref(), search)
            .unwrap_or_else(|| (path.clone(), Vec::new()));
        Ok(Self { path, version, launched, leading })
    }

    /// Returns the oldest version of `program` that is known to work.
    pub fn oldest(program: Program) -> &'static str {
        oldest(program)
    }

    /// Claims that `version` of `program` is older than any that is known to work.
    pub fn is_too_old(program: Program, version: &str) -> bool {
        is_older(version, oldest(program))
    }
}

/// The package that a program belongs to.
struct Package {
    root: PathBuf,
    version: String,
}

impl Package {
    /// Finds the package called `name` that `file` lies in.
    fn around(file: &Path, name: &str) -> Option<Self> {
        file.ancestors().skip(1).take(PACKAGE_DEPTH).find_map(|root| {
            let path = root.join("package.json");
            let size = fs::metadata(&path).ok()?.len();
            let text = (size <= PACKAGE_LIMIT_BYTES).then(|| fs::read(&path).ok())??;
            let value: Value = serde_json::from_slice(&text).ok()?;
            if value.get("name")?.as_str()? != name {
                return None;
            }
            let version = value.get("version")?.as_str()?.to_owned();
            Some(Self { root: root.to_owned(), version })
        })
    }
}

/// Returns the version that a file is named after, as installers of their own do.
fn named_version(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_str()?;
    (numbers(name).count() == 3 && name.split('.').count() == 3).then(|| name.to_owned())
}

/// Finds the program behind a launcher.
fn inner(
    program: Program,
    path: &Path,
    package: Option<&Package>,
    search: &OsStr,
) -> Option<(PathBuf, Vec<OsString>)> {
    match program {
        Program::Claude | Program::Gemini | Program::Opencode => None,
        Program::Codex => codex_native(&package?.root).map(|native| (native, Vec::new())),
        Program::Qwen => {
            let script = package?.root.join("cli.js");
            let beside = path.with_file_name("node");
            let node = Some(beside).filter(|it| is_runnable(it));
            let node = node.or_else(|| on_path("node", search))?;
            script.is_file().then(|| (node, vec!["--expose-gc".into(), script.into()]))
        }
    }
}

/// Finds codex's native program, which lies in a package of its own for each machine.
fn codex_native(root: &Path) -> Option<PathBuf> {
    let (machine, triple) = match std::env::consts::ARCH {
        "x86_64" => ("x64", "x86_64-unknown-linux-musl"),
        "aarch64" => ("arm64", "aarch64-unknown-linux-musl"),
        _ => return None,
    };
    let package = format!("codex-linux-{machine}");
    let homes = [
        root.with_file_name(&package),
        root.join("node_modules/@openai").join(&package),
        root.to_owned(),
    ];
    let places = homes.iter().map(|home| home.join("vendor").join(triple));
    places
        .flat_map(|place| [place.join("bin/codex"), place.join("codex/codex")])
        .find(|it| is_runnable(it))
}

fn on_path(name: &str, search: &OsStr) -> Option<PathBuf> {
    let folders = std::env::split_paths(search).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|path| is_runnable(path))
}

fn is_runnable(path: &Path) -> bool {
    #[cfg(unix)]
    let may_run = |meta: &fs::Metadata| {
        std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o111 != 0
    };
    #[cfg(not(unix))]
    let may_run = |_: &fs::Metadata| true;
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && may_run(&meta))
}

/// Claims that version `one` is older than `other`; what is no version is not.
fn is_older(one: &str, other: &str) -> bool {
    numbers(one).lt(numbers(other)) && numbers(one).next().is_some()
}

/// Returns the numbers of a version, without what follows a dash.
pub(super) fn numbers(version: &str) -> impl Iterator<Item = u64> {
    let release = version.split(['-', '+']).next().unwrap_or_default();
    release.split('.').map_while(|number| number.parse().ok())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use tempfile::TempDir;
    use test_case::test_case;

    use super::*;

    /// A prefix as npm makes it: `bin/NAME` leads to `lib/PACKAGE/FILE`.
    struct Prefix(TempDir);

    impl Prefix {
        fn new(program: Program, version: &str, file: &str) -> Self {
            let prefix = Self(TempDir::new().unwrap());
            let home = prefix.package(program);
            let about = serde_json::json!({ "name": package(program), "version": version });
            fs::create_dir_all(&home).unwrap();
            fs::write(home.join("package.json"), about.to_string()).unwrap();
            Self::program(&home.join(file));
            fs::create_dir_all(prefix.search()).unwrap();
            symlink(home.join(file), prefix.search().join(program.name())).unwrap();
            prefix
        }

        fn package(&self, program: Program) -> PathBuf {
            self.0.path().join("lib").join(package(program))
        }

        fn search(&self) -> PathBuf {
            self.0.path().join("bin")
        }

        fn program(path: &Path) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }

        fn find(&self, program: Program) -> Result<Installed, NotInstalled> {
            Installed::find(program, None, self.search().as_os_str())
        }
    }

    #[test]
    fn a_version_is_read_beside_the_program() {
        let prefix = Prefix::new(Program::Claude, "2.1.325", "bin/claude.exe");
        let found = prefix.find(Program::Claude).unwrap();
        assert_eq!(found.version.as_deref(), Some("2.1.325"));
        assert_eq!((found.launched, found.leading), (prefix.search().join("claude"), vec![]));
    }

    #[test]
    fn an_old_version_is_refused_with_what_to_type() {
        let prefix = Prefix::new(Program::Claude, "2.0.14", "bin/claude.exe");
        let refused = prefix.find(Program::Claude).unwrap_err();
        assert!(matches!(refused, NotInstalled::TooOld { .. }), "{refused}");
        assert!(refused.hint().contains("npm install"), "{}", refused.hint());
    }

    #[test]
    fn launchers_are_passed_over() {
        let codex = Prefix::new(Program::Codex, "0.166.0", "bin/codex.js");
        let native = "codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";
        let native = codex.package(Program::Codex).with_file_name(native);
        Prefix::program(&native);
        let qwen = Prefix::new(Program::Qwen, "0.24.4", "cli-entry.js");
        let script = qwen.package(Program::Qwen).join("cli.js");
        Prefix::program(&script);
        let node = qwen.search().join("node");
        Prefix::program(&node);
        let found = qwen.find(Program::Qwen).unwrap();
        assert_eq!(found.launched, node);
        assert_eq!(found.leading, [OsString::from("--expose-gc"), script.into()]);
        if cfg!(target_arch = "x86_64") {
            assert_eq!(codex.find(Program::Codex).unwrap().launched, native);
        }
    }

    #[test]
    fn what_is_not_there_is_missing_and_what_is_no_program_is_refused() {
        let prefix = Prefix::new(Program::Claude, "2.1.325", "bin/claude.exe");
        assert_eq!(prefix.find(Program::Gemini), Err(NotInstalled::Missing(Program::Gemini)));
        let file = prefix.package(Program::Claude).join("package.json");
        let named = Installed::find(Program::Claude, Some(&file), OsStr::new(""));
        assert_eq!(named, Err(NotInstalled::NoProgram(file)));
    }

    #[test_case("2.1.196", "2.1.197" => true)]
    #[test_case("2.1.197", "2.1.197" => false)]
    #[test_case("2.2", "2.1.197" => false)]
    #[test_case("0.166.0-alpha.1", "0.166.0" => false)]
    #[test_case("10.0.0", "9.9.9" => false)]
    #[test_case("nightly", "0.1.0" => false)]
    fn versions_are_compared_by_their_numbers(one: &str, other: &str) -> bool {
        is_older(one, other)
    }
}
