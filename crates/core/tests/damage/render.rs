//! Writes a value the way that models do.

use serde_json::Value;

use crate::instance::Random;

/// How a value is written.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is one independent habit of writing")]
pub(crate) struct Style {
    pub(crate) pretty: bool,
    pub(crate) quotes: [&'static str; 2],
    pub(crate) bare_keys: bool,
    pub(crate) python: bool,
    pub(crate) commas: bool,
    pub(crate) trailing_commas: bool,
    /// What may stand behind items and members.
    pub(crate) comments: &'static [&'static str],
    pub(crate) raw_newlines: bool,
    /// Quotes around words inside strings are not escaped.
    pub(crate) raw_phrases: bool,
}

/// Comments that can be nothing else.
pub(crate) const COMMENTS: &[&str] = &[
    "",
    "",
    " // it's a: 1,",
    " /* [why] */",
    " # see x",
    " // as in { or [",
    " /* {\n as in [x] */",
    " // TODO: 5 < 6, isn't it?",
];

/// Comments that may be part of a string, or hide members or closers.
pub(crate) const DOUBTFUL_COMMENTS: &[&str] = &[
    " // the \"usual\" one",
    " // \"note\": 1",
    " // was 'x'",
    " /* \"note\": 1, */",
    " # see {x}",
    " // }",
];

impl Style {
    pub(crate) const COMPACT: Self = Self {
        pretty: false,
        quotes: ["\"", "\""],
        bare_keys: false,
        python: false,
        commas: true,
        trailing_commas: false,
        comments: &[],
        raw_newlines: false,
        raw_phrases: false,
    };
    pub(crate) const PRETTY: Self = Self { pretty: true, ..Self::COMPACT };
}

/// Writes `value` in `style`; `random` decides where commas and comments go.
pub(crate) fn render(value: &Value, style: &Style, random: &mut Random) -> String {
    render_marked(value, style, random).0
}

/// Writes `value` and returns the offsets of its brackets, commas, colons and quotes too.
pub(crate) fn render_marked(
    value: &Value,
    style: &Style,
    random: &mut Random,
) -> (String, Vec<usize>) {
    let mut writer = Writer { style, random, out: String::new(), marks: Vec::new() };
    writer.value(value, 0);
    (writer.out, writer.marks)
}

struct Writer<'s> {
    style: &'s Style,
    random: &'s mut Random,
    out: String,
    marks: Vec<usize>,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Null => self.out += if self.style.python { "None" } else { "null" },
            Value::Bool(true) => self.out += if self.style.python { "True" } else { "true" },
            Value::Bool(false) => self.out += if self.style.python { "False" } else { "false" },
            Value::Number(number) => self.out += &number.to_string(),
            Value::String(text) => self.string(text),
            Value::Array(items) => {
                self.mark("[");
                for (position, item) in items.iter().enumerate() {
                    self.line(depth + 1);
                    self.value(item, depth + 1);
                    self.separator(position + 1 == items.len());
                }
                self.close(items.is_empty(), "]", depth);
            }
            Value::Object(members) => {
                self.mark("{");
                for (position, (key, member)) in members.iter().enumerate() {
                    self.line(depth + 1);
                    if self.style.bare_keys {
                        self.out += key;
                    } else {
                        self.string(key);
                    }
                    self.mark(if self.style.pretty { ": " } else { ":" });
                    self.value(member, depth + 1);
                    self.separator(position + 1 == members.len());
                }
                self.close(members.is_empty(), "}", depth);
            }
        }
    }

    fn mark(&mut self, text: &str) {
        self.marks.push(self.out.len());
        self.out += text;
    }

    fn separator(&mut self, last: bool) {
        let forgotten = !self.style.commas && self.random.below(3) == 0;
        if !last && !forgotten || last && self.style.trailing_commas && self.random.below(2) == 0 {
            self.mark(",");
        }
        if !self.style.comments.is_empty() {
            self.out += *self.random.pick(self.style.comments);
        }
    }

    fn line(&mut self, depth: usize) {
        if self.style.pretty {
            self.out.push('\n');
            self.out += &"  ".repeat(depth);
        }
    }

    fn close(&mut self, empty: bool, closer: &str, depth: usize) {
        if !empty {
            self.line(depth);
        }
        self.mark(closer);
    }

    fn string(&mut self, text: &str) {
        let [open, close] = self.style.quotes;
        let mut literal = serde_json::to_string(text).unwrap();
        literal = literal[1..literal.len() - 1].to_owned();
        if open == "'" {
            literal = literal.replace("\\\"", "\"").replace('\'', "\\'");
        }
        if self.style.raw_newlines && !literal.contains("\\\\") {
            literal = literal.replace("\\n", "\n").replace("\\t", "\t");
        }
        if self.style.raw_phrases {
            let words = literal.split(' ').map(|word| match word {
                "\\\"quoted\\\"" => "\"quoted\"",
                "\\\"hi\\\"," => "\"hi\",",
                other => other,
            });
            literal = words.collect::<Vec<_>>().join(" ");
        }
        self.mark(open);
        self.out += &literal;
        self.mark(close);
    }
}
