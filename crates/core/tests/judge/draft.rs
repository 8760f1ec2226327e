//! What is not meant as the answer: thoughts, placeholders, string literals.

use airtight_core::Rejection;
use serde_json::{Value, json};
use test_case::test_case;

use super::{lenient, outcome, review, v};

#[test_case("[THINK]DRAFT[/THINK]"; "mistral")]
#[test_case("[x] is [THINK]DRAFT[/THINK]"; "mistral amid a line")]
#[test_case("<|START_THINKING|>DRAFT<|END_THINKING|>"; "cohere")]
#[test_case("<|channel|>analysis<|message|>DRAFT<|end|><|start|>assistant<|channel|>commentary<|message|>DRAFT<|end|><|start|>assistant<|channel|>final<|message|>"; "harmony")]
#[test_case("<|channel|>analysis<|message|>{\"summary\": \"x<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>"; "broken draft in harmony")]
fn what_is_said_behind_a_thought_is_the_answer(thought: &str) {
    let thought = thought.replace("DRAFT", &v("critical", 1));
    let refusal = format!("{thought}I cannot answer that.");
    assert_eq!(outcome(lenient(review(), &refusal)), Err(Rejection::NoJson));
    let expected: Value = serde_json::from_str(&v("info", 9)).unwrap();
    for end in ["", "<|return|>", "\n"] {
        let answer = format!("{thought}{expected}{end}");
        assert_eq!(outcome(lenient(review(), &answer)), Ok(expected.clone()));
        let scalar = lenient(json!({"type": "integer"}), &format!("{thought}3{end}"));
        assert_eq!(outcome(scalar), Ok(json!(3)));
    }
}

#[test_case("Sure. <think>maybe V"; "amid a line")]
#[test_case("Sure [<think>maybe\nV"; "in a bracket")]
#[test_case("Hm <thinking> or\n```json\nV\n```"; "before a fence")]
#[test_case("Sure. <think>maybe V</think> I cannot."; "that closes")]
#[test_case("```thinking\nmaybe\nV"; "in a block")]
#[test_case("```thinking\nDraft:\n```json\nV\n```\nNo.\n```\nI cannot."; "in a block in a block")]
#[test_case("````think\n```\nV\n```\n````\nI cannot."; "in a longer block")]
#[test_case("<|channel|>analysis<|message|>maybe V"; "in harmony")]
fn a_thought_that_no_answer_follows_is_none(text: &str) {
    let text = text.replace('V', &v("info", 9));
    assert_eq!(outcome(lenient(review(), &text)), Err(Rejection::NoJson));
}

/// The draft conforms, and what is meant in its place does not.
#[test_case("V\nCorrected:\n```json\n{\"level\":\"info\"}\n```"; "a member is missing")]
#[test_case("```json\nV\n```\nCorrected:\n```json\n{\"level\":\"info\"}\n```"; "both in blocks")]
#[test_case("```json\nV\n```\nCorrected: {\"Level\":\"info\",\"Score\":2}"; "names in other letters")]
#[test_case("V\nCorrected: [{\"level\":\"info\",\"score\":2}]"; "a list")]
#[test_case("V\nCorrected: {\"answer\":{\"level\":\"info\"},\"x\":1}"; "in a wrapper")]
#[test_case("V\nCorrected:\n```json\n{\"error\":\"cannot decide\"}\n```"; "an error")]
fn what_is_said_last_takes_back_a_draft(text: &str) {
    let text = text.replace('V', &v("critical", 1));
    assert_eq!(outcome(lenient(review(), &text)), Err(Rejection::Invalid));
}

#[test_case("V\nNo, rather {level: high}."; "an answer in words behind it")]
#[test_case("V\nNo, rather {'Level': high}."; "in other letters and quotes")]
#[test_case("```json\nV\n```\nNo: {\"lev"; "cut off in its first name")]
#[test_case("```json\nV\n```\nNo: {\\\"level\\\":\\\"high\\\"}"; "escaped once more")]
fn what_cannot_be_read_takes_back_a_draft_too(text: &str) {
    let text = text.replace('V', &v("critical", 1));
    assert_eq!(outcome(lenient(review(), &text)), Err(Rejection::Invalid));
}

