//! What else a contract can be: a prompt, an example, types of a language, documentation.
//!
//! Everything comes from the one schema, so that prompt, validator and consumers cannot drift apart.
//! The same contract gives the same bytes. Only the contract itself decides: what a target cannot say is
//! listed in its header, by pointer, and whatever the contract accepts the target accepts too, unless
//! that is listed as well.

#![expect(
    clippy::format_collect,
    clippy::format_push_string,
    clippy::needless_raw_string_hashes,
    clippy::single_match_else,
    reason = "texts are put together piece by piece, and those of other languages stand as they are"
)]

mod go;
mod header;
mod markdown;
mod model;
mod name;
mod prompt;
mod python;
mod rust;
mod text;
mod typescript;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod laws;

use crate::contract::{Contract, ExampleError};
use crate::lower::{Dialect, EnforcedBy, Loss, Narrowing, Unportable, Unsayable, lower};
use crate::pattern;

pub use prompt::{Prompt, RESPONSE_HEADING};

/// The most text that is generated: ten times what the largest contract itself takes.
const TEXT_LIMIT_BYTES: usize = 40 * 1024 * 1024;

/// What is generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// What a model is told that has nothing but words to go by.
    Prompt,
    /// One value that conforms.
    Example,
    /// The schema, in the words of one provider if a dialect is named.
    JsonSchema,
    /// Documentation.
    Markdown,
    /// Types for serde.
    Rust,
    /// Types, and schemas for Zod.
    Typescript,
    /// Models for Pydantic.
    Python,
    /// Types for `encoding/json`.
    Go,
}

impl Target {
    /// Every target, in the order of reports.
    pub const ALL: [Self; 8] = [
        Self::Prompt,
        Self::Example,
        Self::JsonSchema,
        Self::Markdown,
        Self::Rust,
        Self::Typescript,
        Self::Python,
        Self::Go,
    ];

    /// Returns the name as it is typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Example => "example",
            Self::JsonSchema => "json-schema",
            Self::Markdown => "markdown",
            Self::Rust => "rust",
            Self::Typescript => "typescript",
            Self::Python => "python",
            Self::Go => "go",
        }
    }

    /// Returns the target of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name() == name)
    }

    /// Claims that the root has a name in it.
    pub fn has_types(self) -> bool {
        match self {
            Self::Markdown | Self::Rust | Self::Typescript | Self::Python | Self::Go => true,
            Self::Prompt | Self::Example | Self::JsonSchema => false,
        }
    }

    /// Returns how a file is called that holds it, as people who use it would call it.
    pub fn file_name(self, contract: &str) -> String {
        let snake = name::snake(contract);
        let kebab = snake.replace('_', "-");
        match self {
            Self::Prompt => format!("{kebab}.prompt.txt"),
            Self::Example => format!("{kebab}.example.json"),
            Self::JsonSchema => format!("{kebab}.schema.json"),
            Self::Markdown => format!("{kebab}.md"),
            Self::Rust => format!("{snake}.rs"),
            Self::Typescript => format!("{kebab}.ts"),
            Self::Python => format!("{snake}.py"),
            Self::Go => format!("{snake}.go"),
        }
    }
}

/// What is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Order<'o> {
    /// What is generated.
    pub target: Target,
    /// What the contract is called where it does not say so itself.
    pub contract: &'o str,
    /// What the type of the root is called; by default like the contract.
    pub root: Option<&'o str>,
    /// Whose words a schema is put in.
    pub dialect: Option<Dialect>,
}

/// What was generated.
#[derive(Debug)]
pub struct Generated {
    /// All of it, with a line break at the end.
    pub text: String,
    /// What it does not check, by pointer.
    pub losses: Vec<Loss>,
    /// What it does not accept though the contract does, by pointer.
    pub narrowings: Vec<Narrowing>,
    /// Why there is no example in it that should have one.
    pub without_example: Option<ExampleError>,
}

impl Generated {
    fn exact(text: String) -> Self {
        Self { text, losses: Vec::new(), narrowings: Vec::new(), without_example: None }
    }
}

