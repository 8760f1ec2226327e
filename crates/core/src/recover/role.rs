//! Whose words follow: chat templates name the role before each message, and a server that does not know
//! the token that ends the model's lets it go on with those of others.

use super::thought::is_apart;

/// What stands before the name of a role.
const HEADERS: [&str; 4] = ["<|im_start|>", "<|start_header_id|>", "<start_of_turn>", "<|start|>"];

/// The names of the model.
const MODEL: [&str; 2] = ["assistant", "model"];

/// Opens what a user says, without a name.
const INSTRUCTION: &str = "[INST]";

/// Claims that what follows `text` from `at` on is said by somebody else than the model.
pub(super) fn is_foreign(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let mut roles = HEADERS.iter().filter_map(|header| rest.strip_prefix(header));
    let is_model = |role: &str| MODEL.iter().any(|name| role.trim_start().starts_with(name));
    let is_other =
        rest.starts_with(INSTRUCTION) || roles.next().is_some_and(|role| !is_model(role));
    is_other && is_apart(text, at)
}
