//! Services: how each is, since when, and every check of it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::StoreError;
use crate::filter::PAGE_LIMIT;
use crate::ledger::Ledger;
use crate::read::Conditions;
use crate::rows::Columns;

const COUNT: &str = "SELECT status, COUNT(*) FROM services GROUP BY status";

/// How a service is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Service {
    /// Its name.
    pub name: String,
    /// What the last check says.
    pub status: String,
    /// What the last check saw.
    pub detail: Option<String>,
    /// Healthy checks in a row.
    pub healthy_streak: i64,
    /// Checks in a row that were not healthy.
    pub unhealthy_streak: i64,
    /// When its status changed last, in Unix milliseconds.
    pub changed_at: i64,
    /// When it was checked last.
    pub checked_at: i64,
    /// Actions before this time do not count against it any more.
    pub cleared_at: Option<i64>,
}

/// One check of a service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Its number; 0 for one that is new.
    pub number: i64,
    /// The service.
    pub service: String,
    /// The session that checked it.
    pub session: Option<String>,
    /// What it says.
    pub status: String,
    /// What it saw.
    pub detail: Option<String>,
    /// When, in Unix milliseconds.
    pub checked_at: i64,
}

const COLUMNS: &str = "name, status, detail, healthy_streak, unhealthy_streak, \
     changed_at, checked_at, cleared_at";

impl Ledger {
    /// Returns every service, by name; as many as one page has.
    pub async fn services(&self) -> Result<Vec<Service>, StoreError> {
        self.services_after(None, PAGE_LIMIT).await
    }

    /// Returns up to `limit` services in the order of their names, after the name `after`.
    pub async fn services_after(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Service>, StoreError> {
        let mut conditions = Conditions::default();
        conditions.text("name >", after);
        self.services_where(conditions, limit).await
    }

    /// Returns a service by its name.
    pub async fn service(&self, name: &str) -> Result<Service, StoreError> {
        let mut conditions = Conditions::default();
        conditions.text("name =", Some(name));
        let found = self.services_where(conditions, 1).await?;
        let absent = || StoreError::NotFound { what: "service", name: name.to_owned() };
        found.into_iter().next().ok_or_else(absent)
    }

    /// Returns how many services are in each state.
    pub async fn service_states(&self) -> Result<BTreeMap<String, i64>, StoreError> {
        let mut reader = self.reader().await?;
        let rows = sqlx::query(COUNT).fetch_all(&mut *reader).await;
        let rows = rows.map_err(|error| StoreError::of(self.place.dialect, error))?;
        let read = |row| {
            let mut columns = Columns::of(row);
            Ok((columns.take()?, columns.take()?))
        };
        rows.iter().map(read).collect()
    }

    async fn services_where(
        &self,
        conditions: Conditions,
        limit: u32,
    ) -> Result<Vec<Service>, StoreError> {
        let (clause, limit) = (conditions.clause(), limit.min(PAGE_LIMIT));
        let sql = format!("SELECT {COLUMNS} FROM services {clause} ORDER BY name LIMIT {limit}");
        let mut reader = self.reader().await?;
        let rows = conditions.query(sql).fetch_all(&mut *reader).await;
        let rows = rows.map_err(|error| StoreError::of(self.place.dialect, error))?;
        rows.iter().map(|row| read(&mut Columns::of(row))).collect()
    }
}

fn read(columns: &mut Columns<'_>) -> Result<Service, StoreError> {
    Ok(Service {
        name: columns.take()?,
        status: columns.take()?,
        detail: columns.take()?,
        healthy_streak: columns.take()?,
        unhealthy_streak: columns.take()?,
        changed_at: columns.take()?,
        checked_at: columns.take()?,
        cleared_at: columns.take()?,
    })
}

pub(super) const CHECK_COLUMNS: &str = "seq, service, session, status, detail, checked_at";

pub(super) fn read_check(columns: &mut Columns<'_>) -> Result<Check, StoreError> {
    Ok(Check {
        number: columns.take()?,
        service: columns.take()?,
        session: columns.take()?,
        status: columns.take()?,
        detail: columns.take()?,
        checked_at: columns.take()?,
    })
}
