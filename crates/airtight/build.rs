//! Tells the linker to put the functions of short runs, and those of the gateway, side by side in the
//! released program.
//!
//! A kernel reads programs in pieces of 64 KB. In the order of the compiler, a short run touches
//! nearly all of them; in the order of `order.ld`, which `scripts/order` has recorded, a quarter.

use std::env;

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
    }
}
