//! What to do about an error, in words that apply to a server.
//!
//! Errors of settings and runs say what to type after `airtight run`. Whoever asks a server types nothing:
//! requests name a `model`, and whoever runs it has variables, files and the flags of `airtight serve`. The rule
//! it protects: no hint names a flag that nobody here can type. What cannot be said in other words is left out.

use airtight_core::Advice;

use super::bench::CLI_SUFFIX;
use crate::config::Key;
use crate::error::Error;

/// Who is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    /// Whoever sent a request, which names the model.
    Client,
    /// Whoever started the server: this flag names the model.
    Operator(&'static str),
}

/// Flags of `airtight serve` that errors of settings name.
const OWN: [&str; 2] = ["--database", "--trust-project"];

/// What is typed in a shell, and helps only where the server runs.
const COMMANDS: [&str; 3] = ["`export ", "`airtight ", "`npm "];

/// What stands between two ways out.
const OR: &str = ", or ";

impl Reader {
    /// Returns the error with those hints that can be followed here.
    pub(super) fn advise(self, mut error: Error) -> Error {
        error.hints = error.hints.iter().filter_map(|hint| self.hint(hint)).collect();
        error
    }

    /// Returns the words of the error, each thing by the name that it has here.
    pub(super) fn words(self, error: &Error) -> Vec<String> {
        let said = [vec![error.to_string()], error.causes(), error.findings.clone()].concat();
        // Nothing of what is wrong is left out, and it may quote what somebody typed.
        let said = said.into_iter().map(|text| self.way(&text).unwrap_or(text));
        said.chain(error.hints.iter().filter_map(|hint| self.hint(hint))).collect()
    }

    /// Returns what of a hint can be followed here, if anything.
    pub(super) fn hint(self, hint: &str) -> Option<String> {
        let ways: Vec<String> = hint.split(OR).filter_map(|way| self.way(way)).collect();
        let words = (!ways.is_empty()).then(|| ways.join(OR))?;
        // A client has a key in the same variable: its token for this server.
        let is_typed = COMMANDS.iter().any(|command| words.contains(command));
        let is_elsewhere = self == Self::Client && is_typed;
        Some(if is_elsewhere { format!("where the server runs, {words}") } else { words })
    }

    /// Returns one way out, if it is open here.
    fn way(self, way: &str) -> Option<String> {
        // Every other part stands between two of them.
        let named = way.split('`').enumerate().map(|(place, part)| match part {
            part if place % 2 == 1 && part.starts_with("--") => self.name(part),
            part if part.contains("airtight run ") => None,
            part => Some(part.to_owned()),
        });
        named.collect::<Option<Vec<String>>>().map(|parts| parts.join("`"))
    }

    /// Returns what a flag with its value is called here.
    fn name(self, typed: &str) -> Option<String> {
        let (flag, value) = typed.split_once(' ').unwrap_or((typed, ""));
        match flag {
            "--model" => Some(self.model(value)),
            "--via" => Some(self.model(&format!("{value}{CLI_SUFFIX}"))),
            "--via-path" => Some(variable(Key::HarnessPath)),
            "--via-arg" => Some(Key::HarnessArguments.name().to_owned()),
            "--via-env" => Some(Key::HarnessEnvironment.name().to_owned()),
            "--mode" => Some(set(Key::Mode, value)),
            "--strict" => Some(Key::Strict.name().to_owned()),
            "--max-turns" => Some(Key::MaxTurns.name().to_owned()),
            // Only a compatible server has no address of its own.
            "--base-url" => Some(Key::CompatibleBaseUrl.name().to_owned()),
            flag if OWN.contains(&flag) => Some(typed.to_owned()),
            _ => None,
        }
    }

    fn model(self, name: &str) -> String {
        match self {
            Self::Client if name.is_empty() => "model".to_owned(),
            Self::Client => format!("\"model\": \"{name}\""),
            Self::Operator(flag) => format!("{flag} {name}").trim_end().to_owned(),
        }
    }
}

/// Returns how the variable of a setting is given this value.
fn set(key: Key, value: &str) -> String {
    if value.is_empty() { variable(key) } else { format!("{}={value}", variable(key)) }
}

/// Returns the variable of a setting.
fn variable(key: Key) -> String {
    key.spec().variables.first().map_or_else(|| key.name().to_owned(), |name| (*name).to_owned())
}

