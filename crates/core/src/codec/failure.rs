//! How a provider says no.

mod body;

use std::time::Duration;

use serde_json::Value;

use crate::Advice;

/// What a provider's failure means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The key is missing, wrong or not allowed: 401, 403.
    Auth,
    /// Too many requests: 429.
    RateLimit,
    /// The provider is busy or broken: 408, 409, 5xx, 529.
    Overload,
    /// The request itself is wrong, or nobody pays for it: other 4xx, and 429 without quota.
    Request,
    /// There is no connection: nothing was sent.
    Unreachable,
    /// The connection was cut.
    Network,
    /// Nothing came for longer than it may take.
    Stalled,
    /// What came back is not what the format promises.
    Malformed,
    /// An agent CLI is missing, refuses its arguments, breaks down, or ends without saying that it is
    /// done.
    Program,
    /// What is asked does not fit an agent CLI, which was not started.
    Unfit,
    /// An agent CLI gave up on a model whose answers it rejected.
    Rejected,
    /// An agent CLI has no turn left.
    TurnCap,
    /// An agent CLI has no time, tool call or money left.
    Budget,
}

impl FailureKind {
    /// Claims that the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimit
            | Self::Overload
            | Self::Unreachable
            | Self::Network
            | Self::Stalled
            | Self::Malformed => true,
            // Agent CLIs have tried again themselves.
            Self::Auth
            | Self::Request
            | Self::Program
            | Self::Unfit
            | Self::Rejected
            | Self::TurnCap
            | Self::Budget => false,
        }
    }

    pub(crate) fn of_status(status: u16) -> Self {
        match status {
            401 | 403 => Self::Auth,
            429 => Self::RateLimit,
            408 | 409 | 500.. => Self::Overload,
            _ => Self::Request,
        }
    }

    /// Reads the words that providers use where there is no status, and those that mean more than
    /// their status does.
    fn of_code(code: &str) -> Option<Self> {
        Some(match code {
            "authentication_error"
            | "permission_error"
            | "invalid_api_key"
            | "UNAUTHENTICATED"
            | "PERMISSION_DENIED" => Self::Auth,
            "insufficient_quota"
            | "billing_error"
            | "billing_hard_limit_reached"
            | "billing_not_active" => Self::Request,
            "rate_limit_error"
            | "rate_limit_exceeded"
            | "too_many_requests"
            | "tokens"
            | "requests"
            | "RESOURCE_EXHAUSTED" => Self::RateLimit,
            "overloaded_error"
            | "api_error"
            | "timeout_error"
            | "server_error"
            | "internal_server_error"
            | "service_unavailable"
            | "slow_down"
            | "UNAVAILABLE"
            | "INTERNAL"
            | "DEADLINE_EXCEEDED"
            | "ABORTED" => Self::Overload,
            "invalid_request_error"
            | "not_found_error"
            | "request_too_large"
            | "invalid_prompt"
            | "context_length_exceeded"
            | "model_not_found"
            | "INVALID_ARGUMENT"
            | "FAILED_PRECONDITION"
            | "NOT_FOUND" => Self::Request,
            _ => return None,
        })
    }
}

/// The [code](ProviderFailure::code) of an agent CLI that took too long.
pub const TIMEOUT: &str = "timeout";

/// The [code](ProviderFailure::code) of a contract that is too long for an agent CLI.
pub const CONTRACT_TOO_LONG: &str = "contract_too_long";

/// The [code](ProviderFailure::code) of a question that is too long for an agent CLI.
pub const QUESTION_TOO_LONG: &str = "question_too_long";

/// The [code](ProviderFailure::code) of an agent CLI that worked in a session that cannot go on.
pub const SESSION_LOST: &str = "session_lost";

/// A provider's failure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderFailure {
    /// What it means.
    pub kind: FailureKind,
    /// The HTTP status, if it came to that.
    pub status: Option<u16>,
    /// The provider's own word for it (`overloaded_error`, `insufficient_quota`).
    pub code: Option<String>,
    /// What happened, for people; bounded, and never a key.
    pub message: String,
    /// When the provider wants to be asked again.
    pub retry_after: Option<Duration>,
}

