//! A review in the forms that others read, one file each.
//!
//! Every form says which findings are worth little, and what was not reviewed.

#![expect(clippy::format_push_string, reason = "texts are put together piece by piece")]

mod github;
mod gitlab;
mod inert;
mod json;
mod markdown;
mod sarif;

pub use github::{GITHUB_COMMENT_LIMIT, github};
pub use gitlab::gitlab;
pub use json::json;
pub use markdown::markdown;
pub use sarif::sarif;
