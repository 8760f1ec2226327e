//! From bytes to events and lines, within limits.

pub mod lines;
pub mod sse;
