//! What a form of ours sends.

use axum::extract::Request;

use super::Failed;
use crate::body;

/// The members of a form, as they were typed.
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads what was sent.
    pub(super) async fn read(request: Request) -> Result<Self, Failed> {
        let (head, sent) = request.into_parts();
        let bytes = body::read_form(&head.headers, sent).await?;
        Ok(Self(form_urlencoded::parse(&bytes).into_owned().collect()))
    }

    /// Returns what was typed under `name`; nothing if that is only space.
    pub(super) fn said(&self, name: &str) -> Option<&str> {
        let value = self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        value.filter(|value| !value.trim().is_empty())
    }

    /// Returns the same, owned, without the spaces around it.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.said(name).map(|value| value.trim().to_owned())
    }
}
