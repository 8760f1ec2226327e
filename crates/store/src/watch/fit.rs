//! Makes minutes fit to be stored: names that databases take, texts without secrets.

use super::action::{DoneAction, NewAction};
use super::minutes::Minutes;
use super::text::Texts;
use crate::error::StoreError;
use crate::rows::names;

impl Minutes {
    /// Masks texts and refuses names that cannot be keys.
    pub(super) fn fit(&mut self, texts: Texts<'_>) -> Result<(), StoreError> {
        sessions(texts, self)?;
        findings(texts, self)?;
        others(texts, self)
    }
}

impl NewAction {
    pub(super) fn fit(&mut self, texts: Texts<'_>) -> Result<(), StoreError> {
        names(&[("the kind of an action", &self.kind)])?;
        self.service = texts.name("the name of a service", &self.service)?;
        self.command = texts.maybe("command", self.command.as_deref())?;
        Ok(())
    }
}

fn sessions(texts: Texts<'_>, minutes: &mut Minutes) -> Result<(), StoreError> {
    if let Some(chain) = &mut minutes.chain {
        names(&[("the name of a chain", &chain.id), ("cause", &chain.cause)])?;
        chain.machine = texts.json("machine", &chain.machine)?;
    }
    if let Some(session) = &mut minutes.begun {
        names(&[
            ("the name of a session", &session.id),
            ("the name of a chain", &session.chain),
            ("parent", session.parent.as_deref().unwrap_or_default()),
            ("cause", &session.cause),
            ("driver", &session.driver),
            ("model", &session.model),
        ])?;
        session.log = texts.maybe("log", session.log.as_deref())?;
        session.prompt = texts.maybe("prompt", session.prompt.as_deref())?;
        session.context = texts.maybe("context", session.context.as_deref())?;
    }
    for end in &mut minutes.ended {
        names(&[("status", &end.status), ("extraction", &end.extraction)])?;
        end.summary = texts.maybe("summary", end.summary.as_deref())?;
        end.response = texts.maybe("response", end.response.as_deref())?;
    }
    Ok(())
}

fn findings(texts: Texts<'_>, minutes: &mut Minutes) -> Result<(), StoreError> {
    for event in &mut minutes.events {
        names(&[("level", &event.level), ("origin", &event.origin)])?;
        event.said_level = texts.maybe("level", event.said_level.as_deref())?;
        event.service = texts.maybe("service", event.service.as_deref())?;
        event.message = texts.text("message", &event.message)?;
    }
    for memory in &mut minutes.memories {
        memory.service = texts.maybe("service", memory.service.as_deref())?;
        memory.category = texts.text("category", &memory.category)?;
        memory.observation = texts.text("observation", &memory.observation)?;
    }
    for service in &mut minutes.services {
        names(&[("status", &service.status)])?;
        service.name = texts.name("the name of a service", &service.name)?;
        service.detail = texts.maybe("detail", service.detail.as_deref())?;
    }
    for check in &mut minutes.checks {
        names(&[("status", &check.status)])?;
        check.service = texts.name("the name of a service", &check.service)?;
        check.detail = texts.maybe("detail", check.detail.as_deref())?;
    }
    Ok(())
}

fn others(texts: Texts<'_>, minutes: &mut Minutes) -> Result<(), StoreError> {
    for end in &mut minutes.actions {
        end.error = texts.maybe("error", end.error.as_deref())?;
    }
    for DoneAction { action, error, .. } in &mut minutes.done {
        action.fit(texts)?;
        *error = texts.maybe("error", error.as_deref())?;
    }
    for escalation in &mut minutes.escalations {
        for service in &mut escalation.affected {
            *service = texts.text("the name of a service", service)?;
        }
        escalation.context = texts.maybe("context", escalation.context.as_deref())?;
    }
    for notification in &mut minutes.notifications {
        names(&[("category", &notification.category)])?;
        notification.target = texts.text("target", &notification.target)?;
        notification.title = texts.text("title", &notification.title)?;
        notification.body = texts.text("body", &notification.body)?;
    }
    for delivery in &mut minutes.deliveries {
        delivery.error = texts.maybe("error", delivery.error.as_deref())?;
    }
    for (name, value) in &mut minutes.marks {
        names(&[("the name of a mark", name)])?;
        *value = texts.json("mark", value)?;
    }
    Ok(())
}
