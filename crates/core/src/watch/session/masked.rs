//! Names as the ledger keeps them: what is compared with it must be masked as it is.

use super::{Ask, Extracted};
use crate::redact::Redactor;

impl Extracted {
    /// Masks what is compared with what is on record: names of services, and observations.
    ///
    /// Everything else is masked where it is stored. Services whose names are masked alike are one from here
    /// on: they share their cooldowns.
    pub(in crate::watch) fn mask(&mut self, redactor: &Redactor) {
        let mask = |text: &mut String| *text = redactor.mask(text).into_owned();
        self.checks.iter_mut().for_each(|it| mask(&mut it.name));
        self.cooldowns.iter_mut().for_each(|it| mask(&mut it.service));
        self.events.iter_mut().filter_map(|it| it.service.as_mut()).for_each(mask);
        for claim in &mut self.claims {
            claim.key.service.iter_mut().for_each(mask);
            mask(&mut claim.observation);
        }
        match &mut self.ask {
            Ask::Request(request) => request.failed_checks.iter_mut().for_each(mask),
            Ask::Handoff(handoff) => {
                handoff.services_affected.iter_mut().for_each(mask);
                handoff.check_results.iter_mut().for_each(|it| mask(&mut it.check.name));
            }
            Ask::Nothing | Ask::Invalid(_) => {}
        }
    }
}
