//! Why everything, or one run, ends before it is done.

use std::time::Duration;

use airtight_core::Advice;
use airtight_core::batch::Whose;
use airtight_core::codec::{FailureKind, ProviderFailure};
use airtight_core::run::{self, RunError};
use airtight_store::StoreError;

use crate::advice;
use crate::error::{Error, Outcome};

/// Why everything, or one run, ends before it is done. What was begun is postponed, and done by the next
/// process.
#[derive(Debug, Clone)]
pub(crate) enum Stop {
    /// Somebody stopped it.
    Interrupted,
    /// The provider refuses everybody alike: the key, or the account.
    Refused(RunError),
    /// Nobody can do it as it is: there is no such model, or the question cannot be put to it.
    Unfit(RunError),
    /// The agent CLI cannot be started on this machine: it is missing, or there is no room for its files.
    NotStarted(RunError),
    /// The agent CLI broke down over this run; the others go on.
    Broken(RunError),
    /// The provider has given nothing but trouble for too long: it wants to be left alone this long, or
    /// `why` says what became of the last request.
    Outage { pause: Duration, why: Option<RunError> },
    /// The budget is spent.
    Budget,
    /// The ledger fails.
    Store(StoreError),
    /// Another process took the run over.
    Lost,
}

impl Stop {
    /// Returns what a provider's failure means to everybody who asks it, if it means that nobody is
    /// answered: it refuses the key, has no such model, or wants to be paid. `whose` is the model that
    /// was asked.
    pub(crate) fn of_failure(failure: &ProviderFailure, whose: Whose) -> Option<Self> {
        let advice = failure.advice();
        let message = match whose {
            Whose::Model => failure.message.clone(),
            Whose::Extractor => format!("the extractor: {}", failure.message),
        };
        let error =
            |outcome| RunError { advice: advice.clone(), ..RunError::new(outcome, &message) };
        match (failure.kind, &advice) {
            (FailureKind::Auth, _) => Some(Self::Refused(error(run::Outcome::Auth))),
            (FailureKind::Request, Some(Advice::AddCredit)) => {
                Some(Self::Refused(error(run::Outcome::Provider)))
            }
            (FailureKind::Request, Some(Advice::CheckModel)) => {
                Some(Self::Unfit(error(run::Outcome::Provider)))
            }
            _ => None,
        }
    }

    /// Returns the end of all patience with a provider that would be asked again after `pause`; `last` is
    /// how it failed, unless it asked for that pause itself.
    pub(crate) fn of_trouble(pause: Duration, last: Option<&ProviderFailure>) -> Self {
        let why = last.map(|failure| {
            let is_away = failure.kind == FailureKind::Unreachable;
            let what = if is_away { "is out of reach" } else { "does not come back" };
            let message = format!("the provider {what}: {}", failure.message);
            RunError { advice: failure.advice(), ..RunError::new(run::Outcome::Provider, message) }
        });
        Self::Outage { pause, why }
    }

    /// Returns what a failure of the ledger means.
    pub(crate) fn of_store(error: StoreError) -> Self {
        if matches!(error, StoreError::Fenced) { Self::Lost } else { Self::Store(error) }
    }

    /// Returns the words for it in the ledger.
    pub(crate) fn told(&self) -> String {
        match self {
            Self::Interrupted => "interrupted".to_owned(),
            Self::Refused(error)
            | Self::Unfit(error)
            | Self::NotStarted(error)
            | Self::Broken(error)
            | Self::Outage { why: Some(error), .. } => error.message.clone(),
            Self::Outage { why: None, .. } => "the provider does not come back".to_owned(),
            Self::Budget => "the budget is spent".to_owned(),
            Self::Store(error) => error.to_string(),
            Self::Lost => "another process took it over".to_owned(),
        }
    }

    /// Returns it as the end of a command; `place` names the ledger.
    pub(crate) fn into_error(self, place: &str) -> Error {
        let error = |outcome, message: String| Error::new(Outcome::Run(outcome), message);
        match self {
            Self::Interrupted | Self::Lost => {
                error(run::Outcome::Interrupted, "the batch was interrupted".to_owned())
            }
            Self::Refused(failure)
            | Self::Unfit(failure)
            | Self::NotStarted(failure)
            | Self::Broken(failure)
            | Self::Outage { why: Some(failure), .. } => {
                let refusal = error(failure.outcome, failure.to_string());
                failure.advice.iter().map(advice::words).fold(refusal, Error::hint)
            }
            Self::Outage { pause, why: None } if pause.is_zero() => {
                error(run::Outcome::Provider, "the provider does not come back".to_owned())
            }
            Self::Outage { pause, why: None } => {
                let seconds = pause.as_secs();
                let message = format!("the provider wants to be left alone for {seconds} s more");
                error(run::Outcome::Provider, message)
            }
            Self::Budget => {
                error(run::Outcome::Budget, "the budget of the batch is spent".to_owned())
                    .hint("raise `--budget-usd` or `--max-tokens-total`")
            }
            Self::Store(failure) => unusable(failure, place),
        }
    }
}

/// Says that the ledger at `place` failed, which nothing here can do without.
pub(crate) fn unusable(error: StoreError, place: &str) -> Error {
    Error::new(Outcome::Store, format!("the ledger `{place}` cannot be used")).caused_by(error)
}
