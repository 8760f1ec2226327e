//! What to do about a failure, apart from the words: whoever shows it knows its own flags, settings
//! and methods.

use std::fmt;
use std::time::Duration;

/// What to do about a failure. Its text names no flag and no method of anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advice {
    /// The provider takes another key.
    CheckKey,
    /// The provider wants to be asked less often.
    SlowDown {
        /// How long it wants to be left alone, if it says so.
        pause: Option<Duration>,
    },
    /// The provider is busy or broken.
    TryLater,
    /// There is no way to the provider.
    CheckConnection,
    /// What answers is no model server.
    CheckAddress,
    /// The provider was silent for longer than it may be.
    WaitLonger,
    /// The provider has no such model.
    CheckModel,
    /// The request is too large.
    SendLess,
    /// The account is empty.
    AddCredit,
    /// The answer was cut.
    RaiseOutputTokens,
    /// The answer may have been cut, and the provider does not say.
    AskAgain,
    /// Every answer breaks the contract.
    LoosenContract,
    /// A hook refuses every answer.
    SeeHook {
        /// What it runs.
        command: String,
    },
    /// The tool that takes the answer is denied.
    AllowTerminalTool,
    /// The turns are used up, and the answer takes one.
    AllowTurn,
    /// The model does the same again and again.
    SayWhenToStop,
    /// A budget is spent.
    RaiseBudget,
    /// A budget of money needs a price.
    BudgetTokens,
    /// The answer could only come as text, which is refused.
    AllowText,
    /// The dialect cannot say the contract.
    UseToolOrPrompt,
    /// No tool can say the contract.
    UsePrompt,
}

impl fmt::Display for Advice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::CheckKey => "check the API key of the provider",
            Self::SlowDown { pause: Some(pause) } => {
                let seconds = pause.as_millis().div_ceil(1_000);
                return write!(
                    out,
                    "the rate limit is reached; the provider asks for a pause of {seconds} s"
                );
            }
            Self::SlowDown { pause: None } => {
                "the rate limit is reached; wait a minute, or ask less often"
            }
            Self::TryLater => "try again later",
            Self::CheckConnection => "check the address, the network and the proxy, then try again",
            Self::CheckAddress => "check the base URL: what answers there is no such provider",
            Self::WaitLonger => "allow the provider more time, or try again later",
            Self::CheckModel => "check the name of the model and the base URL",
            Self::SendLess => "send less: a smaller prompt, smaller files",
            Self::AddCredit => "the account has no credit left: see its billing",
            Self::RaiseOutputTokens => "raise the limit of output tokens",
            Self::AskAgain => "ask again; if it stays so, the server leaves out why it stops",
            Self::LoosenContract => {
                "loosen the contract, explain it in its descriptions, or allow more re-asks"
            }
            Self::SeeHook { command } => {
                return write!(out, "see what the hook wants, or remove it: `{command}`");
            }
            Self::AllowTerminalTool => "allow the tool `structured_output`, which is denied",
            Self::AllowTurn => {
                "`structured_output` was never called with valid arguments: it may be denied, or the \
                 schema may be unsatisfiable; it takes a turn of its own, so allow one more"
            }
            Self::SayWhenToStop => "say in the prompt what to do when a tool does not help",
            Self::RaiseBudget => "raise the budget, or give the model less to do",
            Self::BudgetTokens => "use a budget for tokens, or a model with a known price",
            Self::AllowText => {
                "use the mode `native`, or allow `structured_output`, or accept plain text"
            }
            Self::UseToolOrPrompt => "use the mode `tool` or `prompt`",
            Self::UsePrompt => "use the mode `prompt`",
        })
    }
}
