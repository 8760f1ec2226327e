//! Which version a program says it has: for those that no package beside them tells of.
//!
//! It is started like any other call of it, with the same environment, in an empty folder, and gone in
//! seconds. Gemini takes four of them, so whoever asks keeps the answer.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::child::{self, Heard, Launch};
use super::installed::{Installed, numbers};
use super::{Deadlines, private_folder};

/// How long a program may take to say its version; the slowest takes four seconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// How much of what it says is read: a version stands in its first words.
const LIMIT_BYTES: usize = 4_096;

/// The longest word that is taken for a version.
const VERSION_LIMIT_BYTES: usize = 64;

impl Installed {
    /// Asks the program which version it has; nothing if it says none in time. `environment` is all that
    /// it gets, and `guard` ends it if this process is killed.
    pub async fn ask_version(
        &self,
        environment: Vec<(OsString, OsString)>,
        guard: Option<PathBuf>,
    ) -> Option<String> {
        let folder = private_folder(&std::env::temp_dir()).ok()?;
        let mut arguments = self.leading.clone();
        arguments.push("--version".into());
        let launch = Launch {
            program: self.launched.clone(),
            arguments,
            environment,
            folder: folder.path().to_owned(),
            input: Vec::new(),
            guard,
            seat: None,
        };
        let deadlines =
            Deadlines { first_line: PATIENCE, idle: PATIENCE, total: PATIENCE, exit: PATIENCE };
        let mut said = Vec::new();
        let mut hear = |bytes: &[u8]| {
            let room = LIMIT_BYTES.saturating_sub(said.len());
            said.extend(bytes.iter().take(room));
            Heard::More
        };
        let ended = child::attend(launch, &deadlines, &mut hear, std::future::pending()).await;
        let is_well = ended.is_ok_and(|ended| ended.exit_code == Some(0));
        is_well.then(|| version_in(&String::from_utf8_lossy(&said))).flatten()
    }
}

/// Finds the first word that is a version: `codex-cli 0.166.0`, `2.1.325 (Claude Code)`.
fn version_in(text: &str) -> Option<String> {
    let words = text.split_whitespace().map(|word| word.strip_prefix('v').unwrap_or(word));
    let mut words = words.filter(|word| word.len() <= VERSION_LIMIT_BYTES);
    words.find(|word| numbers(word).count() >= 3).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use airtight_core::transcript::Program;
    use test_case::test_case;

    use super::*;

    #[test_case("2.1.325 (Claude Code)\n" => Some("2.1.325".to_owned()); "of claude")]
    #[test_case("codex-cli 0.166.0\n" => Some("0.166.0".to_owned()); "of codex")]
    #[test_case("v1.18.33" => Some("1.18.33".to_owned()); "with a letter in front")]
    #[test_case("0.61.0-nightly.20261101" => Some("0.61.0-nightly.20261101".to_owned()); "of a night")]
    #[test_case("usage: claude 2.1" => None; "too short")]
    #[test_case("" => None; "silence")]
    fn a_version_is_the_first_word_that_looks_like_one(text: &str) -> Option<String> {
        version_in(text)
    }

    /// Asks a program that is this script.
    async fn ask(script: &str) -> (Option<String>, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("codex");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let found = Installed::find(Program::Codex, Some(&path), OsStr::new("")).unwrap();
        let noted = folder.path().join("noted");
        let environment = vec![("NOTED".into(), noted.clone().into_os_string())];
        let version = found.ask_version(environment, None).await;
        (version, fs::read_to_string(noted).unwrap_or_default())
    }

    #[tokio::test]
    async fn a_program_is_asked_with_what_it_is_given_alone() {
        let script = r#"echo "$* ${HOME-no home}" > "$NOTED"; echo "codex-cli 0.170.1""#;
        let (version, noted) = ask(script).await;
        assert_eq!((version.as_deref(), noted.as_str()), (Some("0.170.1"), "--version no home\n"));
    }

    #[tokio::test]
    async fn a_program_that_fails_or_says_none_has_no_version() {
        assert_eq!(ask("echo 0.170.1; exit 3").await.0, None);
        assert_eq!(ask("echo hello").await.0, None);
        assert_eq!(ask("echo 0.170.1 >&2").await.0, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_that_never_ends_is_not_waited_for() {
        assert_eq!(ask("echo 0.170.1; exec sleep 600").await.0, None);
    }
}
