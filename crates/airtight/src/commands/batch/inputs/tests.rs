use super::*;

/// Writes `files`, reads `arguments` as inputs, and returns the place and what came of each.
fn read(files: &[(&str, &[u8])], arguments: &[&str], form: Option<Form>) -> Vec<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let environment = Environment::of(folder.path(), &[]);
    let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
    let inputs = Inputs::find(&arguments, form, &environment).unwrap();
    let told = |input: Input| {
        let body = input.body.map_or_else(|why| format!("! {why}"), |it| it.whole().into_owned());
        (input.place.to_string(), body)
    };
    inputs.map(told).collect()
}

fn pair(place: &str, text: &str) -> (String, String) {
    (place.to_owned(), text.to_owned())
}

#[test]
fn a_bad_line_costs_itself_and_says_where_it_is() {
    let lines = b"\"one\"\n\n{\"text\": 2.50}\r\n[3]\nnot json\n\xff\n\"six\"";
    let read = read(&[("a.jsonl", lines)], &["a.jsonl"], None);
    assert_eq!(read[0], pair("a.jsonl:1", "one"));
    assert_eq!(read[1], pair("a.jsonl:3", "{\"text\": 2.50}"));
    assert_eq!(read[2], pair("a.jsonl:4", "! must be a JSON string or object, is array"));
    assert!(read[3].1.starts_with("! is not JSON: "), "{read:?}");
    assert_eq!(read[4], pair("a.jsonl:6", "! is not UTF-8"));
    assert_eq!(read[5], pair("a.jsonl:7", "six"));
    assert_eq!(read.len(), 6);
}

#[test]
fn a_huge_line_costs_itself() {
    let huge = format!("\"{}\"\n\"ok\"\n", "x".repeat(INPUT_LIMIT_BYTES));
    let read = read(&[("a.jsonl", huge.as_bytes())], &["a.jsonl"], None);
    assert!(read[0].1.starts_with("! the line has 8388610 bytes"), "{}", read[0].1);
    assert_eq!(read[1], pair("a.jsonl:2", "ok"));
}

#[test]
fn rows_have_the_fields_of_the_header() {
    let table = "\u{feff}id,text\r\n1,\"a, \"\"b\"\"\nc\"\r\n2\r\n3,d\r\n";
    let read = read(&[("a.csv", table.as_bytes())], &["a.csv"], None);
    assert_eq!(read[0], pair("a.csv:2", r#"{"id":"1","text":"a, \"b\"\nc"}"#));
    assert_eq!(read[1], pair("a.csv:4", "! has 1 fields, and the header has 2"));
    assert_eq!(read[2], pair("a.csv:5", r#"{"id":"3","text":"d"}"#));
}

#[test]
fn names_that_stand_twice_are_not_chosen_from() {
    let read = |name: &str, text: &str| read(&[(name, text.as_bytes())], &[name], None);
    let twice = read("a.csv", "id,text,id\n1,a,2\n");
    assert_eq!(
        twice[0],
        pair("a.csv:1", "! the header cannot be read: two columns are called `id`")
    );
    assert_eq!(twice[1].1, "! the header cannot be read");
    let unnamed = read("a.csv", "id,,\n1,,\n");
    assert_eq!(unnamed, [pair("a.csv:2", r#"{"id":"1","":""}"#)]);
    let filled = read("a.csv", "id,,\n1,a,b\n");
    assert_eq!(filled[0].1, "! has a field in one of several columns without a name");
    let line = read("a.jsonl", r#"{"text":"a","by":{"x":1,"x":2}}"#);
    assert_eq!(line, [pair("a.jsonl:1", "! says `/by/x` twice")]);
}

#[test]
fn folders_stand_for_their_files_by_name() {
    let files: [(&str, &[u8]); 4] =
        [("in/b.txt", b"two"), ("in/a.txt", b"one"), ("in/.c", b"no"), ("in/d/e.txt", b"no")];
    let read = read(&files, &["in/"], None);
    assert_eq!(read, [pair("in/a.txt", "one"), pair("in/b.txt", "two")]);
}

#[test]
fn positions_go_on_from_source_to_source() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.jsonl"), "\"1\"\nx\n").unwrap();
    std::fs::write(folder.path().join("b.txt"), "3").unwrap();
    let environment = Environment::of(folder.path(), &[]);
    let arguments = ["a.jsonl".to_owned(), "b.txt".to_owned()];
    let inputs = Inputs::find(&arguments, None, &environment).unwrap();
    assert_eq!(inputs.total_bytes, Some(7));
    assert_eq!(inputs.map(|input| input.position).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn what_is_not_there_is_refused_before_anything_is_spent() {
    let environment = Environment::of(Path::new("/nowhere"), &[]);
    let error = Inputs::find(&["a.jsonl".to_owned()], None, &environment).err().unwrap();
    assert_eq!(error.kind.exit_code(), 42);
}

#[test]
fn fields_are_found_by_name_and_by_path() {
    let line = br#"{"id": 7, "by": {"name": "Ada"}, "a.b": "dotted", "a": {"b": "nested"}}"#;
    let body = Body::of_line(line.to_vec()).unwrap();
    let field = |name| body.field(name).map(std::borrow::Cow::into_owned);
    assert_eq!(field("id").as_deref(), Some("7"));
    assert_eq!(field("by.name").as_deref(), Some("Ada"));
    assert_eq!(field("a.b").as_deref(), Some("dotted"));
    assert_eq!(field("by").as_deref(), Some(r#"{"name": "Ada"}"#));
    assert_eq!(field("none"), None);
    assert!(field("input").is_some_and(|whole| whole.starts_with("{\"id\"")));
    let text = Body::of_line(b"\"hello\"".to_vec()).unwrap();
    assert_eq!(text.field("text").as_deref(), Some("hello"));
}
