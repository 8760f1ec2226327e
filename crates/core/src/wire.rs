//! From bytes to events, within limits.

pub mod sse;
