//! What a batch would cost, without a request.

use airtight_core::batch::{Estimate, Whose};
use serde_json::json;

use super::inputs::Inputs;
use super::plan::Plan;
use crate::cli::BatchArgs;
use crate::error::{Error, Outcome};
use crate::printer::{Printer, Span};

/// How many inputs that cannot be used are shown.
const SHOWN: u64 = 10;

/// Counts the inputs, and says what they may cost.
pub(super) fn print(
    plan: &Plan,
    inputs: Inputs,
    args: &BatchArgs,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let fund = plan.fund();
    let limit = usize::try_from(args.limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let (mut usable, mut bad) = (0_u64, 0_u64);
    let mut all = Estimate::default();
    for input in inputs.take(limit) {
        match plan.desk.prepare(&input) {
            Ok(prepared) => {
                usable += 1;
                let one =
                    fund.estimate(Whose::Model, prepared.prompt.len() as u64 + plan.schema_bytes());
                all.tokens = all.tokens.saturating_add(one.tokens);
                all.cost += one.cost;
            }
            Err(why) => {
                bad += 1;
                if bad <= SHOWN {
                    let place = &input.place;
                    printer.note(&[Span::plain(format!(
                        "input {} (`{place}`): {why}",
                        input.position
                    ))]);
                }
            }
        }
    }
    let cost = plan.price().map(|_| all.cost);
    if args.json {
        let summary = json!({
            "batch": plan.batch,
            "inputs": usable,
            "unusable": bad,
            "estimated_tokens": all.tokens,
            "estimated_cost_usd": cost,
        });
        printer.json(&summary.to_string())?;
    } else {
        let price = match cost {
            Some(cost) => format!("about ${:.2}", cost.usd()),
            None => "at a price that is not known".to_owned(),
        };
        let words =
            format!("{usable} inputs, {bad} unusable; about {} tokens, {price}", all.tokens);
        printer.line(&[Span::plain(words)])?;
    }
    Ok(if bad > 0 { Outcome::Rejected } else { Outcome::Met })
}
