//! What holds for every diff and every review.

mod diffs;
mod reviews;
mod texts;
