//! The job: what was typed, and what was piped in.

use std::io::{self, IsTerminal};
use std::time::Duration;

use super::limit::Limit;
use super::stdin::{self, Piped};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::file::{self, FileError};
use crate::input::unreadable;

/// The most a prompt may hold: about two million tokens, more than models read.
const LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// How long the first byte may take when there is a prompt already: whoever started us may have
/// left stdin open and never mean to write.
const PATIENCE: Duration = Duration::from_secs(3);

/// Who reads stdin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stdin {
    /// Nobody yet: what is piped in belongs to the prompt.
    Free,
    /// The contract or the source text.
    Taken,
}

/// The job, and what is worth a note about it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Prompt {
    pub(super) text: String,
    pub(super) notes: Vec<String>,
}

/// Puts the prompt together.
pub(super) fn read(
    typed: Option<&str>,
    stdin: Stdin,
    environment: &Environment,
    limit: &Limit,
) -> Result<Prompt, Error> {
    let given = match typed {
        None | Some("-") => None,
        Some(typed) => Some(typed_text(typed, environment)?),
    };
    let mut notes = Vec::new();
    let piped = match stdin {
        Stdin::Taken => None,
        Stdin::Free if io::stdin().is_terminal() => None,
        Stdin::Free => piped(given.as_ref().map(|_| PATIENCE), limit, &mut notes)?,
    };
    let parts: Vec<String> = given.into_iter().chain(piped).collect();
    let text = parts.join("\n\n");
    if text.trim().is_empty() {
        return Err(missing());
    }
    if text.len() > LIMIT_BYTES {
        return Err(unreadable("prompt", FileError::TooLarge { limit: LIMIT_BYTES }));
    }
    Ok(Prompt { text, notes })
}

fn missing() -> Error {
    Error::new(Outcome::Input, "there is no prompt")
        .hint("say what to do: `airtight run --json-schema CONTRACT 'Review HEAD'`")
        .hint("or pipe it in: `… | airtight run --json-schema CONTRACT`")
}

/// Returns what was typed, or what is in the file that was; `@@` stands for a plain `@`.
fn typed_text(typed: &str, environment: &Environment) -> Result<String, Error> {
    let Some(path) = typed.strip_prefix('@') else { return Ok(typed.to_owned()) };
    if path.starts_with('@') {
        return Ok(path.to_owned());
    }
    let bytes = file::read(&environment.resolve(path), LIMIT_BYTES)
        .map_err(|error| unreadable(path, error))?;
    String::from_utf8(bytes).map_err(|_| {
        Error::new(Outcome::Input, format!("prompt is not UTF-8: `{path}`"))
            .hint("pipe it in to have what cannot be read replaced")
    })
}

/// Reads stdin to its end; nothing if it is silent although there is a prompt already.
fn piped(
    patience: Option<Duration>,
    limit: &Limit,
    notes: &mut Vec<String>,
) -> Result<Option<String>, Error> {
    let bytes = match stdin::read(LIMIT_BYTES, patience, limit)? {
        Piped::All(bytes) => bytes,
        Piped::Unreadable(error) => return Err(unreadable("(stdin)", error)),
        Piped::Silence => {
            notes.push(
                "nothing came from stdin for 3s, so it is left out; `< /dev/null` says so at once"
                    .to_owned(),
            );
            return Ok(None);
        }
    };
    let text = String::from_utf8(bytes).unwrap_or_else(|error| {
        notes.push("stdin is not UTF-8; what cannot be read is replaced".to_owned());
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    });
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use tokio_util::sync::CancellationToken;

    fn typed(text: &str) -> Result<Prompt, Error> {
        let limit = Limit::new(Instant::now(), None, CancellationToken::new());
        read(Some(text), Stdin::Taken, &Environment::default(), &limit)
    }

    #[test]
    fn an_at_sign_means_a_file_and_two_mean_one() {
        assert_eq!(typed("@@ada hello").unwrap().text, "@ada hello");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("job.txt");
        std::fs::write(&path, "do it").unwrap();
        assert_eq!(typed(&format!("@{}", path.display())).unwrap().text, "do it");
        std::fs::write(&path, b"s3cret \xff").unwrap();
        let error = typed(&format!("@{}", path.display())).unwrap_err();
        assert!(error.to_string().starts_with("prompt is not UTF-8"), "{error}");
        assert_eq!(error.kind, Outcome::Input);
    }

    #[test]
    fn a_blank_prompt_is_none() {
        for blank in ["", " \n\t"] {
            let error = typed(blank).unwrap_err();
            assert_eq!(
                (error.kind, error.to_string().as_str()),
                (Outcome::Input, "there is no prompt")
            );
        }
        assert_eq!(typed("@no/such/file").unwrap_err().kind, Outcome::Input);
    }
}
