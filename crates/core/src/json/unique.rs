//! Finds equal items, exactly and in linear time.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::document::{Kind, Node};

/// Returns the positions of the first item that repeats another, the earlier first.
pub(crate) fn first_repeated(array: Node<'_>) -> Option<(usize, usize)> {
    // Seeded, so that nobody can write items that collide.
    let seed = RandomState::new();
    let mut seen: HashMap<u64, Vec<(usize, Node<'_>)>> = HashMap::with_capacity(array.len());
    for (position, item) in array.items().enumerate() {
        let alike = seen.entry(digest(item, &seed)).or_default();
        if let Some((earlier, _)) = alike.iter().find(|(_, other)| other.same_value(item)) {
            return Some((*earlier, position));
        }
        alike.push((position, item));
    }
    None
}

/// Hashes by value, as [`Node::same_value`] compares.
fn digest(node: Node<'_>, seed: &RandomState) -> u64 {
    let kind = node.kind();
    match kind {
        Kind::Null => seed.hash_one(kind),
        Kind::Boolean => seed.hash_one((kind, node.raw())),
        Kind::String => seed.hash_one((kind, node.as_str())),
        Kind::Number => seed.hash_one((kind, node.as_number())),
        Kind::Array => node
            .items()
            .fold(seed.hash_one(kind), |sum, item| seed.hash_one((sum, digest(item, seed)))),
        // Members have no order, so their hashes are added.
        Kind::Object => node.members().fold(seed.hash_one(kind), |sum, (key, value)| {
            sum.wrapping_add(seed.hash_one((key, digest(value, seed))))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;
    use test_case::test_case;

    #[test_case("[1, 2, 1.0]", Some((0, 2)))]
    #[test_case("[18446744073709551617, 18446744073709551616]", None; "beyond 64 bits")]
    #[test_case(r#"[{"a":1,"b":[]},{"b":[],"a":10e-1}]"#, Some((0, 1)); "members in any order")]
    #[test_case("[0,-0.0]", Some((0, 1)); "zero has no sign")]
    #[test_case(r#"["1",1,true,null,[],{}]"#, None; "kinds differ")]
    #[test_case(r#"["\u0061","a"]"#, Some((0, 1)); "however it is written")]
    fn items_are_compared_exactly(text: &str, expected: Option<(usize, usize)>) {
        assert_eq!(first_repeated(Document::parse(text).unwrap().root()), expected);
    }

    #[test]
    fn many_distinct_objects_are_told_apart_in_linear_time() {
        let items: Vec<String> = (0..50_000).map(|n| format!(r#"{{"n":{n}}}"#)).collect();
        let document = Document::parse(format!("[{}]", items.join(","))).unwrap();
        assert_eq!(first_repeated(document.root()), None);
    }
}
