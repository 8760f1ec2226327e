//! Who is asked about tool calls in this process.

use std::fmt::Debug;
use std::pin::Pin;

use airtight_core::message::{ToolCall, ToolResult};

use super::Veto;

/// What a guard has to do before the run goes on.
pub type Guarding<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Sees tool calls before and after they happen, and may object to them.
pub trait Guard: Debug + Send + Sync {
    /// Decides about a call, which happens when that is done.
    fn before<'a>(&'a self, call: &'a ToolCall) -> Guarding<'a, Result<(), Veto>>;

    /// Hears what came of a call that it did not object to.
    fn after<'a>(&'a self, call: &'a ToolCall, result: &'a ToolResult) -> Guarding<'a, ()>;
}
