//! What a program gets of the user's environment: what every program needs, and what is its own.
//!
//! An allow-list, because nobody knows what else lies around: other vendors' keys, and marks such as
//! `CLAUDECODE`, by which a program believes that it runs inside another.

use std::ffi::{OsStr, OsString};

use airtight_core::transcript::Program;

/// What every program gets; a `*` stands for any ending.
const EVERYONE: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TMPDIR",
    "XDG_*",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

/// What programs must not see, whatever list it is on: marks of a program that runs us.
const NOBODY: &[&str] = &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT"];

/// Returns what a program gets beside that.
fn own(program: Program) -> &'static [&'static str] {
    match program {
        Program::Claude => &[
            "ANTHROPIC_*",
            "CLAUDE_*",
            "AWS_*",
            "CLOUD_ML_REGION",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "API_TIMEOUT_MS",
            "BASH_DEFAULT_TIMEOUT_MS",
            "BASH_MAX_TIMEOUT_MS",
            "BASH_MAX_OUTPUT_LENGTH",
            "MAX_THINKING_TOKENS",
            "MCP_*",
            "IS_SANDBOX",
        ],
        Program::Codex => &["CODEX_*", "OPENAI_*", "AZURE_OPENAI_*", "RUST_LOG"],
        Program::Qwen => {
            &["QWEN_*", "OPENAI_*", "DASHSCOPE_*", "ANTHROPIC_*", "GEMINI_*", "GOOGLE_*"]
        }
        Program::Gemini => &["GEMINI_*", "GOOGLE_*", "CLOUDSDK_*"],
        Program::Opencode => &[
            "OPENCODE_*",
            "ANTHROPIC_*",
            "OPENAI_*",
            "GEMINI_*",
            "GOOGLE_*",
            "OPENROUTER_*",
            "GROQ_*",
            "AWS_*",
        ],
    }
}

/// Returns what keeps a program quiet: no updates, no telemetry, no launcher that breaks signals.
fn quiet(program: Program) -> &'static [(&'static str, &'static str)] {
    match program {
        Program::Claude => &[
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ],
        Program::Codex => &[],
        Program::Qwen => &[("QWEN_CODE_NO_RELAUNCH", "true")],
        Program::Gemini => &[("GEMINI_CLI_NO_RELAUNCH", "true")],
        Program::Opencode => &[
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ],
    }
}

/// Returns what `program` gets of `variables`, and of those the user names `besides`.
pub(super) fn of(
    program: Program,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    besides: &[String],
) -> Vec<(OsString, OsString)> {
    let allowed = |name: &OsStr| {
        let name = name.to_string_lossy();
        let is_named = besides.iter().any(|it| *it == name);
        let name = name.to_ascii_uppercase();
        let mut lists = EVERYONE.iter().chain(own(program));
        is_named || (!NOBODY.contains(&name.as_str()) && lists.any(|it| covers(it, &name)))
    };
    let kept = variables.into_iter().filter(|(name, _)| allowed(name));
    let quiet = quiet(program).iter().map(|(name, value)| (name.into(), value.into()));
    // What is said last counts.
    quiet.chain(kept).collect()
}

fn covers(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(program: Program, given: &[&str], besides: &[String]) -> Vec<String> {
        let variables = given.iter().map(|name| (name.into(), "x".into()));
        let all = of(program, variables, besides);
        let quiet = quiet(program).len();
        all.into_iter().skip(quiet).map(|(name, _)| name.into_string().unwrap()).collect()
    }

    #[test]
    fn a_program_sees_its_own_keys_and_no_others() {
        let given = ["PATH", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN", "https_proxy"];
        let claude = names(Program::Claude, &given, &[]);
        assert_eq!(claude, ["PATH", "ANTHROPIC_API_KEY", "https_proxy"]);
        let codex = names(Program::Codex, &given, &[]);
        assert_eq!(codex, ["PATH", "OPENAI_API_KEY", "https_proxy"]);
    }

    #[test]
    fn a_program_does_not_learn_that_it_runs_inside_another() {
        let given = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CONFIG_DIR"];
        assert_eq!(names(Program::Claude, &given, &[]), ["CLAUDE_CONFIG_DIR"]);
    }

    #[test]
    fn what_the_user_names_is_passed_on() {
        let besides = ["MOCK_KEY".to_owned()];
        assert_eq!(names(Program::Codex, &["MOCK_KEY", "OTHER"], &besides), ["MOCK_KEY"]);
    }
}
