//! The only place that prints: data on stdout, everything else on stderr.
//!
//! Whatever a payload holds is inert here: control and invisible characters are spelt out, so
//! they can neither move the cursor nor pass for a line of ours. A pipe gets data byte for byte.

mod discreet;
mod visible;

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::os::fd::AsFd as _;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use crate::error::{Error, Outcome};
use discreet::discreet;
use visible::{visible, visible_json};

/// What a piece of text is to its reader; colour only repeats what the words say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Ordinary.
    Plain,
    /// A heading or the subject.
    Strong,
    /// As it should be.
    Good,
    /// Worth a look.
    Warning,
    /// Wrong.
    Bad,
    /// Less important.
    Dim,
}

impl Tone {
    fn style(self) -> Style {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        match self {
            Self::Plain => Style::new(),
            Self::Strong => Style::new().bold(),
            Self::Good => colour(AnsiColor::Green),
            Self::Warning => colour(AnsiColor::Yellow),
            Self::Bad => colour(AnsiColor::Red).bold(),
            Self::Dim => Style::new().dimmed(),
        }
    }
}

/// Text with a tone.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    tone: Tone,
    text: String,
}

impl Span {
    /// Makes text of `tone`; whatever is not printable in it is spelt out.
    pub(crate) fn new(tone: Tone, text: impl AsRef<str>) -> Self {
        Self { tone, text: visible(text.as_ref()).into_owned() }
    }

    /// Makes ordinary text.
    pub(crate) fn plain(text: impl AsRef<str>) -> Self {
        Self::new(Tone::Plain, text)
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

/// Whether colour is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Paint {
    Styled,
    Bare,
}

impl Paint {
    /// Decides as the stream and `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE` say.
    fn choose<S: anstream::stream::RawStream>(stream: &S) -> Self {
        match AutoStream::choice(stream) {
            ColorChoice::Never => Self::Bare,
            ColorChoice::Auto | ColorChoice::Always | ColorChoice::AlwaysAnsi => Self::Styled,
        }
    }

    fn write(self, out: &mut impl Write, span: &Span) -> io::Result<()> {
        match self {
            Self::Bare => out.write_all(span.text.as_bytes()),
            Self::Styled => {
                let style = span.tone.style();
                write!(out, "{style}{}{style:#}", span.text)
            }
        }
    }
}

/// Where data goes.
#[derive(Debug)]
enum Data {
    Stdout(Stdout),
    /// The same stream: whoever waits for its reader holds up nobody else.
    Apart(File),
}

impl Write for Data {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes),
            Self::Apart(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::Apart(file) => file.flush(),
        }
    }
}

/// Prints.
#[derive(Debug)]
pub(crate) struct Printer {
    out: BufWriter<Data>,
    out_paint: Paint,
    out_is_terminal: bool,
    err_paint: Paint,
}

impl Printer {
    /// Makes the one printer; stderr is shared with the progress bar.
    pub(crate) fn new() -> Self {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        Self {
            out_paint: Paint::choose(&stdout),
            out_is_terminal: stdout.is_terminal(),
            err_paint: Paint::choose(&stderr),
            out: BufWriter::with_capacity(64 * 1024, Data::Stdout(stdout)),
        }
    }

    /// Makes a printer for a thread of its own, behind everything that this one has printed so far.
    pub(crate) fn apart(&mut self) -> Result<Self, Error> {
        self.flush()?;
        let file = io::stdout().as_fd().try_clone_to_owned().map(File::from).map_err(unwritable)?;
        Ok(Self { out: BufWriter::with_capacity(64 * 1024, Data::Apart(file)), ..*self })
    }

    /// Prints one line of data: as it is to a pipe, with the same meaning to a terminal.
    pub(crate) fn json(&mut self, json: &str) -> Result<(), Error> {
        let written = if self.out_is_terminal {
            self.out.write_all(visible_json(json).as_bytes())
        } else {
            self.out.write_all(json.as_bytes())
        };
        written.and_then(|()| self.out.write_all(b"\n")).map_err(unwritable)
    }

    /// Prints an answer: compact to a pipe, spread out to a terminal.
    pub(crate) fn answer(
        &mut self,
        compact: &str,
        spread: impl FnOnce(&str) -> String,
    ) -> Result<(), Error> {
        if self.out_is_terminal { self.json(&spread(compact)) } else { self.json(compact) }
    }

