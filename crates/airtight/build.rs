//! Tells the linker to put the functions of short runs, and those of the gateway, side by side in the
//! released program.
//!
//! A kernel reads programs in pieces of 64 KB. In the order of the compiler, a short run touches
//! nearly all of them; in the order of `order.ld`, which `scripts/order` has recorded, a quarter.
//!
//! It also packs the places that the loader must adjust: as a plain list they are a megabyte that every start
//! reads, packed some twenty kilobytes. Programs that are packed need glibc 2.36, so only machines that have it make them.

use std::env;
use std::process::Command;

/// The first glibc that reads what is packed.
const PACKED_SINCE: (u32, u32) = (2, 36);

#[expect(clippy::disallowed_methods, reason = "cargo speaks to build scripts by environment")]
fn main() {
    println!("cargo::rerun-if-changed=order.ld");
    let variable = |name| env::var(name).unwrap_or_default();
    let is_release = variable("PROFILE") == "release";
    // Only for the linker that comes with Rust there; others may not know the script's words.
    let is_ours = variable("TARGET") == "x86_64-unknown-linux-gnu"
        && variable("RUSTC_LINKER").is_empty()
        && !variable("CARGO_ENCODED_RUSTFLAGS").contains("link");
    if is_release && is_ours {
        let folder = variable("CARGO_MANIFEST_DIR");
        println!("cargo::rustc-link-arg-bin=airtight=-Wl,-T,{folder}/order.ld");
        if glibc().is_some_and(|version| version >= PACKED_SINCE) {
            println!("cargo::rustc-link-arg-bin=airtight=-Wl,-z,pack-relative-relocs");
        }
    }
}

/// Returns the version of the C library of this machine, if it is glibc.
fn glibc() -> Option<(u32, u32)> {
    let told = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let told = String::from_utf8(told.stdout).ok()?;
    let (major, minor) = told.trim().strip_prefix("glibc ")?.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