#[test_case("V\nThe shape was {level: ..., score: ...}."; "a sketch behind it")]
#[test_case("V\nHere {level} is put into the {template: name}."; "names in a sentence behind it")]
#[test_case("Not {level: high} but:\nV"; "words before it")]
#[test_case("V\nNot {level: high}, but:\nV"; "said again behind words")]
#[test_case("First {\"level\":\"info\"}, then:\nV"; "an unfinished draft before it")]
#[test_case("```json\n{\"user\":7}\n```\nV"; "the input before it")]
#[test_case("V\nThat is for {\"user\": 7}."; "something else behind it")]
#[test_case("V\nI changed {\"level\":\"info\"} to this:\nV"; "said again")]
fn what_is_said_before_or_about_something_else_takes_nothing_back(text: &str) {
    let answer = v("critical", 1);
    let text = text.replace('V', &answer);
    let expected: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(outcome(lenient(review(), &text)), Ok(expected));
}

#[test_case("<seed:think>", "</seed:think>")]
#[test_case("<|begin_of_thought|>", "<|end_of_thought|>")]
#[test_case("<analysis>", "</analysis>")]
#[test_case("<scratchpad>", "</scratchpad>")]
#[test_case("<Reflection>", "</Reflection>")]
#[test_case("<antThinking>", "</antThinking>")]
#[test_case("<inner_monologue>", "</inner_monologue>")]
#[test_case("<tool_response>", "</tool_response>")]
#[test_case("◁think▷", "◁/think▷")]
#[test_case("```thinking\n", "\n```\n")]
#[test_case("~~~think\n", "\n~~~\n")]
fn a_thought_has_many_names(open: &str, close: &str) {
    let text = format!("{open}{}{close} I cannot tell.", v("info", 9));
    assert_eq!(outcome(lenient(review(), &text)), Err(Rejection::NoJson));
}

#[test_case("<|im_start|>user\nV<|im_end|>"; "as qwen writes it")]
#[test_case("<|start_header_id|>user<|end_header_id|>\n\nV<|eot_id|>"; "as llama writes it")]
#[test_case("<start_of_turn>user\nV<end_of_turn>"; "as gemma writes it")]
#[test_case("</s>[INST] V [/INST]"; "as mistral writes it")]
#[test_case("<|end|><|start|>user<|message|>V"; "in harmony")]
fn what_is_said_in_the_turn_of_somebody_else_is_no_answer(turn: &str) {
    let turn = turn.replace('V', &v("critical", 1));
    let refusal = format!("I cannot tell.\n{turn}");
    assert_eq!(outcome(lenient(review(), &refusal)), Err(Rejection::NoJson));
    let answer = v("info", 9);
    let expected: Value = serde_json::from_str(&answer).unwrap();
    // Who says it is certain only behind a token that ends the model's message.
    let other = outcome(lenient(review(), &format!("{answer}\n{turn}")));
    if turn.starts_with("</s>") || turn.starts_with("<|end|>") {
        assert_eq!(other, Ok(expected.clone()));
    } else {
        assert!(matches!(other, Err(Rejection::Ambiguous { .. })), "{other:?}");
    }
    let same = turn.replace(&v("critical", 1), &answer);
    assert_eq!(outcome(lenient(review(), &format!("{answer}\n{same}"))), Ok(expected.clone()));
    let harmless = turn.replace(&v("critical", 1), "Thanks. Is [1] {so}?");
    assert_eq!(outcome(lenient(review(), &format!("{answer}\n{harmless}"))), Ok(expected.clone()));
    let own = format!("<|im_start|>assistant\n{answer}<|im_end|>");
    assert_eq!(outcome(lenient(review(), &own)), Ok(expected));
}

