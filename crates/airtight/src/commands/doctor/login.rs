//! Logins of agent CLIs: where each would get its key from.
//!
//! Found by what it leaves behind, without trying it: a variable, a file of its own, or settings of its own
//! that say where a key comes from. Whether the key is taken, only a call of the program shows.

use std::path::Path;

use airtight_core::redact::names_secret;
use airtight_core::transcript::Program as Name;

use crate::env::Environment;
use crate::file;

/// The largest settings that are looked into; they have a few kilobytes.
const SETTINGS_LIMIT_BYTES: usize = 1024 * 1024;

/// What stands in claude's settings if they say where a key comes from.
const CLAUDE_WORDS: &[&str] =
    &["apiKeyHelper", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_USE_"];

/// Where a program may get its key from.
struct Places {
    /// Variables with a key, or that say who vouches for it.
    variables: &'static [&'static str],
    /// The variable that names its folder, and where that is otherwise.
    folder: (&'static str, &'static str),
    /// The file in it that a login leaves.
    file: &'static str,
    /// Its settings, by the folder that they are in.
    settings: (&'static str, &'static str),
    /// What stands in them if they say where a key comes from.
    words: &'static [&'static str],
}

impl Places {
    fn of(name: Name) -> Self {
        match name {
            Name::Claude => Self {
                variables: &[
                    "ANTHROPIC_API_KEY",
                    "ANTHROPIC_AUTH_TOKEN",
                    "CLAUDE_CODE_OAUTH_TOKEN",
                    "CLAUDE_CODE_USE_BEDROCK",
                    "CLAUDE_CODE_USE_VERTEX",
                    "CLAUDE_CODE_USE_FOUNDRY",
                ],
                folder: ("CLAUDE_CONFIG_DIR", "~/.claude"),
                file: ".credentials.json",
                settings: ("", "settings.json"),
                words: CLAUDE_WORDS,
            },
            Name::Codex => Self {
                variables: &["CODEX_API_KEY", "OPENAI_API_KEY"],
                folder: ("CODEX_HOME", "~/.codex"),
                file: "auth.json",
                settings: ("", "config.toml"),
                words: &["model_provider"],
            },
            Name::Qwen => Self {
                variables: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY", "ANTHROPIC_API_KEY"],
                folder: ("QWEN_HOME", "~/.qwen"),
                file: "oauth_creds.json",
                settings: ("", "settings.json"),
                words: &["apiKey", "API_KEY"],
            },
            Name::Gemini => Self {
                variables: &[
                    "GEMINI_API_KEY",
                    "GOOGLE_API_KEY",
                    "GOOGLE_GENAI_USE_VERTEXAI",
                    "GOOGLE_GENAI_USE_GCA",
                ],
                folder: ("", "~/.gemini"),
                file: "oauth_creds.json",
                settings: ("", ".env"),
                words: &["API_KEY", "GOOGLE_GENAI_USE_"],
            },
            Name::Opencode => Self {
                variables: &[
                    "ANTHROPIC_API_KEY",
                    "OPENAI_API_KEY",
                    "GEMINI_API_KEY",
                    "OPENROUTER_API_KEY",
                    "GROQ_API_KEY",
                    "OPENCODE_CONFIG",
                ],
                folder: ("", "~/.local/share/opencode"),
                file: "auth.json",
                settings: ("~/.config/opencode", "opencode.json"),
                words: &["\"provider\""],
            },
        }
    }
}

/// Finds where a program would get its key from; `besides` names variables that it is given by
/// `--via-env`.
pub(super) fn login(name: Name, besides: &[String], environment: &Environment) -> Option<String> {
    let Places { variables, folder: (variable, usual), file, settings, words } = Places::of(name);
    let besides = besides.iter().map(String::as_str).filter(|name| names_secret(name));
    let mut variables = variables.iter().copied().chain(besides);
    if let Some(set) = variables.find(|variable| environment.variable(variable).is_some()) {
        return Some(format!("${set}"));
    }
    let folder = environment.resolve(environment.variable(variable).unwrap_or(usual));
    let own = folder.join(file);
    if own.is_file() {
        return Some(own.display().to_string());
    }
    let settings = match settings {
        ("", file) => folder.join(file),
        (folder, file) => environment.resolve(folder).join(file),
    };
    says(&settings, words).then(|| settings.display().to_string())
}

/// Claims that one of `words` stands in a file.
fn says(path: &Path, words: &[&str]) -> bool {
    let bytes = file::read(path, SETTINGS_LIMIT_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    words.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_a_variable_a_file_or_settings_that_name_a_key() {
        let home = tempfile::tempdir().unwrap();
        let codex_home = home.path().to_str().unwrap();
        let find = |more: &[(&str, &str)], besides: &[String]| {
            let variables = [&[("CODEX_HOME", codex_home)], more].concat();
            login(Name::Codex, besides, &Environment::of(home.path(), &variables))
        };
        assert_eq!(find(&[], &["MY_KEY".to_owned()]), None);
        assert_eq!(find(&[("HTTPS_PROXY", "x")], &["HTTPS_PROXY".to_owned()]), None);
        assert_eq!(find(&[("MY_KEY", "x")], &["MY_KEY".to_owned()]).as_deref(), Some("$MY_KEY"));
        let path = |name: &str| Some(home.path().join(name).display().to_string());
        std::fs::write(home.path().join("config.toml"), "model = \"m\"").unwrap();
        assert_eq!(find(&[], &[]), None);
        std::fs::write(home.path().join("config.toml"), "model_provider = \"own\"").unwrap();
        assert_eq!(find(&[], &[]), path("config.toml"));
        std::fs::write(home.path().join("auth.json"), "{}").unwrap();
        assert_eq!(find(&[], &[]), path("auth.json"));
        assert_eq!(find(&[("OPENAI_API_KEY", "x")], &[]).as_deref(), Some("$OPENAI_API_KEY"));
    }
}
