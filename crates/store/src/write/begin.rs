//! The write that begins a run: once it returns, the run is on record.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use airtight_core::batch::Keys;
use sqlx::AssertSqlSafe;

use super::finish::claimed;
use super::progress::Timely;
use super::sheaf::Table;
use crate::clock::millis;
use crate::dialect::Commit;
use crate::error::StoreError;
use crate::ledger::{Ledger, beat};
use crate::owner::{Life, Owner, SILENCE_MS};
use crate::retention::{Level, Sieve};
use crate::rows::{Columns, Packer, SUMMARY, TEXTS, WHOLE, names};
use crate::run::{Acknowledged, Begun, Driver, NewRun, Repeat, Run, RunId, RunToken, fresh};
use crate::writer::{Transaction, Write};

const INSERT: &str = "INSERT INTO runs (id, parent, job_key, fingerprint, contract, \
     contract_version, driver, provider, model, mode, state, token, owner, valid, review, \
     attempts, early_cancels, tokens_saved, started_at, batch, place, level, keep_ms, expires_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'open', $11, $12, 0, 'none', \
     0, 0, 0, $13, $14, $15, $16, $17, $18) ON CONFLICT DO NOTHING RETURNING seq";
const INSERT_CONTRACT: &str = "INSERT INTO contracts \
     (fingerprint, name, version, schema, coded, first_seen_at) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
const FIND: &str = "SELECT seq, id, state, token, owner, valid, started_at, fingerprint, level, \
     driver, provider, model FROM runs WHERE job_key = $1 OR id = $2 ORDER BY CASE WHEN job_key = $1 THEN 0 ELSE 1 END LIMIT 1 {LOCK}";
const ASKED: &str = "SELECT prompt, system, digest FROM questions WHERE run = $1";
const GIVE_UP_KEY: &str = "UPDATE runs SET job_key = NULL WHERE seq = $1";
const TAKE_OVER: &str =
    "UPDATE runs SET token = $1, owner = $2, state = 'open' WHERE seq = $3 AND state <> 'done'";
pub(crate) const LEAVE_OPEN_ATTEMPTS: &str =
    "UPDATE attempts SET state = 'unknown', ended_at = $2 WHERE run = $1 AND state = 'open'";
const LAST_NUMBERS: &str = "SELECT \
     COALESCE((SELECT MAX(number) FROM attempts WHERE run = $1 AND number > 0), 0), \
     COALESCE((SELECT MAX(number) FROM events WHERE run = $1), 0)";
const SEEN: &str = "SELECT seen_at FROM owners WHERE id = $1";

impl Ledger {
    /// Begins a run. Once this returns, the run is on record, and so is its first attempt if one is
    /// given, so that the request may leave; both are on disk, unless they are [`acknowledged`] later.
    ///
    /// [`acknowledged`]: NewRun::acknowledged
    ///
    /// A key that has its result gives it back; one that a living process is at is busy; one whose
    /// process is gone or has lost its job, or which was postponed, is taken over with a new token.
    pub async fn begin(&self, run: NewRun) -> Result<Begun, StoreError> {
        let write = Begin::new(self, run)?;
        self.write_any(write).await
    }
}

struct Begin {
    run: NewRun,
    id: RunId,
    token: String,
    schema: (String, String),
    prompt: Option<String>,
    system: Option<String>,
    input: Option<String>,
    coded: String,
    digest: String,
}

/// A run that has the key, or the name, already.
struct Found {
    seq: i64,
    id: String,
    state: String,
    token: String,
    owner: String,
    valid: bool,
    started_at: i64,
    fingerprint: String,
    level: Level,
    /// Who was asked: driver, provider and model.
    asked: [String; 3],
}