impl ProviderFailure {
    /// Reads an HTTP error answer. `retry_after` is the parsed header.
    ///
    /// All four formats carry `error.message` and `error.type`, `error.code` or `error.status`;
    /// bodies of proxies in front of them are read as text.
    pub fn from_response(status: u16, body: &[u8], retry_after: Option<Duration>) -> Self {
        let said = body::Said::read(body);
        let by_status = FailureKind::of_status(status);
        // An account without quota and a bad key are told with the statuses of other things.
        let kind = match (by_status, said.kind) {
            (
                FailureKind::RateLimit | FailureKind::Request,
                Some(special @ (FailureKind::Auth | FailureKind::Request)),
            ) => special,
            _ => by_status,
        };
        Self {
            kind,
            status: Some(status),
            code: said.code,
            message: said.message.unwrap_or_else(|| "no message".to_owned()),
            retry_after: retry_after.or(said.retry_after),
        }
    }

    /// Returns what to do about it; nothing where the provider's own words say it.
    pub fn advice(&self) -> Option<Advice> {
        let is_about = |code: &str| self.code.as_deref() == Some(code);
        Some(match (self.kind, self.status) {
            (FailureKind::Auth, _) => Advice::CheckKey,
            (FailureKind::RateLimit, _) => Advice::SlowDown { pause: self.retry_after },
            // A whole answer in another format comes from somebody else.
            (FailureKind::Malformed, Some(_)) => Advice::CheckAddress,
            (FailureKind::Overload | FailureKind::Malformed, _) => Advice::TryLater,
            (FailureKind::Network | FailureKind::Unreachable, _) => Advice::CheckConnection,
            (FailureKind::Stalled, _) => Advice::WaitLonger,
            (FailureKind::Request, Some(413)) => Advice::SendLess,
            (FailureKind::Request, _) if is_about("context_length_exceeded") => Advice::SendLess,
            (FailureKind::Request, Some(404)) => Advice::CheckModel,
            (FailureKind::Request, Some(429)) => Advice::AddCredit,
            (FailureKind::TurnCap, _) => Advice::AllowTurn,
            (FailureKind::Budget, _) => Advice::RaiseBudget,
            (FailureKind::Rejected, _) if is_about(SESSION_LOST) => return None,
            (FailureKind::Rejected, _) => Advice::LoosenContract,
            (FailureKind::Program, _) if is_about(TIMEOUT) => Advice::WaitLonger,
            (FailureKind::Unfit, _) if is_about(CONTRACT_TOO_LONG) => Advice::UsePrompt,
            (FailureKind::Unfit, _) if is_about(QUESTION_TOO_LONG) => Advice::SendLess,
            (FailureKind::Request | FailureKind::Program | FailureKind::Unfit, _) => return None,
        })
    }

    /// Claims that the provider turned the request away, or never got it; if nothing was streamed
    /// before, no model has worked on it. Behind a gateway that gave up waiting, one may have.
    pub fn is_refusal(&self) -> bool {
        if matches!(self.status, Some(408 | 504 | 524)) {
            return false;
        }
        match self.kind {
            FailureKind::Auth
            | FailureKind::RateLimit
            | FailureKind::Overload
            | FailureKind::Request
            | FailureKind::Unreachable
            | FailureKind::Unfit => true,
            FailureKind::Network
            | FailureKind::Stalled
            | FailureKind::Malformed
            | FailureKind::Program
            | FailureKind::Rejected
            | FailureKind::TurnCap
            | FailureKind::Budget => false,
        }
    }

    /// Reads the error of an event in the middle of a stream.
    pub(super) fn from_event(error: &Value) -> Self {
        let said = body::Said::of_error(error);
        Self {
            // A provider that gives up without a known reason is broken, not the request: that was
            // accepted.
            kind: said.kind.unwrap_or(FailureKind::Overload),
            status: None,
            code: said.code,
            message: said.message.unwrap_or_else(|| "the provider gave up".to_owned()),
            retry_after: said.retry_after,
        }
    }

    /// Makes the failure of a stream that is not what its format promises.
    pub(super) fn malformed(message: String) -> Self {
        Self { kind: FailureKind::Malformed, status: None, code: None, message, retry_after: None }
    }
}

#[cfg(test)]
mod table;
