use super::*;

#[test]
fn members_are_found_in_small_and_large_objects() {
    for count in [3, 300] {
        let members: Vec<String> = (0..count).map(|n| format!("\"k{n}\":{n}")).collect();
        let document = Document::parse(format!("{{{}}}", members.join(","))).unwrap();
        assert_eq!(document.root().len(), count);
        for n in 0..count {
            let member = document.root().member(&format!("k{n}")).unwrap();
            assert_eq!(member.raw(), n.to_string());
        }
        assert!(document.root().member("k").is_none());
    }
}

#[test]
fn compact_text_keeps_literals() {
    let document = Document::parse("{ \"a\\u0041\" : [ 1.50 , 1e2, \"\\/\" ] }").unwrap();
    assert_eq!(document.to_compact(), r#"{"a\u0041":[1.50,1e2,"\/"]}"#);
    assert_eq!(document.to_value(), serde_json::json!({"aA": [1.5, 100.0, "/"]}));
}

#[test]
fn equal_values_may_be_written_differently() {
    let left = Document::parse(r#"{"a":1.0,"b":[1e1]}"#).unwrap();
    let right = Document::parse(r#"{"b":[10],"a":1}"#).unwrap();
    let other = Document::parse(r#"{"b":[11],"a":1}"#).unwrap();
    assert!(left.root().same_value(right.root()));
    assert!(!left.root().same_value(other.root()));
    let repeated = Document::parse(r#"{"a":1,"a":1}"#).unwrap();
    let different = Document::parse(r#"{"a":1,"b":2}"#).unwrap();
    assert!(!repeated.root().same_value(different.root()));
    assert!(!different.root().same_value(repeated.root()));
    let otherwise = Document::parse(r#"{"a":1,"a":2}"#).unwrap();
    assert!(!repeated.root().same_value(otherwise.root()));
    assert!(!otherwise.root().same_value(repeated.root()));
}

#[test]
fn values_are_compared_once_at_each_level_also_beside_a_repeated_key() {
    // Compared both ways at each level, it would be 2^100 comparisons.
    let deep = r#"{"a":"#.repeat(100) + "1" + &"}".repeat(100);
    let document = Document::parse(format!(r#"[{deep},{deep},{{"b":1,"b":1}}]"#)).unwrap();
    let items: Vec<Node<'_>> = document.root().items().collect();
    assert!(items[0].same_value(items[1]));
    assert!(!items[0].same_value(items[2]));
    let twice = r#"{"a":{"a":1},"a":"#.repeat(100) + "1" + &"}".repeat(100);
    let document = Document::parse(format!("[{twice},{twice}]")).unwrap();
    let items: Vec<Node<'_>> = document.root().items().collect();
    assert!(items[0].same_value(items[1]));
}

#[test]
fn values_come_in_order_and_keys_are_none_of_them() {
    let text = r#"{"a": [1, {"b": [], "c": "x"}, {}], "d": null, "e": [[2]]}"#;
    let document = Document::parse(text).unwrap();
    let raw = |node: Node<'_>| node.values().map(Node::raw).map(str::to_owned).collect::<Vec<_>>();
    let list = r#"[1, {"b": [], "c": "x"}, {}]"#;
    let inner = ["1", r#"{"b": [], "c": "x"}"#, "[]", "\"x\"", "{}"];
    assert_eq!(
        raw(document.root()),
        [&[text, list][..], &inner, &["null", "[[2]]", "[2]", "2"]].concat()
    );
    let member = document.root().member("a").unwrap();
    assert_eq!(raw(member), [&[list][..], &inner].concat());
    assert_eq!(raw(Document::parse("7").unwrap().root()), ["7"]);
}
