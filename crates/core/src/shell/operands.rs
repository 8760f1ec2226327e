//! The words of a command that are neither options nor their values.

/// The operands of a command. What stands behind an option that is not known may be its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operands {
    all: Vec<String>,
    /// How many of the first ones may be values.
    doubtful: usize,
}

impl Operands {
    /// Reads the arguments of a program, of whose options those `with_value` take one.
    pub fn of(arguments: &[String], with_value: &[&str]) -> Self {
        let mut operands = Self { all: Vec::new(), doubtful: 0 };
        let mut rest = arguments.iter();
        let mut is_behind_unknown = false;
        while let Some(word) = rest.next() {
            if word == "--" {
                operands.all.extend(rest.by_ref().cloned());
            } else if with_value.contains(&word.as_str()) {
                let _: Option<&String> = rest.next();
                is_behind_unknown = false;
            } else if word.starts_with('-') {
                is_behind_unknown = !word.contains('=');
            } else {
                let is_leading = operands.doubtful == operands.all.len();
                operands.doubtful += usize::from(is_leading && is_behind_unknown);
                is_behind_unknown = false;
                operands.all.push(word.clone());
            }
        }
        operands
    }

    /// Returns them as they are if no unknown option takes a value.
    pub fn all(&self) -> &[String] {
        &self.all
    }

    /// Returns the ways in which they can be read, the most likely first: one more of the first ones is
    /// the value of an option each time.
    pub fn readings(&self) -> impl Iterator<Item = &[String]> {
        (0..=self.doubtful).filter_map(|values| self.all.get(values..))
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("restart web" => vec!["restart web"]; "no options")]
    #[test_case("-H x restart web" => vec!["restart web"]; "a known option")]
    #[test_case("--new x restart web" => vec!["x restart web", "restart web"]; "an unknown option")]
    #[test_case("--new=x restart web" => vec!["restart web"]; "an unknown option with its value")]
    #[test_case("restart --new x web" => vec!["restart x web"]; "an unknown option behind the verb")]
    #[test_case("-a b -c d e" => vec!["b d e", "d e", "e"]; "several")]
    #[test_case("-a -- b" => vec!["b"]; "behind the end of options")]
    #[test_case("" => vec![""]; "nothing")]
    fn what_stands_behind_an_unknown_option_is_read_both_ways(text: &str) -> Vec<String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Operands::of(&words, &["-H"]).readings().map(|reading| reading.join(" ")).collect()
    }
}
