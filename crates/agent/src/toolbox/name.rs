//! Names that every provider takes and that nobody else's tool can steal.

use airtight_core::run::TERMINAL_TOOL;

/// The longest name that all providers take.
pub(super) const LIMIT_CHARS: usize = 64;

/// Digits of the hash that keeps shortened names apart, and the underscore before it.
const HASH_CHARS: usize = 9;

/// Names a tool of an MCP server: `mcp__<server>__<tool>`, so that it can be called nothing else.
pub(super) fn qualified(server: &str, tool: &str) -> String {
    let prefix = format!("mcp__{server}__");
    let tool = tool.strip_prefix(&prefix).unwrap_or(tool);
    let whole = format!("{prefix}{tool}");
    // Where the server's name ends must be certain, or `a__b` and `a` could share a name.
    if format!("{server}__").find("__") == Some(server.len()) {
        return spelt(&whole);
    }
    hashed(&whole, &format!("{server}\0{tool}"))
}

/// Names one of our own tools; what could be taken for the terminal tool is set apart.
pub(super) fn local(tool: &str) -> String {
    if letters(tool) == letters(TERMINAL_TOOL) {
        return spelt(&format!("tool__{tool}"));
    }
    spelt(tool)
}

/// Returns what is left of a name to somebody who reads quickly.
fn letters(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|next| next.to_ascii_lowercase()).collect()
}

/// Spells a name with the characters that all providers take. A name that had to be changed gets a
/// hash of what it was, so that two different ones stay different.
fn spelt(name: &str) -> String {
    if !name.is_empty() && name.len() <= LIMIT_CHARS && name.chars().all(is_allowed) {
        return name.to_owned();
    }
    hashed(name, name)
}

/// Returns `name` as far as it can be spelt, with a hash of the `identity` behind it.
fn hashed(name: &str, identity: &str) -> String {
    let kept: String = name
        .chars()
        .take(LIMIT_CHARS - HASH_CHARS)
        .map(|next| if is_allowed(next) { next } else { '_' })
        .collect();
    format!("{kept}_{:08x}", hash(identity))
}

fn is_allowed(next: char) -> bool {
    next.is_ascii_alphanumeric() || next == '_' || next == '-'
}

/// FNV-1a: rules are written with these names, so it must not change with the compiler.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::{LIMIT_CHARS, local, qualified};

    #[test_case("read_file" => "read_file")]
    #[test_case("structured_output" => "tool__structured_output")]
    #[test_case("StructuredOutput" => "tool__StructuredOutput")]
    #[test_case("structured-output" => "tool__structured-output")]
    fn our_own_tools_cannot_take_the_terminals_name(name: &str) -> String {
        local(name)
    }

    #[test_case("git", "log" => "mcp__git__log")]
    #[test_case("git", "mcp__git__log" => "mcp__git__log"; "qualified once")]
    #[test_case("evil", "structured_output" => "mcp__evil__structured_output")]
    #[test_case("a", "ѕtructured_output" => "mcp__a___tructured_output_a226c428"; "look-alike letters are replaced")]
    fn tools_of_servers_are_qualified(server: &str, tool: &str) -> String {
        qualified(server, tool)
    }

    #[test]
    fn tools_of_different_servers_never_share_a_name() {
        for (one, other) in [(("a__b", "c"), ("a", "b__c")), (("a_", "b"), ("a", "_b"))] {
            assert_ne!(qualified(one.0, one.1), qualified(other.0, other.1));
        }
        assert_eq!(qualified("a", "b__c"), "mcp__a__b__c");
    }

    #[test]
    fn shortened_names_stay_apart_and_fit() {
        let long = "x".repeat(200);
        let (one, two) = (qualified("s", &format!("{long}1")), qualified("s", &format!("{long}2")));
        assert_ne!(one, two);
        assert_eq!((one.len(), two.len()), (LIMIT_CHARS, LIMIT_CHARS));
    }
}
