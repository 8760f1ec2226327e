//! How codex is asked: the schema in a file, the question on stdin. And what only codex tells: what it
//! leaves in its file for the last message, where its key comes from, and what it calls deprecated.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use airtight_core::excerpt;
use airtight_core::transcript::{LINE_LIMIT_BYTES, Metadata};
use serde_json::Value;

use super::{Invocation, Project, Refused, Setup};
use crate::permission::ApprovalMode;

/// The longest question that codex takes.
const QUESTION_LIMIT_CHARS: usize = 1_048_576;

/// The flags by which codex is told where to leave its last message.
const LAST_MESSAGE: [&str; 2] = ["--output-last-message", "-o"];

/// The longest line about something deprecated that is told; stderr is told besides.
const DEPRECATION_LIMIT_CHARS: usize = 256;

pub(super) fn invoke(invocation: &mut Invocation<'_>) -> Result<(), Refused> {
    if invocation.question.text.chars().count() > QUESTION_LIMIT_CHARS {
        return Err(Refused::TooLong { limit: QUESTION_LIMIT_CHARS });
    }
    let session = invocation.question.session.take();
    invocation.arguments(["exec"]);
    invocation.arguments(session.is_some().then_some("resume"));
    invocation.arguments(["--json", "--skip-git-repo-check"]);
    // Both reach for the network at the start.
    invocation.arguments(["--disable", "plugins", "--disable", "apps"]);
    invocation.schema_file("--output-schema=")?;
    // Codex takes the flag once, and the user may want the file.
    if !invocation.setup.arguments.iter().any(|argument| names_last_message(argument)) {
        invocation.output_file("--output-last-message=", "last-message");
    }
    // A session that goes on takes the setting, and not the flag.
    invocation.setting("sandbox_mode", sandbox(invocation.setup.approval));
    if invocation.setup.project != Project::Trusted {
        // In a folder that it may write to, it would trust what is set there from now on.
        let folder = Value::from(invocation.setup.folder.to_string_lossy());
        let projects = format!("projects={{{folder}={{trust_level=\"untrusted\"}}}}");
        invocation.arguments(["-c", &projects]);
    }
    if let Some(system) = invocation.question.system.take() {
        invocation.setting("developer_instructions", &system);
    }
    invocation.option("--model", invocation.setup.model.clone());
    invocation.last(session.map(|session| session.session_id));
    invocation.last(["-"]);
    invocation.ask_on_stdin();
    Ok(())
}

impl Invocation<'_> {
    /// Adds a setting; a JSON string is a TOML string too.
    fn setting(&mut self, name: &str, value: &str) {
        let value = Value::from(value);
        self.arguments(["-c", &format!("{name}={value}")]);
    }
}

/// Claims that an argument says where to leave the last message.
fn names_last_message(argument: &str) -> bool {
    LAST_MESSAGE.iter().any(|flag| argument.starts_with(flag))
}

/// Returns what codex lets commands do.
fn sandbox(approval: ApprovalMode) -> &'static str {
    match approval {
        ApprovalMode::Plan | ApprovalMode::Default => "read-only",
        ApprovalMode::AutoEdit => "workspace-write",
        ApprovalMode::Yolo => "danger-full-access",
    }
}

/// Adds what only the one who started codex knows.
pub(super) fn complete(metadata: &mut Metadata, setup: &Setup) {
    metadata.sandbox_mode = Some(sandbox(setup.approval).to_owned());
    metadata.auth_source = Some(auth_source(setup).to_owned());
}

/// Says where codex finds a key first: a label, never the key.
fn auth_source(setup: &Setup) -> &'static str {
    let variable = |name: &str| {
        let mut known = setup.environment.iter().rev();
        known.find(|(it, value)| it == name && !value.is_empty()).map(|(_, value)| value)
    };
    let own = variable("CODEX_HOME").map(PathBuf::from);
    let home = own.or_else(|| variable("HOME").map(|home| Path::new(home).join(".codex")));
    if variable("CODEX_API_KEY").is_some() {
        "CODEX_API_KEY"
    } else if variable("OPENAI_API_KEY").is_some() {
        "OPENAI_API_KEY"
    } else if home.is_some_and(|home| home.join("auth.json").is_file()) {
        "cached"
    } else {
        "unknown"
    }
}

/// Reads what codex left as its last message: nothing if its turn failed.
pub(super) fn last_message(path: &Path) -> io::Result<Option<String>> {
    let about = match fs::symlink_metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !about.is_file() || about.len() > LINE_LIMIT_BYTES as u64 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = String::new();
    fs::File::open(path)?.take(about.len()).read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Returns a warning for each line of stderr in which codex warns that something is deprecated.
pub(super) fn deprecations(stderr: &str) -> impl Iterator<Item = String> {
    let warns = |line: &&str| {
        let line = line.to_lowercase();
        line.split_once("warning").is_some_and(|(_, about)| about.contains("deprecated"))
    };
    let lines = stderr.lines().map(str::trim).filter(warns);
    lines.map(|line| format!("codex-deprecation: {}", excerpt(line, DEPRECATION_LIMIT_CHARS, "…")))
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::super::tests::setup;
    use super::*;
    use airtight_core::transcript::Program;

    /// Tells where a key comes from, with these variables.
    fn source(variables: &[(&str, &str)]) -> &'static str {
        let environment =
            variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        auth_source(&Setup { environment, ..setup(Program::Codex) })
    }

    #[test]
    fn cx_9_the_source_of_a_key_is_a_label() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().to_str().unwrap();
        assert_eq!(source(&[("HOME", folder)]), "unknown");
        fs::create_dir(home.path().join(".codex")).unwrap();
        fs::write(home.path().join(".codex/auth.json"), "{}").unwrap();
        assert_eq!(source(&[("HOME", folder)]), "cached");
        assert_eq!(source(&[("HOME", folder), ("CODEX_HOME", "/nowhere")]), "unknown");
        let both = [("OPENAI_API_KEY", "two"), ("HOME", folder)];
        assert_eq!(source(&both), "OPENAI_API_KEY");
        assert_eq!(source(&[&both[..], &[("CODEX_API_KEY", "one")]].concat()), "CODEX_API_KEY");
        assert_eq!(source(&[&both[..], &[("CODEX_API_KEY", "")]].concat()), "OPENAI_API_KEY");
    }

    #[test]
    fn cx_6_a_last_message_is_read_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("last-message");
        assert_eq!(last_message(&path).unwrap(), None);
        fs::write(&path, "42\n").unwrap();
        assert_eq!(last_message(&path).unwrap().as_deref(), Some("42\n"));
        fs::write(&path, b"\xff").unwrap();
        assert!(last_message(&path).is_err());
        assert!(last_message(folder.path()).is_err(), "a folder is no message");
    }

    #[test_case("WARNING: `--full-auto` is deprecated; use `--sandbox`" => 1; "a warning")]
    #[test_case("a\n warning: `x` is Deprecated\nwarning: deprecated y\n" => 2; "two of them")]
    #[test_case("`x` is deprecated" => 0; "no warning")]
    #[test_case("deprecated: see the warning" => 0; "another order")]
    #[test_case("warning: slow\nx is deprecated" => 0; "two lines")]
    fn cx_7_what_is_deprecated_is_a_warning(stderr: &str) -> usize {
        let told: Vec<String> = deprecations(stderr).collect();
        assert!(told.iter().all(|it| it.starts_with("codex-deprecation: ")), "{told:?}");
        told.len()
    }
}