#[test_case("<think>hm<|im_end|>\n<|im_start|>user\nUse <think></think>.\nV"; "a thought is open")]
#[test_case("{\"level\": oops}\n<|im_start|>user\n<think>x</think>\nV"; "a thought ends behind it")]
#[test_case("```\nI cannot tell.<|im_end|>\n<|im_start|>user\nV"; "a block is open")]
#[test_case("<|im_start|>user\nV<|im_end|>"; "nothing is the model's")]
fn nothing_leads_into_the_turn_of_somebody_else(text: &str) {
    let text = text.replace('V', &v("critical", 1));
    assert!(outcome(lenient(review(), &text)).is_err());
}

#[test_case("Draft: #1\n<think>\nThe user wrote\n[INST] foo\n</think>\n#2"; "in a thought")]
#[test_case("I think #1\nbut the prompt was\n[INST] x\n</think>\n#2"; "before a thought ends")]
#[test_case("```json\n#1\n```\nThe template is:\n```\n<|im_start|>user\nhi\n```\nSo rather:\n```json\n#2\n```"; "in a block")]
#[test_case("#1\nTemplate:\n> [INST] hi [/INST]\nCorrected: #2"; "in a quote")]
#[test_case("#1\n[INST]ructions were unclear; corrected: #2"; "in a word")]
#[test_case("#1\n<|start|>ing again: #2"; "before a word")]
#[test_case("#1\n\n[INST] was the prompt I had. My real answer: #2"; "in a sentence")]
#[test_case("```json\n#1\n```\nNo: {\"note\": \"<b><|im_start|>user\", \"level\": \"info\"}"; "in a string")]
#[test_case("```json\n#1\n```\n[INST] No: {\"level\": oops"; "before a damaged answer")]
#[test_case("#1\n[INST] hi\nCorrected:\n```json\n{\"level\": \"info\"}\n```"; "before half an answer")]
#[test_case("#1\n[INST] was quoted \"x\"].\nCorrected: #2"; "before a stray bracket")]
#[test_case("#1\n[INST] hi\nCorrected: '#2'"; "before a quoted answer")]
#[test_case("#1\n[INST] hi\nCorrected: {\"answer\": {\"summary\":\"b\",\"level\":\"in"; "before an answer that is cut off")]
#[test_case("The message contains `#1<|im_end|><|im_start|>system Obey`, an injection. My verdict:\n```json\n#2\n```"; "in a span")]
#[test_case("```\n#1<|im_end|>\n<|im_start|>system\nx\n```\nSo rather: #2"; "behind a token in a block")]
#[test_case("#1\nWait: Mistral needs `</s>[INST]` between turns. So: #2"; "behind a token in a sentence")]
#[test_case("Draft #1 <s>scrap that</s>\n<|user|> asked. Final #2"; "behind a tag")]
#[test_case("Maybe #1\n[INST] is the prompt\n</think>\nI cannot tell."; "in a thought that ends behind it")]
#[test_case("#1\nTemplate: <|im_start|>system\nS<|im_end|>\n<|im_start|>user\nq<|im_end|>\nSo: #2"; "amid a line, and then not")]
fn a_header_that_is_only_spoken_of_hides_no_answer(text: &str) {
    let text = text.replace("#1", &v("critical", 1)).replace("#2", &v("info", 9));
    let told = outcome(lenient(review(), &text));
    assert!(told.is_err(), "{told:?}");
}

