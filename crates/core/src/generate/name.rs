//! Names in the languages of targets, made of names in contracts.
//!
//! Two keys that differ only in what no language takes (`a-b` and `a b`) still get different names, and
//! the same contract gets the same names each time.

use std::collections::HashSet;

/// How long the name of a type may become, before those of its owners are left out.
const NAME_LIMIT_CHARS: usize = 60;

/// Names that mean something else in one of the targets; all targets avoid all of them, so that a type
/// has the same name everywhere.
#[rustfmt::skip]
const TAKEN: [&str; 58] = [
    // Rust, and what generated Rust brings along.
    "Box", "BTreeMap", "Clone", "Copy", "Debug", "Default", "Deref", "Deserialize", "Deserializer",
    "Display", "Eq", "Err", "Error", "From", "Hash", "Into", "None", "Ok", "Option", "Ord", "PartialEq",
    "PartialOrd", "Refused", "Result", "Self", "Serialize", "Serializer", "Some", "String", "ToString",
    "TryFrom", "Value", "Vec", "Whole",
    // TypeScript and JavaScript.
    "Array", "Boolean", "Date", "Function", "JSON", "Map", "Number", "Object", "Promise", "Record",
    "RegExp", "Set", "Symbol",
    // Python, and what generated Python imports.
    "AfterValidator", "Annotated", "Any", "BaseModel", "BeforeValidator", "ConfigDict", "False", "Field",
    "Literal", "RootModel", "True",
];

/// Letters that Rust, TypeScript, Python and Go all take in names, and that no normalization changes.
const LETTERS: [(char, char); 13] = [
    ('a', 'z'),
    ('A', 'Z'),
    ('À', 'Ö'),
    ('Ø', 'ö'),
    ('ø', 'ÿ'),
    ('Α', 'Ρ'),
    ('Σ', 'Ω'),
    ('α', 'ω'),
    ('А', 'я'),
    ('ぁ', 'ゖ'),
    ('ァ', 'ヺ'),
    ('一', '鿿'),
    ('가', '힣'),
];

/// Hands out names, none twice.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// Starts with the names that no type may have.
    pub(super) fn of_types() -> Self {
        Self { taken: TAKEN.map(str::to_owned).into() }
    }

    /// Starts with names that are taken.
    pub(super) fn without<'n>(taken: impl IntoIterator<Item = &'n str>) -> Self {
        Self { taken: taken.into_iter().map(str::to_owned).collect() }
    }

    /// Returns `wished`, or something like it.
    pub(super) fn unique(&mut self, wished: &str) -> String {
        let numbered = (2..).map(|number| {
            let gap = if wished.ends_with(|last: char| last.is_ascii_digit()) { "_" } else { "" };
            format!("{wished}{gap}{number}")
        });
        let mut wishes = std::iter::once(wished.to_owned()).chain(numbered);
        let name = wishes.find(|name| !self.taken.contains(name)).unwrap_or_default();
        self.taken.insert(name.clone());
        name
    }
}

/// Returns a name for what `key` of the type `owner` is.
pub(super) fn inside(owner: &str, key: &str) -> String {
    let own = pascal(key);
    let whole = format!("{owner}{own}");
    if whole.chars().count() <= NAME_LIMIT_CHARS { whole } else { own }
}

/// Returns `text` as the name of a type: `line-start` is `LineStart`.
pub(super) fn pascal(text: &str) -> String {
    let mut name: String = words(text).iter().map(|word| capitalized(word)).collect();
    if let Some((end, _)) = name.char_indices().nth(NAME_LIMIT_CHARS) {
        name.truncate(end);
    }
    match name.chars().next() {
        None => "Unnamed".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("N{name}"),
        Some(_) => name,
    }
}

/// Returns `text` as the name of a variable or a file: `lineStart` is `line_start`.
pub(super) fn snake(text: &str) -> String {
    let name = words(text).join("_").to_lowercase();
    match name.chars().next() {
        None => "unnamed".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("n{name}"),
        Some(_) => name,
    }
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters.as_str().chars()).collect()
}

/// Returns the words of a name, whatever separates them.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if !is_part(letter) {
            words.push(std::mem::take(&mut word));
            continue;
        }
        let is_start = letter.is_uppercase()
            && word.chars().last().is_some_and(|last| {
                !last.is_uppercase() || letters.peek().is_some_and(|next| next.is_lowercase())
            });
        if is_start {
            words.push(std::mem::take(&mut word));
        }
        word.push(letter);
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

fn is_part(letter: char) -> bool {
    letter.is_ascii_digit()
        || LETTERS.iter().any(|(first, last)| (*first..=*last).contains(&letter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("line_start", "LineStart", "line_start")]
    #[test_case("lineStart", "LineStart", "line_start"; "camel")]
    #[test_case("HTTPServer2", "HTTPServer2", "http_server2"; "initials")]
    #[test_case("a-b c/d.e", "ABCDE", "a_b_c_d_e"; "separators")]
    #[test_case("größe", "Größe", "größe"; "umlauts")]
    #[test_case("名前", "名前", "名前"; "no case")]
    #[test_case("ⅷ²№", "Unnamed", "unnamed"; "letters that are none everywhere")]
    #[test_case("3d", "N3d", "n3d"; "digit first")]
    #[test_case("", "Unnamed", "unnamed"; "nothing")]
    #[test_case("*/\"\"\"`\n", "Unnamed", "unnamed"; "what ends comments")]
    fn names_are_made_of_words(text: &str, type_name: &str, variable: &str) {
        assert_eq!((pascal(text).as_str(), snake(text).as_str()), (type_name, variable));
    }

    #[test]
    fn no_name_is_given_twice() {
        let mut names = Names::of_types();
        let given = ["Finding", "Finding", "Finding2", "Option"].map(|wish| names.unique(wish));
        assert_eq!(given, ["Finding", "Finding2", "Finding2_2", "Option2"]);
    }

    #[test]
    fn names_stay_readable_however_deep_they_are() {
        let owner = "X".repeat(NAME_LIMIT_CHARS);
        assert_eq!(inside(&owner, "severity"), "Severity");
        assert_eq!(pascal(&"x".repeat(500)).chars().count(), NAME_LIMIT_CHARS);
    }
}
