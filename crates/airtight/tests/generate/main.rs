//! Generated code, compiled and run by the real compilers: it agrees with the verdict of the contract.
//!
//! `scripts/setup generate` installs what is needed. What is not installed is not tested: `toolchain`
//! says so.

#![expect(
    clippy::format_push_string,
    clippy::unwrap_used,
    reason = "a test that cannot set itself up has failed, and puts programs together piece by piece"
)]

mod contracts;
mod go;
mod instances;
mod python;
mod rust;
mod toolchain;
mod trial;
mod typescript;
