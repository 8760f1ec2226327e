//! `grep`: lines by what they hold.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use airtight_core::excerpt;
use globset::GlobMatcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use serde::Deserialize;
use serde_json::{Value, json};

use super::blocking::Stop;
use super::file_tool::{Failure, FileTask, Ground, root};
use super::files::{Depth, Found, Kind, Onward, walk};
use crate::toolbox::{Effect, ToolError};

/// How many lines one call shows at most.
const MATCH_LIMIT: u64 = 1000;

/// How much of one line is shown, in characters.
const LINE_LIMIT_CHARS: usize = 400;

/// How much of a file is held at once, and so the longest line that is searched.
const HEAP_LIMIT_BYTES: usize = 1024 * 1024;

/// Searches files.
#[derive(Debug, Deserialize)]
pub(super) struct Grep {
    pattern: String,
    #[serde(default = "root")]
    path: String,
    glob: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default = "usual_matches")]
    max_matches: u64,
}

/// How many lines one call shows if nobody says.
fn usual_matches() -> u64 {
    200
}

impl FileTask for Grep {
    const NAME: &'static str = "grep";
    const DESCRIPTION: &'static str = "Searches files of the workspace for a regular expression, \
        without what .gitignore names and binary files. Each line of the result is \
        path:line:text.";
    const EFFECT: Effect = Effect::Reads;
    const REQUIRED: &'static [&'static str] = &["pattern"];

    fn properties() -> Value {
        json!({
            "pattern": {
                "type": "string", "minLength": 1, "maxLength": 10_000,
                "description": "A regular expression (Rust syntax), matched within single lines.",
            },
            "path": {
                "type": "string", "minLength": 1,
                "description": "The file or folder to search. Default: the workspace.",
            },
            "glob": {
                "type": "string", "minLength": 1, "maxLength": 1000,
                "description": "Only files whose path (with a / in the glob) or name matches.",
            },
            "ignore_case": {
                "type": "boolean",
                "description": "Whether upper and lower case are the same. Default: false.",
            },
            "max_matches": {
                "type": "integer", "minimum": 1, "maximum": MATCH_LIMIT,
                "description": "How many lines to show. Default: 200.",
            },
        })
    }

    fn perform(&self, ground: &Ground, stop: &Stop) -> Result<String, Failure> {
        let mut search = Search::new(ground, self)?;
        search.run(&self.path, stop)?;
        Ok(search.into_text())
    }
}

/// One search.
struct Search<'g> {
    ground: &'g Ground,
    matcher: RegexMatcher,
    glob: Option<GlobMatcher>,
    limit: u64,
    listing: String,
    count: u64,
    unsearched: u64,
    hidden: u64,
}

impl<'g> Search<'g> {
    fn new(ground: &'g Ground, asked: &Grep) -> Result<Self, ToolError> {
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(asked.ignore_case)
            .line_terminator(Some(b'\n'))
            .build(&asked.pattern)
            .map_err(|error| ToolError(format!("the pattern is refused: {error}")))?;
        // Like git, a glob without a slash means names in any folder.
        let glob = asked.glob.as_ref().map(|glob| {
            let anywhere = if glob.contains('/') { "" } else { "**/" };
            super::glob::matcher(&format!("{anywhere}{glob}"))
        });
        Ok(Self {
            ground,
            matcher,
            glob: glob.transpose()?,
            limit: asked.max_matches,
            listing: String::new(),
            count: 0,
            unsearched: 0,
            hidden: 0,
        })
    }

    fn run(&mut self, path: &str, stop: &Stop) -> Result<(), Failure> {
        let ground = self.ground;
        let workspace = &ground.workspace;
        let start = workspace.find(path)?;
        start.exists()?;
        let mut searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .line_number(true)
            .heap_limit(Some(HEAP_LIMIT_BYTES))
            .build();
        walk(workspace, &start, Depth::All, stop, |found| {
            if self.wants(&found) {
                self.search(&found.relative, &mut searcher, stop)?;
            }
            Ok(if self.count > self.limit { Onward::No } else { Onward::Yes })
        })?;
        Ok(())
    }

    fn wants(&mut self, found: &Found) -> bool {
        let glob = self.glob.as_ref();
        if found.kind != Kind::File || glob.is_some_and(|it| !it.is_match(&found.relative)) {
            return false;
        }
        let hidden = self.ground.permissions.hides(Grep::NAME, &found.relative.to_string_lossy());
        self.hidden += u64::from(hidden);
        !hidden
    }

    fn search(
        &mut self,
        path: &Path,
        searcher: &mut Searcher,
        stop: &Stop,
    ) -> Result<(), ToolError> {
        let Ok(file) = self.ground.workspace.open_listed(path) else {
            self.unsearched += 1;
            return Ok(());
        };
        let matcher = self.matcher.clone();
        let shown = path.display().to_string();
        let sink = Lines { search: self, path: &shown, stop };
        let searched = searcher.search_reader(&matcher, &file, sink);
        stop.check()?;
        if searched.is_err() {
            self.unsearched += 1;
        }
        Ok(())
    }

    fn into_text(mut self) -> String {
        if self.count == 0 {
            self.listing.push_str("[no line matches]\n");
        }
        if self.count > self.limit {
            let _ = writeln!(
                self.listing,
                "[only the first {} lines are shown; narrow the search]",
                self.limit
            );
        }
        if self.hidden > 0 {
            let _ = writeln!(self.listing, "[{} files may not be read]", self.hidden);
        }
        if self.unsearched > 0 {
            let _ = writeln!(
                self.listing,
                "[{} files could not be searched: unreadable, or with lines over 1 MiB]",
                self.unsearched
            );
        }
        self.listing
    }
}

/// Takes the lines of one file.
struct Lines<'s, 'g> {
    search: &'s mut Search<'g>,
    path: &'s str,
    stop: &'s Stop,
}

impl Sink for Lines<'_, '_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.search.count += 1;
        if self.search.count > self.search.limit || self.stop.check().is_err() {
            return Ok(false);
        }
        let line = String::from_utf8_lossy(found.bytes());
        let line = line.trim_end_matches(['\r', '\n']);
        let number = found.line_number().unwrap_or_default();
        let line = excerpt(line, LINE_LIMIT_CHARS, " [line cut]");
        let _ = writeln!(self.search.listing, "{}:{number}:{line}", self.path);
        Ok(true)
    }
}
