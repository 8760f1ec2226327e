//! Memories that people write down, change and delete: anybody may, whoever leads.

use airtight_core::watch::Trust;

use super::memory::{self, Memory, MemoryEdit, MemoryUpdate, NewMemory};
use super::text::Texts;
use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::rows::Columns;
use crate::run::fresh;
use crate::writer::{Transaction, Write};

const INSERT: &str = "INSERT INTO memories (id, service, category, observation, confidence, \
     reinforced_at, trust, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $6) \
     ON CONFLICT DO NOTHING";
const EDIT: &str = "UPDATE memories SET \
     service = CASE WHEN $2 = 1 THEN $3 ELSE service END, \
     category = COALESCE($4, category), observation = COALESCE($5, observation) WHERE id = $1";
const DELETE: &str = "DELETE FROM memories WHERE id = $1";

impl Ledger {
    /// Returns a memory by its name.
    pub async fn memory(&self, id: &str) -> Result<Memory, StoreError> {
        let sql = one();
        let mut reader = self.reader().await?;
        let row = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(id.replace('\0', "\u{fffd}"))
            .fetch_optional(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        let row = row.ok_or_else(|| absent(id))?;
        memory::read(&mut Columns::of(&row))
    }

    /// Writes down what somebody knows: it is told to sessions at once.
    pub async fn add_memory(&self, mut new: NewMemory) -> Result<Memory, StoreError> {
        let texts = Texts { redactor: &self.place.settings.redactor };
        new.service = texts.maybe("service", new.service.as_deref())?;
        new.category = texts.text("category", &new.category)?;
        new.observation = texts.text("observation", &new.observation)?;
        let id = fresh();
        self.write(0, Add { id: id.clone(), new }).await?.ok_or_else(|| absent(&id))
    }

    /// Changes a memory as somebody decided, and others with it, all or none.
    pub async fn edit_memory(
        &self,
        id: &str,
        mut edit: MemoryEdit,
        updates: Vec<MemoryUpdate>,
    ) -> Result<Memory, StoreError> {
        let texts = Texts { redactor: &self.place.settings.redactor };
        if let Some(service) = &mut edit.service {
            *service = texts.maybe("service", service.as_deref())?;
        }
        edit.category = texts.maybe("category", edit.category.as_deref())?;
        edit.observation = texts.maybe("observation", edit.observation.as_deref())?;
        if updates.iter().any(|update| update.id.contains('\0')) || id.contains('\0') {
            return Err(absent(id));
        }
        let write = Edit { id: id.to_owned(), wanted: edit, updates };
        self.write(0, write).await?.ok_or_else(|| absent(id))
    }

    /// Deletes a memory.
    pub async fn delete_memory(&self, id: &str) -> Result<(), StoreError> {
        // Asked before: the write may be done twice, and finds nothing the second time.
        let memory = self.memory(id).await?;
        self.write(0, Delete { id: memory.id }).await
    }
}

fn absent(id: &str) -> StoreError {
    StoreError::NotFound { what: "memory", name: id.to_owned() }
}

fn one() -> String {
    format!("SELECT {} FROM memories WHERE id = $1", memory::COLUMNS)
}

async fn found(to: &mut Transaction<'_>, id: &str) -> Result<Option<Memory>, StoreError> {
    let query = sqlx::query(sqlx::AssertSqlSafe(one())).bind(id);
    let row = query.fetch_optional(&mut *to.connection).await.map_err(to.fail())?;
    row.map(|row| memory::read(&mut Columns::of(&row))).transpose()
}

struct Add {
    id: String,
    new: NewMemory,
}

impl Write for Add {
    type Output = Option<Memory>;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Option<Memory>, StoreError> {
        sqlx::query(INSERT)
            .bind(self.id.as_str())
            .bind(self.new.service.clone())
            .bind(self.new.category.as_str())
            .bind(self.new.observation.as_str())
            .bind(self.new.confidence)
            .bind(to.now_ms)
            .bind(Trust::Trusted.name())
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        found(to, &self.id).await
    }
}

struct Edit {
    id: String,
    wanted: MemoryEdit,
    updates: Vec<MemoryUpdate>,
}

impl Write for Edit {
    type Output = Option<Memory>;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Option<Memory>, StoreError> {
        let (is_set, service) = match &self.wanted.service {
            Some(service) => (1_i64, service.clone()),
            None => (0, None),
        };
        let done = sqlx::query(EDIT)
            .bind(self.id.as_str())
            .bind(is_set)
            .bind(service)
            .bind(self.wanted.category.clone())
            .bind(self.wanted.observation.clone())
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        if done.rows_affected() == 0 {
            return Ok(None);
        }
        for update in &self.updates {
            update.write(to).await?;
        }
        found(to, &self.id).await
    }
}

struct Delete {
    id: String,
}

impl Write for Delete {
    type Output = ();

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        sqlx::query(DELETE)
            .bind(self.id.as_str())
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())
            .map(drop)
    }
}
