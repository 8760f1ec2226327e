//! The watch: scheduled sessions observe services, investigate and remediate; what they find becomes
//! events, memories, service states and escalations.
//!
//! These are its policies: functions of their arguments, with the time as one of them. Nothing here reads a
//! file, asks a clock or runs anything. What a session says is data, judged by the contract; what it asks
//! for is decided by policy.

mod alert;
mod chain;
mod context;
mod cooldown;
mod digest;
mod escalation;
mod event;
mod handoff;
mod level;
mod looking;
mod markers;
mod memory;
mod notification;
#[cfg(test)]
mod page;
mod prompt;
mod quote;
mod removal;
mod response;
mod roll;
mod schedule;
mod services;
mod session;
mod span;
mod tier;
mod tools;
mod vigil;

pub use alert::{Alert, alert_request};
pub use chain::{
    Brief, Chain, ChainOutcome, ChainPolicy, ChainSession, ChainStart, Known, OutOfTurn, Proposal,
    Record, STALE_MS, SessionEnd, Step,
};
pub use context::{Surroundings, session_context};
pub use cooldown::{
    ActionRecord, ActionState, ClaimedResult, CommandAction, CommandNote, CooldownAction,
    CooldownChange, CooldownClaim, CooldownLimits, CooldownVerdict, Counter, Denied, Recognised,
    Window, judge_command, recognise, settle_claims,
};
pub use digest::{DIGEST_MS, Digest, digest_since, is_digest_due};
pub use escalation::{
    Blocked, BlockedBy, Decision, ESCALATION_LIMIT_CHARS, Escalate, EscalationBlock,
    EscalationPolicy, LEAVE_MS, PastEscalation, Situation, Waiting, WatchMode, affected, decide,
    escalation_block,
};
pub use event::{Event, EventOrigin};
pub use handoff::{CheckResult, HANDOFF_LIMIT_BYTES, Handoff, HandoffError};
pub use level::{Level, LevelEdit, LevelReason};
pub use looking::changing_program;
pub use markers::{
    MARKER_LINE_LIMIT_BYTES, MARKER_TEXT_LIMIT_BYTES, MarkerReader, Markers, REFUSED_LINES_LIMIT,
    Refused, RefusedLine,
};
pub use memory::{
    Category, Confidence, FADING_MS, GRACE_MS, Learned, MEMORY_BUDGET_TOKENS, Memory, MemoryBlock,
    MemoryChange, MemoryClaim, MemoryKey, MemoryPolicy, MemorySource, NewMemory, NoCategory,
    OBSERVATION_LIMIT_CHARS, SESSION_CLAIMS_LIMIT, Trust, approve, learn, memory_block,
    same_observation,
};
pub use notification::{
    Notification, NotificationCategory, QUIET_MS, Told, generic_payload, slack_payload,
};
pub use prompt::{tier_prompt, with_response_format, without_response_format};
pub use removal::removes_everything;
pub use response::{
    AgentResponse, Escalation, EscalationRequest, KeyedMemory, NoResponse, RESPONSE_SCHEMAS,
    ResponseSchema,
};
pub use roll::{GONE, Roll};
pub use schedule::{
    INTERVAL_MS, NextChain, NextKind, Schedule, Trigger, VERIFICATION_MS, Verification,
};
pub use services::{
    CLEARING_STREAK, SERVICE_NAME_LIMIT_BYTES, ServiceCheck, ServiceState, ServiceStatus,
    fold_checks,
};
pub use session::{
    Ask, ExitClaim, Extracted, Extraction, Finished, HandoffFile, Legacy, Payload, Retold,
    SessionEnding, SessionStatus, response_text,
};
pub use tier::{NoTier, Tier};
pub use tools::{TierTool, default_tools, denied_commands, settings_for};
pub use vigil::{Alarm, BLIND_LIMIT, Vigil};
