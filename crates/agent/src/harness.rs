//! Agent CLIs as drivers.

pub(crate) mod child;
