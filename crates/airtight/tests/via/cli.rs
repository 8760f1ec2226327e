//! The agent CLIs: where they are, how they are pointed at a scripted model, and how their models answer.

use std::path::{Path, PathBuf};

use airtight_fake::{Fake, Script, Turn};
use serde_json::{Value, json};

/// An agent CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cli {
    Claude,
    Codex,
    Qwen,
    Gemini,
    Opencode,
}

/// The model that titles are asked of, where a program asks for titles.
const TITLES: &str = "titles";

impl Cli {
    /// Returns the name that `--via` and `PATH` know.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Qwen => "qwen",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    /// Returns the npm package.
    pub(crate) fn package(self) -> &'static str {
        match self {
            Self::Claude => "@anthropic-ai/claude-code",
            Self::Codex => "@openai/codex",
            Self::Qwen => "@qwen-code/qwen-code",
            Self::Gemini => "@google/gemini-cli",
            Self::Opencode => "opencode-ai",
        }
    }

    /// Returns the version that tests are written for.
    pub(crate) fn version(self) -> String {
        let pins: Value = serde_json::from_slice(&std::fs::read(self.pins()).unwrap()).unwrap();
        pins["dependencies"][self.package()].as_str().unwrap().to_owned()
    }

    /// Returns the folder with the installed program, and nothing if it is not what is pinned.
    pub(crate) fn folder(self) -> Option<PathBuf> {
        let (home, cache) = (variable("HOME"), variable("XDG_CACHE_HOME"));
        let cache = cache.or_else(|| Some(home?.join(".cache")))?.join(self.cache());
        let installed = std::fs::read(cache.join("package.json")).ok()?;
        let is_pinned = installed == std::fs::read(self.pins()).unwrap();
        is_pinned.then(|| cache.join("node_modules/.bin"))
    }

    fn cache(self) -> &'static str {
        if self == Self::Opencode { "airtight-clis-all" } else { "airtight-clis" }
    }

    fn pins(self) -> PathBuf {
        let folder = if self == Self::Opencode { "tests/clis/all" } else { "tests/clis" };
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder).join("package.json")
    }

    /// Returns the files below its home that point it at the scripted model.
    pub(crate) fn settings(self, fake: &Fake) -> Option<(&'static str, String)> {
        let quiet = json!({
            "privacy": { "usageStatisticsEnabled": false },
            "telemetry": { "enabled": false },
        });
        let quiet_with = |more: &Value| {
            let mut all = quiet.clone();
            all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            all.to_string()
        };
        match self {
            Self::Claude => None,
            Self::Codex => Some((".codex/config.toml", codex_settings(&fake.openai_base()))),
            Self::Qwen => {
                let more = json!({
                    "general": { "enableAutoUpdate": false },
                    "security": { "auth": { "selectedType": "openai" } },
                });
                Some((".qwen/settings.json", quiet_with(&more)))
            }
            Self::Gemini => {
                let more = json!({
                    "general": { "enableAutoUpdate": false, "maxAttempts": 1 },
                    "security": { "auth": { "selectedType": "gemini-api-key" } },
                });
                Some((".gemini/settings.json", quiet_with(&more)))
            }
            Self::Opencode => {
                Some((".config/opencode/opencode.json", opencode_settings(&fake.openai_base())))
            }
        }
    }

    /// Returns its own variables.
    pub(crate) fn environment(self, fake: &Fake) -> Vec<(&'static str, String)> {
        let key = || "key".to_owned();
        match self {
            Self::Claude => vec![
                ("ANTHROPIC_BASE_URL", fake.anthropic_base()),
                ("ANTHROPIC_API_KEY", key()),
                ("CLAUDE_CODE_MAX_RETRIES", "1".to_owned()),
            ],
            Self::Codex => vec![("OPENAI_API_KEY", key())],
            Self::Qwen => vec![
                ("OPENAI_BASE_URL", fake.openai_base()),
                ("OPENAI_API_KEY", key()),
                ("OPENAI_MODEL", "fake".to_owned()),
            ],
            Self::Gemini => {
                vec![("GOOGLE_GEMINI_BASE_URL", fake.gemini_base()), ("GEMINI_API_KEY", key())]
            }
            Self::Opencode => Vec::new(),
        }
    }

    /// Returns the name by which it calls a model that it knows.
    pub(crate) fn model(self) -> &'static str {
        match self {
            Self::Claude => "haiku",
            Self::Codex | Self::Qwen => "fake",
            Self::Gemini => "gemini-2.5-flash",
            Self::Opencode => "fake/fake",
        }
    }

    /// Returns the turn in which its model answers with this JSON text.
    pub(crate) fn answer(self, json: impl Into<String>) -> Turn {
        match self {
            Self::Claude => Turn::call_text("StructuredOutput", json),
            Self::Qwen => Turn::call_text("structured_output", json),
            Self::Codex | Self::Gemini | Self::Opencode => Turn::text(json),
        }
    }

    /// Returns a script of these turns, in which requests that no test is about are answered too.
    pub(crate) fn script(self, turns: impl IntoIterator<Item = Turn>) -> Script {
        let titles = Turn::text("A title").when_model(TITLES).forever();
        let aside = (self == Self::Opencode).then_some(titles);
        Script::new(aside.into_iter().chain(turns))
    }
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn codex_settings(base: &str) -> String {
    format!(
        r#"
model = "fake"
model_provider = "fake"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.fake]
name = "fake"
base_url = "{base}"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"#
    )
}

fn opencode_settings(base: &str) -> String {
    json!({
        "provider": { "fake": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "fake",
            "options": { "baseURL": base, "apiKey": "key" },
            "models": { "fake": { "name": "fake" }, TITLES: { "name": TITLES } },
        } },
        "model": "fake/fake",
        "small_model": format!("fake/{TITLES}"),
        "autoupdate": false,
        "share": "disabled",
    })
    .to_string()
}
