//! Answers of the API that are kept by the key of their request, so that a request that is sent again
//! changes nothing again.

use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::rows::{Columns, names};
use crate::run::fresh;
use crate::writer::{Transaction, Write};

const FORGET: &str = "DELETE FROM api_answers WHERE asked_at < $1";
const RESERVE: &str = "INSERT INTO api_answers (id, digest, token, status, body, asked_at) \
     VALUES ($1, $2, $3, 0, '', $4) ON CONFLICT DO NOTHING";
const FIND: &str = "SELECT digest, token, status, body, asked_at FROM api_answers WHERE id = $1";
const TAKE_OVER: &str = "UPDATE api_answers SET digest = $3, token = $4, asked_at = $5 \
     WHERE id = $1 AND token = $2 AND status = 0";
const KEEP: &str =
    "UPDATE api_answers SET status = $3, body = $4 WHERE id = $1 AND token = $2 AND status = 0";
const RELEASE: &str = "DELETE FROM api_answers WHERE id = $1 AND token = $2 AND status = 0";

/// How long an answer is kept.
const KEPT_MS: i64 = 86_400_000;

/// How long a request may be under way; after that its process is taken to be gone.
const PATIENCE_MS: i64 = 120_000;

/// What is known of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownAnswer {
    /// Nothing: whoever holds the token answers now.
    None(AnswerToken),
    /// It has its answer.
    Given {
        /// The status.
        status: i64,
        /// The body.
        body: String,
    },
    /// The same request is under way.
    Busy,
    /// It belongs to another request.
    Other,
}

/// The right to answer the request of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerToken {
    key: String,
    token: String,
}

impl Ledger {
    /// Finds the answer of a key, or lets the caller give it. `digest` tells requests apart.
    pub async fn known_answer(&self, key: &str, digest: &str) -> Result<KnownAnswer, StoreError> {
        names(&[("the key", key), ("the digest", digest)])?;
        let token = AnswerToken { key: key.to_owned(), token: fresh() };
        self.write(0, Reserve { token, digest: digest.to_owned() }).await
    }

    /// Keeps the answer of a key.
    pub async fn keep_answer(
        &self,
        token: AnswerToken,
        status: i64,
        body: &str,
    ) -> Result<(), StoreError> {
        self.write(0, Keep { token, answer: Some((status, body.to_owned())) }).await
    }

    /// Gives the key up: the request was refused, and may be sent again.
    pub async fn release_answer(&self, token: AnswerToken) -> Result<(), StoreError> {
        self.write(0, Keep { token, answer: None }).await
    }
}

struct Reserve {
    token: AnswerToken,
    digest: String,
}

impl Reserve {
    async fn take_over(
        &self,
        to: &mut Transaction<'_>,
        before: &str,
    ) -> Result<KnownAnswer, StoreError> {
        let done = sqlx::query(TAKE_OVER)
            .bind(self.token.key.as_str())
            .bind(before)
            .bind(self.digest.as_str())
            .bind(self.token.token.as_str())
            .bind(to.now_ms)
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        let is_taken = done.rows_affected() > 0;
        Ok(if is_taken { KnownAnswer::None(self.token.clone()) } else { KnownAnswer::Busy })
    }
}

impl Write for Reserve {
    type Output = KnownAnswer;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<KnownAnswer, StoreError> {
        let fail = to.fail();
        let forget = sqlx::query(FORGET).bind(to.now_ms - KEPT_MS);
        forget.execute(&mut *to.connection).await.map_err(&fail)?;
        sqlx::query(RESERVE)
            .bind(self.token.key.as_str())
            .bind(self.digest.as_str())
            .bind(self.token.token.as_str())
            .bind(to.now_ms)
            .execute(&mut *to.connection)
            .await
            .map_err(&fail)?;
        let find = sqlx::query(FIND).bind(self.token.key.as_str());
        let row = find.fetch_one(&mut *to.connection).await.map_err(&fail)?;
        let mut columns = Columns::of(&row);
        let (digest, token): (String, String) = (columns.take()?, columns.take()?);
        let (status, body): (i64, String) = (columns.take()?, columns.take()?);
        let asked_at: i64 = columns.take()?;
        if token == self.token.token {
            return Ok(KnownAnswer::None(self.token.clone()));
        }
        match status {
            0 if to.now_ms - asked_at > PATIENCE_MS => self.take_over(to, &token).await,
            _ if digest != self.digest => Ok(KnownAnswer::Other),
            0 => Ok(KnownAnswer::Busy),
            status => Ok(KnownAnswer::Given { status, body }),
        }
    }
}

struct Keep {
    token: AnswerToken,
    /// Absent, the key is given up.
    answer: Option<(i64, String)>,
}

impl Write for Keep {
    type Output = ();

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        let AnswerToken { key, token } = &self.token;
        let query = match &self.answer {
            Some((status, body)) => sqlx::query(KEEP)
                .bind(key.as_str())
                .bind(token.as_str())
                .bind(*status)
                .bind(body.as_str()),
            None => sqlx::query(RELEASE).bind(key.as_str()).bind(token.as_str()),
        };
        query.execute(&mut *to.connection).await.map_err(to.fail()).map(drop)
    }
}
