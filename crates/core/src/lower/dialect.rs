//! Dialects: what one provider accepts of JSON Schema.

use jsonschema::Draft;
use serde::Serialize;

use super::tables;

/// A provider's way of reading JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// `OpenAI`'s strict mode: Chat `response_format`, Responses `text.format`, strict tools.
    OpenaiStrict,
    /// Anthropic's `output_config.format` and strict tools.
    Anthropic,
    /// Gemini's `responseJsonSchema`.
    Gemini,
    /// llama.cpp's GBNF converter, also behind Ollama.
    LlamaCpp,
    /// vLLM's guided decoding.
    Vllm,
    /// llguidance, which constrains the embedded model.
    Llguidance,
    /// Claude Code's `--json-schema`: Ajv, draft-07 only.
    ClaudeCode,
    /// Codex's `--output-schema` file, which must satisfy `OpenAI`'s strict mode.
    Codex,
}

impl Dialect {
    /// Every dialect, in the order of reports.
    pub const ALL: [Self; 8] = [
        Self::OpenaiStrict,
        Self::Anthropic,
        Self::Gemini,
        Self::LlamaCpp,
        Self::Vllm,
        Self::Llguidance,
        Self::ClaudeCode,
        Self::Codex,
    ];

    /// Returns the name as it is typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenaiStrict => "openai-strict",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::LlamaCpp => "llama-cpp",
            Self::Vllm => "vllm",
            Self::Llguidance => "llguidance",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    /// Returns the dialect called `name`; `ollama` is llama.cpp's.
    pub fn parse(name: &str) -> Option<Self> {
        let name = if name == "ollama" { "llama-cpp" } else { name };
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// Claims that answers are held to it in this process, and not by somebody else's promise.
    pub fn is_local(self) -> bool {
        self == Self::Llguidance
    }

    /// Returns what this dialect accepts.
    pub fn table(self) -> &'static Table {
        match self {
            Self::OpenaiStrict | Self::Codex => &tables::OPENAI_STRICT,
            Self::Anthropic => &tables::ANTHROPIC,
            Self::Gemini => &tables::GEMINI,
            Self::LlamaCpp => &tables::LLAMA_CPP,
            Self::Vllm => &tables::VLLM,
            Self::Llguidance => &tables::LLGUIDANCE,
            Self::ClaudeCode => &tables::CLAUDE_CODE,
        }
    }
}

/// What a dialect accepts, as documented or observed on a date.
#[derive(Debug, Clone)]
pub struct Table {
    /// When this was true.
    pub as_of: &'static str,
    /// Who says so.
    pub source: &'static str,
    /// Constraining keywords that are enforced.
    pub keywords: &'static [&'static str],
    /// Keywords that tell the model something and may stand in the schema.
    pub annotations: &'static [&'static str],
    /// What the root may be.
    pub root: Root,
    /// How a member that may be absent is written.
    pub optionals: Optionals,
    /// What is said about members that are not declared.
    pub extras: Extras,
    /// Whether a schema may leave the type open.
    pub untyped: Untyped,
    /// Whether other constraints may stand beside `anyOf`.
    pub unions: Unions,
    /// Whether a reference may lead back to where it stands.
    pub recursion: Recursion,
    /// The draft whose words are used.
    pub vocabulary: Draft,
    /// What may be listed in an `enum`.
    pub enum_members: EnumMembers,
    /// What `format` may say.
    pub formats: Formats,
    /// How a `pattern` is read.
    pub patterns: Patterns,
    /// Which numbers `minimum` and its kin bound.
    pub bounds: Bounds,
    /// What becomes of strings and numbers.
    pub leaves: Leaves,
    /// How much there may be of everything.
    pub limits: Limits,
}

impl Table {
    /// Returns the keyword that definitions stand under.
    pub fn definitions(&self) -> &'static str {
        if self.vocabulary <= Draft::Draft7 { "definitions" } else { "$defs" }
    }

    /// Claims that `keyword` is enforced.
    pub fn supports(&self, keyword: &str) -> bool {
        self.keywords.contains(&keyword)
    }
}

/// What the root of a schema may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// Anything.
    Any,
    /// `"type": "object"`, without a union or reference in its place.
    Object,
}

/// How a member that may be absent is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Optionals {
    /// Left out of `required`.
    Omitted,
    /// Required, with `null` for absence.
    Nullable,
}

/// What is said about members that are not declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extras {
    /// `additionalProperties` means what JSON Schema says.
    AsWritten,
    /// As JSON Schema says, but absence means `false`, so `true` must be written.
    Explicit,
    /// `additionalProperties` must be `false`.
    Forbidden,
}

/// Whether a schema may leave the type open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untyped {
    /// It may.
    Allowed,
    /// It may not: all types are listed.
    Listed,
    /// It may not: such a value travels as JSON text.
    AsText,
}

/// Whether other constraints may stand beside `anyOf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unions {
    /// They may.
    Beside,
    /// They must be repeated in each branch.
    Alone,
}

/// Whether a reference may lead back to where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recursion {
    /// It may.
    Allowed,
    /// It may not: it is cut there.
    Cut,
}

/// What may be listed in an `enum`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnumMembers {
    /// Anything.
    Any,
    /// Anything but arrays and objects.
    Scalars,
    /// Strings and numbers.
    StringsAndNumbers,
}

/// What `format` may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formats {
    /// One of these.
    Listed(&'static [&'static str]),
    /// Anything; it is read but not enforced.
    Annotation,
}

/// How a `pattern` is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patterns {
    /// As it stands, without look-around.
    AsWritten {
        /// Whether `\b` and `\B` are known.
        word_boundaries: bool,
        /// The largest number in `{n,m}`.
        repeat: usize,
    },
    /// By an automaton, which has `^` and `$` at its ends alone.
    Automata,
    /// As a grammar of the text between the quotes of a JSON string, escapes and all: a set such as `\d` is
    /// refused with the whole schema, and a quote ends the string.
    Grammar,
    /// By JavaScript with the flag `u`, which refuses the whole schema for one needless backslash.
    Script,
}

/// Which numbers `minimum` and its kin bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounds {
    /// All.
    Numbers,
    /// Those of `"type": "integer"` alone.
    Integers,
}

/// What becomes of numbers, and of what is said about strings and numbers together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaves {
    /// They are read as JSON Schema says.
    AsWritten,
    /// By automata, which know no number that is not a float.
    Automata,
    /// As a grammar, which is written from the first that is said and heeds nothing beside it.
    Grammar,
}

/// How much there may be of everything in one schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Declared members in all.
    pub properties: usize,
    /// Objects within objects.
    pub depth: usize,
    /// `enum` members in all.
    pub enum_values: usize,
    /// Characters of one `enum` of strings with more than 250 members.
    pub enum_chars: usize,
    /// Characters of names, `enum` and `const` strings in all.
    pub name_chars: usize,
    /// Members left out of `required` in all.
    pub optionals: usize,
    /// Unions in all, by `anyOf` or by a list of types.
    pub unions: usize,
    /// The largest `minItems`.
    pub min_items: u64,
}

impl Limits {
    /// No limit is documented.
    pub const NONE: Self = Self {
        properties: usize::MAX,
        depth: usize::MAX,
        enum_values: usize::MAX,
        enum_chars: usize::MAX,
        name_chars: usize::MAX,
        optionals: usize::MAX,
        unions: usize::MAX,
        min_items: u64::MAX,
    };
}
