//! Words of commands that people are told to type.

/// Returns the path `text` as one word of a command to type, also if it looks like a flag.
pub(crate) fn shell_word(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./@~+=:,".contains(&byte);
    let text = if text.starts_with('-') { format!("./{text}") } else { text.to_owned() };
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text;
    }
    if !text.contains(char::is_control) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    // Spelt out on a terminal, so that it must mean the same to the shell.
    let spelt = |next: char| match next {
        '\'' | '\\' => format!("\\{next}"),
        '\n' => r"\n".to_owned(),
        next if next.is_control() => {
            let spell = |byte| format!(r"\x{byte:02x}");
            next.to_string().bytes().map(spell).collect::<Vec<String>>().concat()
        }
        next => next.to_string(),
    };
    format!("$'{}'", text.chars().map(spelt).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_to_type_survive_the_shell() {
        assert_eq!(shell_word("a/b-1.json"), "a/b-1.json");
        assert_eq!(shell_word("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("-x.json"), "./-x.json");
        assert_eq!(shell_word("a\nb's\u{1b}"), r"$'a\nb\'s\x1b'");
    }
}
