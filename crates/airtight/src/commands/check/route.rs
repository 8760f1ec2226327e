//! The ways to providers: what each dialect makes of a contract.

use airtight_core::Contract;
use airtight_core::lower::{self, Fit, Loss, Narrowing, Portability};
use serde_json::{Value, json};

use crate::error::Error;
use crate::explain;
use crate::printer::{Printer, Span, Tone};

/// How the contract travels to one kind of provider.
#[derive(Debug)]
pub(super) struct Route {
    portability: Portability,
    losses: Vec<Loss>,
    narrowings: Vec<Narrowing>,
}

impl Route {
    /// Lowers the contract for every dialect.
    pub(super) fn all(contract: &Contract) -> Vec<Self> {
        let route = |portability: Portability| match lower::lower(contract, portability.dialect) {
            Ok(lowering) => {
                Self { portability, losses: lowering.losses, narrowings: lowering.narrowings }
            }
            Err(_) => Self { portability, losses: Vec::new(), narrowings: Vec::new() },
        };
        lower::portability(contract).into_iter().map(route).collect()
    }

    fn row(&self) -> Vec<Span> {
        let Portability { dialect, fit, losses, narrowings, notes } = &self.portability;
        let (tone, fit) = match fit {
            Fit::Accepted => (Tone::Good, "accepted"),
            Fit::Adapted => (Tone::Warning, "adapted"),
            Fit::Refused => (Tone::Bad, "refused"),
        };
        vec![
            Span::plain(dialect.name()),
            Span::new(tone, fit),
            Span::plain(losses.to_string()),
            Span::plain(narrowings.to_string()),
            Span::plain(notes.join("; ")),
        ]
    }

    /// Prints every loss and narrowing.
    pub(super) fn print_explained(&self, printer: &mut Printer) -> Result<(), Error> {
        if self.losses.is_empty() && self.narrowings.is_empty() {
            return Ok(());
        }
        printer.line(&[Span::plain(format!("  {}:", self.portability.dialect.name()))])?;
        let losses = self.losses.iter().map(explain::loss);
        for text in losses.chain(self.narrowings.iter().map(explain::narrowing)) {
            printer.line(&[Span::plain(format!("    {text}"))])?;
        }
        Ok(())
    }

    /// Returns the route as JSON.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "dialect": self.portability.dialect,
            "fit": self.portability.fit,
            "losses": self.losses,
            "narrowings": self.narrowings,
            "notes": self.portability.notes,
        })
    }
}

/// Prints the table of all routes.
pub(super) fn print(routes: &[Route], printer: &mut Printer) -> Result<(), Error> {
    let heading = ["dialect", "fit", "lost", "narrowed", "notes"];
    let heading = heading.map(|title| Span::new(Tone::Dim, title)).to_vec();
    let rows: Vec<Vec<Span>> =
        std::iter::once(heading).chain(routes.iter().map(Route::row)).collect();
    printer.table(2, &rows)
}
