//! Commands that remove what nobody can put back: a whole machine, or a home.

use crate::shell::{program_name, suspect_words};

/// Folders at the root of a machine that it cannot be without, or that hold what people made.
const ROOTS: [&str; 17] = [
    "bin", "boot", "dev", "etc", "home", "lib", "lib64", "media", "mnt", "opt", "proc", "root",
    "run", "sbin", "srv", "usr", "var",
];

/// Claims that something in a command removes all of a machine or of a home, however it is written.
pub fn removes_everything(command: &str) -> bool {
    let command = command.replace("${HOME}", "$HOME");
    suspect_words(&command).iter().any(|words| {
        let mut starts = words.iter().enumerate().filter(|(_, word)| program_name(word) == "rm");
        starts.any(|(at, _)| is_removal(words.get(at + 1..).unwrap_or_default()))
    })
}

/// Claims that `rm` with these arguments removes everything.
fn is_removal(arguments: &[String]) -> bool {
    let mut is_recursive = false;
    let mut targets = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--" => targets.extend(rest.by_ref()),
            long if long.starts_with("--") => {
                // Programs take the beginning of a long option for it.
                is_recursive |= "--recursive".starts_with(long);
                if long.len() > 3 && "--no-preserve-root".starts_with(long) {
                    return true;
                }
            }
            short if short.starts_with('-') => is_recursive |= short.contains(['r', 'R']),
            _ => targets.push(word),
        }
    }
    is_recursive && targets.into_iter().any(|target| is_everything(target))
}

/// Claims that a path is that of a whole machine, of a part that it cannot be without, or of a home.
fn is_everything(path: &str) -> bool {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    // Everything in a folder is as much as the folder.
    while parts.last().is_some_and(|part| matches!(*part, "*" | ".*" | "?*")) {
        parts.pop();
    }
    match parts.as_slice() {
        [] => path.starts_with('/'),
        ["home", _] => path.starts_with('/'),
        [root] if path.starts_with('/') => ROOTS.contains(root),
        [home] => home.starts_with('~') || *home == "$HOME",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    /// CO-8: judged by its words, for there are too many ways to write it.
    #[test_case("rm -rf /" => true; "as it is written most often")]
    #[test_case("rm -Rf /" => true; "a large letter")]
    #[test_case("rm -rf -- /" => true; "behind the end of options")]
    #[test_case("rm -rfv /" => true; "more options")]
    #[test_case("rm -r --force /*" => true; "everything in it")]
    #[test_case("rm --recursive /" => true; "a long option")]
    #[test_case("rm --rec /" => true; "the beginning of a long option")]
    #[test_case("rm / -r" => true; "an option at the end")]
    #[test_case("sudo /bin/rm -rf //" => true; "with rights")]
    #[test_case("sh -c 'rm -rf \"/\"'" => true; "in a shell, with quotes")]
    #[test_case("rm -rf /var/tmp/.. /x" => true; "a way back")]
    #[test_case("rm -rf /etc/" => true; "a part that it needs")]
    #[test_case("rm -rf ~" => true; "a home")]
    #[test_case("rm -rf ~/*" => true; "everything in a home")]
    #[test_case("rm -rf \"${HOME}\"" => true; "a home by its variable")]
    #[test_case("rm -rf /home/ada" => true; "a home by its path")]
    #[test_case("rm -f --no-preserve-root x" => true; "what asks for it")]
    #[test_case("rm -rf /var/tmp/x" => false; "a folder below")]
    #[test_case("rm -rf /home/ada/cache" => false; "a folder in a home")]
    #[test_case("rm -rf ~/.cache/x" => false; "a folder in one's own home")]
    #[test_case("rm -rf ./build /tmp/x" => false; "what was made here")]
    #[test_case("rm -rf *" => false; "everything here")]
    #[test_case("rm -f /" => false; "what rm refuses")]
    #[test_case("rm -- -r" => false; "a file that looks like an option")]
    #[test_case("docker rm -f web" => false; "another rm")]
    fn co_8_nobody_removes_everything(command: &str) -> bool {
        removes_everything(command)
    }
}
