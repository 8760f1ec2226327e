//! Contracts that runs were asked by.

use axum::extract::State;
use axum::response::Json;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::asked::{Asked, Limit, Named, limit};
use super::wire::{ContractDetail, ContractRow};
use super::{Answered, Api};
use crate::problem::Problem;

/// How many versions of one contract are told with it.
const VERSIONS: u32 = 1_000;

/// Which contracts are meant.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ContractsQuery {
    /// How many.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Go on after this: the `next` of the page before.
    #[param(pattern = r"^[0-9]{1,15}\.[\s\S]*$")]
    after: Option<String>,
    /// The versions of this contract alone.
    name: Option<String>,
}

/// A page of contracts.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Contracts {
    items: Vec<ContractRow>,
    /// What the next page goes on `after`; absent on the last one.
    next: Option<String>,
}

/// Lists contracts, the newest first.
#[utoipa::path(get, path = "/api/v1/contracts", tag = "contracts", params(ContractsQuery),
    responses((status = OK, body = Contracts)))]
pub(super) async fn list(
    State(api): State<Api>,
    Asked(query): Asked<ContractsQuery>,
) -> Answered<Contracts> {
    let limit = limit(query.limit);
    let after = query.after.as_deref().map(cursor).transpose()?;
    let rows = api.ledger.contracts(query.name.as_deref(), after, limit).await?;
    let is_full = u32::try_from(rows.len()).is_ok_and(|length| length >= limit);
    let next =
        rows.last().filter(|_| is_full).map(|row| format!("{}.{}", row.first_seen_at, row.place()));
    Ok(Json(Contracts { items: rows.into_iter().map(ContractRow::from).collect(), next }))
}

/// Shows a contract: by its name or the beginning of its fingerprint, the newest version.
#[utoipa::path(get, path = "/api/v1/contracts/{name}", tag = "contracts",
    params(("name" = String, Path, description = "Its name, or the beginning of a fingerprint.")),
    responses((status = OK, body = ContractDetail)))]
pub(super) async fn one(State(api): State<Api>, Named(name): Named) -> Answered<ContractDetail> {
    let row = api.ledger.contract(&name).await?;
    let versions = api.ledger.contracts(Some(&row.name), None, VERSIONS).await?;
    Ok(Json(ContractDetail::new(row, versions)))
}

fn cursor(text: &str) -> Result<(i64, String), Problem> {
    let parts = text.split_once('.');
    let parts = parts.filter(|(ms, _)| ms.bytes().all(|byte| byte.is_ascii_digit()));
    parts
        .and_then(|(ms, place)| Some((ms.parse().ok()?, place.to_owned())))
        .ok_or_else(|| Problem::request("`after` is the `next` of the page before").at("after"))
}
