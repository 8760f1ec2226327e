//! Where programs stand in a simple command: first, and behind programs that run others.

use super::program_name;

/// Words that stand before a program.
const KEYWORDS: [&str; 9] = ["if", "then", "elif", "else", "while", "until", "do", "!", "time"];

/// Programs that run what stands behind their options, and how many operands they have before it.
const RUNNERS: [(&str, usize); 39] = [
    (".", 0),
    ("ash", 0),
    ("bash", 0),
    ("builtin", 0),
    ("busybox", 0),
    ("chroot", 1),
    ("command", 0),
    ("dash", 0),
    ("doas", 0),
    ("env", 0),
    ("eval", 0),
    ("exec", 0),
    ("flock", 1),
    ("ionice", 0),
    ("ksh", 0),
    ("nice", 0),
    ("node", 0),
    ("nohup", 0),
    ("nsenter", 0),
    ("parallel", 0),
    ("perl", 0),
    ("php", 0),
    ("python", 0),
    ("python3", 0),
    ("ruby", 0),
    ("runuser", 0),
    ("setsid", 0),
    ("sh", 0),
    ("source", 0),
    ("ssh", 1),
    ("stdbuf", 0),
    ("strace", 0),
    ("su", 0),
    ("sudo", 0),
    ("systemd-run", 0),
    ("timeout", 1),
    ("watch", 0),
    ("xargs", 0),
    ("zsh", 0),
];

/// Options of runners whose value is never a program: whom it runs as.
const WHOM: [&str; 4] = ["-u", "--user", "-g", "--group"];

/// Returns the places in a simple command where a program stands or may stand, each with what is behind it.
pub fn programs(words: &[String]) -> Vec<&[String]> {
    let mut found = Vec::new();
    let mut operands = 0_usize;
    let mut before = "";
    for (position, word) in words.iter().enumerate() {
        let is_value = before.starts_with('-') && !before.contains('=');
        let is_whom = WHOM.contains(&before);
        before = word;
        if word.starts_with('-') || is_prefix(word) || is_whom {
            continue;
        }
        if operands > 0 && !is_value {
            operands -= 1;
            continue;
        }
        found.extend(words.get(position..));
        match RUNNERS.iter().find(|(name, _)| *name == program_name(word)) {
            Some((_, before_program)) => operands = *before_program,
            // It may be the value of an option, so that the program comes later.
            None if is_value => {}
            None => break,
        }
    }
    found
}

/// Returns what is behind assignments and keywords.
pub fn behind_prefixes(words: &[String]) -> &[String] {
    let prefixes = words.iter().take_while(|word| is_prefix(word)).count();
    words.get(prefixes..).unwrap_or_default()
}

fn is_prefix(word: &str) -> bool {
    KEYWORDS.contains(&word) || assigned(word).is_some()
}

/// Returns the value that a word assigns to a variable, if it does.
pub fn assigned(word: &str) -> Option<&str> {
    let is_name = |name: &str| {
        name.starts_with(|next: char| next.is_ascii_alphabetic() || next == '_')
            && name.chars().all(|next| next.is_ascii_alphanumeric() || next == '_')
    };
    word.split_once('=').filter(|(name, _)| is_name(name)).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("ls -l ssh" => vec!["ls"]; "first")]
    #[test_case("A=1 ! ls" => vec!["ls"]; "behind prefixes")]
    #[test_case("sudo ls" => vec!["sudo", "ls"]; "behind a runner")]
    #[test_case("sudo -u ops ls x" => vec!["sudo", "ls"]; "behind whom it runs as")]
    #[test_case("sudo -n ls x" => vec!["sudo", "ls", "x"]; "behind an option that may take a value")]
    #[test_case("env -i A=1 timeout 5 ls x" => vec!["env", "timeout", "ls"]; "behind several")]
    #[test_case("ssh -p 22 host uptime now" => vec!["ssh", "22", "uptime"]; "on another machine")]
    #[test_case("sh -c uptime" => vec!["sh", "uptime"]; "in a shell")]
    #[test_case("-x" => Vec::<String>::new(); "none")]
    fn a_program_stands_first_or_behind_a_runner(text: &str) -> Vec<String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        programs(&words).into_iter().filter_map(|place| place.first()).cloned().collect()
    }
}
