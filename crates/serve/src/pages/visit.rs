//! Who visits a page, and what is asked of it.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::{Failed, Pages};
use crate::problem::Problem;
use crate::token::Shown;

/// The longest value of a query that is looked at: names of contracts are shorter.
const VALUE_LIMIT: usize = 400;

/// Whether the visitor may change something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rights {
    /// It has shown the token.
    Change,
    /// It may only look.
    Look,
}

/// A visit of a page.
#[derive(Debug, Clone)]
pub(super) struct Visit {
    pub(super) rights: Rights,
    /// Where the visitor is, to come back to after a login.
    pub(super) path: String,
    query: Vec<(String, String)>,
}

impl FromRequestParts<Pages> for Visit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, pages: &Pages) -> Result<Self, Infallible> {
        let rights = match pages.token.shown_by(&parts.headers) {
            Shown::Token | Shown::Cookie => Rights::Change,
            Shown::Nothing | Shown::Wrong => Rights::Look,
        };
        let query = parts.uri.query().unwrap_or_default();
        let query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let path = parts.uri.path_and_query().map_or("/", |it| it.as_str()).to_owned();
        Ok(Self { rights, path, query })
    }
}

impl Visit {
    /// Claims that the visitor may change something.
    pub(super) fn may_change(&self) -> bool {
        self.rights == Rights::Change
    }

    /// Returns what is said under `name`; nothing if it is empty.
    pub(super) fn said(&self, name: &str) -> Option<&str> {
        let value = self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim());
        value.filter(|value| !value.is_empty() && value.len() <= VALUE_LIMIT)
    }

    /// Returns what is said under `name`, owned.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.said(name).map(str::to_owned)
    }

    /// Returns the name that a list goes on after, as it was written: names may begin with spaces.
    pub(super) fn after(&self) -> Option<&str> {
        let value = self.query.iter().find(|(key, _)| key == "after").map(|(_, value)| value);
        value.map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns the whole number that is said under `name`.
    pub(super) fn number(&self, name: &'static str) -> Result<Option<i64>, Failed> {
        let Some(value) = self.said(name) else { return Ok(None) };
        match value.parse::<i64>() {
            Ok(number) if number >= 0 => Ok(Some(number)),
            _ => Err(Problem::request(format!("`{name}` is a whole number, and not negative"))
                .at(name)
                .into()),
        }
    }

    /// Returns one of `choices`.
    pub(super) fn choice<T: Copy>(
        &self,
        name: &'static str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, Failed> {
        let Some(value) = self.said(name) else { return Ok(None) };
        if let Some((_, choice)) = choices.iter().find(|(word, _)| *word == value) {
            return Ok(Some(*choice));
        }
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let message = format!("`{name}` is one of: {}", words.join(", "));
        Err(Problem::request(message).at(name).into())
    }

    /// Returns one of `words`, as the ledger is asked for it.
    pub(super) fn word(
        &self,
        name: &'static str,
        words: &[&'static str],
    ) -> Result<Option<String>, Failed> {
        let choices: Vec<(&str, &'static str)> = words.iter().map(|word| (*word, *word)).collect();
        Ok(self.choice(name, &choices)?.map(str::to_owned))
    }

    /// Returns the address of this page with `name` said otherwise; what is empty is left out.
    pub(super) fn with(&self, name: &str, value: &str) -> String {
        let kept = self.query.iter().filter(|(key, value)| key != name && !value.is_empty());
        let kept = kept.map(|(key, value)| (key.as_str(), value.as_str()));
        let all = kept.chain([(name, value)]).filter(|(_, value)| !value.is_empty());
        address(self.path.split('?').next().unwrap_or("/"), all)
    }

    /// Claims that something is asked for beside the page itself.
    pub(super) fn is_filtered(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.said(name).is_some())
    }
}

/// Returns an address with a query.
pub(super) fn address<'q>(
    path: &str,
    query: impl IntoIterator<Item = (&'q str, &'q str)>,
) -> String {
    let mut serializer = form_urlencoded::Serializer::new(String::new());
    for (name, value) in query {
        serializer.append_pair(name, value);
    }
    match serializer.finish() {
        query if query.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// Returns `segment` as one part of a path.
pub(super) fn segment(segment: &str) -> String {
    use std::fmt::Write as _;

    let mut path = String::with_capacity(segment.len());
    for byte in segment.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                path.push(char::from(byte));
            }
            // Writing to a string cannot fail.
            _ => drop(write!(path, "%{byte:02X}")),
        }
    }
    // A part of dots alone would be taken for a folder.
    if path.bytes().all(|byte| byte == b'.') { path.replace('.', "%2E") } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_hold_any_text() {
        assert_eq!(segment("a/b?c#d é%"), "a%2Fb%3Fc%23d%20%C3%A9%25");
        assert_eq!(segment(".."), "%2E%2E");
        assert_eq!(address("/runs", [("q", "a&b=c \"<")]), "/runs?q=a%26b%3Dc+%22%3C");
    }

    #[test]
    fn a_page_keeps_what_else_was_asked() {
        let query = vec![("q".to_owned(), "x".to_owned()), ("after".to_owned(), "5".to_owned())];
        let visit = Visit { rights: Rights::Look, path: "/runs?q=x&after=5".to_owned(), query };
        assert_eq!(visit.with("after", "9"), "/runs?q=x&after=9");
        assert_eq!(visit.with("after", ""), "/runs?q=x");
        assert_eq!(visit.number("after").unwrap_or_default(), Some(5));
        assert!(visit.number("q").is_err());
        assert!(visit.choice("q", &[("y", 1)]).is_err());
    }
}
