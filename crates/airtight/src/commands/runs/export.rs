//! `airtight runs export`: whole runs, however many there are.

use std::pin::pin;

use airtight_store::Run;
use futures_util::StreamExt as _;

use super::Asked;
use crate::cli::{ExportArgs, ExportFormat};
use crate::error::{Error, Outcome};
use crate::printer::{Printer, Span};
use crate::when;

/// The columns of a table, in their order.
const COLUMNS: [&str; 24] = [
    "id",
    "parent",
    "key",
    "contract",
    "contract_version",
    "fingerprint",
    "driver",
    "provider",
    "model",
    "mode",
    "state",
    "outcome",
    "rung",
    "output_valid",
    "review",
    "attempts",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "started_at",
    "elapsed_ms",
    "prompt",
    "output",
    "parsed_output",
];

/// Prints whole runs.
pub(super) async fn run(
    args: &ExportArgs,
    asked: &Asked,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let filter = args.filter.filter(asked.ledger.now_ms());
    let mut runs = pin!(asked.ledger.export(&filter));
    if args.format == ExportFormat::Csv {
        let names: Vec<String> = COLUMNS.map(str::to_owned).to_vec();
        print(&record(&names), printer)?;
    }
    while let Some(run) = runs.next().await {
        let run = run.map_err(asked.failed())?;
        match args.format {
            ExportFormat::Jsonl => {
                printer.json(&serde_json::to_string(&run).unwrap_or_default())?;
            }
            ExportFormat::Csv => print(&record(&cells(&run)), printer)?,
        }
    }
    Ok(Outcome::Met)
}

/// Prints a record: as it is to a pipe, as one line that can be seen to a terminal.
fn print(record: &str, printer: &mut Printer) -> Result<(), Error> {
    if printer.is_terminal() {
        return printer.line(&[Span::plain(record.trim_end())]);
    }
    printer.verbatim(record.as_bytes())
}

fn cells(run: &Run) -> Vec<String> {
    let summary = &run.summary;
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let number = |number: Option<u64>| number.map(|it| it.to_string()).unwrap_or_default();
    let state = serde_json::to_value(summary.state).unwrap_or_default();
    let output = run.output.as_deref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    vec![
        summary.id.to_string(),
        summary.parent.as_ref().map(ToString::to_string).unwrap_or_default(),
        text(summary.key.as_deref()),
        summary.contract.clone(),
        summary.contract_version.clone(),
        summary.fingerprint.clone(),
        summary.driver.clone(),
        summary.provider.clone(),
        summary.model.clone(),
        summary.mode.clone(),
        text(state.as_str()),
        text(summary.outcome.as_deref()),
        text(summary.rung.as_deref()),
        summary.output_valid.to_string(),
        summary.review.name().to_owned(),
        summary.attempts.to_string(),
        number(summary.usage.input_tokens),
        number(summary.usage.output_tokens),
        summary.cost_usd.map(|cost| cost.usd().to_string()).unwrap_or_default(),
        when::write(summary.started_at),
        summary.elapsed_ms.map(|ms| ms.to_string()).unwrap_or_default(),
        text(run.prompt.as_deref()),
        output.unwrap_or_default(),
        text(run.parsed_output.as_deref()),
    ]
}

/// Returns one record by RFC 4180.
fn record(cells: &[String]) -> String {
    let mut line = cells.iter().map(|text| cell(text)).collect::<Vec<_>>().join(",");
    line.push_str("\r\n");
    line
}

/// Returns a cell that no spreadsheet takes for a formula. Whatever was defused begins with `'`.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let defused = if is_formula { format!("'{text}") } else { text.to_owned() };
    if defused.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", defused.replace('"', "\"\""));
    }
    defused
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("plain" => "plain")]
    #[test_case("a,b" => "\"a,b\"")]
    #[test_case("say \"hi\"\n" => "\"say \"\"hi\"\"\n\"")]
    #[test_case("=HYPERLINK(\"x\")" => "\"'=HYPERLINK(\"\"x\"\")\"")]
    #[test_case("+1" => "'+1")]
    #[test_case("-1" => "'-1")]
    #[test_case("@SUM(A1)" => "'@SUM(A1)")]
    #[test_case("\t=1" => "'\t=1")]
    #[test_case("" => "")]
    fn cells_are_quoted_and_never_formulas(text: &str) -> String {
        cell(text)
    }
}
