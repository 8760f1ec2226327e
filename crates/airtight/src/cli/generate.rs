//! What can be typed after `generate`.

use airtight_core::Dialect;
use airtight_core::generate::Target;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::{FolderArgs, Format, PatternArgs, dialects};

/// Generate a prompt, an example, types or documentation from a contract
///
/// Everything comes from the one schema, and the same contract gives the same bytes. Generated code
/// accepts what the contract accepts; what it cannot check is listed in its header, by the place in the
/// contract. `validate` always checks it.
///
/// Ends with 0, or with 1 if `--check` finds a file that is not what would be written, 3 if a file
/// cannot be written, 42 if one cannot be read, 52 if a contract is refused.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  airtight generate prompt review.json
  airtight generate rust review.json -o src/review.rs
  airtight generate rust review.json -o src/review.rs --check
  airtight generate typescript contracts/*.json -o web/src/contracts/
  airtight generate json-schema review.json --dialect openai-strict > lowered.json
  airtight generate python review.json --format json")]
pub(crate) struct GenerateArgs {
    #[command(flatten)]
    pub(crate) folder: FolderArgs,

    /// What to generate
    #[arg(value_name = "TARGET", value_parser = targets())]
    pub(crate) target: Target,

    /// Contracts: inline JSON, `@path`, `-` for stdin, a name, or a path
    #[arg(required = true, value_name = "CONTRACT")]
    pub(crate) contracts: Vec<String>,

    /// Write to this file instead of stdout; into a folder, under the name of each contract
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<String>,

    /// Write nothing, and end with 1 if the file is not what would be written
    #[arg(long, requires = "output")]
    pub(crate) check: bool,

    /// Put the schema of `json-schema` in the words of one provider
    #[arg(long, value_name = "NAME", value_parser = dialects())]
    pub(crate) dialect: Option<Dialect>,

    /// Call the type of the whole contract this
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Choose between the bare text and a document that also tells tokens and what is not checked
    #[arg(long, value_enum, default_value_t = Format::Text, conflicts_with = "output")]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) patterns: PatternArgs,
}

/// Parses the names of targets.
fn targets() -> impl TypedValueParser<Value = Target> {
    PossibleValuesParser::new(Target::ALL.map(Target::name))
        .try_map(|name| Target::named(&name).ok_or("no such target"))
}
