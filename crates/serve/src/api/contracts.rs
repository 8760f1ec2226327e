//! Contracts that runs were asked by.

use airtight_store::{KnownContract, StoreError};
use axum::extract::State;
use axum::response::Json;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::asked::{Asked, Limit, Named, limit};
use super::wire::{ContractDetail, ContractRow};
use super::{Answered, Api};
use crate::problem::Problem;

/// Which contracts are meant.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ContractsQuery {
    /// How many.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Go on after this: the `next` of the page before.
    #[param(pattern = r"^[0-9]{1,15}\.[0-9a-f]*\.[0-9]{1,5}\.[\s\S]*$")]
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
    let rows = api.ledger.contracts(query.name.as_deref(), after.as_ref(), limit).await?;
    let is_full = u32::try_from(rows.len()).is_ok_and(|length| length >= limit);
    let next = rows.last().filter(|_| is_full).map(place);
    Ok(Json(Contracts { items: rows.into_iter().map(ContractRow::from).collect(), next }))
}

/// Shows a contract: by its name or the beginning of its fingerprint, the newest version.
#[utoipa::path(get, path = "/api/v1/contracts/{name}", tag = "contracts",
    params(("name" = String, Path, description = "Its name, or 12 or more digits of a fingerprint.")),
    responses((status = OK, body = ContractDetail)))]
pub(super) async fn one(State(api): State<Api>, Named(name): Named) -> Answered<ContractDetail> {
    let mut versions = api.ledger.contract_versions(&name).await?;
    let absent = || StoreError::NotFound { what: "contract", name: name.clone() };
    let row = api.ledger.contract_version(versions.first().ok_or_else(absent)?).await?;
    // Those without a name are no versions of each other.
    if !row.name.is_empty() && row.name != name {
        versions = api.ledger.contract_versions(&row.name).await?;
    }
    Ok(Json(ContractDetail::new(row, versions)))
}

/// Writes where a page ends: the name may hold anything, so its length stands before it.
fn place(row: &KnownContract) -> String {
    let KnownContract { name, version, fingerprint, first_seen_at } = row;
    format!("{first_seen_at}.{fingerprint}.{}.{name}{version}", name.len())
}

fn cursor(text: &str) -> Result<KnownContract, Problem> {
    let refused = || Problem::request("`after` is the `next` of the page before").at("after");
    let is_number = |text: &str, digits: usize| {
        (1..=digits).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let mut parts = text.splitn(4, '.');
    let mut part = || parts.next().ok_or_else(refused);
    let (ms, fingerprint, length, rest) = (part()?, part()?, part()?, part()?);
    if !is_number(ms, 15) || !is_number(length, 5) || !fingerprint.bytes().all(is_hex) {
        return Err(refused());
    }
    let length: usize = length.parse().map_err(|_| refused())?;
    let (name, version) = rest.split_at_checked(length).unwrap_or((rest, ""));
    Ok(KnownContract {
        name: name.to_owned(),
        version: version.to_owned(),
        fingerprint: fingerprint.to_owned(),
        first_seen_at: ms.parse().map_err(|_| refused())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_on_where_it_ended_whatever_the_name_holds() {
        let row = KnownContract {
            name: "a.b/ü1.0".to_owned(),
            version: "1.0.0".to_owned(),
            fingerprint: "0af9".to_owned(),
            first_seen_at: 17,
        };
        assert_eq!(cursor(&place(&row)).unwrap(), row);
        for text in ["", "x", "1.0af9.1", "-1.0.0.", "1.XY.0.", "1.0.x.", ".0.0."] {
            assert!(cursor(text).is_err(), "{text}");
        }
    }
}
