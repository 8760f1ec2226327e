//! What a request asks: its query, its path and its JSON, each refused in our own words.

use airtight_store::{Order, Page};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use bytes::Bytes;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use utoipa::ToSchema;

use crate::body;
use crate::problem::Problem;

/// The most rows of one answer.
pub(super) const LIMIT_MOST: u32 = 1_000;

/// The rows of one answer, unless more or fewer are asked for.
const LIMIT_USUAL: u32 = 50;

/// The largest number: programs that have no whole numbers but floating ones read it exactly.
pub(super) const NUMBER_MOST: i64 = 9_007_199_254_740_991;

/// The query of a request.
pub(super) struct Asked<T>(pub(super) T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        match Query::<T>::try_from_uri(&parts.uri) {
            Ok(Query(query)) => Ok(Self(query)),
            Err(rejection) => {
                let why = rejection.body_text();
                let why = why.split_once(": ").map_or(why.as_str(), |(_, why)| why);
                Err(Problem::request(format!("the query cannot be read: {why}")))
            }
        }
    }
}

/// The name that is part of the path.
pub(super) struct Named(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(name) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|_| Problem::request("the path holds no name that can be read"))?;
        Ok(Self(name))
    }
}

/// What a request sends, as it came: with what it takes to know it again.
pub(super) struct Sent {
    pub(super) headers: HeaderMap,
    /// Method and path.
    pub(super) what: String,
    pub(super) bytes: Bytes,
}

impl<S: Sync> FromRequest<S> for Sent {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let what = what(&request);
        let (head, body) = request.into_parts();
        let bytes = body::read(&head.headers, body).await?;
        Ok(Self { headers: head.headers, what, bytes })
    }
}

fn what(request: &Request) -> String {
    format!("{} {}", request.method(), request.uri().path())
}

impl Sent {
    /// Reads a request that may be anything.
    pub(super) async fn whatever(request: Request, limit_bytes: usize) -> Result<Self, Problem> {
        let what = what(&request);
        let (head, body) = request.into_parts();
        Ok(Self { headers: head.headers, what, bytes: body::within(body, limit_bytes).await? })
    }

    /// Reads what was sent: an object, since a list would be read as its members in their order.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        if self.bytes.trim_ascii_start().first().is_some_and(|byte| *byte == b'[') {
            return Err(Problem::request(
                "the request cannot be read: it is a list, and no object",
            ));
        }
        read(&self.bytes)
    }
}

/// Reads JSON, and says what is wrong with it.
pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(bytes)
        .map_err(|error| Problem::request(format!("the request cannot be read: {error}")))
}

/// A whole number from 0: of a row, or a time in Unix milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number(pub(super) i64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // What the parser says of other texts is worded for those who write it.
        let number = i64::deserialize(deserializer).ok();
        number.filter(|number| (0..=NUMBER_MOST).contains(number)).map(Self).ok_or_else(|| {
            D::Error::custom(format!("it is a whole number from 0 to {NUMBER_MOST}"))
        })
    }
}

/// Tells `null` from what is absent: for members that have a default.
pub(super) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// How many rows are asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit(u32);

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u32::deserialize(deserializer).ok();
        number
            .filter(|number| (1..=LIMIT_MOST).contains(number))
            .map(Self)
            .ok_or_else(|| D::Error::custom(format!("it is a whole number from 1 to {LIMIT_MOST}")))
    }
}

/// Which end of a list comes first.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ordering {
    Newest,
    Oldest,
}

/// Returns how many rows are meant.
pub(super) fn limit(limit: Option<Limit>) -> u32 {
    limit.map_or(LIMIT_USUAL, |Limit(limit)| limit)
}

/// Returns the page that is meant.
pub(super) fn page(rows: Option<Limit>, after: Option<Number>, order: Option<Ordering>) -> Page {
    let order = match order {
        None | Some(Ordering::Newest) => Order::NewestFirst,
        Some(Ordering::Oldest) => Order::OldestFirst,
    };
    Page { limit: limit(rows), after: after.map(|Number(after)| after), order }
}

/// Returns the number that the next page goes on after, if this one is full.
pub(super) fn next<T>(page: Page, items: &[T], number: impl Fn(&T) -> i64) -> Option<i64> {
    let is_full = u32::try_from(items.len()).is_ok_and(|length| length >= page.limit);
    items.last().filter(|_| is_full).map(number)
}
