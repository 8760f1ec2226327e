//! The table.

use crate::manner::{Answer, Manner};

/// What seed 003 measured with a model of its day: parse failures of prose, few-shot and schema.
fn seed(manner: Manner) -> &'static str {
    match manner {
        Manner::Prose => "12 %",
        Manner::FewShot => "4 %",
        Manner::Schema => "0.2 %",
        Manner::Tool | Manner::Grammar => "",
    }
}

/// What all answers in one manner came to.
pub(crate) struct Tally {
    manner: Manner,
    answers: usize,
    unreadable: usize,
    lacking: usize,
    wrong: usize,
    commentary: usize,
    reasks: usize,
    lost: usize,
    findings: usize,
    cited: usize,
    hits: usize,
    input_tokens: u64,
    output_tokens: u64,
}

impl Tally {
    pub(crate) fn new(manner: Manner) -> Self {
        Self {
            manner,
            answers: 0,
            unreadable: 0,
            lacking: 0,
            wrong: 0,
            commentary: 0,
            reasks: 0,
            lost: 0,
            findings: 0,
            cited: 0,
            hits: 0,
            input_tokens: 0,
            output_tokens: 0,
        }
    }

    pub(crate) fn add(&mut self, answer: &Answer) {
        self.answers += 1;
        self.unreadable += usize::from(answer.is_unreadable);
        self.lacking += usize::from(answer.lacks_field);
        self.wrong += usize::from(answer.is_wrong);
        self.commentary += usize::from(answer.has_commentary);
        self.reasks += answer.reasks;
        self.lost += usize::from(answer.is_lost);
        self.findings += answer.findings;
        self.cited += answer.cited;
        self.hits += usize::from(answer.is_hit);
        self.input_tokens += answer.usage.input_tokens.unwrap_or(0);
        self.output_tokens += answer.usage.output_tokens.unwrap_or(0);
    }

    /// Returns its row of the table.
    pub(crate) fn row(&self) -> String {
        let Self { answers, unreadable, lacking, wrong, commentary, reasks, lost, .. } = self;
        let each = |tokens: u64| tokens.checked_div(*answers as u64).unwrap_or(0);
        format!(
            "| {} | {answers} | {unreadable} | {lacking} | {wrong} | {commentary} | {reasks} | {lost} | {} \
             of {} | {} | {} | {} | {} |",
            self.manner.name(),
            self.cited,
            self.findings,
            self.hits,
            each(self.input_tokens),
            each(self.output_tokens),
            seed(self.manner),
        )
    }
}

/// Returns the table in Markdown.
pub(crate) fn table(tallies: &[Tally]) -> String {
    let mut table = String::from(
        "| manner | answers | unreadable | lack a field | break the contract otherwise | words around | \
         re-asks | lost in the end | findings about the change | bugs hit | tokens read | tokens written \
         | seed 003 |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for tally in tallies {
        table.push_str(&tally.row());
        table.push('\n');
    }
    table
}
