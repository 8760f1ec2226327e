//! `grep`: lines by what they hold.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::Arc;

use airtight_core::message::ToolSpec;
use globset::GlobMatcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::blocking::{Stop, blocking};
use super::files::{Depth, Found, Kind, Onward, walk};
use crate::permission::{Permissions, Subject};
use crate::toolbox::{CallContext, Called, Effect, Tool, ToolError};
use crate::workspace::Workspace;

/// How many lines one call shows at most.
const MATCH_LIMIT: u64 = 1000;

/// How many lines one call shows if nobody says.
const DEFAULT_MATCHES: u64 = 200;

/// How much of one line is shown, in characters.
const LINE_LIMIT_CHARS: usize = 400;

/// How much of a file is held at once, and so the longest line that is searched.
const HEAP_LIMIT_BYTES: usize = 1024 * 1024;

/// Searches files.
#[derive(Debug)]
pub(super) struct Grep {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
    permissions: Arc<Permissions>,
}

#[derive(Deserialize)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    max_matches: Option<u64>,
}

impl Grep {
    pub(super) fn new(workspace: Arc<Workspace>, permissions: Arc<Permissions>) -> Self {
        let properties = json!({
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
        });
        let description = "Searches files of the workspace for a regular expression, without what \
            .gitignore names and binary files. Each line of the result is path:line:text.";
        let spec = super::spec("grep", description, &properties, &["pattern"]);
        Self { spec, workspace, permissions }
    }
}

impl Tool for Grep {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn subject(&self, arguments: &Map<String, Value>) -> Option<Subject> {
        Some(Subject::Path(self.workspace.subject(super::text(arguments, "path", "."))))
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
        context: &'a CallContext,
    ) -> Called<'a> {
        Box::pin(async move {
            let arguments: Arguments = super::read(arguments)?;
            let mut search = Search::new(self, &arguments)?;
            let path = arguments.path.unwrap_or_else(|| ".".to_owned());
            blocking(context, move |stop| {
                search.run(&path, stop)?;
                Ok(search.into_text())
            })
            .await
        })
    }
}

/// One search.
struct Search {
    workspace: Arc<Workspace>,
    permissions: Arc<Permissions>,
    matcher: RegexMatcher,
    glob: Option<GlobMatcher>,
    limit: u64,
    listing: String,
    count: u64,
    unsearched: u64,
    hidden: u64,
}

impl Search {
    fn new(tool: &Grep, arguments: &Arguments) -> Result<Self, ToolError> {
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(arguments.ignore_case)
            .line_terminator(Some(b'\n'))
            .build(&arguments.pattern)
            .map_err(|error| ToolError(format!("the pattern is refused: {error}")))?;
        // Like git, a glob without a slash means names in any folder.
        let glob = arguments.glob.as_ref().map(|glob| {
            let anywhere = if glob.contains('/') { "" } else { "**/" };
            super::glob::matcher(&format!("{anywhere}{glob}"))
        });
        Ok(Self {
            workspace: Arc::clone(&tool.workspace),
            permissions: Arc::clone(&tool.permissions),
            matcher,
            glob: glob.transpose()?,
            limit: arguments.max_matches.unwrap_or(DEFAULT_MATCHES),
            listing: String::new(),
            count: 0,
            unsearched: 0,
            hidden: 0,
        })
    }

    fn run(&mut self, path: &str, stop: &Stop) -> Result<(), ToolError> {
        let workspace = Arc::clone(&self.workspace);
        let start = workspace.find(path).map_err(super::refused(path))?;
        start.exists().map_err(super::refused(path))?;
        let mut searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .line_number(true)
            .heap_limit(Some(HEAP_LIMIT_BYTES))
            .build();
        walk(&workspace, &start, Depth::All, stop, |found| {
            if self.wants(&found) {
                self.search(&found.relative, &mut searcher, stop)?;
            }
            Ok(if self.count > self.limit { Onward::No } else { Onward::Yes })
        })
    }

    fn wants(&mut self, found: &Found) -> bool {
        let glob = self.glob.as_ref();
        if found.kind != Kind::File || glob.is_some_and(|it| !it.is_match(&found.relative)) {
            return false;
        }
        let hidden = self.permissions.hides("grep", &found.relative.to_string_lossy());
        self.hidden += u64::from(hidden);
        !hidden
    }

    fn search(
        &mut self,
        path: &Path,
        searcher: &mut Searcher,
        stop: &Stop,
    ) -> Result<(), ToolError> {
        let Ok(file) = self.workspace.open_listed(path) else {
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
struct Lines<'s> {
    search: &'s mut Search,
    path: &'s str,
    stop: &'s Stop,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.search.count += 1;
        if self.search.count > self.search.limit || self.stop.check().is_err() {
            return Ok(false);
        }
        let line = String::from_utf8_lossy(found.bytes());
        let line = line.trim_end_matches(['\r', '\n']);
        let number = found.line_number().unwrap_or_default();
        let _ = write!(self.search.listing, "{}:{number}:", self.path);
        match line.char_indices().nth(LINE_LIMIT_CHARS) {
            None => self.search.listing.push_str(line),
            Some((end, _)) => {
                self.search.listing.push_str(line.get(..end).unwrap_or_default());
                self.search.listing.push_str(" [line cut]");
            }
        }
        self.search.listing.push('\n');
        Ok(true)
    }
}
