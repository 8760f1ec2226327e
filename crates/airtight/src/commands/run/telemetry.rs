//! Spans of runs for an OpenTelemetry collector, as the standard `OTEL_*` variables say.
//!
//! A collector is never waited for while a run goes on, and at the end only for a moment.

use std::io;
use std::time::Duration;

use airtight_agent::TELEMETRY_TARGET;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{Key, KeyValue};
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, RetryPolicy, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use tokio::runtime::{self, Runtime};
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::filter_fn;

use super::logging::Listener;
use crate::env::Environment;

/// How long the end of the process may wait for a collector.
const FLUSH_LIMIT: Duration = Duration::from_secs(2);

/// How often a batch is sent again: often enough for a hiccup, and over soon if nobody is there.
const RETRIES: usize = 1;

/// The name of the service unless a variable says another.
const SERVICE_NAME: &str = "airtight";

/// Why nothing can be exported.
#[derive(Debug, thiserror::Error)]
pub(super) enum TelemetryError {
    #[error(transparent)]
    Exporter(#[from] ExporterBuildError),
    #[error(transparent)]
    Runtime(#[from] io::Error),
    #[error("OTEL_EXPORTER_OTLP_PROTOCOL is `{0}`, and only http/protobuf is spoken here")]
    Protocol(String),
}

/// Exports spans; dropping it hands over what is left.
#[derive(Debug)]
pub(super) struct Telemetry(SdkTracerProvider);

impl Telemetry {
    /// Starts to export if there is a collector to export to.
    pub(super) fn start(
        environment: &Environment,
        listeners: &mut Vec<Listener>,
    ) -> Result<Option<Self>, TelemetryError> {
        if !is_wanted(environment) {
            return Ok(None);
        }
        if let Some(other) = foreign_protocol(environment) {
            return Err(TelemetryError::Protocol(other.to_owned()));
        }
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_retry_policy(RetryPolicy::default().with_max_retries(RETRIES))
            .build()?;
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(Carrier { exporter, runtime })
            .with_resource(resource())
            .build();
        // Other spans, and all events, hold texts that are nobody else's business.
        let is_ours = filter_fn(|seen| seen.is_span() && seen.target() == TELEMETRY_TARGET);
        let layer = tracing_opentelemetry::layer()
            .with_tracer(provider.tracer(SERVICE_NAME))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_target(false);
        listeners.push(layer.with_filter(is_ours).boxed());
        Ok(Some(Self(provider)))
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown_with_timeout(FLUSH_LIMIT) {
            tracing::debug!(%error, "not all spans were exported");
        }
    }
}

/// Claims that somebody named a collector and did not switch it off.
fn is_wanted(environment: &Environment) -> bool {
    let endpoints = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
    let disabled = environment.variable("OTEL_SDK_DISABLED");
    let exporters = environment.variable("OTEL_TRACES_EXPORTER").unwrap_or("otlp");
    endpoints.iter().any(|name| environment.variable(name).is_some())
        && !disabled.is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
        && exporters.split(',').any(|name| name.trim() == "otlp")
}

/// Returns the protocol that the collector is to be spoken to, if it is not ours.
fn foreign_protocol(environment: &Environment) -> Option<&str> {
    let variables = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];
    let wanted = variables.iter().find_map(|name| environment.variable(name))?;
    (wanted.trim() != "http/protobuf").then_some(wanted)
}

/// Says who exports.
fn resource() -> Resource {
    let is_named = |name: &opentelemetry::Value| !name.as_str().starts_with("unknown_service");
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let resource = Resource::builder().with_attribute(version);
    let detected = Resource::builder().build();
    match detected.get_ref(&Key::from_static_str("service.name")).filter(|name| is_named(name)) {
        Some(_) => resource.build(),
        None => resource.with_service_name(SERVICE_NAME).build(),
    }
}

/// Exports on a runtime of its own, because the thread that the SDK exports on has none.
#[derive(Debug)]
struct Carrier {
    exporter: opentelemetry_otlp::SpanExporter,
    runtime: Runtime,
}

impl SpanExporter for Carrier {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let sent = self.runtime.block_on(self.exporter.export(batch));
        if let Err(error) = &sent {
            tracing::debug!(%error, "the collector did not take the spans");
        }
        sent
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