/// Why nothing was generated.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// There is no value to show.
    #[error("no example can be made")]
    NoExample(#[source] ExampleError),
    /// The dialect cannot say it.
    #[error("the contract cannot be put into the dialect")]
    Unportable(#[source] Unportable),
    /// There is nothing that could have a type.
    #[error("no value satisfies the contract")]
    Unsatisfiable,
    /// It would be too long for anybody to read.
    #[error("{size} bytes would be generated, over the limit of {limit}")]
    TooLarge {
        /// How many bytes it would be.
        size: usize,
        /// How many it may be.
        limit: usize,
    },
}

/// Generates what is wanted of `contract`.
pub fn generate(contract: &Contract, order: &Order<'_>) -> Result<Generated, GenerateError> {
    let generated = match order.target {
        Target::Prompt => {
            let example = contract.example();
            let prompt = Prompt::of(contract, example.as_ref().ok());
            let without_example = example.err();
            Generated { without_example, ..Generated::exact(format!("{}\n", prompt.text())) }
        }
        Target::Example => {
            let example = contract.example().map_err(GenerateError::NoExample)?;
            Generated::exact(format!("{:#}\n", example.to_value()))
        }
        Target::JsonSchema => schema(contract, order.dialect)?,
        Target::Markdown | Target::Rust | Target::Typescript | Target::Python | Target::Go => {
            types(contract, order)?
        }
    };
    match generated.text.len() {
        size if size > TEXT_LIMIT_BYTES => {
            Err(GenerateError::TooLarge { size, limit: TEXT_LIMIT_BYTES })
        }
        _ => Ok(generated),
    }
}

fn schema(contract: &Contract, dialect: Option<Dialect>) -> Result<Generated, GenerateError> {
    let Some(dialect) = dialect else {
        return Ok(Generated::exact(format!("{:#}\n", contract.schema())));
    };
    let lowering = lower(contract, dialect).map_err(GenerateError::Unportable)?;
    let text = format!("{:#}\n", lowering.schema);
    let (losses, narrowings) = (lowering.losses, lowering.narrowings);
    Ok(Generated { losses, narrowings, ..Generated::exact(text) })
}

fn types(contract: &Contract, order: &Order<'_>) -> Result<Generated, GenerateError> {
    let called = contract.name().unwrap_or(order.contract);
    let model = model::Model::of(contract, &name::pascal(order.root.unwrap_or(called)))?;
    let rendered = match order.target {
        Target::Rust => rust::render(&model),
        Target::Typescript => typescript::render(&model),
        Target::Python => python::render(&model),
        Target::Go => go::render(&model, called),
        Target::Markdown | Target::Prompt | Target::Example | Target::JsonSchema => {
            markdown::render(&model, contract, called)
        }
    };
    let mut losses = model.losses;
    losses.extend(rendered.lost);
    losses.sort();
    losses.dedup();
    let mut narrowings = model.narrowings;
    if rendered.integers == Integers::Bits64 {
        let large = |pointer| Narrowing { pointer, unsayable: Unsayable::LargeIntegers };
        narrowings.extend(model.large_integers.into_iter().map(large));
    }
    narrowings.sort();
    let header = header::Header { contract, called, losses: &losses, narrowings: &narrowings };
    let header = if order.target == Target::Markdown {
        header.section()
    } else {
        header.comment(order.target, &rendered.notes)
    };
    let text = rendered.text.replacen(header::MARK, &header, 1);
    Ok(Generated { text, losses, narrowings, without_example: rendered.without_example })
}

/// What a target made of a model.
struct Rendered {
    /// The text, with [`header::MARK`] where the header stands.
    text: String,
    /// What it does not check, beside what no target does.
    lost: Vec<Loss>,
    integers: Integers,
    /// What else its readers must know.
    notes: Vec<&'static str>,
    without_example: Option<ExampleError>,
}

/// Returns the patterns that an engine cannot match; all of them, if there is none.
fn lost(model: &model::Model, engine: Option<pattern::Engine>) -> Vec<Loss> {
    let is_lost = |it: &&model::Pattern| {
        engine.is_none_or(|engine| pattern::translated(&it.text, engine).is_none())
    };
    let lost = |it: &model::Pattern| Loss {
        pointer: it.at.clone(),
        keyword: "pattern".to_owned(),
        enforced_by: EnforcedBy::VerdictOnly,
    };
    model.patterns().filter(is_lost).map(lost).collect()
}

/// Which integers a target holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Integers {
    /// Those of 64 bits.
    Bits64,
    /// All, exactly or nearly.
    All,
}