impl Begin {
    fn new(ledger: &Ledger, mut run: NewRun) -> Result<Self, StoreError> {
        let id = run.id.take().unwrap_or_else(|| ledger.new_id());
        let attempt = run.attempt.clone().unwrap_or_default();
        names(&[
            ("the name of a run", id.as_str()),
            ("parent", run.parent.as_ref().map_or("", RunId::as_str)),
            ("key", run.key.as_deref().unwrap_or_default()),
            ("fingerprint", &run.contract.fingerprint),
            ("contract", &run.contract.name),
            ("contract version", &run.contract.version),
            ("driver", &run.driver.driver),
            ("provider", &run.driver.provider),
            ("model", &run.driver.model),
            ("mode", &run.driver.mode),
            ("batch", run.batch.as_deref().unwrap_or_default()),
            ("provider", &attempt.provider),
            ("model", &attempt.model),
            ("purpose", &attempt.purpose),
        ])?;
        let redactor = &ledger.place.settings.redactor;
        let full = Sieve { level: Level::Full, redactor };
        let mut schema = Packer::new(full);
        let text = schema.bytes("schema", Some(run.contract.schema.as_bytes()))?;
        let mut question = Packer::new(Sieve { level: run.retention.level, redactor });
        let prompt = question.bytes("prompt", Some(run.job.prompt.as_bytes()))?;
        let system = question.bytes("system", run.job.system.as_deref().map(str::as_bytes))?;
        let input = question.bytes("input", run.job.input.as_deref())?;
        Ok(Self {
            id,
            token: fresh(),
            digest: run.digest(),
            schema: (text.unwrap_or_default(), schema.packed.coded()),
            prompt,
            system,
            input,
            coded: question.packed.coded(),
            run,
        })
    }