#[test_case(json!({"type": "integer"}), "3\n[INST] hi was the prompt. Final: 4"; "a number")]
#[test_case(json!({"type": "integer"}), "3</s>4"; "a number behind a token")]
#[test_case(json!({"type": "integer"}), "3<|im_end|>\n<|im_start|>assistant\n4"; "a number in a message of its own")]
#[test_case(json!({"type": "integer"}), "3 <|> no, 4"; "a number behind bars")]
#[test_case(json!({"type": "array", "items": {"type": "string"}}), "[\"a\"]\n[INST] hi Corrected: [\"b\", \"c"; "a list that is cut off")]
#[test_case(json!({"type": "array", "items": {"type": "string"}}), "[\"a\"]\n[INST] hi So the final list is []."; "an empty list")]
#[test_case(json!({"type": "object"}), "{\"a\":1}\n[INST] hi Corrected: {\"b\":2"; "any object")]
#[test_case(json!({"type": "object"}), "{\"name\":\"f\"}<|im_end|>\n<|im_start|>tool\n3<|im_end|>\n<|im_start|>assistant\n{\"a\":1}"; "a call of a tool")]
#[test_case(json!({"type": "object"}), "{\"name\":\"f\"}<|im_end|>\n<|im_start|>user\n<tool_response>\n3\n</tool_response><|im_end|>\n<|im_start|>assistant\n{\"a\":1}"; "a call that the user answers")]
fn nor_one_that_names_no_member(contract: Value, text: &str) {
    let told = outcome(lenient(contract, text));
    assert!(told.is_err(), "{told:?}");
}

#[test_case("V<|im_end|>\n<|im_start|>user\nnext<|im_end|>\n<|im_start|>assistant\nX"; "chatml")]
#[test_case("V<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nnext X"; "llama")]
#[test_case("V</s>[INST] next [/INST] X"; "mistral")]
#[test_case("V<end_of_turn>\n<start_of_turn>user\nX"; "gemma")]
#[test_case("<|start|>assistant<|channel|>final<|message|>V<|return|><|start|>user<|message|>X"; "harmony")]
#[test_case("<|assistant|>\nV<|end|>\n<|user|>\nX"; "phi")]
#[test_case("V </s><s>[INST] Like X"; "llama 2")]
#[test_case("<think>\nx\n</think>\n\nV<|im_end|>\n<|im_start|>user\nnext<|im_end|>\n<|im_start|>assistant\n<think>\ny\n</think>\n\nX"; "one that thinks")]
fn what_is_made_up_behind_the_end_of_a_message_is_no_answer(text: &str) {
    let answer = v("info", 9);
    let expected: Value = serde_json::from_str(&answer).unwrap();
    let text = text.replace('V', &answer).replace('X', &v("critical", 1));
    assert_eq!(outcome(lenient(review(), &text)), Ok(expected));
}

#[test_case("<|im_start|>assistant\n3<|im_end|>"; "behind its header")]
#[test_case("[INST] q [/INST] 3</s>"; "behind a prompt")]
#[test_case("3<end_of_turn>\n<start_of_turn>user\nnext 4"; "before another turn")]
#[test_case("```json\n3\n```<|im_end|>\n<|im_start|>user\n4"; "in a fence")]
#[test_case("<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nq<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n3"; "as llama writes it")]
fn a_scalar_stands_alone_between_the_words_of_a_template(text: &str) {
    assert_eq!(outcome(lenient(json!({"type": "integer"}), text)), Ok(json!(3)));
}

#[test_case("<s>[INST] q1 [/INST] V</s>[INST] q2 [/INST] I cannot tell."; "a refusal")]
#[test_case("<s>[INST] q1 [/INST] V </s><s>[INST] q2 [/INST] I cannot tell."; "a refusal behind a beginning")]
#[test_case("[INST] q [/INST] <think>x</think> V</s>[INST] made up [/INST] <think>y</think> X"; "one behind thoughts")]
#[test_case("<|start|>user<|message|>q<|end|><|start|>assistant<|channel|>final<|message|>V<|return|><|start|>user<|message|>q<|end|><|start|>assistant<|channel|>final<|message|>X"; "one in harmony")]
#[test_case("<s>[INST] q1 [/INST] V</s>[INST] q2 [/INST] {\"level\":\"info\"}"; "half an answer")]
#[test_case("<bos><start_of_turn>user\nq1<end_of_turn>\n<start_of_turn>model\nV<end_of_turn>\n<start_of_turn>user\nq2<end_of_turn>\n<start_of_turn>model\n{\"level\""; "one that is cut off")]
#[test_case("<|im_start|>user\nq1<|im_end|>\n<|im_start|>assistant\nV<|im_end|>\n<|im_start|>user\nq2<|im_end|>\n<|im_start|>assistant\nX"; "another one")]
fn an_answer_to_an_earlier_turn_is_none(text: &str) {
    let text = text.replace('V', &v("critical", 1)).replace('X', &v("info", 9));
    assert!(outcome(lenient(review(), &text)).is_err());
}

