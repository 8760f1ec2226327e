//! Advice of the core, in words to type: flags, variables and settings of this command line.

use airtight_core::Advice;

/// Returns what to type or set.
pub(crate) fn words(advice: &Advice) -> String {
    let words = match advice {
        Advice::CheckConnection => {
            "check the address (`--base-url`), the network and `HTTPS_PROXY`, then try again"
        }
        Advice::CheckAddress => "check `--base-url`: what answers there is no such provider",
        Advice::WaitLonger => {
            "raise `AIRTIGHT_IDLE_TIMEOUT` (`timeouts.idle`, `timeouts.head` or `timeouts.total` in \
             `airtight.toml`), or try again later"
        }
        Advice::CheckModel => "check `--model` and `--base-url`",
        Advice::RaiseOutputTokens => "raise `--max-output-tokens`",
        Advice::LoosenContract => {
            "loosen the contract, explain it in its descriptions, or raise `--reasks`"
        }
        Advice::AllowText => {
            "use `--mode native`, or allow `structured_output`, or leave `--strict` out"
        }
        Advice::UseToolOrPrompt => "use `--mode tool` or `--mode prompt`",
        Advice::UsePrompt => "use `--mode prompt`",
        Advice::BudgetTokens => {
            "use `--max-tokens-total` instead of `--max-cost`, or a model with a known price"
        }
        Advice::CheckKey
        | Advice::SlowDown { .. }
        | Advice::TryLater
        | Advice::SendLess
        | Advice::AddCredit
        | Advice::AskAgain
        | Advice::SeeHook { .. }
        | Advice::AllowTerminalTool
        | Advice::AllowTurn
        | Advice::SayWhenToStop
        | Advice::RaiseBudget => return advice.to_string(),
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_flag_in_advice_can_be_typed() {
        let cli = Cli::command();
        let run = cli.find_subcommand("run").unwrap();
        let known: Vec<&str> = run.get_arguments().filter_map(|it| it.get_long()).collect();
        let advice = [
            Advice::CheckConnection,
            Advice::CheckAddress,
            Advice::CheckModel,
            Advice::RaiseOutputTokens,
            Advice::LoosenContract,
            Advice::AllowText,
            Advice::UseToolOrPrompt,
            Advice::UsePrompt,
            Advice::BudgetTokens,
        ];
        for words in advice.iter().map(words) {
            let flags: Vec<&str> = words
                .split('`')
                .filter_map(|part| part.strip_prefix("--")?.split(' ').next())
                .collect();
            assert!(!flags.is_empty(), "{words}");
            assert!(flags.iter().all(|flag| known.contains(flag)), "{words}");
        }
    }
}
