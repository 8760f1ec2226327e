//! Names that every provider takes and that nobody else's tool can steal.

use airtight_core::run::TERMINAL_TOOL;

/// The longest name that all providers take.
pub(super) const LIMIT_CHARS: usize = 64;

/// Digits of the hash that keeps shortened names apart, and the underscore before it.
const HASH_CHARS: usize = 9;

/// Names a tool of an MCP server: `mcp__<server>__<tool>`, so that it can be called nothing else.
pub(super) fn qualified(server: &str, tool: &str) -> String {
    let whole = format!("mcp__{server}__{tool}");
    let prefix = format!("mcp__{server}__");
    if tool.starts_with(&prefix) { spelt(tool) } else { spelt(&whole) }
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
    let allowed = |next: char| next.is_ascii_alphanumeric() || next == '_' || next == '-';
    if !name.is_empty() && name.len() <= LIMIT_CHARS && name.chars().all(allowed) {
        return name.to_owned();
    }
    let kept: String = name
        .chars()
        .take(LIMIT_CHARS - HASH_CHARS)
        .map(|next| if allowed(next) { next } else { '_' })
        .collect();
    format!("{kept}_{:08x}", hash(name))
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
    fn shortened_names_stay_apart_and_fit() {
        let long = "x".repeat(200);
        let (one, two) = (qualified("s", &format!("{long}1")), qualified("s", &format!("{long}2")));
        assert_ne!(one, two);
        assert_eq!((one.len(), two.len()), (LIMIT_CHARS, LIMIT_CHARS));
    }
}
