//! Objects of values that are there already.

use serde_json::{Map, Value};

/// Makes an object of `members`, in their order. `json!` copies every value that it is given, and the schema
/// of a contract, which most requests consist of, is given from hand to hand.
pub(super) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members.into_iter().map(|(name, member)| (name.to_owned(), member));
    Value::Object(members.collect::<Map<String, Value>>())
}
