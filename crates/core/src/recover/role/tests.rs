use proptest::prelude::*;
use proptest::sample::select;
use test_case::test_case;

use super::*;

const PIECES: [&str; 28] = [
    "<|im_start|>",
    "<|start_header_id|>",
    "<start_of_turn>",
    "<|start|>",
    "[INST]",
    "[/INST]",
    "<|user|>",
    "<|assistant|>",
    "<|im_end|>",
    "</s>",
    "<s>",
    "<bos>",
    "</think>\n",
    "\u{feff}",
    "user",
    "system",
    "tool",
    "[TOOL_RESULTS]",
    "assistant",
    "Model",
    "models",
    "\n",
    "\n",
    " ",
    ">",
    "{}",
    "é",
    "\u{ff5c}",
];

/// Says where turns of somebody else open by looking for one header at a time.
fn turns(text: &str, from: usize) -> Vec<usize> {
    let named = HEADERS.iter().flat_map(|header| text.match_indices(header));
    let named = named.filter(|(at, header)| words(&text[at + header.len()..]).is_none());
    let marked = PAIRS.iter().flat_map(|(opens, _)| text.match_indices(opens));
    let all = named.chain(marked).map(|(at, _)| at).filter(|at| *at >= from);
    all.filter(|at| is_apart(&text[from..*at])).collect()
}

proptest! {
    #[test]
    fn own_words_end_before_the_first_turn_of_somebody_else(
        pieces in prop::collection::vec(select(&PIECES[..]), 0..24)
    ) {
        let text = pieces.concat();
        let Own { range: Range { start, end }, also, earlier } = own(&text);
        prop_assert!(text.get(start..end).is_some());
        prop_assert!(turns(&text, start).iter().all(|at| *at >= end), "{text:?}: {start}..{end}");
        if end < text.len() {
            prop_assert!(opens(&text[end..]).is_some());
        }
        if let Some(also) = also {
            prop_assert!(text.get(also.clone()).is_some());
            prop_assert!(also.start <= start && also.end >= end, "{text:?}: {also:?}");
        } else if start < end && end < text.len() {
            prop_assert!(is_answer(&text[start..end]) && !is_of_tool(&text[end..]), "{text:?}: {end}");
        }
        if let Some(earlier) = earlier {
            prop_assert!(text.get(earlier.clone()).is_some() && earlier.start < start);
        }
    }

    /// A text without headers is the model's as a whole.
    #[test]
    fn what_names_no_role_is_the_models(text in "[a-z<|>\\[\\]\n{}:\" ]{0,40}") {
        prop_assume!(turns(&text, 0).is_empty() && opened(&text, 0).is_none());
        prop_assert_eq!(own(&text), Own { range: 0..text.len(), also: None, earlier: None });
    }
}

#[test_case("{V}<|im_end|>\n<|im_start|>user\nx" => ("{V}<|im_end|>\n", None); "ended by its token")]
#[test_case("<think>\nt\n</think>\n\n[V]</s>[INST] x" => ("<think>\nt\n</think>\n\n[V]</s>", None); "behind a thought")]
#[test_case("{V}<|im_end|>\n<|im_start|>tool\nx" => ("{V}<|im_end|>\n", Some("{V}<|im_end|>\n<|im_start|>tool\nx")); "before a tool speaks")]
#[test_case("{V}<|eom_id|><|start_header_id|>ipython<|end_header_id|>\n\nx" => ("{V}<|eom_id|>", Some("{V}<|eom_id|><|start_header_id|>ipython<|end_header_id|>\n\nx")); "before a tool of llama speaks")]
#[test_case("{V}<|im_end|>\n<|im_start|>user\n<tool_response>\nx" => ("{V}<|im_end|>\n", Some("{V}<|im_end|>\n<|im_start|>user\n<tool_response>\nx")); "before a tool speaks through the user")]
#[test_case("{V}</s>[TOOL_RESULTS]x" => ("{V}</s>", Some("{V}</s>[TOOL_RESULTS]x")); "before a tool of mistral speaks")]
#[test_case("3 </s><s>[INST] x" => ("3 </s><s>", None); "before the beginning of another")]
#[test_case("{V}\n<|im_start|>user\nx" => ("{V}\n", Some("{V}\n<|im_start|>user\nx")); "not ended")]
#[test_case("So {V}</s>[INST] x" => ("So {V}</s>", Some("So {V}</s>[INST] x")); "amid words")]
#[test_case("```\n{V}<|im_end|>\n<|im_start|>user" => ("```\n{V}<|im_end|>\n", Some("```\n{V}<|im_end|>\n<|im_start|>user")); "in an open block")]
#[test_case("<|im_start|>assistant\nV<|im_end|>" => ("\nV<|im_end|>", None); "behind its own header")]
#[test_case("<|im_start|>user\nq<|im_end|>\n<|im_start|>assistantV" => ("V", None); "behind the prompt")]
#[test_case("[SYSTEM_PROMPT]s[/SYSTEM_PROMPT][INST]q[/INST]V" => ("V", None); "behind two parts of it")]
#[test_case("[INST] Use [/INST] so: W [/INST] V" => (" V", None); "behind the last closer")]
#[test_case("<|user|>\na<|end|>\n<|assistant|>\nV<|end|>\n<|user|>\nb<|end|>\n<|assistant|>\nW"
    => ("\nW", Some("\nV<|end|>\n<|user|>\nb<|end|>\n<|assistant|>\nW")); "behind several turns")]
#[test_case("<|system|>\ns<|user|>\nq<|assistant|>\n{V}</s><|user|>\nb" => ("\n{V}</s>", None); "between turns")]
#[test_case("<\u{ff5c}User\u{ff5c}>q<\u{ff5c}Assistant\u{ff5c}>V" => ("V", None); "without line ends")]
#[test_case("{\"a\": \"<b><|im_start|>user\"}" => ("{\"a\": \"<b><|im_start|>user\"}", None); "in a string")]
#[test_case("{\"a\": \"x <s>[INST] y\"}" => ("{\"a\": \"x <s>[INST] y\"}", None); "behind a beginning in a string")]
#[test_case("<|im_start|>user\nq" => ("", None); "nothing")]
fn own_words(text: &'static str) -> (&'static str, Option<&'static str>) {
    let Own { range, also, .. } = own(text);
    (&text[range], also.map(|also| &text[also]))
}

#[test_case("<|im_end|> \n</s><\u{ff5c}end\u{2581}of\u{2581}sentence\u{ff5c}>" => true)]
#[test_case("" => true; "nothing")]
#[test_case("<|im_end|>x" => false)]
#[test_case("<|> no" => false)]
#[test_case("<|no name|>" => false)]
fn tokens(text: &str) -> bool {
    is_tokens(text)
}
