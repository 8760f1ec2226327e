//! Who is told: `[notify.NAME]`.

use airtight_watch::{Address, Form, Target};
use toml::de::{DeTable, DeValue};

use super::section::{Section, Shape};
use crate::config::{Kind, Reader};
use crate::env::Environment;
use crate::error::Error;

const TARGET: Shape = Shape {
    name: "notify",
    fields: &[
        ("webhook", Kind::Text),
        ("webhook_env", Kind::Variable),
        ("format", Kind::Choice(&["json", "slack"])),
        ("command", Kind::Text),
    ],
    tables: &[],
};

/// Who is told.
#[derive(Debug, Default)]
pub(super) struct Targets {
    pub(super) all: Vec<Target>,
    /// The variables that their addresses come from.
    pub(super) variables: Vec<String>,
}

/// Reads every target.
pub(super) fn read(
    reader: &Reader<'_>,
    table: &DeTable<'_>,
    environment: &Environment,
) -> Result<Targets, Error> {
    let Some(all) = Section::table(reader, table, "notify")? else {
        return Ok(Targets::default());
    };
    let mut targets = Targets::default();
    for (key, value) in all {
        let (name, offset) = (key.get_ref().to_string(), key.span().start);
        let DeValue::Table(table) = value.get_ref() else {
            let message = format!("`notify.{name}` must be a table: `[notify.{name}]`");
            return Err(reader.refuse(offset, &message));
        };
        let section = Section::read(reader, &TARGET, table)?;
        let address = address(&section, environment)
            .map_err(|what| reader.refuse(offset, &format!("`notify.{name}` {what}")))?;
        targets.variables.extend(section.text("webhook_env").map(str::to_owned));
        targets.all.push(Target { name, address });
    }
    Ok(targets)
}

fn address(section: &Section, environment: &Environment) -> Result<Address, String> {
    let form = match section.text("format") {
        Some("slack") => Form::Slack,
        Some(_) | None => Form::Json,
    };
    let webhook = |url: &str| -> Result<Address, String> {
        let is_url = url.starts_with("http://") || url.starts_with("https://");
        // What it is may be a secret.
        if !is_url {
            return Err("has a webhook that is no `http://` or `https://` URL".to_owned());
        }
        Ok(Address::Webhook { url: url.into(), form })
    };
    match (section.text("webhook"), section.text("webhook_env"), section.text("command")) {
        (Some(url), None, None) => webhook(url),
        (None, Some(name), None) => match environment.variable(name) {
            Some(url) => webhook(url.trim()),
            None => Err(format!("takes its webhook from `{name}`, which is not set")),
        },
        (None, None, Some(_)) if form == Form::Slack => Err(
            "has `format = \"slack\"`, which is for webhooks: its command gets plain JSON on stdin, so \
             leave `format` out, or write `webhook_env = \"SLACK_WEBHOOK\"` in place of `command`"
                .to_owned(),
        ),
        (None, None, Some(command)) => Ok(Address::Command(command.to_owned())),
        (None, None, None) => Err("needs one of `webhook`, `webhook_env` and `command`".to_owned()),
        _ => Err("has more than one of `webhook`, `webhook_env` and `command`".to_owned()),
    }
}
