//! The roll: which of the services on record are still in the operator's list.
//!
//! The list is prose, so a service is in it if its name stands there as a word. Only what once stood there can
//! be gone: a service that a session found by itself never was.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// How a service is called that was taken out of the list.
pub const GONE: &str = "gone";

/// The services that stand in the list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roll {
    names: BTreeSet<String>,
}

impl Roll {
    /// Compares the services on record with the list; returns those that were in it and are not any more.
    pub fn call<'n>(
        &mut self,
        known: impl IntoIterator<Item = &'n str>,
        list: &str,
    ) -> Vec<String> {
        let list = list.to_lowercase();
        let known: BTreeSet<&str> = known.into_iter().collect();
        let (listed, absent): (Vec<&str>, Vec<&str>) =
            known.into_iter().partition(|name| is_listed(name, &list));
        let gone = absent.into_iter().filter(|name| self.names.contains(*name));
        let gone = gone.map(str::to_owned).collect();
        self.names = listed.into_iter().map(str::to_owned).collect();
        gone
    }
}

/// Claims that a name stands in a list in lower case as a word of its own: `web` does not stand in
/// `web-2`.
fn is_listed(name: &str, list: &str) -> bool {
    let name = name.trim().to_lowercase();
    let is_part = |next: Option<char>| {
        next.is_some_and(|next| next.is_alphanumeric() || matches!(next, '-' | '_'))
    };
    let mut found = list.match_indices(&name);
    found.any(|(at, word)| {
        let before = list.get(..at).and_then(|text| text.chars().next_back());
        let behind = list.get(at.saturating_add(word.len())..);
        !is_part(before) && !is_part(behind.and_then(|text| text.chars().next()))
    })
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("web", "- web: HTTP" => true)]
    #[test_case("Web", "the web server." => true; "any case")]
    #[test_case("web", "web.example.org" => true; "a host is not another service")]
    #[test_case("web", "- web-2: HTTP" => false; "part of a name")]
    #[test_case("web", "- old_web, website" => false; "parts of words")]
    #[test_case("web", "website, then web" => true; "the second time")]
    #[test_case("café db", "- café db" => true; "beyond ASCII")]
    #[test_case("web", "" => false; "an empty list")]
    fn a_service_is_in_the_list_if_its_name_is_a_word_of_it(name: &str, list: &str) -> bool {
        is_listed(name, &list.to_lowercase())
    }

    #[test]
    fn only_what_was_in_the_list_can_be_gone_and_once() {
        let mut roll = Roll::default();
        let known = ["web", "db", "found-by-itself"];
        assert_eq!(roll.call(known, "- web\n- db"), [""; 0]);
        assert_eq!(roll.call(known, "- web"), ["db"]);
        assert_eq!(roll.call(known, "- web"), [""; 0], "it is told once");
        assert_eq!(roll.call(known, "- web\n- db"), [""; 0]);
        assert_eq!(roll.call(known, ""), ["db", "web"], "and again after it was back");
    }
}
