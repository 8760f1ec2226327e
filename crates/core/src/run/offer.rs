//! How the contract is put to the model: the mode that was asked for, settled once for a run.

use std::sync::Arc;

use crate::Advice;
use crate::codec::Format;
use crate::contract::{Contract, WorkedExample};
use crate::generate::Prompt;
use crate::json::{Document, Pointer};
use crate::lower::{Dialect, EnforcedBy, Loss, Lowering};
use crate::message::{Enforcement, ToolSpec};
use crate::stream::Plan;

use super::words::{self, Again};
use super::{Job, Mode, Outcome, RunError, TERMINAL_TOOL, Terminal, TextRung};

/// What providers call the format; they take letters, digits and underscores.
const FORMAT_NAME: &str = "answer";

/// A contract and the way it is put to the model.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) contract: Arc<Contract>,
    /// What streamed answers are followed by, where they are in the contract's own shape and the
    /// provider is asked to enforce it.
    pub(super) plan: Option<Arc<Plan>>,
    /// The contract's worked examples, in the shape that is asked for.
    pub(super) examples: Vec<WorkedExample>,
    pub(super) way: Way,
}

/// The way a contract is put to the model.
#[derive(Debug)]
pub(super) enum Way {
    /// The provider holds the whole answer to the adapted schema.
    Native(Arc<Lowering>),
    /// The terminal tool takes the answer.
    Tool { lowering: Arc<Lowering>, spec: ToolSpec },
    /// The model is told in words.
    Prompt { instructions: String, example: Option<Document> },
    /// The terminal tool was asked for and denied; only text is left, and nobody says so.
    Withheld,
}

impl Offer {
    /// Settles how `job`'s contract is put to the model.
    pub(super) fn settle(job: &Job, contract: Arc<Contract>) -> Result<Self, RunError> {
        let way = match (job.mode, job.terminal) {
            (Mode::Native, _) => native(job, &contract)?,
            (Mode::Tool, Terminal::Offered) => tool(job, &contract)?,
            (Mode::Tool, Terminal::Denied) => Way::Withheld,
            (Mode::Prompt, _) => prompt(&contract),
            (Mode::Auto, terminal) => auto(job, &contract, terminal)?,
        };
        let needs_text = matches!(way, Way::Prompt { .. } | Way::Withheld);
        if needs_text && job.policy.text == TextRung::Refused {
            let message = "the answer could only come as plain text, which is refused";
            return Err(RunError::new(Outcome::Config, message).advise(Advice::AllowText));
        }
        let examples = contract.worked_examples();
        let mut offer = Self { contract, plan: None, examples, way };
        offer.reshape_examples();
        let is_own_shape = offer.lowering().is_some_and(|it| it.inverse.is_identity());
        if is_own_shape && offer.is_enforced() {
            offer.plan = Some(offer.contract.plan());
        }
        Ok(offer)
    }

    /// Says worked examples as an answer would; those that cannot be said are left out.
    fn reshape_examples(&mut self) {
        let mut examples = std::mem::take(&mut self.examples);
        if let Some(lowering) = self.lowering().filter(|it| !it.inverse.is_identity()) {
            examples.retain_mut(|example| match lowering.pre_image(&example.output) {
                Some(output) => {
                    example.output = output;
                    true
                }
                None => false,
            });
        }
        self.examples = examples;
    }

    /// Returns the mode that was settled on.
    pub(super) fn mode(&self) -> Mode {
        match &self.way {
            Way::Native(_) => Mode::Native,
            Way::Tool { .. } | Way::Withheld => Mode::Tool,
            Way::Prompt { .. } => Mode::Prompt,
        }
    }

    /// Returns the terminal tool, if the model has it.
    pub(super) fn tool(&self) -> Option<&ToolSpec> {
        match &self.way {
            Way::Tool { spec, .. } => Some(spec),
            Way::Native(_) | Way::Prompt { .. } | Way::Withheld => None,
        }
    }

    /// Claims that the provider is asked to hold answers to the adapted schema.
    fn is_enforced(&self) -> bool {
        match &self.way {
            Way::Native(_) => true,
            Way::Tool { spec, .. } => spec.enforcement == Enforcement::Strict,
            Way::Prompt { .. } | Way::Withheld => false,
        }
    }

    /// Returns the native format, if there is one.
    pub(super) fn format(&self) -> Option<Format> {
        match &self.way {
            Way::Native(lowering) => {
                Some(Format { name: FORMAT_NAME.to_owned(), schema: Arc::clone(&lowering.schema) })
            }
            Way::Tool { .. } | Way::Prompt { .. } | Way::Withheld => None,
        }
    }

    /// Returns what the model is told beside the caller's instructions.
    pub(super) fn instructions(&self) -> Option<&str> {
        match &self.way {
            Way::Tool { .. } => Some(words::TOOL_INSTRUCTIONS),
            Way::Prompt { instructions, .. } => Some(instructions),
            Way::Native(_) | Way::Withheld => None,
        }
    }

