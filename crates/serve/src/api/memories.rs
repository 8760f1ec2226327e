//! Memories: what sessions and people wrote down.

use airtight_core::watch::{Category, Trust};
use airtight_store::MemoryFilter;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Json, Response};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::asked::{Asked, Limit, Named, Number, Ordering, Sent, next, page, present};
use super::once::{Done, once};
use super::wire::MemoryRow;
use super::{Answered, Api, Listed};
use crate::act::{self, MemoryChanges, MemoryDraft};
use crate::problem::Problem;

/// Whether sessions are told.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Standing {
    Trusted,
    Pending,
    Rejected,
}

impl From<Standing> for Trust {
    fn from(standing: Standing) -> Self {
        match standing {
            Standing::Trusted => Self::Trusted,
            Standing::Pending => Self::Pending,
            Standing::Rejected => Self::Rejected,
        }
    }
}

/// What a memory is about.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum About {
    Timing,
    Dependency,
    Behavior,
    Remediation,
    Maintenance,
}

impl About {
    fn name(self) -> String {
        let category = match self {
            Self::Timing => Category::Timing,
            Self::Dependency => Category::Dependency,
            Self::Behavior => Category::Behavior,
            Self::Remediation => Category::Remediation,
            Self::Maintenance => Category::Maintenance,
        };
        category.name().to_owned()
    }
}

/// Which memories are meant. What is absent does not matter.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct MemoriesQuery {
    /// How many.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Go on after the memory of this number.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    after: Option<Number>,
    /// Which come first.
    #[param(inline)]
    order: Option<Ordering>,
    /// One service.
    service: Option<String>,
    /// One category.
    #[param(inline)]
    category: Option<About>,
    /// Whether sessions are told.
    #[param(inline)]
    trust: Option<Standing>,
}

/// Lists memories, inactive ones included.
#[utoipa::path(get, path = "/api/v1/memories", tag = "memories", params(MemoriesQuery),
    responses((status = OK, body = Listed<MemoryRow>)))]
pub(super) async fn list(
    State(api): State<Api>,
    Asked(query): Asked<MemoriesQuery>,
) -> Answered<Listed<MemoryRow>> {
    let page = page(query.limit, query.after, query.order);
    let filter = MemoryFilter {
        service: query.service,
        category: query.category.map(About::name),
        trust: query.trust.map(Trust::from),
        least: None,
    };
    let memories = api.ledger.memories(&filter, page).await?;
    let next = next(page, &memories, |memory| memory.number);
    let now_ms = api.ledger.now_ms();
    let items = memories.into_iter().map(|memory| MemoryRow::at(memory, now_ms)).collect();
    Ok(Json(Listed { items, next }))
}

/// Shows a memory.
#[utoipa::path(get, path = "/api/v1/memories/{id}", tag = "memories",
    params(("id" = String, Path, description = "Its name.")),
    responses((status = OK, body = MemoryRow)))]
pub(super) async fn one(State(api): State<Api>, Named(id): Named) -> Answered<MemoryRow> {
    let memory = api.ledger.memory(&id).await?;
    Ok(Json(MemoryRow::at(memory, api.ledger.now_ms())))
}

/// A memory that somebody writes down.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewMemory {
    /// The service that it is about; absent, it is general.
    #[schema(max_length = 60)]
    service: Option<String>,
    #[schema(inline)]
    category: About,
    /// What was observed.
    #[schema(min_length = 1, max_length = 1000, pattern = r"\S")]
    observation: String,
    /// From 0 to 1, and brought into that; absent, 0.7.
    confidence: Option<f64>,
}

/// Writes a memory down.
#[utoipa::path(post, path = "/api/v1/memories", tag = "memories", request_body = NewMemory,
    responses((status = CREATED, body = MemoryRow)))]
pub(super) async fn add(State(api): State<Api>, sent: Sent) -> Result<Response, Problem> {
    let new: NewMemory = sent.read()?;
    let draft = MemoryDraft {
        service: new.service,
        category: new.category.name(),
        observation: new.observation,
        confidence: new.confidence,
    };
    once(&api.clone(), &sent, async move {
        let memory = act::add_memory(&api.ledger, draft).await?;
        Ok(Done::with(StatusCode::CREATED, &MemoryRow::at(memory, api.ledger.now_ms())))
    })
    .await
}

/// What changes in a memory. What is absent stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "absent, null and a name are three things here")]
pub(super) struct Changes {
    /// The service that it is about; `null` makes it general.
    #[schema(value_type = Option<String>, max_length = 60)]
    #[serde(default, deserialize_with = "present")]
    service: Option<Option<String>>,
    #[schema(inline)]
    category: Option<About>,
    /// What was observed.
    #[schema(min_length = 1, max_length = 1000, pattern = r"\S")]
    observation: Option<String>,
    /// From 0 to 1, and brought into that; 0.3 or more makes it active again.
    confidence: Option<f64>,
    /// Leave for one that waits lets it contradict others.
    #[schema(inline)]
    trust: Option<Standing>,
}

/// Changes a memory.
#[utoipa::path(patch, path = "/api/v1/memories/{id}", tag = "memories",
    params(("id" = String, Path, description = "Its name.")),
    request_body = Changes,
    responses((status = OK, body = MemoryRow)))]
pub(super) async fn edit(
    State(api): State<Api>,
    Named(id): Named,
    sent: Sent,
) -> Answered<MemoryRow> {
    let changes: Changes = sent.read()?;
    let changes = MemoryChanges {
        service: changes.service,
        category: changes.category.map(About::name),
        observation: changes.observation,
        confidence: changes.confidence,
        trust: changes.trust.map(Trust::from),
    };
    let memory = act::edit_memory(&api.ledger, &id, changes).await?;
    Ok(Json(MemoryRow::at(memory, api.ledger.now_ms())))
}

/// Deletes a memory.
#[utoipa::path(delete, path = "/api/v1/memories/{id}", tag = "memories",
    params(("id" = String, Path, description = "Its name.")),
    responses((status = NO_CONTENT, description = "It is gone.")))]
pub(super) async fn delete(State(api): State<Api>, Named(id): Named) -> Result<Response, Problem> {
    act::delete_memory(&api.ledger, &id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
