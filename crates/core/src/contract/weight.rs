//! What it takes the library to speak about everything in a schema.

use serde_json::Value;

/// What a value takes besides its text.
const VALUE_BYTES: usize = 64;

/// About how many bytes a place in a list adds to a pointer.
pub(super) const INDEX_BYTES: usize = 6;

/// Sizes of a schema that its length does not tell.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weight {
    /// How long the pointers to all values are together.
    pub(super) places: usize,
    /// How many bytes it takes to copy every value and its place once for each that it is nested in.
    pub(super) copies: usize,
}

impl Weight {
    pub(super) fn of(schema: &Value) -> Self {
        let mut open = vec![(schema, 1, 0_usize)];
        let mut weight = Self::default();
        while let Some((value, depth, place)) = open.pop() {
            let text = match value {
                Value::String(text) => text.len(),
                Value::Array(items) => {
                    open.extend(items.iter().map(|item| (item, depth + 1, place + INDEX_BYTES)));
                    0
                }
                Value::Object(members) => {
                    let within = |(key, member)| (member, depth + 1, place + String::len(key) + 1);
                    open.extend(members.iter().map(within));
                    members.keys().map(String::len).sum()
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => 0,
            };
            let copies = (VALUE_BYTES + place + text).saturating_mul(depth);
            weight.copies = weight.copies.saturating_add(copies);
            weight.places = weight.places.saturating_add(place);
        }
        weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_nested_counts_once_for_each_that_it_is_in() {
        let one = Weight::of(&json!("abc"));
        assert_eq!((one.places, one.copies), (0, VALUE_BYTES + 3));
        let two = Weight::of(&json!({"key": ["abc"]}));
        let (key, item) = (4, 4 + INDEX_BYTES);
        assert_eq!(two.places, key + item);
        let copies = (VALUE_BYTES + 3) + 2 * (VALUE_BYTES + key) + 3 * (VALUE_BYTES + item + 3);
        assert_eq!(two.copies, copies);
    }
}
