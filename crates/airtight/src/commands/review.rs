//! `airtight review`: have a model review a change.
//!
//! What it protects: a review that is not complete never looks like one that is. Whatever ends it,
//! what was found is printed, what was not looked at is named, and the exit code says so.

mod crew;
mod gathering;
mod material;
pub(super) mod plan;
mod posting;
mod remedy;
mod report;
mod wishes;

use std::sync::Arc;
use std::time::Instant;

use airtight_core::review::{Change, Content, Diff, LeftOut, Review, Split, Unreviewed, parse};
use serde_json::json;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::cli::{ReviewArgs, ReviewFormat};
use crate::commands::run::driver::Driver;
use crate::commands::run::limit::Limit;
use crate::commands::run::logging::{self, Log};
use crate::commands::signals;
use crate::config::{Config, Key};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::ledger::Books;
use crate::printer::{Printer, Span, Tone};
use crate::progress::Progress;
use crew::{Crew, Worked};
use plan::Plan;
use posting::Posting;
use remedy::Again;
use wishes::Wishes;

/// Runs what was typed.
pub(super) fn run(
    args: &ReviewArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let started = Instant::now();
    let interrupt = CancellationToken::new();
    signals::listen(interrupt.clone())?;
    let log = logging::start(environment);
    let config = Config::load(environment, None, args.entries(), args.trust.trust())?;
    let config = config.with_review(environment)?;
    let limit = Limit::new(started, config.duration(Key::MaxWallTime), interrupt.clone());
    let scene = Scene {
        args,
        environment,
        wishes: Wishes::read(args, &config, environment)?,
        posting: Posting::find(&args.post, environment)?,
        runtime: super::batch::runtime()?,
        interrupt,
        limit,
        deadline: config.duration(Key::MaxWallTime).and_then(|wall| started.checked_add(wall)),
    };
    let material = scene.material()?;
    let mut diff = read(&material.text)?;
    // What a change says of its own review counts even where it wants to be left out.
    let notes = scene.wishes.notes(&diff);
    let left_out = scene.wishes.leave_out(&mut diff);
    if let Some((what, words)) = material.told() {
        scene.tell(what, &words, printer);
    }
    for note in material.notes.iter().chain(&notes).chain(&log.fault) {
        scene.warn(note, printer);
    }
    scene.review((&diff, left_out), config, &log, printer)
}

/// Reads a diff; one that git finds empty has nothing to review, and one that is none is refused.
fn read(text: &[u8]) -> Result<Diff<'_>, Error> {
    let refused = |message: &str| Error::new(Outcome::Input, message);
    let diff = parse(text).map_err(|error| {
        refused("the diff cannot be reviewed")
            .caused_by(error)
            .hint("review it in pieces: `git diff BASE -- FOLDER | airtight review -`")
    })?;
    if diff.files.is_empty() && diff.unread.is_empty() && diff.other_lines > 0 {
        return Err(refused("there is no diff in the input")
            .hint("pass what `git diff` or `diff -u` print, without colours (`--no-color`)"));
    }
    // Of several versions of a file only the last is there, and nobody says which lines are.
    if let Some(name) = diff.twice() {
        return Err(refused(&format!("`{name}` is in the diff more than once"))
            .hint("pass one diff of everything: `git diff BASE | airtight review -`"));
    }
    Ok(diff)
}

/// Claims that there is a line to review.
fn has_lines(diff: &Diff<'_>) -> bool {
    diff.files.iter().any(|file| {
        file.change != Change::Deleted
            && matches!(&file.content, Content::Text(hunks) if !hunks.is_empty())
    })
}

/// What a review is done with.
struct Scene<'a> {
    args: &'a ReviewArgs,
    environment: &'a Environment,
    wishes: Wishes,
    posting: Option<Posting>,
    runtime: Runtime,
    interrupt: CancellationToken,
    limit: Limit,
    deadline: Option<Instant>,
}

/// How the work on a review ended.
#[derive(Default)]
struct Ending<'r> {
    /// What stopped it early, if anything did.
    halt: Option<Error>,
    /// What is asked for if the command is typed again; absent if nothing is asked for at all.
    again: Option<Again>,
    /// What is in no part.
    left_out: &'r [LeftOut],
}

