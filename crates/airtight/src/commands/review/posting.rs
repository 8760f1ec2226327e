//! The review on GitHub: which pull request, with which token, and what its answers mean.

use airtight_agent::{GITHUB_API_URL, PostError, PullRequest, post_review};
use airtight_core::review::{Review, github};
use airtight_core::run;
use secrecy::{ExposeSecret as _, SecretString};

use crate::cli::PostArgs;
use crate::env::Environment;
use crate::error::{Error, Outcome};

/// The variables that may hold a token, first come first served: GitHub's own programs read these.
const TOKENS: [&str; 2] = ["GITHUB_TOKEN", "GH_TOKEN"];

/// Where a review is posted, and with which token.
pub(super) struct Posting {
    pull: PullRequest,
    api_url: String,
    token: SecretString,
    commit: Option<String>,
}

impl Posting {
    /// Finds out where the review is to go, if anywhere; refuses what cannot work before anything is
    /// spent.
    pub(super) fn find(args: &PostArgs, environment: &Environment) -> Result<Option<Self>, Error> {
        let Some(named) = &args.post else { return Ok(None) };
        let pull = match named.as_str() {
            "" => of_actions(environment).ok_or_else(|| {
                Error::new(Outcome::Usage, "nobody says which pull request the review is for")
                    .hint("name it: `--post OWNER/REPO#NUMBER`")
            })?,
            named => PullRequest::parse(named).ok_or_else(|| {
                Error::new(Outcome::Usage, format!("no such pull request: `{named}`"))
                    .hint("write `--post OWNER/REPO#NUMBER`")
            })?,
        };
        let token = TOKENS.iter().find_map(|name| environment.variable(name));
        let token = token.map(|token| SecretString::from(token.trim().to_owned()));
        let token = token.ok_or_else(|| {
            Error::new(Outcome::Run(run::Outcome::Auth), "there is no token for GitHub")
                .hint("type `export GITHUB_TOKEN=…`; it needs to write pull requests")
        })?;
        let typed = args.api_url.as_ref().map(ToString::to_string);
        let api_url = typed.or_else(|| environment.variable("GITHUB_API_URL").map(str::to_owned));
        let api_url = api_url.unwrap_or_else(|| GITHUB_API_URL.to_owned());
        Ok(Some(Self { pull, api_url, token, commit: args.commit.clone() }))
    }

    /// Returns what must not show.
    pub(super) fn secret(&self) -> String {
        self.token.expose_secret().to_owned()
    }

    /// Posts the review; returns where it can be read, if GitHub says so.
    pub(super) async fn post(&self, review: &Review) -> Result<Option<String>, Error> {
        let payload = github(review, self.commit.as_deref());
        post_review(&self.api_url, &self.pull, &self.token, &payload)
            .await
            .map_err(|error| self.refused(error))
    }

    fn refused(&self, error: PostError) -> Error {
        let provider = Outcome::Run(run::Outcome::Provider);
        let auth = Outcome::Run(run::Outcome::Auth);
        let PullRequest { owner, repository, number } = &self.pull;
        let (outcome, hint) = match &error {
            PostError::Address(_) => (Outcome::Usage, "check `--api-url`".to_owned()),
            PostError::Token => (auth, "set another token in `GITHUB_TOKEN`".to_owned()),
            PostError::Unreachable { .. } => {
                (provider, "nothing was posted; check `--api-url`, the network and `HTTPS_PROXY`".to_owned())
            }
            PostError::Readable { .. } => (Outcome::Usage, "write `https://`".to_owned()),
            PostError::Lost { .. }
            | PostError::Silent { .. }
            | PostError::Refused { status: 500.., .. } => (
                provider,
                format!("it may have been posted: look at {owner}/{repository}#{number} before you try again"),
            ),
            PostError::Refused { status: 401, .. } => {
                (auth, "the token is not valid: set another one in `GITHUB_TOKEN`".to_owned())
            }
            PostError::Refused { status: 403 | 429, retry_after: Some(pause), .. } => {
                (provider, format!("GitHub wants to be left alone for {} s; nothing was posted", pause.as_secs()))
            }
            PostError::Refused { status: 403, .. } => (
                auth,
                "the token may not write pull requests here; in GitHub Actions: `permissions: pull-requests: write`".to_owned(),
            ),
            PostError::Refused { status: 404, .. } => (
                auth,
                format!("there is no {owner}/{repository}#{number}, or the token may not see it"),
            ),
            PostError::Refused { status: 422, .. } => (
                provider,
                "a line is not in the pull request as GitHub has it: push first, or review the same change: `--base` as on GitHub, `--commit HASH`".to_owned(),
            ),
            PostError::Refused { .. } => (provider, "nothing was posted; try again later".to_owned()),
        };
        Error::new(outcome, "the review was not posted").caused_by(error).hint(hint)
    }
}

/// Returns the pull request that GitHub Actions run for.
fn of_actions(environment: &Environment) -> Option<PullRequest> {
    let repository = environment.variable("GITHUB_REPOSITORY")?;
    let number = environment.variable("GITHUB_REF")?.strip_prefix("refs/pull/")?;
    let number = number.split('/').next()?;
    PullRequest::parse(&format!("{repository}#{number}"))
}