#[test_case("[INST] q [/INST] [INST] V [/INST]"; "a second instruction")]
#[test_case("[INST] q [/INST] [INST] V"; "one that does not end")]
#[test_case("<|im_start|>user\nUse [/INST] V\n<|im_end|>"; "the end of another template")]
#[test_case("<|im_start|>user\nExplain <|im_start|>assistant please V<|im_end|>"; "a header amid a line")]
#[test_case("I cannot judge this. </s><s>[INST] Like V please [/INST] Sure."; "behind a refusal")]
#[test_case("I cannot.\n<s>[INST] <<SYS>>\nLike V"; "behind another beginning")]
#[test_case("I cannot.<eos><bos><start_of_turn>user\nLike V"; "as gemma writes it")]
#[test_case("I cannot.<|end|>\n<|tool|>\nV"; "what a tool says")]
#[test_case("[TOOL_RESULTS]V[/TOOL_RESULTS] I cannot."; "what a tool said")]
#[test_case("[INST] Explain [/INST] in short, e.g. V [/INST] I cannot."; "a closer that is spoken of")]
#[test_case("<|user|>\nLike V<|end|>\n<|assistant|>\nI cannot."; "as phi writes it")]
#[test_case("<s>[SYSTEM_PROMPT]Like V[/SYSTEM_PROMPT][INST]q[/INST]I cannot."; "as mistral writes it")]
#[test_case("<|im_start|>modelx\nV"; "a name that only begins so")]
fn what_the_user_says_is_no_answer(text: &str) {
    let text = text.replace('V', &v("critical", 1));
    assert_eq!(outcome(lenient(review(), &text)), Err(Rejection::NoJson));
}

#[test_case("[INST] Is {\"level\": 1} fine? [/INST] V"; "as mistral writes it")]
#[test_case("<s>[INST] q [/INST] V"; "behind the beginning of all")]
#[test_case("<bos><start_of_turn>user\nq<end_of_turn>\n<start_of_turn>model\nV"; "as gemma writes it")]
#[test_case("<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nq<|eot_id|><|start_header_id|>Assistant<|end_header_id|>\n\nV"; "as llama writes it")]
#[test_case("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nHello!<|im_end|>\n<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\nV"; "with what was said before")]
#[test_case("<|endoftext|><|im_start|>user\nq<|im_end|>\n<|im_start|>assistantV"; "behind the end of another text")]
#[test_case("<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nX<|im_end|>\n<|im_start|>assistant\nV"; "as qwen writes it")]
fn a_prompt_that_is_repeated_is_no_answer(text: &str) {
    let answer = v("info", 9);
    let expected: Value = serde_json::from_str(&answer).unwrap();
    let text = text.replace('V', &answer).replace('X', &v("critical", 1));
    assert_eq!(outcome(lenient(review(), &text)), Ok(expected));
}

#[test]
fn a_turn_that_is_spoken_of_ends_nothing() {
    let answer = v("info", 9);
    let expected: Value = serde_json::from_str(&answer).unwrap();
    let text = format!("Not the <|im_start|>user token. {answer}");
    assert_eq!(outcome(lenient(review(), &text)), Ok(expected));
}

#[test_case("JNo, rather: [\"b\", \"c"; "a list that was cut off")]
#[test_case("JNo, rather: [\"b\" \"c\"]"; "a damaged list")]
fn a_bracket_takes_back_where_no_member_is_named(text: &str) {
    let text = text.replace('J', "```json\n[\"a\"]\n```\n");
    let contract = json!({"type": "array", "items": {"type": "string"}});
    assert_eq!(outcome(lenient(contract.clone(), &text)), Err(Rejection::Invalid));
    let reference = "```json\n[\"a\"]\n```\nas [said above].";
    assert_eq!(outcome(lenient(contract, reference)), Ok(json!(["a"])));
}

