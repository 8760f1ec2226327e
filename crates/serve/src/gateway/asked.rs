//! What a request asks, whatever format it is in.

use serde_json::value::RawValue;

use super::fields::Fields;
use crate::desk::{Demand, Schema};
use crate::problem::Problem;

/// What a request asks.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) model: String,
    pub(super) system: Option<String>,
    pub(super) prompt: String,
    pub(super) demand: Demand,
    pub(super) form: Form,
    pub(super) delivery: Delivery,
    pub(super) counts: Counts,
    pub(super) max_output_tokens: Option<u32>,
    pub(super) temperature: Option<f64>,
    /// Members of the request that are not honoured.
    pub(super) ignored: Vec<String>,
}

/// What the answer is dressed as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    /// Text of the assistant.
    Text,
    /// A call of the tool that the client forces.
    Call {
        /// The tool.
        name: String,
    },
}

/// How the answer is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// At once.
    Whole,
    /// As it grows.
    Stream,
}

/// Whether a stream ends with a count of tokens where the format leaves that to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counts {
    /// It does.
    Told,
    /// It does not.
    LeftOut,
}

impl Delivery {
    pub(super) fn of(stream: Option<bool>) -> Self {
        if stream == Some(true) { Self::Stream } else { Self::Whole }
    }
}

/// Takes the format out of the member `name`, which may hold more.
pub(super) fn held_format(
    fields: &mut Fields,
    name: &'static str,
) -> Result<Option<Fields>, Problem> {
    let Some(mut holder) = fields.inner(name)? else { return Ok(None) };
    let format = holder.inner("format").map_err(|problem| problem.at(name))?;
    fields.leave(&holder);
    Ok(format)
}

/// Returns what the format of an answer demands; `parameter` is to blame for one that cannot be read.
pub(super) fn demand(
    fields: &mut Fields,
    format: Option<Fields>,
    parameter: &'static str,
) -> Result<Demand, Problem> {
    let Some(mut format) = format else { return Ok(Demand::Named) };
    let demand = read_format(&mut format).map_err(|problem| problem.at(parameter))?;
    fields.leave(&format);
    Ok(demand)
}

/// Reads a format as all vendors write it, give or take a wrapper: Chat Completions has one.
fn read_format(format: &mut Fields) -> Result<Demand, Problem> {
    let kind: String = format.need("type")?;
    let mut wrapper = format.inner("json_schema")?;
    let named = wrapper.as_mut().unwrap_or(&mut *format);
    let name: Option<String> = named.take("name")?;
    let schema: Option<Box<RawValue>> = named.take("schema")?;
    // Whatever it says, the contract is kept.
    named.pass_over("strict");
    if let Some(wrapper) = wrapper {
        format.leave(&wrapper);
    }
    match (kind.as_str(), schema) {
        ("text", _) => Ok(Demand::Named),
        ("json_object", _) => Ok(Demand::AnyObject),
        ("json_schema", Some(schema)) => {
            Ok(Demand::Schema(Schema { name, text: schema.get().to_owned() }))
        }
        ("json_schema", None) => Err(Problem::request("the format has no `schema`")),
        (_, _) => {
            let message = "the format must be `json_schema`, `json_object` or `text`";
            Err(Problem::request(message))
        }
    }
}