    /// Returns the adaptation that answers are given in.
    pub(super) fn lowering(&self) -> Option<&Lowering> {
        match &self.way {
            Way::Native(lowering) | Way::Tool { lowering, .. } => Some(lowering),
            Way::Prompt { .. } | Way::Withheld => None,
        }
    }

    /// Returns the member of an answer that holds the value, if the root is wrapped.
    pub(super) fn wrapper(&self) -> Option<&'static str> {
        self.lowering().and_then(|lowering| lowering.inverse.wrapper())
    }

    /// Returns the example that the model was shown.
    pub(super) fn example(&self) -> Option<&Document> {
        match &self.way {
            Way::Prompt { example, .. } => example.as_ref(),
            Way::Native(_) | Way::Tool { .. } | Way::Withheld => None,
        }
    }

    /// Returns how a model that answered in text is asked again; not at all if it has no other way.
    pub(super) fn again_after_text(&self) -> Option<Again> {
        match &self.way {
            Way::Tool { .. } => Some(Again::CallInsteadOfText),
            Way::Native(_) | Way::Prompt { .. } => Some(Again::Json),
            Way::Withheld => None,
        }
    }

    /// Returns what the provider is not asked to enforce.
    pub(super) fn losses(&self) -> Vec<Loss> {
        match &self.way {
            Way::Native(lowering) | Way::Tool { lowering, .. } if self.is_enforced() => {
                lowering.losses.clone()
            }
            Way::Native(_) | Way::Tool { .. } | Way::Prompt { .. } => {
                everything(&self.contract, EnforcedBy::Description)
            }
            Way::Withheld => everything(&self.contract, EnforcedBy::VerdictOnly),
        }
    }
}

/// Picks native output for a single shot of which the model knows every constraint, else the tool.
///
/// Tool and native output are adapted alike, so a loss that is told in words weighs the same in
/// both. One that the model does not know of will be broken, and the tool's result is the better
/// place to say so. A grammar in this process is stronger than either.
fn auto(job: &Job, contract: &Contract, terminal: Terminal) -> Result<Way, RunError> {
    let lowered = contract.lowered(job.dialect).ok();
    match (lowered, terminal) {
        (Some(lowering), Terminal::Offered)
            if job.tools.is_empty() && (job.dialect.is_local() || is_known(&lowering)) =>
        {
            Ok(Way::Native(lowering))
        }
        (_, Terminal::Offered) => tool(job, contract),
        (Some(lowering), Terminal::Denied) => Ok(Way::Native(lowering)),
        (None, Terminal::Denied) => Ok(prompt(contract)),
    }
}

/// Claims that the model is told of every constraint.
fn is_known(lowering: &Lowering) -> bool {
    lowering.losses.iter().all(|loss| match loss.enforced_by {
        EnforcedBy::Description => true,
        EnforcedBy::VerdictOnly => false,
    })
}

fn native(job: &Job, contract: &Contract) -> Result<Way, RunError> {
    let lowering = contract.lowered(job.dialect).map_err(|unportable| {
        let dialect = job.dialect.name();
        let message = format!("the contract cannot be put to {dialect}: {unportable}");
        RunError::new(Outcome::Config, message).advise(Advice::UseToolOrPrompt)
    })?;
    Ok(Way::Native(lowering))
}

/// Offers the terminal tool, strictly where the dialect can say the contract.
fn tool(job: &Job, contract: &Contract) -> Result<Way, RunError> {
    let strict = contract.lowered_parameters(job.dialect).map(|it| (it, Enforcement::Strict));
    // What is not enforced may use any words; these are those of plain JSON Schema.
    let (lowering, enforcement) = strict
        .or_else(|_| {
            contract.lowered_parameters(Dialect::ClaudeCode).map(|it| (it, Enforcement::Hint))
        })
        .map_err(|unportable| {
            let message = format!("the contract cannot be a tool's parameters: {unportable}");
            RunError::new(Outcome::Config, message).advise(Advice::UsePrompt)
        })?;
    let spec = ToolSpec {
        name: TERMINAL_TOOL.to_owned(),
        description: words::TOOL_DESCRIPTION.to_owned(),
        parameters: Arc::clone(&lowering.schema),
        enforcement,
    };
    Ok(Way::Tool { lowering, spec })
}

fn prompt(contract: &Contract) -> Way {
    let example = contract.example().ok();
    Way::Prompt { instructions: Prompt::of(contract, example.as_ref()).text(), example }
}

/// Lists every keyword of the root: nothing beneath it is enforced by the provider.
fn everything(contract: &Contract, enforced_by: EnforcedBy) -> Vec<Loss> {
    const SILENT: [&str; 9] = [
        "$schema",
        "$id",
        "$comment",
        "$defs",
        "definitions",
        "title",
        "description",
        "default",
        "examples",
    ];
    let keywords = contract.schema().as_object().into_iter().flat_map(serde_json::Map::keys);
    let constraining = keywords.filter(|keyword| !SILENT.contains(&keyword.as_str()));
    constraining
        .map(|keyword| Loss { pointer: Pointer::root(), keyword: keyword.clone(), enforced_by })
        .collect()
}