    async fn insert(
        &self,
        to: &mut Transaction<'_>,
        parent: Option<&str>,
    ) -> Result<Option<i64>, StoreError> {
        let NewRun { contract, driver, retention, .. } = &self.run;
        let keep_ms = retention.keep.map(millis);
        let row = sqlx::query(INSERT)
            .bind(self.id.as_str())
            .bind(parent.map(str::to_owned))
            .bind(self.run.key.clone())
            .bind(contract.fingerprint.as_str())
            .bind(contract.name.as_str())
            .bind(contract.version.as_str())
            .bind(driver.driver.as_str())
            .bind(driver.provider.as_str())
            .bind(driver.model.as_str())
            .bind(driver.mode.as_str())
            .bind(self.token.as_str())
            .bind(to.place.owner.to_string())
            .bind(to.now_ms)
            .bind(self.run.batch.clone())
            .bind(self.run.position)
            .bind(retention.level.name())
            .bind(keep_ms)
            // One that never ends is kept no longer than if it had ended at once.
            .bind(keep_ms.map(|keep_ms| to.now_ms.saturating_add(keep_ms)))
            .fetch_optional(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        row.map(|row| Columns::of(&row).take()).transpose()
    }

    /// Writes what belongs to a run that is new.
    async fn fill(&self, to: &mut Transaction<'_>, seq: i64) -> Result<RunToken, StoreError> {
        let question = vec![
            seq.into(),
            self.prompt.clone().into(),
            self.system.clone().into(),
            self.input.clone().into(),
            self.coded.as_str().into(),
            self.digest.as_str().into(),
        ];
        to.sheaf.add(Table::Questions, question);
        self.store_contract(to).await?;
        let token = self.token(seq, self.id.clone(), (0, 0));
        self.open_first(to, &token);
        Ok(token)
    }

    async fn store_contract(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        let contract = &self.run.contract;
        let seen = (contract.fingerprint.clone(), contract.name.clone(), contract.version.clone());
        if contract.fingerprint.is_empty() || to.place.knows(&seen) || to.contracts.contains(&seen)
        {
            return Ok(());
        }
        sqlx::query(INSERT_CONTRACT)
            .bind(contract.fingerprint.as_str())
            .bind(contract.name.as_str())
            .bind(contract.version.as_str())
            .bind(self.schema.0.as_str())
            .bind(self.schema.1.as_str())
            .bind(to.now_ms)
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        to.contracts.push(seen);
        Ok(())
    }

    fn token(&self, seq: i64, id: RunId, (attempt, event): (i64, i64)) -> RunToken {
        RunToken {
            seq,
            id,
            token: self.token.clone(),
            level: self.run.retention.level,
            taken_over: false,
            open: Arc::new(AtomicI64::new(i64::from(self.run.attempt.is_some()))),
            attempt: Arc::new(AtomicI64::new(attempt)),
            event: Arc::new(AtomicI64::new(event)),
            drafted: Arc::default(),
        }
    }

    fn open_first(&self, to: &mut Transaction<'_>, token: &RunToken) {
        let Some(attempt) = &self.run.attempt else { return };
        let row = vec![
            token.seq.into(),
            token.next_attempt().into(),
            "open".into(),
            token.token.as_str().into(),
            attempt.provider.as_str().into(),
            attempt.model.as_str().into(),
            attempt.purpose.as_str().into(),
            "".into(),
            to.now_ms.into(),
        ];
        to.sheaf.add(Table::Attempts, row);
    }

    async fn find(&self, to: &mut Transaction<'_>) -> Result<Option<Found>, StoreError> {
        let row = sqlx::query(AssertSqlSafe(to.place.dialect.locking(FIND)))
            .bind(self.run.key.clone())
            .bind(self.id.as_str())
            .fetch_optional(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        let Some(row) = row else { return Ok(None) };
        let mut columns = Columns::of(&row);
        Ok(Some(Found {
            seq: columns.take()?,
            id: columns.take()?,
            state: columns.take()?,
            token: columns.take()?,
            owner: columns.take()?,
            valid: columns.take::<i64>()? != 0,
            started_at: columns.take()?,
            fingerprint: columns.take()?,
            level: Level::named(&columns.take::<String>()?),
            asked: [columns.take()?, columns.take()?, columns.take()?],
        }))
    }

    /// Begins anew although the key has a result, which keeps its run but not its key.
    async fn repeat(&self, to: &mut Transaction<'_>, found: &Found) -> Result<Begun, StoreError> {
        sqlx::query(GIVE_UP_KEY)
            .bind(found.seq)
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        match self.insert(to, Some(&found.id)).await? {
            Some(seq) => self.fill(to, seq).await.map(Begun::Fresh),
            None => Err(StoreError::Taken { id: self.id.to_string() }),
        }
    }

    async fn take_over(
        &self,
        to: &mut Transaction<'_>,
        found: &Found,
    ) -> Result<Begun, StoreError> {
        self.require_same_job(to, found).await?;
        let fail = to.fail();
        sqlx::query(TAKE_OVER)
            .bind(self.token.as_str())
            .bind(to.place.owner.to_string())
            .bind(found.seq)
            .execute(&mut *to.connection)
            .await
            .map_err(&fail)?;
        sqlx::query(LEAVE_OPEN_ATTEMPTS)
            .bind(found.seq)
            .bind(to.now_ms)
            .execute(&mut *to.connection)
            .await
            .map_err(&fail)?;
        // Its start says nothing about this process, so that is heard of from now on.
        beat(to).await?;
        let mut token = self.resumed(to, found).await?;
        token.taken_over = true;
        // It stays as well kept as it began.
        token.level = found.level;
        self.open_first(to, &token);
        Ok(Begun::Fresh(token))
    }

    /// Refuses a run that was asked something else: its answer would stand as that.
    async fn require_same_job(
        &self,
        to: &mut Transaction<'_>,
        found: &Found,
    ) -> Result<(), StoreError> {
        let row = sqlx::query(ASKED)
            .bind(found.seq)
            .fetch_one(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        let mut columns = Columns::of(&row);
        let (prompt, system): (Option<String>, Option<String>) = (columns.take()?, columns.take()?);
        let digest: Option<String> = columns.take()?;
        let NewRun { contract, driver, retention, repeat, .. } = &self.run;
        // What is kept otherwise looks otherwise.
        let is_kept_alike = found.level == retention.level;
        let is_same_job =
            found.fingerprint == contract.fingerprint && (!is_kept_alike || prompt == self.prompt);
        let is_same = match digest {
            _ if *repeat == Repeat::Named => is_same_job,
            Some(digest) => digest == self.digest,
            // It began before digests were kept.
            None => {
                let asked = [&driver.driver, &driver.provider, &driver.model];
                is_same_job
                    && found.asked.iter().eq(asked)
                    && (!is_kept_alike || system == self.system)
            }
        };
        if is_same { Ok(()) } else { Err(StoreError::OtherJob { id: found.id.clone() }) }
    }

    /// Returns the token of a run that has attempts and events already.
    async fn resumed(
        &self,
        to: &mut Transaction<'_>,
        found: &Found,
    ) -> Result<RunToken, StoreError> {
        let row = sqlx::query(LAST_NUMBERS)
            .bind(found.seq)
            .fetch_one(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        let mut columns = Columns::of(&row);
        let numbers = (columns.take()?, columns.take()?);
        Ok(self.token(found.seq, RunId::from(found.id.clone()), numbers))
    }
}

impl Write for Begin {
    type Output = Begun;

    fn commit(&self) -> Commit {
        match self.run.acknowledged {
            Acknowledged::Begun => Commit::OnDisk,
            Acknowledged::Ended => Commit::Soon,
        }
    }

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Begun, StoreError> {
        if let Some(claim) = &self.run.claim
            && claimed(to, claim).await? == Timely::Late
        {
            return Err(StoreError::Fenced);
        }
        let parent = self.run.parent.as_ref().map(RunId::as_str);
        if let Some(seq) = self.insert(to, parent).await? {
            return self.fill(to, seq).await.map(Begun::Fresh);
        }
        // What there is of the run may have been written in this transaction.
        to.settle().await?;
        let taken = || StoreError::Taken { id: self.id.to_string() };
        let found = self.find(to).await?.ok_or_else(taken)?;
        if found.token == self.token {
            // Written before the connection broke.
            return self.resumed(to, &found).await.map(Begun::Fresh);
        }
        if self.run.key.is_none() {
            return Err(taken());
        }
        let again = match self.run.repeat {
            Repeat::Never => false,
            Repeat::Failed | Repeat::Named => !found.valid,
            Repeat::Always => true,
        };
        match found.state.as_str() {
            "done" if again => self.repeat(to, &found).await,
            "done" => {
                self.require_same_job(to, &found).await?;
                whole(to, found.seq).await.map(Box::new).map(Begun::Finished)
            }
            "postponed" => self.take_over(to, &found).await,
            _ if self.run.claim.is_some() => self.take_over(to, &found).await,
            _ if lives(to, &found.owner, found.started_at).await? => {
                Ok(Begun::Busy { id: RunId::from(found.id), owner: Owner::shown(&found.owner) })
            }
            _ => self.take_over(to, &found).await,
        }
    }
}

impl NewRun {
    /// Returns what tells this question from others: the job, its terms, and who is asked.
    pub fn digest(&self) -> String {
        let Self { contract, job, terms, driver, .. } = self;
        let Driver { driver, provider, model, mode: _ } = driver;
        let system = job.system.as_deref().unwrap_or_default();
        let parts = [contract.fingerprint.as_str(), &job.prompt, system, driver, provider, model];
        let parts = parts.into_iter().chain(terms.iter().map(String::as_str));
        Keys::new([b"question".as_slice()]).key(parts.map(str::as_bytes))
    }
}

/// Claims that the process `owner` lives, which was at something since `since_ms` at least.
pub(super) async fn lives(
    to: &mut Transaction<'_>,
    owner: &str,
    since_ms: i64,
) -> Result<bool, StoreError> {
    match to.place.owner.life_of(owner) {
        Life::Alive => Ok(true),
        Life::Dead => Ok(false),
        Life::Elsewhere => {
            let row = sqlx::query(SEEN)
                .bind(owner)
                .fetch_optional(&mut *to.connection)
                .await
                .map_err(to.fail())?;
            let seen: Option<i64> = row.map(|row| Columns::of(&row).take()).transpose()?;
            Ok(to.now_ms - seen.unwrap_or(since_ms).max(since_ms) < SILENCE_MS)
        }
    }
}

/// Reads the run `seq` with its texts.
pub(crate) async fn whole(to: &mut Transaction<'_>, seq: i64) -> Result<Run, StoreError> {
    let sql = format!("SELECT {SUMMARY}, {TEXTS} FROM {WHOLE} WHERE seq = $1");
    let row = sqlx::query(AssertSqlSafe(sql))
        .bind(seq)
        .fetch_one(&mut *to.connection)
        .await
        .map_err(to.fail())?;
    Ok(Columns::of(&row).run()?.0)
}
