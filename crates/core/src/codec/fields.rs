//! Reading what may be missing or of another type, without a copy and without a panic.

use serde_json::Value;

const NULL: &Value = &Value::Null;

/// Members of a JSON value that may be anything.
pub(super) trait Fields {
    /// Returns the member, or `null`.
    fn member(&self, key: &str) -> &Value;

    /// Returns the member if it is text.
    fn text(&self, key: &str) -> Option<&str>;

    /// Returns the member if it is text with something in it.
    fn words(&self, key: &str) -> Option<&str> {
        self.text(key).filter(|text| !text.is_empty())
    }

    /// Claims that the member is neither text nor null: what it says cannot be read.
    fn is_strange(&self, key: &str) -> bool {
        !self.member(key).is_null() && self.text(key).is_none()
    }

    /// Claims that the member, where text should be, is missing or strange; null is no text.
    fn lacks_text(&self, key: &str) -> bool;

    /// Returns the member if it is a whole number from 0 up.
    fn count(&self, key: &str) -> Option<u64>;

    /// Returns the member if it is a place in a list.
    fn place(&self, key: &str) -> Option<usize> {
        self.count(key).and_then(|count| usize::try_from(count).ok())
    }

    /// Returns the items of the member; none if it is no array.
    fn items(&self, key: &str) -> &[Value];
}

impl Fields for Value {
    fn member(&self, key: &str) -> &Value {
        self.get(key).unwrap_or(NULL)
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.member(key).as_str()
    }

    fn lacks_text(&self, key: &str) -> bool {
        self.get(key).is_none() || self.is_strange(key)
    }

    fn count(&self, key: &str) -> Option<u64> {
        self.member(key).as_u64()
    }

    fn items(&self, key: &str) -> &[Value] {
        self.member(key).as_array().map_or(&[], Vec::as_slice)
    }
}
