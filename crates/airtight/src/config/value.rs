//! The value of a setting, checked against its kind where it is read.

use std::fmt;
use std::time::Duration;

use airtight_agent::provider::{EndpointError, parse_base_url};
use serde_json::Value as Json;

use super::duration;
use super::key::Kind;
use super::period;

/// A value that fits its setting.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Whole(u64),
    Decimal(f64),
    Switch(bool),
    Duration(Duration),
    Period(Duration),
    List(Vec<String>),
    Table(Json),
}

/// Why a value does not fit. Never says what the value was: it may be a key in the wrong place.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum ValueError {
    #[error("expected {0}")]
    Type(&'static str),
    #[error("expected one of {0}")]
    Choice(String),
    #[error("must be between {0} and {1}")]
    Range(String, String),
    #[error(transparent)]
    Duration(#[from] duration::DurationError),
    #[error(transparent)]
    Period(#[from] period::PeriodError),
    #[error("expected an `http://` or `https://` URL")]
    Url,
    #[error("a base URL must not hold {0}")]
    UrlExcess(&'static str),
    #[error("expected the name of an environment variable, not a key itself")]
    Variable,
}

impl Value {
    /// Returns the texts of a list.
    pub(crate) fn as_list(&self) -> Option<&[String]> {
        let Self::List(items) = self else { return None };
        Some(items)
    }

    /// Reads what a file says.
    pub(crate) fn from_json(kind: Kind, json: &Json) -> Result<Self, ValueError> {
        match (kind, json) {
            (Kind::Switch, Json::Bool(switch)) => Ok(Self::Switch(*switch)),
            (Kind::Switch, _) => Err(ValueError::Type("`true` or `false`")),
            (Kind::Table, Json::Object(_)) => Ok(Self::Table(json.clone())),
            (Kind::Table, _) => Err(ValueError::Type("a table")),
            (Kind::List, Json::Array(items)) => items
                .iter()
                .map(|item| item.as_str().map(str::to_owned))
                .collect::<Option<_>>()
                .map(Self::List)
                .ok_or(ValueError::Type("a list of strings")),
            (Kind::List, _) => Err(ValueError::Type("a list of strings")),
            (Kind::Choices(choices), Json::Array(items)) => items
                .iter()
                .map(|item| choice(item.as_str().unwrap_or_default(), choices))
                .collect::<Result<_, _>>()
                .map(Self::List),
            (Kind::Choices(_), _) => Err(ValueError::Type("a list of strings")),
            (Kind::Whole(..) | Kind::Decimal(..) | Kind::Duration, Json::Number(number)) => {
                Self::from_text(kind, &number.to_string())
            }
            (Kind::Whole(..) | Kind::Decimal(..), _) => Err(ValueError::Type("a number")),
            (_, Json::String(text)) => Self::from_text(kind, text),
            (
                Kind::Text
                | Kind::Url
                | Kind::Variable
                | Kind::Choice(_)
                | Kind::Duration
                | Kind::Period,
                _,
            ) => Err(ValueError::Type("a string")),
        }
    }

    /// Reads what a variable or a flag says.
    pub(crate) fn from_text(kind: Kind, text: &str) -> Result<Self, ValueError> {
        match kind {
            Kind::Text => Ok(Self::Text(text.to_owned())),
            Kind::Url => url(text).map(Self::Text),
            Kind::Variable => variable(text).map(Self::Text),
            Kind::Choice(choices) => choice(text, choices).map(Self::Text),
            Kind::Whole(least, most) => whole(text, least, most).map(Self::Whole),
            Kind::Decimal(least, most) => decimal(text, least, most).map(Self::Decimal),
            Kind::Switch => switch(text).map(Self::Switch),
            Kind::Duration => Ok(Self::Duration(duration::parse(text)?)),
            Kind::Period => Ok(Self::Period(period::parse(text)?)),
            Kind::List => {
                Ok(Self::List(text.split(',').map(|one| one.trim().to_owned()).collect()))
            }
            Kind::Choices(choices) => {
                let items = text.split(',').map(str::trim).filter(|one| !one.is_empty());
                items.map(|one| choice(one, choices)).collect::<Result<_, _>>().map(Self::List)
            }
            Kind::Table => Err(ValueError::Type("a table")),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::Whole(number) => number.fmt(formatter),
            Self::Decimal(number) => number.fmt(formatter),
            Self::Switch(switch) => switch.fmt(formatter),
            Self::Duration(time) => formatter.write_str(&duration::write(*time)),
            Self::Period(time) => formatter.write_str(&period::write(*time)),
            Self::List(items) => formatter.write_str(&items.join(", ")),
            // The names are enough; commands and headers may hold secrets.
            Self::Table(table) => {
                let names = table.as_object().into_iter().flat_map(|table| table.keys());
                formatter.write_str(&names.cloned().collect::<Vec<_>>().join(", "))
            }
        }
    }
}

fn url(text: &str) -> Result<String, ValueError> {
    match parse_base_url(text) {
        Ok(_) => Ok(text.trim().trim_end_matches('/').to_owned()),
        Err(EndpointError::Excess { part }) => Err(ValueError::UrlExcess(part)),
        // Its reasons would repeat some of the value.
        Err(_) => Err(ValueError::Url),
    }
}

fn variable(text: &str) -> Result<String, ValueError> {
    let is_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let starts_well = text.starts_with(|first: char| first.is_ascii_uppercase() || first == '_');
    // Keys mix cases and have dashes; names of variables do not.
    if starts_well && text.bytes().all(is_name) {
        Ok(text.to_owned())
    } else {
        Err(ValueError::Variable)
    }
}

fn whole(text: &str, least: u64, most: u64) -> Result<u64, ValueError> {
    let number: u64 = text.trim().parse().map_err(|_| ValueError::Type("a whole number"))?;
    if (least..=most).contains(&number) {
        return Ok(number);
    }
    Err(ValueError::Range(least.to_string(), most.to_string()))
}

fn decimal(text: &str, least: f64, most: f64) -> Result<f64, ValueError> {
    let number: f64 = text.trim().parse().map_err(|_| ValueError::Type("a number"))?;
    if (least..=most).contains(&number) {
        return Ok(number);
    }
    Err(ValueError::Range(least.to_string(), most.to_string()))
}

fn switch(text: &str) -> Result<bool, ValueError> {
    match text.trim() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(ValueError::Type("`true` or `false`")),
    }
}

fn choice(text: &str, choices: &[&str]) -> Result<String, ValueError> {
    let chosen = choices.iter().find(|choice| **choice == text);
    chosen.map(|choice| (*choice).to_owned()).ok_or_else(|| ValueError::Choice(quoted(choices)))
}

fn quoted(choices: &[&str]) -> String {
    choices.iter().map(|choice| format!("`{choice}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_fit_their_kind_or_are_refused_without_being_repeated() {
        let refused = [
            (Kind::Variable, json!("sk-ant-s3cret")),
            (Kind::Variable, json!("AIzaS3cret")),
            (Kind::Url, json!("https://user:s3cret@host/")),
            (Kind::Url, json!("file:///s3cret")),
            (Kind::Url, json!("https://host/?key=s3cret")),
            (Kind::Url, json!("https://")),
            (Kind::Choice(&["a", "b"]), json!("s3cret")),
            (Kind::Whole(0, 5), json!(6)),
            (Kind::Whole(0, 5), json!("3")),
            (Kind::Whole(0, 5), json!(-1)),
            (Kind::Whole(0, 5), json!(1.5)),
            (Kind::Decimal(0.0, 2.0), json!(2.1)),
            (Kind::Switch, json!("yes")),
            (Kind::List, json!(["a", 1])),
            (Kind::Text, json!(1)),
            (Kind::Table, json!([])),
            (Kind::Duration, json!("s3cret")),
            (Kind::Choices(&["a", "b"]), json!(["a", "s3cret"])),
            (Kind::Choices(&["a", "b"]), json!([1])),
            (Kind::Period, json!("90")),
            (Kind::Period, json!("0d")),
            (Kind::Period, json!(90)),
        ];
        for (kind, value) in refused {
            let error = Value::from_json(kind, &value).unwrap_err().to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn periods_and_choices_are_written_as_they_are_read() {
        assert_eq!(Value::from_json(Kind::Period, &json!("90d")).unwrap().to_string(), "90d");
        let rungs = Value::from_json(Kind::Choices(&["text", "repair"]), &json!(["repair"]));
        assert_eq!(rungs.unwrap().to_string(), "repair");
        let none = Value::from_json(Kind::Choices(&["text"]), &json!([]));
        assert_eq!(none, Ok(Value::List(Vec::new())));
    }

    #[test]
    fn numbers_may_be_durations() {
        let minute = Value::Duration(Duration::from_mins(1));
        assert_eq!(Value::from_json(Kind::Duration, &json!(60)), Ok(minute.clone()));
        assert_eq!(Value::from_json(Kind::Duration, &json!("1m")), Ok(minute));
    }

    #[test]
    fn tables_show_their_names_alone() {
        let table = Value::Table(json!({ "files": { "env": { "TOKEN": "s3cret" } } }));
        assert_eq!(table.to_string(), "files");
    }
}
