//! Why preflight says what it says.

/// Returns why findings with this code matter; nothing for a code that is not known here.
pub(crate) fn diagnostic(code: &str) -> Option<&'static str> {
    let why = match code {
        "unreadable" | "not_a_regular_file" => {
            "a contract is a regular file: reading a pipe or device could wait forever"
        }
        "too_large" | "too_deep" | "too_many_references" | "too_many_branches" => {
            "limits keep preflight and every verdict bounded in time and memory"
        }
        "empty" | "not_json" | "trailing_data" | "invalid_utf8" | "byte_order_mark" => {
            "a contract is strict JSON, so that every reader sees the same one"
        }
        "not_an_object" => "keywords stand in an object; `true` and `false` promise nothing",
        "duplicate_key" => "most readers keep the last of two members, some the first",
        "inexact_number" => "a rounded bound would judge otherwise than the one that was written",
        "unknown_keyword" => {
            "validators ignore what they do not know, so a misspelt constraint is none; notes of \
             your own go under `x-…`"
        }
        "openapi_keyword" | "other_draft" | "no_effect" => {
            "it is ignored when an answer is judged, which is rarely what was meant"
        }
        "unknown_format" => "only the formats of the draft are checked",
        "unknown_draft" => "the draft decides what each keyword means",
        "secret" => "the whole contract is sent to the provider with every request",
        "not_a_schema" => "the meta-schema of the draft does not allow this",
        "invalid_pattern" | "pattern_too_large" => {
            "patterns are compiled once to an automaton that matches in linear time"
        }
        "needs_look_around" => {
            "look-around cannot match in linear time; `--look-around` allows it with a limit"
        }
        "remote_reference" => {
            "nothing is ever fetched: a contract means the same offline, today and tomorrow"
        }
        "unresolved_reference" => "what it should refer to is not in the contract",
        "endless_reference" => "judging would never end, or would accept everything",
        "costly" => "what cannot be judged within bounds is never accepted",
        "unsatisfiable" => "no answer could ever be accepted, so every attempt would be wasted",
        "root_rejects_objects" => {
            "tools take objects; without `--no-wrap` such an answer is wrapped as `{\"value\": …}`"
        }
        "invalid_version" | "invalid_document" => "contracts are kept and compared by it",
        "constant_rule" => "a rule that says the same of every value tests nothing",
        "bad_carry" => "an answer of an older version must become what its owner means, or nothing",
        "bad_example" => {
            "models imitate examples; one that breaks the contract teaches to break it"
        }
        "bad_rule" | "bad_grounding" => "a rule that cannot be run would never be broken",
        _ => return None,
    };
    Some(why)
}
