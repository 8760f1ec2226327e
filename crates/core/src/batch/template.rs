//! Prompts with places for the fields of an input: `Sort this: {{text}}`.

use std::borrow::Cow;

/// A prompt with places for fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Field(String),
}

/// Why a template cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A place has no end.
    #[error("`{{{{` at character {at} has no `}}}}`")]
    Open {
        /// Where it begins, from 1.
        at: usize,
    },
    /// A place has no name.
    #[error("`{{{{}}}}` at character {at} names no field")]
    Nameless {
        /// Where it begins, from 1.
        at: usize,
    },
    /// An input has no such field.
    #[error("there is no field `{field}`")]
    Missing {
        /// Its name.
        field: String,
    },
}

impl Template {
    /// Reads a template.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let at = || text.len() - after.len() - 2;
            let at = || text.get(..at()).unwrap_or_default().chars().count() + 1;
            let (name, behind) =
                after.split_once("}}").ok_or_else(|| TemplateError::Open { at: at() })?;
            let name = name.trim();
            if name.is_empty() {
                return Err(TemplateError::Nameless { at: at() });
            }
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(Part::Field(name.to_owned()));
            rest = behind;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Self(parts))
    }

    /// Returns the names of its fields, in order.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Field(name) => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    /// Puts the fields of an input in. What they hold is never read as a template.
    pub fn fill<'a>(
        &self,
        field: impl Fn(&str) -> Option<Cow<'a, str>>,
    ) -> Result<String, TemplateError> {
        let mut filled = String::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Field(name) => {
                    let missing = || TemplateError::Missing { field: name.clone() };
                    filled.push_str(&field(name).ok_or_else(missing)?);
                }
            }
        }
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fill(template: &str) -> Result<String, TemplateError> {
        Template::parse(template)?.fill(|name| match name {
            "text" => Some(Cow::Borrowed("a {{n}} b")),
            "n" => Some(Cow::Borrowed("7")),
            _ => None,
        })
    }

    #[test]
    fn fields_are_put_in_once() {
        assert_eq!(fill("{{ text }}: {{n}}{{n}} {x} }}").unwrap(), "a {{n}} b: 77 {x} }}");
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        assert_eq!(fill("é {{n"), Err(TemplateError::Open { at: 3 }));
        assert_eq!(fill("{{ }}"), Err(TemplateError::Nameless { at: 1 }));
        assert_eq!(fill("{{who}}"), Err(TemplateError::Missing { field: "who".to_owned() }));
        let said = TemplateError::Open { at: 3 }.to_string();
        assert_eq!(said, "`{{` at character 3 has no `}}`");
    }

    #[test]
    fn fields_are_listed_in_order() {
        let template = Template::parse("{{b}} and {{a}}").unwrap();
        assert_eq!(template.fields().collect::<Vec<_>>(), ["b", "a"]);
    }

    proptest! {
        #[test]
        fn text_without_places_stays_as_it_is(text in "[^{]*") {
            prop_assert_eq!(fill(&text), Ok(text));
        }
    }
}
