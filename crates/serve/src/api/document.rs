//! The `OpenAPI` document: made from the functions that answer, and from what may happen to any request.

use bytes::Bytes;
use utoipa::openapi::path::{HttpMethod, Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, InfoBuilder, ObjectBuilder, OpenApi, OpenApiBuilder,
    PathItem, Ref, ResponseBuilder, Type,
};
use utoipa::{PartialSchema as _, ToSchema as _};

use super::wire::{Failure, FailureDetail};
use crate::desk::Violation;

/// Where the document is.
pub(super) const PATH: &str = "/api/v1/openapi.json";

/// The name of the token in the document.
const TOKEN: &str = "token";

/// What may happen to any request, whatever it asks.
const ALWAYS: [(&str, &str); 7] = [
    ("400", "It cannot be read: `invalid_request`."),
    ("401", "It needs the token: `unauthorized`."),
    ("403", "A page of another site sent it: `foreign_origin`."),
    ("404", "There is no such thing: `not_found`."),
    ("421", "The server does not go by that name: `unknown_host`."),
    ("429", "Too many of them: `rate_limited`."),
    ("503", "The ledger cannot be used: `ledger`."),
];

/// What may happen to a name that is not whole.
const AMBIGUOUS: (&str, &str) = ("409", "Things stand otherwise; the code says how.");

/// What may happen to a request that changes something.
const CHANGING: [(&str, &str); 5] = [
    ("408", "It did not come in: `too_slow`."),
    ("413", "It is too large: `too_large`."),
    ("415", "It is no JSON: `not_json`."),
    ("422", "The contract rejects the value: `not_met`, with violations."),
    ("500", "A mistake of ours: `mistake`."),
];

/// Returns a document without operations.
pub(super) fn blank() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Airtight")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "What the ledger has, and what people change. Errors are always \
             `{\"error\": {\"code\", \"message\"}}`. The gateway of the formats of OpenAI and Anthropic \
             is not described here: its formats are theirs.",
        ));
    let components = ComponentsBuilder::new()
        .schema(Failure::name(), Failure::schema())
        .schema(FailureDetail::name(), FailureDetail::schema())
        .schema(Violation::name(), Violation::schema())
        .security_scheme(TOKEN, SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    OpenApiBuilder::new().info(info).components(Some(components.build())).build()
}

/// Adds to every operation what may happen to it whatever it asks, and what it needs.
pub(super) fn complete(mut document: OpenApi) -> OpenApi {
    for (path, item) in &mut document.paths.paths {
        // Whether there is a server is everybody's to know.
        let needs = if path == "/api/v1/health" { Needs::Nothing } else { Needs::Guard };
        for (method, operation) in operations(item) {
            if needs == Needs::Guard {
                describe(operation, &method);
                // What changes nothing, or nothing more, may be asked as often as anybody likes.
                let is_harmless = path.ends_with("/check") || path.ends_with("/stop");
                if method == HttpMethod::Post && !is_harmless {
                    operation.parameters.get_or_insert_default().push(key());
                }
            } else {
                ALWAYS
                    .iter()
                    .filter(|(status, _)| matches!(*status, "403" | "421" | "429"))
                    .for_each(|(status, about)| fail(operation, status, about));
            }
        }
    }
    document
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    Guard,
}

/// Returns the text of the document.
pub(super) fn text(document: &OpenApi) -> Bytes {
    document.to_json().unwrap_or_default().into()
}

/// Returns the document as it is served, for whoever writes it to a file.
#[cfg(test)]
pub(crate) fn document() -> OpenApi {
    let (_, described) = super::operations().split_for_parts();
    complete(described)
}

fn operations(item: &mut PathItem) -> Vec<(HttpMethod, &mut Operation)> {
    let all = [
        (HttpMethod::Get, &mut item.get),
        (HttpMethod::Post, &mut item.post),
        (HttpMethod::Patch, &mut item.patch),
        (HttpMethod::Delete, &mut item.delete),
    ];
    all.into_iter().filter_map(|(method, it)| Some((method, it.as_mut()?))).collect()
}

fn describe(operation: &mut Operation, method: &HttpMethod) {
    for (status, about) in ALWAYS.iter().chain([&AMBIGUOUS]) {
        fail(operation, status, about);
    }
    if *method == HttpMethod::Get {
        return;
    }
    for (status, about) in &CHANGING {
        fail(operation, status, about);
    }
    operation.security = Some(vec![SecurityRequirement::new::<_, [&str; 0], &str>(TOKEN, [])]);
}

fn fail(operation: &mut Operation, status: &str, about: &str) {
    let schema = Ref::from_schema_name(Failure::name());
    let content = ContentBuilder::new().schema(Some(schema)).build();
    let response =
        ResponseBuilder::new().description(about).content("application/json", content).build();
    operation.responses.responses.entry(status.to_owned()).or_insert(response.into());
}

/// Returns the header that makes a second request the same.
fn key() -> Parameter {
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(255))
        .pattern(Some("^[!-~]+$"));
    ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .description(Some("A second request with the same key has the answer of the first."))
        .schema(Some(text))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_needs_the_token_and_takes_a_key_if_it_is_posted() {
        let mut described = document();
        let mut changes = 0;
        for (path, item) in &mut described.paths.paths {
            for (method, operation) in operations(item) {
                let is_change = method != HttpMethod::Get;
                changes += usize::from(is_change);
                assert_eq!(operation.security.is_some(), is_change, "{path}");
                let failures =
                    operation.responses.responses.keys().filter(|it| it.as_str() >= "400");
                assert!(failures.count() >= 3, "{path}");
            }
        }
        assert!(changes >= 6);
    }
}
