//! Which lines of Markdown are said, and which are shown: code and quotations are shown.
//!
//! Only whole lines are told apart, by fences (also inside lists), by `<pre>` and by `>`, to which the
//! lines right below belong. A code span is looked at
//! within its line: a stray backtick must not hide the lines below it.

/// How a line stands in its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Somebody says it.
    Said,
    /// It is code.
    Fenced,
    /// It is a quotation.
    Quoted,
    /// It stands right below a quotation, and belongs to it by the rules of Markdown.
    Continued,
    /// It stands in `<pre>`.
    Preformatted,
}

/// Indented further than this, a fence is text, unless it stands in a list.
const FENCE_INDENT: usize = 3;

/// Reads lines one after the other.
#[derive(Debug, Default)]
pub(super) struct Prose {
    fence: Option<Fence>,
    /// Where the text of the list item begins that is open.
    list: usize,
    /// How the line before stood.
    before: Option<Standing>,
    /// Whether `<pre>` is open.
    html: Html,
}

/// What of HTML is open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Html {
    #[default]
    Nothing,
    Preformatted,
}

#[derive(Debug, Clone, Copy)]
struct Fence {
    marker: char,
    length: usize,
}

impl Prose {
    /// Says how the next line stands.
    pub(super) fn read(&mut self, line: &str) -> Standing {
        let block = self.read_block(line);
        let standing = if block == Standing::Said { self.read_said(line.trim()) } else { block };
        self.before = Some(standing).filter(|_| !line.trim().is_empty());
        standing
    }

    /// Says how a line stands that is no code and has no `>` of its own.
    fn read_said(&mut self, text: &str) -> Standing {
        let small = text.to_ascii_lowercase();
        let was_open = self.html == Html::Preformatted;
        // What is opened and closed in one line shows nothing but that line.
        let (opened, closed) = (small.rfind("<pre"), small.rfind("</pre"));
        self.html = match (opened, closed) {
            (Some(opened), Some(closed)) if opened > closed => Html::Preformatted,
            (_, Some(_)) => Html::Nothing,
            (Some(_), None) => Html::Preformatted,
            (None, None) => self.html,
        };
        if was_open || opened.is_some() {
            return Standing::Preformatted;
        }
        let is_below = matches!(self.before, Some(Standing::Quoted | Standing::Continued));
        if is_below && !text.is_empty() && list_item(text).is_none() && !text.starts_with('#') {
            return Standing::Continued;
        }
        Standing::Said
    }

    fn read_block(&mut self, line: &str) -> Standing {
        let indent = indent(line);
        let text = line.trim();
        if let Some(open) = self.fence {
            if closes(text, open) && indent <= self.list + FENCE_INDENT {
                self.fence = None;
            }
            return Standing::Fenced;
        }
        if text.is_empty() {
            return Standing::Said;
        }
        if indent < self.list {
            self.list = 0;
        }
        if indent <= self.list + FENCE_INDENT && text.starts_with('>') {
            return Standing::Quoted;
        }
        let (behind, content) = list_item(text).map_or((indent, text), |(offset, content)| {
            self.list = indent + offset;
            (indent + offset, content)
        });
        if behind <= self.list + FENCE_INDENT
            && let Some(fence) = opens(content)
        {
            self.fence = Some(fence);
            return Standing::Fenced;
        }
        if content.starts_with('>') { Standing::Quoted } else { Standing::Said }
    }
}

/// Counts the columns before the text; a tab goes to the next multiple of four.
fn indent(line: &str) -> usize {
    let mut columns = 0;
    for next in line.chars() {
        match next {
            ' ' => columns += 1,
            '\t' => columns += 4 - columns % 4,
            _ => break,
        }
    }
    columns
}

/// Returns where the content of a list item begins, and the content.
fn list_item(text: &str) -> Option<(usize, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let marker = match digits {
        0 if text.starts_with(['-', '*', '+']) => 1,
        1..=9 if text.get(digits..)?.starts_with(['.', ')']) => digits + 1,
        _ => return None,
    };
    let rest = text.get(marker..)?;
    let content = rest.trim_start();
    let gap = rest.len() - content.len();
    (gap > 0 && !content.is_empty()).then_some((marker + gap, content))
}

/// Returns the fence that a line opens.
fn opens(text: &str) -> Option<Fence> {
    let marker = text.chars().next().filter(|next| matches!(next, '`' | '~'))?;
    let length = run(text, marker);
    let behind = text.get(length..).unwrap_or_default();
    // Three backticks and more of them later in the line are a code span.
    let is_span = marker == '`' && behind.contains('`');
    (length >= 3 && !is_span).then_some(Fence { marker, length })
}

fn closes(text: &str, open: Fence) -> bool {
    let length = run(text, open.marker);
    length >= open.length && text.len() == length
}

fn run(text: &str, marker: char) -> usize {
    text.chars().take_while(|next| *next == marker).count()
}

/// Claims that the place `at` stands in a code span of its line.
pub(super) fn is_in_span(line: &str, at: usize) -> bool {
    let mut from = 0;
    while let Some(start) = line.get(from..).and_then(|rest| rest.find('`')).map(|it| from + it) {
        let length = run(line.get(start..).unwrap_or_default(), '`');
        let inside = start + length;
        if start >= at {
            return false;
        }
        match span_end(line, inside, length) {
            Some(end) if at < end => return true,
            Some(end) => from = end,
            None => from = inside,
        }
    }
    false
}

/// Returns where the span ends whose `length` ticks end at `inside`.
fn span_end(line: &str, inside: usize, length: usize) -> Option<usize> {
    let mut from = inside;
    loop {
        let start = from + line.get(from..)?.find('`')?;
        let ticks = run(line.get(start..)?, '`');
        from = start + ticks;
        if ticks == length {
            return Some(from);
        }
    }
}