    /// Claims that people read stdout.
    pub(crate) fn is_terminal(&self) -> bool {
        self.out_is_terminal
    }

    /// Prints a text as it is: one that we made ourselves, or any to a pipe.
    pub(crate) fn verbatim(&mut self, text: &[u8]) -> Result<(), Error> {
        self.out.write_all(text).map_err(unwritable)
    }

    /// Prints one line of a report on stdout.
    pub(crate) fn line(&mut self, spans: &[Span]) -> Result<(), Error> {
        let paint = self.out_paint;
        spans
            .iter()
            .try_for_each(|span| paint.write(&mut self.out, span))
            .and_then(|()| self.out.write_all(b"\n"))
            .map_err(unwritable)
    }

    /// Prints rows on stdout, their columns aligned.
    pub(crate) fn table(&mut self, indent: usize, rows: &[Vec<Span>]) -> Result<(), Error> {
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        let widest = |column| rows.iter().filter_map(|row| row.get(column)).map(Span::width).max();
        let widths: Vec<usize> = (0..columns).filter_map(widest).collect();
        for row in rows {
            let mut spans = vec![Span::plain(" ".repeat(indent))];
            let mut gap = 0;
            for (span, width) in row.iter().zip(&widths) {
                if span.width() > 0 {
                    spans.extend([Span::plain(" ".repeat(gap)), span.clone()]);
                    gap = 0;
                }
                gap += width + 2 - span.width();
            }
            self.line(&spans)?;
        }
        Ok(())
    }

    /// Prints one line on stderr.
    pub(crate) fn note(&mut self, spans: &[Span]) {
        write_note(self.err_paint, spans);
    }

    /// Hands everything printed so far to the reader.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        self.out.flush().map_err(unwritable)
    }

    /// Answers what clap could not parse: an error, or a request for help.
    pub(crate) fn usage(&mut self, answer: &clap::Error) -> Outcome {
        let text = answer.render();
        let styled = |paint| match paint {
            Paint::Styled => text.ansi().to_string(),
            Paint::Bare => text.to_string(),
        };
        if answer.use_stderr() {
            // What is masked is told without colours: a secret is found only where they are not.
            let told = discreet(&text.to_string()).unwrap_or_else(|| styled(self.err_paint));
            drop(io::stderr().lock().write_all(told.as_bytes()));
            return Outcome::Usage;
        }
        let written = self.verbatim(styled(self.out_paint).as_bytes());
        self.conclude(written.map(|()| Outcome::Met))
    }

    /// Says how a command ended; a reader that went away is no failure.
    pub(crate) fn conclude(&mut self, result: Result<Outcome, Error>) -> Outcome {
        let result = result.and_then(|outcome| self.flush().map(|()| outcome));
        match result {
            Ok(outcome) => outcome,
            Err(error) if error.is_broken_pipe() => Outcome::Met,
            Err(error) => {
                drop(self.flush());
                self.error(&error);
                error.kind
            }
        }
    }

    fn error(&mut self, error: &Error) {
        self.note(&[Span::new(Tone::Bad, "error:"), Span::plain(format!(" {error}"))]);
        for finding in &error.findings {
            self.note(&[Span::plain(format!("  {finding}"))]);
        }
        for cause in error.causes() {
            self.note(&[Span::plain(format!("  caused by: {cause}"))]);
        }
        for hint in &error.hints {
            self.note(&[Span::new(Tone::Good, "hint:"), Span::plain(format!(" {hint}"))]);
        }
    }
}

/// Prints one line on stderr, for whoever has no printer at hand.
pub(crate) fn note(spans: &[Span]) {
    write_note(Paint::choose(&io::stderr()), spans);
}

fn write_note(paint: Paint, spans: &[Span]) {
    let mut line = Vec::new();
    let written = spans.iter().try_for_each(|span| paint.write(&mut line, span));
    line.push(b'\n');
    // What cannot be said on stderr cannot be said anywhere.
    drop(written.and_then(|()| io::stderr().lock().write_all(&line)));
}

fn unwritable(error: io::Error) -> Error {
    Error::new(Outcome::Machine, "could not write output").caused_by(error)
}
