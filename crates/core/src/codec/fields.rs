//! Reading what may be missing or of another type, without a copy and without a panic.

use serde_json::Value;

use super::tree::Tree;

/// Members of a JSON value that may be anything.
pub(super) trait Fields: Sized {
    /// Returns the member, if it is there; of several of one name the last.
    fn given(&self, key: &str) -> Option<&Self>;

    /// Returns the member, or `null`.
    fn member(&self, key: &str) -> &Self;

    /// Returns what it says, if it is text.
    fn as_text(&self) -> Option<&str>;

    /// Returns the number, if it is a whole one from 0 up.
    fn as_count(&self) -> Option<u64>;

    /// Returns the member if it is text.
    fn text(&self, key: &str) -> Option<&str> {
        self.given(key)?.as_text()
    }

    /// Returns the member if it is text with something in it.
    fn words(&self, key: &str) -> Option<&str> {
        self.text(key).filter(|text| !text.is_empty())
    }

    /// Returns the member if it is a whole number from 0 up.
    fn count(&self, key: &str) -> Option<u64> {
        self.given(key)?.as_count()
    }

    /// Returns the items of the member; none if it is no array.
    fn items(&self, key: &str) -> &[Self];
}

impl Fields for Value {
    fn given(&self, key: &str) -> Option<&Self> {
        self.get(key)
    }

    fn member(&self, key: &str) -> &Self {
        const NULL: &Value = &Value::Null;
        self.given(key).unwrap_or(NULL)
    }

    fn as_text(&self) -> Option<&str> {
        self.as_str()
    }

    fn as_count(&self) -> Option<u64> {
        self.as_u64()
    }

    fn items(&self, key: &str) -> &[Self] {
        self.member(key).as_array().map_or(&[], Vec::as_slice)
    }
}

impl Fields for Tree<'_> {
    fn given(&self, key: &str) -> Option<&Self> {
        let members = self.as_object()?;
        members.iter().rfind(|(name, _)| name == key).map(|(_, member)| member)
    }

    fn member(&self, key: &str) -> &Self {
        const NULL: &Tree<'_> = &Tree::Null;
        self.given(key).unwrap_or(NULL)
    }

    fn as_text(&self) -> Option<&str> {
        if let Tree::Text(text) = self { Some(text) } else { None }
    }

    fn as_count(&self) -> Option<u64> {
        if let Tree::Number(number) = self { number.as_u64() } else { None }
    }

    fn items(&self, key: &str) -> &[Self] {
        self.member(key).as_array().unwrap_or_default()
    }
}

impl Tree<'_> {
    /// Claims that the member is neither text nor null: what it says cannot be read.
    pub(super) fn is_strange(&self, key: &str) -> bool {
        self.given(key).is_some_and(|member| !member.is_null() && member.as_text().is_none())
    }

    /// Claims that the member, where text should be, is missing or strange; null is no text.
    pub(super) fn lacks_text(&self, key: &str) -> bool {
        self.given(key).is_none() || self.is_strange(key)
    }

    /// Returns the member if it is a place in a list.
    pub(super) fn place(&self, key: &str) -> Option<usize> {
        self.count(key).and_then(|count| usize::try_from(count).ok())
    }
}
