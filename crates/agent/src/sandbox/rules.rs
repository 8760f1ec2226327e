//! The rules, as landlock knows them.

use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};

/// The first ABI that holds everything promised: before it files anywhere could be truncated.
const NEEDED: ABI = ABI::V3;

/// The newest ABI known; what it adds (devices, sockets, signals) is taken where it is.
const WANTED: ABI = ABI::V9;

/// Devices that swallow what is written to them, which scripts count on.
const SINKS: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

pub(super) fn probe() -> Result<(), String> {
    ruleset().map(drop).map_err(|error| error.to_string())
}

/// Restricts this thread and its children to writing below `folders`.
pub(super) fn restrict(folders: &[&Path]) -> Result<(), String> {
    enforce(folders).map_err(|error| error.to_string()).and_then(|status| match status {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        RulesetStatus::NotEnforced => Err("the kernel enforces nothing".to_owned()),
    })
}

/// Handles all ways of writing; fails if those that matter are unknown to the kernel.
fn ruleset() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(NEEDED))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(WANTED))?
        .scope(Scope::from_all(WANTED))?
        .create()
}

fn enforce(folders: &[&Path]) -> Result<RulesetStatus, Box<dyn std::error::Error>> {
    let mut ruleset = ruleset()?;
    // A device file reaches the device, wherever it lies: a disk is all files on it.
    let granted = AccessFs::from_write(WANTED) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    for folder in folders {
        ruleset = ruleset.add_rule(PathBeneath::new(PathFd::new(folder)?, granted))?;
    }
    let write = AccessFs::from_write(WANTED) & AccessFs::from_file(WANTED);
    for sink in SINKS {
        if let Ok(handle) = PathFd::new(sink) {
            ruleset = ruleset.add_rule(PathBeneath::new(handle, write))?;
        }
    }
    Ok(ruleset.restrict_self()?.ruleset)
}
