//! From bytes to events and lines, within limits.

pub mod csv;
pub mod lines;
pub mod sse;
