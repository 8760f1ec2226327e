//! What tier 1 may ask of programs that look and change alike: it looks.

use crate::shell::{Operands, command_words, program_name, programs, suspect_words};

/// How deep commands in arguments are looked into.
const DEPTH_LIMIT: u8 = 4;

/// What `systemctl` is asked for by who only looks, beside `list-…` and `is-…`.
const LOOKS: [&str; 6] = ["status", "show", "cat", "help", "show-environment", "get-default"];

/// Programs that end something, and do nothing else.
const ENDS: [&str; 9] =
    ["reboot", "shutdown", "poweroff", "halt", "telinit", "init", "pkill", "killall", "kill"];

/// Arguments of them that end nothing.
const ENDS_NOTHING: [&str; 5] = ["-0", "-l", "-L", "--help", "--version"];

/// Returns the program in a command that changes the machine, of those that need a look at their words.
pub fn changing_program(command: &str) -> Option<String> {
    changing(command, DEPTH_LIMIT)
}

fn changing(text: &str, depth: u8) -> Option<String> {
    let understood = command_words(text).filter(|_| depth > 0);
    let commands = understood.unwrap_or_else(|| suspect_words(text));
    let mut places = commands.iter().flat_map(|words| programs(words));
    places.find_map(|place| {
        let (program, arguments) = place.split_first()?;
        if program.contains(char::is_whitespace) {
            return changing(program, depth.checked_sub(1)?);
        }
        let name = program_name(program);
        changes(name, arguments).then(|| name.to_owned())
    })
}

fn changes(program: &str, arguments: &[String]) -> bool {
    if program == "systemctl" {
        let operands = Operands::of(arguments, &[]);
        let mut verbs = operands.readings().filter_map(<[String]>::first).peekable();
        return verbs.peek().is_some() && !verbs.any(|verb| looks(verb));
    }
    let is_nothing = |word: &String| {
        // A command may end what it began itself.
        ENDS_NOTHING.contains(&word.as_str()) || word == "$!" || word.starts_with('%')
    };
    ENDS.contains(&program) && !arguments.iter().any(is_nothing)
}

fn looks(verb: &str) -> bool {
    LOOKS.contains(&verb) || verb.starts_with("list-") || verb.starts_with("is-")
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    /// CO-8: tier 1 looks by `systemctl`, and does nothing else with it.
    #[test_case("systemctl" => None; "the list of units")]
    #[test_case("systemctl status nginx" => None; "status")]
    #[test_case("sudo systemctl --no-pager -n 50 status nginx" => None; "status with options")]
    #[test_case("systemctl -p MainPID show nginx" => None; "a property")]
    #[test_case("systemctl list-units --failed; systemctl is-active nginx" => None; "lists and questions")]
    #[test_case("systemctl cat nginx | head" => None; "a unit")]
    #[test_case("journalctl -u systemctl restart" => None; "a name")]
    #[test_case("systemctl disable nginx" => Some("systemctl".to_owned()); "disable")]
    #[test_case("systemctl mask nginx" => Some("systemctl".to_owned()); "mask")]
    #[test_case("systemctl --quiet daemon-reload" => Some("systemctl".to_owned()); "daemon reload")]
    #[test_case("sh -c 'cd /; sudo systemctl edit nginx'" => Some("systemctl".to_owned()); "in a shell")]
    #[test_case("x=$(systemctl reload nginx)" => Some("systemctl".to_owned()); "in a substitution")]
    #[test_case("sudo reboot" => Some("reboot".to_owned()); "reboot")]
    #[test_case("ssh host reboot" => Some("reboot".to_owned()); "another machine")]
    #[test_case("pkill -HUP nginx" => Some("pkill".to_owned()); "pkill")]
    #[test_case("kill 17" => Some("kill".to_owned()); "kill")]
    #[test_case("kill -0 17" => None; "whether it is there")]
    #[test_case("tail -f log & sleep 1; kill $!" => None; "its own")]
    #[test_case("last reboot" => None; "the last time")]
    #[test_case("dmesg | grep -i kill" => None; "a word")]
    #[test_case("shutdown --help" => None; "help")]
    fn co_8_who_observes_only_looks(command: &str) -> Option<String> {
        changing_program(command)
    }
}
