//! JSON for people: the same text with line breaks, so that no number passes through a machine
//! type.

/// Returns compact JSON on several lines.
pub(crate) fn pretty(compact: &str) -> String {
    let mut out = String::with_capacity(compact.len() * 2);
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    let mut characters = compact.chars().peekable();
    while let Some(character) = characters.next() {
        if in_string {
            out.push(character);
            in_string = character != '"' || escaped;
            escaped = character == '\\' && !escaped;
            continue;
        }
        match character {
            '{' | '[' => {
                out.push(character);
                if matches!(characters.peek(), Some('}' | ']')) {
                    out.extend(characters.next());
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(character);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                in_string = character == '"';
                out.push(character);
            }
        }
    }
    out
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_white_space_is_added() {
        let compact = r#"{"a":[1.50,{},[],"x,{\"\\"],"b":{"c":null},"d":"\\\"}"}"#;
        let spread = pretty(compact);
        assert_eq!(
            spread,
            "{\n  \"a\": [\n    1.50,\n    {},\n    [],\n    \"x,{\\\"\\\\\"\n  ],\n  \"b\": {\n    \
             \"c\": null\n  },\n  \"d\": \"\\\\\\\"}\"\n}"
        );
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&spread), value(compact));
    }
}
