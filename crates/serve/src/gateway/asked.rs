//! What a request asks, whatever format it is in.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::desk::Schema;
use crate::problem::Problem;

/// The contract of a client that wants any JSON object.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// What a request asks.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) model: String,
    pub(super) system: Option<String>,
    pub(super) prompt: String,
    pub(super) schema: Option<Schema>,
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

/// The format of an answer, as all vendors write it, give or take a wrapper.
#[derive(Debug, Deserialize)]
pub(super) struct Format {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    schema: Option<Box<RawValue>>,
    /// Where Chat Completions has name and schema.
    #[serde(default)]
    json_schema: Option<Named>,
}

#[derive(Debug, Deserialize)]
struct Named {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    schema: Option<Box<RawValue>>,
}

impl Format {
    /// Returns the contract; none if the client wants text.
    pub(super) fn schema(self, parameter: &'static str) -> Result<Option<Schema>, Problem> {
        let (name, schema) = match self.json_schema {
            Some(named) => (named.name, named.schema),
            None => (self.name, self.schema),
        };
        match (self.kind.as_str(), schema) {
            ("text", _) => Ok(None),
            ("json_object", _) => Ok(Some(Schema { name: None, text: ANY_OBJECT.to_owned() })),
            ("json_schema", Some(schema)) => {
                Ok(Some(Schema { name, text: schema.get().to_owned() }))
            }
            ("json_schema", None) => {
                Err(Problem::request("the format has no `schema`").at(parameter))
            }
            (_, _) => {
                let message = "the format must be `json_schema`, `json_object` or `text`";
                Err(Problem::request(message).at(parameter))
            }
        }
    }
}