/// Says what to do about a run that failed: what the client may change in its request, and what the operator
/// may in the settings of the server.
pub(super) fn advice(advice: &Advice) -> String {
    let words = match advice {
        Advice::CheckKey => {
            "set another key where the server runs; `airtight doctor` shows there where it looks for one"
        }
        Advice::CheckConnection => {
            "check `providers.NAME.base_url` of the server, its network and `HTTPS_PROXY`, then try again"
        }
        Advice::CheckAddress => {
            "check `providers.NAME.base_url` of the server: what answers there is no such provider"
        }
        Advice::WaitLonger => {
            "raise `AIRTIGHT_IDLE_TIMEOUT` of the server (`timeouts.idle`, `timeouts.head` or \
             `timeouts.total` in its `airtight.toml`), or try again later"
        }
        Advice::CheckModel => {
            "check the `model` of the request, and `providers.NAME.base_url` of the server"
        }
        Advice::RaiseOutputTokens => {
            "raise the most tokens in the request, or `AIRTIGHT_MAX_OUTPUT_TOKENS` of the server: the \
             lower one counts"
        }
        Advice::LoosenContract => {
            "loosen the contract, explain it in its descriptions, or raise `AIRTIGHT_REASKS` of the \
             server"
        }
        Advice::AllowText => {
            "set `AIRTIGHT_MODE=native` for the server, or allow `structured_output`, or leave \
             `policy.strict` out"
        }
        Advice::UseToolOrPrompt => {
            "set `AIRTIGHT_MODE` to `tool` or `prompt` for the server, or ask another `model`"
        }
        Advice::UsePrompt => "set `AIRTIGHT_MODE=prompt` for the server, or ask another `model`",
        Advice::BudgetTokens => {
            "set `policy.max_tokens_total` of the server instead of `policy.max_cost`, or ask a `model` \
             with a known price"
        }
        Advice::RaiseBudget => {
            "raise the budget under `policy` in `airtight.toml` of the server, or ask for less"
        }
        Advice::SlowDown { .. }
        | Advice::TryLater
        | Advice::SendLess
        | Advice::AddCredit
        | Advice::AskAgain
        | Advice::SeeHook { .. }
        | Advice::AllowTerminalTool
        | Advice::AllowTurn
        | Advice::SayWhenToStop => return advice.to_string(),
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use test_case::test_case;

    use super::*;
    use crate::cli::Cli;
    use crate::config::TABLE;
    use crate::error::Outcome;

    const OPERATOR: Reader = Reader::Operator("--alert-model");

    #[test_case("check `--via-path`" => Some("check `AIRTIGHT_VIA_PATH`".to_owned()); "a variable")]
    #[test_case("name it by `--base-url URL`, or type `export X=…`" => Some("where the server runs, name it by `providers.openai-compatible.base_url`, or type `export X=…`".to_owned()); "a setting")]
    #[test_case("or `--model embedded` for a small one" => Some("or `\"model\": \"embedded\"` for a small one".to_owned()); "a model")]
    #[test_case("use `--via claude` or `--via qwen`, or remove the hooks" => Some("use `\"model\": \"claude-cli\"` or `\"model\": \"qwen-cli\"`, or remove the hooks".to_owned()); "an agent CLI")]
    #[test_case("or pass `--yes`, or name another model by `--model A:B`" => Some("name another model by `\"model\": \"A:B\"`".to_owned()); "one of two ways")]
    #[test_case("rewrite it, or opt in with `--look-around`" => Some("rewrite it".to_owned()); "the other of two")]
    #[test_case("or run without a record: `--no-store`" => None; "what has no name here")]
    #[test_case("set it before: `A=… airtight run … --via-env A`" => None; "another command")]
    #[test_case("then pass `--trust-project`, or add `/a`" => Some("then pass `--trust-project`, or add `/a`".to_owned()); "a flag of our own")]
    #[test_case("type `npm install --global claude`" => Some("where the server runs, type `npm install --global claude`".to_owned()); "a command of others")]
    fn a_client_is_told_what_can_be_done_here(hint: &str) -> Option<String> {
        Reader::Client.hint(hint)
    }

    #[test]
    fn who_started_the_server_is_told_by_the_flag_that_was_typed() {
        let error = Error::new(Outcome::Contract, "no model is set")
            .hint("pass `--model openai:NAME`")
            .hint("or run without a record: `--no-store`");
        let hints = OPERATOR.advise(error).hints;
        assert_eq!(hints, ["pass `--alert-model openai:NAME`"]);
    }

    #[test]
    fn flags_that_are_kept_can_be_typed() {
        let cli = Cli::command();
        let serve = cli.find_subcommand("serve").unwrap();
        let known: Vec<&str> = serve.get_arguments().filter_map(|it| it.get_long()).collect();
        for flag in OWN {
            assert!(known.contains(&flag.trim_start_matches("--")), "{flag}");
        }
    }

    #[test]
    fn advice_names_no_flag_and_only_settings_that_there_are() {
        let all = [
            Advice::CheckKey,
            Advice::SlowDown { pause: None },
            Advice::TryLater,
            Advice::CheckConnection,
            Advice::CheckAddress,
            Advice::WaitLonger,
            Advice::CheckModel,
            Advice::SendLess,
            Advice::AddCredit,
            Advice::RaiseOutputTokens,
            Advice::AskAgain,
            Advice::LoosenContract,
            Advice::SeeHook { command: "check".to_owned() },
            Advice::AllowTerminalTool,
            Advice::AllowTurn,
            Advice::SayWhenToStop,
            Advice::RaiseBudget,
            Advice::BudgetTokens,
            Advice::AllowText,
            Advice::UseToolOrPrompt,
            Advice::UsePrompt,
        ];
        let is_variable = |name: &str| TABLE.iter().any(|spec| spec.variables.contains(&name));
        for words in all.iter().map(advice) {
            assert!(!words.contains("--"), "{words}");
            let quoted = words.split('`').filter_map(|it| it.split('=').next());
            let mut variables = quoted.filter(|it| it.starts_with("AIRTIGHT_"));
            assert!(variables.all(is_variable), "{words}");
        }
    }
}
