use airtight_core::WorkedExample;
use airtight_core::codec::{Assembler, Format, Reply};
use airtight_core::message::Enforcement;
use serde_json::json;

use super::*;
use crate::trial::Gguf;

fn request() -> Request {
    Request {
        model: "tiny".to_owned(),
        system: Some("Be brief.".to_owned()),
        messages: vec![Message::user("go")],
        tools: Vec::new(),
        choice: ToolChoice::Auto,
        format: None,
        examples: Vec::new(),
        max_output_tokens: Some(60),
        temperature: Some(1.0),
        max_cost: None,
    }
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        parameters: json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": false}).into(),
        enforcement: Enforcement::Strict,
    }
}

fn respond(request: &Request) -> Result<Reply, EmbeddedError> {
    let (_folder, path) = Gguf::model(3).save();
    let mut assembler = Assembler::default();
    Embedded::open(&path, 1)?.respond(request, 5, &mut |delta| {
        if let Some(delta) = delta {
            assembler.push(delta).unwrap();
        }
        ControlFlow::Continue(())
    })?;
    Ok(assembler.finish())
}

#[test]
fn a_format_is_answered_in_text() {
    let schema = json!({"enum": ["yes", "no"]});
    let format = Some(Format { name: "answer".to_owned(), schema: schema.into() });
    let reply = respond(&Request { format, ..request() }).unwrap();
    assert!([r#""yes""#, r#""no""#].contains(&reply.text().as_str()), "{reply:?}");
    assert_eq!((reply.stop, reply.model.as_deref()), (Some(End::EndTurn), Some("tiny")));
    assert!(reply.usage.output_tokens.is_some_and(|tokens| tokens > 0));
}

#[test]
fn a_tool_that_is_alone_or_forced_is_called() {
    let alone = Request { tools: vec![tool("submit")], ..request() };
    let choice = ToolChoice::Tool("submit".to_owned());
    let forced = Request { tools: vec![tool("read"), tool("submit")], choice, ..request() };
    for request in [alone, forced] {
        let reply = respond(&request).unwrap();
        let calls: Vec<_> = reply.calls().collect();
        assert_eq!((calls.len(), calls[0].name.as_str()), (1, "submit"));
        let arguments: Value = serde_json::from_str(&calls[0].arguments).unwrap();
        assert!(arguments["ok"].is_boolean());
        assert_eq!(reply.stop, Some(End::ToolUse));
    }
}

#[test]
fn a_choice_of_tools_is_refused() {
    let error = respond(&Request { tools: vec![tool("a"), tool("b")], ..request() }).unwrap_err();
    assert_eq!(error.to_string(), "the embedded model cannot choose between 2 tools");
}

#[test]
fn plain_text_that_was_cut_says_so() {
    let reply = respond(&Request { max_output_tokens: Some(5), ..request() }).unwrap();
    assert_eq!(reply.usage.output_tokens, Some(5));
    assert_eq!(reply.stop, Some(End::MaxTokens));
}

#[test]
fn a_limit_below_the_shortest_answer_cuts_it_before_its_first_word() {
    let format = Some(Format { name: "answer".to_owned(), schema: json!({"const": "yes"}).into() });
    let limited = Request { format, max_output_tokens: Some(2), ..request() };
    let reply = respond(&limited).unwrap();
    assert_eq!((reply.text().as_str(), reply.stop), ("", Some(End::MaxTokens)));
}

#[test]
fn a_listener_that_breaks_off_hears_no_more() {
    let (_folder, path) = Gguf::model(3).save();
    let mut heard = 0;
    let mut embedded = Embedded::open(&path, 1).unwrap();
    embedded
        .respond(&request(), 5, &mut |delta| {
            heard += usize::from(delta.is_some());
            if heard < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .unwrap();
    assert_eq!(heard, 3);
}

#[test]
fn a_listener_may_break_off_while_the_prompt_is_read() {
    let (_folder, path) = Gguf::model(3).save();
    let mut embedded = Embedded::open(&path, 1).unwrap();
    let long = Request { messages: vec![Message::user("many words ".repeat(40))], ..request() };
    let (mut told, mut asked) = (0, 0);
    embedded
        .respond(&long, 5, &mut |delta| {
            told += usize::from(delta.is_some());
            asked += usize::from(delta.is_none());
            if asked < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .unwrap();
    // That it began is told; nothing is, after that.
    assert_eq!((told, asked), (1, 2));
}

#[test]
fn examples_become_turns_before_the_conversation() {
    let schema =
        json!({"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]});
    let example = WorkedExample { input: "1 and 2".to_owned(), output: json!({"sum": 3}) };
    let format = Some(Format { name: "answer".to_owned(), schema: schema.clone().into() });
    let request = Request { format, examples: vec![example], ..request() };
    let turns = turns(&request, Some(&schema));
    let said: Vec<_> = turns.iter().map(|turn| (turn.role, turn.text.as_str())).collect();
    assert_eq!(
        said[1..],
        [(Role::User, "1 and 2"), (Role::Assistant, r#"{"sum":3}"#), (Role::User, "go")]
    );
    assert!(!said[0].1.contains("filled in"), "a made-up value would only confuse: {}", said[0].1);
}