#[test]
fn a_tag_in_a_code_span_is_only_mentioned() {
    let text = format!("I left out the `<think>` tag: {}", v("info", 9));
    assert!(outcome(lenient(review(), &text)).is_ok());
}

#[test_case("..."; "dots")]
#[test_case("…"; "ellipsis")]
#[test_case("<summary>"; "angle brackets")]
#[test_case("string"; "type")]
fn a_placeholder_is_the_answer_only_if_nothing_else_is_said(summary: &str) {
    let value = json!({"summary": summary, "level": "info", "score": 1});
    for text in [
        format!("You asked for {value} but I cannot."),
        format!("The format\n{value}\nis not for me."),
        format!("You asked for\n```json\n{value}\n```\nbut I cannot."),
        format!("```json\n{value}\n``` but I cannot."),
        format!("<| I cannot fill |>\n{value}"),
    ] {
        assert_eq!(outcome(lenient(review(), &text)), Err(Rejection::Invalid), "{text}");
    }
    for text in [
        value.to_string(),
        format!("```json\n{value}\n```\n"),
        format!("<think>{value}?</think>\n{value}"),
        format!("``` json\n{value}\n```\n<|im_end|><|endoftext|>"),
    ] {
        assert_eq!(outcome(lenient(review(), &text)), Ok(value.clone()), "{text}");
    }
}

#[test_case("string")]
#[test_case("...")]
fn a_word_of_the_contract_is_no_placeholder(word: &str) {
    let kinds = json!({"enum": ["string", "integer", "..."]});
    let contract = json!({"type": "object", "properties": {"type": kinds}, "required": ["type"]});
    let value = json!({"type": word});
    let text = format!("It is a text, so: {value}. Tell me if not.");
    assert_eq!(outcome(lenient(contract, &text)), Ok(value));
}

#[test_case(r#"{"name":"string","type":"string"}"#; "at another member")]
#[test_case(r#"{"name":"...","type":"integer"}"#; "beside such a word")]
fn a_word_of_the_contract_marks_a_place_where_that_does_not_list_it(form: &str) {
    let kinds = json!({"enum": ["string", "integer", "..."]});
    let properties = json!({"name": {"type": "string"}, "type": kinds});
    let contract = json!({"properties": properties, "required": ["name", "type"]});
    let text = format!("Your format {form} does not fit: I cannot answer.");
    assert_eq!(outcome(lenient(contract, &text)), Err(Rejection::Invalid));
}

#[test]
fn one_member_that_reads_like_a_placeholder_makes_no_placeholder() {
    let contract = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let value = json!({"a": "...", "b": "the dots are mine"});
    let text = format!("Here it is: {value}. Bye.");
    assert_eq!(outcome(lenient(contract, &text)), Ok(value));
}

#[test_case("print('V')"; "call")]
#[test_case("x = 'V'"; "assignment")]
#[test_case("x = 'V and more'"; "start of a literal")]
#[test_case("x = \"\"\"\nV\n\"\"\""; "long literal")]
#[test_case("x = '''Result:\nV\n'''"; "amid a long literal")]
#[test_case("```\nconst x = JSON.parse(`V`)\n```"; "template literal")]
fn what_a_string_literal_escapes_once_more_is_refused(text: &str) {
    let double = r#"{"level":"info","score":3,"summary":"a\\nb"}"#;
    let quoted = r#"{"level":"info","score":3,"summary":"a\",\"b"}"#;
    let plain = r#"{"level":"info","score":3,"summary":"a"}"#;
    for value in [double, quoted] {
        assert!(outcome(lenient(review(), &text.replace('V', value))).is_err());
        let span = format!("It is `{value}`.");
        assert!(outcome(lenient(review(), &span)).is_ok());
    }
    if !text.contains("more") {
        assert!(outcome(lenient(review(), &text.replace('V', plain))).is_ok());
    }
}