impl Scene<'_> {
    fn material(&self) -> Result<material::Material, Error> {
        if let Some(material) = material::read(self.args, self.environment, &self.limit)? {
            Ok(material)
        } else {
            let asking = material::ask(self.args, self.environment, self.interrupt.clone());
            self.runtime.block_on(asking)
        }
    }

    fn warn(&self, note: &str, printer: &mut Printer) {
        if !self.args.quiet {
            let text = Span::plain(format!(" {note}"));
            printer.note(&[Span::new(Tone::Warning, "warning:"), text]);
        }
    }

    fn tell(&self, what: &str, words: &str, printer: &mut Printer) {
        if !self.args.quiet {
            printer.note(&[Span::new(Tone::Dim, what), Span::plain(format!(" {words}"))]);
        }
    }

    /// Has everything reviewed that can be.
    fn review(
        self,
        (diff, mut left_out): (&Diff<'_>, Vec<Unreviewed>),
        config: Config,
        log: &Log,
        printer: &mut Printer,
    ) -> Result<Outcome, Error> {
        if !has_lines(diff) {
            let split = diff.split(u64::MAX);
            left_out.extend(split.left_out.iter().map(Unreviewed::from));
            let review = Review { unreviewed: left_out, ..Review::default() };
            let ending = Ending { left_out: &split.left_out, ..Ending::default() };
            return self.conclude(&review, ending, printer);
        }
        let driver = Driver::chosen(&config, self.environment)?;
        let split = diff.split(plan::part_tokens(&config, &driver));
        left_out.extend(split.left_out.iter().map(Unreviewed::from));
        let secrets = self.posting.iter().map(Posting::secret).collect();
        let ruled = (self.wishes.rules.as_slice(), secrets);
        let plan = Plan::new(self.args, self.environment, config, ruled, &self.limit)?;
        log.mask(plan.answerer.redactor.clone());
        for note in &plan.answerer.notes {
            self.warn(&plan.answerer.redactor.mask(note), printer);
        }
        if self.args.dry_run {
            return self.estimate(&plan, &split, printer);
        }
        plan.require_bounds(split.parts.len())?;
        let worked = self.runtime.block_on(self.perform(&plan, &split))?;
        let gathered = gathering::gather(&plan.contract, &split, &worked);
        if gathered.known > 0 {
            let words = format!(
                "{} of {} parts were reviewed before, and nothing was asked for them; `--fresh` asks again",
                gathered.known,
                split.parts.len()
            );
            self.tell("repeated:", &words, printer);
        }
        left_out.extend(gathered.losses);
        let mut review = Review::assemble(diff, gathered.findings, self.wishes.reportable());
        (review.unreviewed, review.parts) = (left_out, gathered.records);
        let place = plan.books.as_ref().map(Books::place);
        let halt = worked.halt.map(|halt| {
            let error = halt.into_error(place.as_deref().unwrap_or_default());
            match plan.again.hint_to_go_on() {
                Some(hint) => error.hint(hint),
                None => error,
            }
        });
        let ending = Ending { halt, again: Some(plan.again), left_out: &split.left_out };
        self.conclude(&review, ending, printer)
    }

    /// Has all parts reviewed, and puts the runs on record.
    async fn perform(&self, plan: &Plan, split: &Split<'_>) -> Result<Worked, Error> {
        let ledger = match &plan.books {
            Some(books) => Some(books.open(plan.answerer.redactor.clone()).await?),
            None => None,
        };
        let progress = (!self.args.quiet).then(|| Progress::new(split.parts.len()));
        let crew = Crew {
            performer: Arc::new(plan.performer(self.args, ledger.clone())),
            most: usize::try_from(plan.most(self.args)).unwrap_or(usize::MAX),
            interrupt: self.interrupt.clone(),
            deadline: self.deadline,
        };
        let worked = crew.work(plan.errands(split), progress).await;
        if let Some(ledger) = ledger {
            ledger.close().await;
        }
        Ok(worked)
    }

    /// Shows the parts, and says what they may cost.
    fn estimate(
        &self,
        plan: &Plan,
        split: &Split<'_>,
        printer: &mut Printer,
    ) -> Result<Outcome, Error> {
        let errands = plan.errands(split);
        let all = plan.estimate(&errands);
        let cost = plan.answerer.provider.price().map(|_| all.cost);
        if self.format(printer) != ReviewFormat::Text {
            let parts: Vec<_> = split
                .parts
                .iter()
                .map(|part| json!({ "files": part.files(), "tokens": part.tokens }))
                .collect();
            let estimate = json!({
                "parts": parts,
                "estimated_tokens": all.tokens,
                "estimated_cost_usd": cost,
            });
            printer.json(&estimate.to_string())?;
            return Ok(Outcome::Met);
        }
        for (part, number) in split.parts.iter().zip(1..) {
            let files = part.files().join(", ");
            let words = format!("part {number}: about {} tokens: {files}", part.tokens);
            printer.line(&[Span::plain(words)])?;
        }
        let price = match cost {
            Some(cost) => format!("about ${:.2}", cost.usd()),
            None => "at a price that is not known".to_owned(),
        };
        let words = format!("{} parts; about {} tokens, {price}", split.parts.len(), all.tokens);
        printer.line(&[Span::plain(words)])?;
        Ok(Outcome::Met)
    }

    /// Returns the form of the report.
    fn format(&self, printer: &Printer) -> ReviewFormat {
        let usual = if printer.is_terminal() { ReviewFormat::Text } else { ReviewFormat::Json };
        self.args.format.unwrap_or(usual)
    }

    /// Reports, and says what it means.
    fn conclude(
        self,
        review: &Review,
        Ending { halt, again, left_out }: Ending<'_>,
        printer: &mut Printer,
    ) -> Result<Outcome, Error> {
        let format = self.format(printer);
        report::print(review, format, self.args.post.commit.as_deref(), printer)?;
        printer.flush()?;
        report::note_unreviewed(review, self.args.quiet, printer);
        if format != ReviewFormat::Text && !self.args.quiet {
            let words = format!(" {}", report::summary(review));
            printer.note(&[Span::new(Tone::Strong, "review:"), Span::plain(words)]);
        }
        let posted = self.post(review, halt.is_some(), printer);
        let fail_on = self.wishes.fail_on;
        let updates = self.args.update_baseline && !self.args.dry_run;
        let updated = if updates { self.wishes.update_baseline(review) } else { Ok(()) };
        let reached = fail_on.filter(|severity| review.reaches(*severity)).map(|severity| {
            let message = format!("a finding is at least `{}`", severity.name());
            Error::new(Outcome::Rejected, message)
        });
        let mut errors = halt.into_iter().chain(reached).chain(updated.err()).chain(posted.err());
        let first = errors.next().or_else(|| report::incompleteness(review, again, left_out));
        for other in errors {
            let causes = other.causes();
            let told =
                causes.iter().fold(other.to_string(), |told, cause| format!("{told}: {cause}"));
            let told = other.hints.iter().fold(told, |told, hint| format!("{told}; {hint}"));
            let text = Span::plain(format!(" {told}"));
            printer.note(&[Span::new(Tone::Bad, "error:"), text]);
        }
        first.map_or(Ok(Outcome::Met), Err)
    }

    /// Posts the review, unless there is more to come.
    fn post(&self, review: &Review, is_halted: bool, printer: &mut Printer) -> Result<(), Error> {
        let Some(posting) = &self.posting else { return Ok(()) };
        if review.parts.is_empty() && !is_halted {
            self.warn("nothing is posted: there is nothing to review", printer);
            return Ok(());
        }
        let is_reviewed = review.parts.iter().any(|part| part.outcome == Outcome::Met.name());
        if is_halted || !is_reviewed {
            self.warn("nothing is posted: the review did not come to its end", printer);
            return Ok(());
        }
        let posted = self.runtime.block_on(posting.post(review))?;
        if !self.args.quiet {
            let words = posted.map(|url| format!(" {url}")).unwrap_or_default();
            printer.note(&[Span::new(Tone::Good, "posted:"), Span::plain(words)]);
        }
        Ok(())
    }
}
