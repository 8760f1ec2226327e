//! Where inputs become prompts with keys.

use std::borrow::Cow;

use airtight_core::batch::{Keys, Template};
use airtight_store::Repeat;

use super::inputs::{Body, Input};
use crate::batch::Errand;
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::file::{self, FileError};

/// The most a template may hold.
const TEMPLATE_LIMIT_BYTES: usize = 1024 * 1024;

/// Makes prompts and keys of inputs.
pub(super) struct Desk {
    template: Option<Template>,
    key_field: Option<String>,
    keys: Keys,
}

/// What an input is made into.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Prepared {
    pub(super) prompt: String,
    pub(super) key: String,
    /// What tells it apart, where a field does.
    pub(super) named: Option<String>,
}

impl Desk {
    /// Takes the template, the field that tells inputs apart, and what else decides about answers.
    pub(super) fn new(
        template: Option<&str>,
        key_field: Option<String>,
        parts: &[String],
    ) -> Result<Self, Error> {
        let text = template.unwrap_or_default().as_bytes();
        let keys = Keys::new(parts.iter().map(String::as_bytes).chain([text]));
        Ok(Self { template: template.map(parse).transpose()?, key_field, keys })
    }

    /// Returns a name for all that it makes.
    pub(super) fn name(&self) -> String {
        self.keys.key([]).chars().take(12).collect()
    }

    /// Makes a prompt and a key of an input.
    ///
    /// Without a field that tells inputs apart, the same input at another position is another one: who
    /// lists it twice wants two answers.
    pub(super) fn prepare(&self, input: &Input) -> Result<Prepared, String> {
        let body = input.body.as_ref().map_err(Clone::clone)?;
        let prompt = match &self.template {
            Some(template) => {
                template.fill(|name| body.field(name)).map_err(|error| error.to_string())?
            }
            None => body.whole().into_owned(),
        };
        if prompt.trim().is_empty() {
            return Err("is empty".to_owned());
        }
        let (key, named) = self.key(input, body)?;
        Ok(Prepared { prompt, key, named })
    }

    fn key(&self, input: &Input, body: &Body) -> Result<(String, Option<String>), String> {
        let Some(field) = &self.key_field else {
            let position = input.position.to_string();
            let whole = body.whole();
            let own = [b"at".as_slice(), position.as_bytes(), whole.as_bytes()];
            return Ok((self.keys.key(own), None));
        };
        // What says nothing tells nothing apart.
        let tells = |named: &Cow<'_, str>| !named.is_empty() && named != "null";
        let Some(named) = body.field(field).filter(tells) else {
            return Err(format!("there is no field `{field}` to tell it apart by"));
        };
        let key = self.keys.key([b"key".as_slice(), named.as_bytes()]);
        Ok((key, Some(named.into_owned())))
    }
}

impl Prepared {
    /// Returns it as work to be performed.
    pub(super) fn errand(self, batch: &str, position: u64, repeat: Repeat) -> Errand {
        Errand {
            key: self.key,
            repeat,
            prompt: self.prompt,
            batch: Some(batch.to_owned()),
            position: i64::try_from(position).ok(),
            ..Errand::default()
        }
    }
}

/// Reads a template: as it was typed, or the file that it names.
pub(super) fn read(typed: &str, environment: &Environment) -> Result<String, Error> {
    let Some(path) = typed.strip_prefix('@') else { return Ok(typed.to_owned()) };
    let unreadable = |error: FileError| {
        Error::new(Outcome::Input, format!("could not read the prompt: `{path}`")).caused_by(error)
    };
    let bytes = file::read(&environment.resolve(path), TEMPLATE_LIMIT_BYTES).map_err(unreadable)?;
    String::from_utf8(bytes)
        .map_err(|_| Error::new(Outcome::Input, format!("the prompt is not UTF-8: `{path}`")))
}

fn parse(text: &str) -> Result<Template, Error> {
    let template = Template::parse(text).map_err(|error| {
        Error::new(Outcome::Usage, "the prompt is no template").caused_by(error)
    })?;
    if template.fields().next().is_none() {
        let message = "the prompt has no place for an input";
        return Err(Error::new(Outcome::Usage, message)
            .hint("write `{{input}}` where it goes, or `{{FIELD}}` for a field of it"));
    }
    Ok(template)
}
