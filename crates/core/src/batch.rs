//! Many runs at once: how fast, for how much, of what, and under which key.
//!
//! No clock and no chance of its own: times are counted from any start that does not change, and
//! randomness is an argument.

mod circuit;
mod fund;
mod key;
mod pace;
mod template;
mod window;

pub use circuit::Circuit;
pub use fund::{Earlier, Estimate, Fund, Grant, Limits, Prices, Whose, estimated_tokens};
pub use key::Keys;
pub use pace::{Pace, Pacing, Permit, Return};
pub use template::{Template, TemplateError};
