//! Asking the model, and asking it again when its provider fails.

use std::ops::ControlFlow;
use std::time::Duration;

use airtight_core::codec::{FailureKind, ProviderFailure, Reply, Request};
use airtight_core::run::{CallFailure, EventKind};
use airtight_core::stream::Impossible;
use tokio::time::sleep;
use tracing::{Instrument as _, Span};

use super::Performance;
use crate::provider::{End, Exchange, Heard};
use crate::telemetry::{self, Cut};

impl Performance<'_> {
    /// Sends `request` until there is an answer, no hope or no time.
    pub(super) async fn converse(&mut self, request: Request) {
        let span = telemetry::turn(self.scene.provider, self.run.job(), self.run.turns());
        self.exchange(&request, &span).instrument(span.clone()).await;
    }

    async fn exchange(&mut self, request: &Request, span: &Span) {
        let mut retries = 0;
        loop {
            let (mut exchange, impossible) = self.attempt(request).await;
            if let Some(record) = exchange.record.take() {
                self.run.recorded(*record);
            }
            let failure = match (exchange.end, impossible) {
                (_, Some(impossible)) => {
                    telemetry::turn_ended(span, &exchange.reply, Some(Cut::Impossible));
                    let failure = CallFailure::Impossible(Box::new(impossible));
                    return self.run.failed(exchange.reply, failure);
                }
                (End::Whole, None) => {
                    telemetry::turn_ended(span, &exchange.reply, None);
                    return self.take(exchange.reply).await;
                }
                (End::Stopped, None) => {
                    telemetry::turn_ended(span, &exchange.reply, Some(Cut::Stopped));
                    return self.stopped(exchange.reply);
                }
                (End::Failed(failure), None) => failure,
            };
            let policy = self.scene.agent.retries;
            let left = self.limit.left();
            let cut = Some(Cut::Failed(failure.kind));
            let Some(pause) = policy.pause(retries, &failure, fastrand::f64(), left) else {
                telemetry::turn_ended(span, &exchange.reply, cut);
                return self.run.failed(exchange.reply, CallFailure::Provider(failure));
            };
            retries += 1;
            self.run.retried(&exchange.reply, &failure, pause);
            self.publish();
            if self.run.is_over() {
                return telemetry::turn_ended(span, &exchange.reply, cut);
            }
            if self.pause(pause).await.is_break() {
                telemetry::turn_ended(span, &exchange.reply, Some(Cut::Stopped));
                return self.mind_limit();
            }
        }
    }

    /// Ends the run first, then says what was said until then: no failure of the provider.
    fn stopped(&mut self, partial: Reply) {
        self.mind_limit();
        let message = "the run was stopped while the model spoke".to_owned();
        self.run.failed(
            partial,
            CallFailure::Provider(ProviderFailure {
                kind: FailureKind::Network,
                status: None,
                code: None,
                message,
                retry_after: None,
            }),
        );
    }

    /// Sends `request` once; stops as soon as the answer can no longer conform.
    async fn attempt(&mut self, request: &Request) -> (Exchange, Option<Impossible>) {
        let mut watch = self.run.watch();
        let mut impossible = None;
        let scene = self.scene;
        self.run.sent();
        let run = &mut self.run;
        let mut listen = |heard: Heard<'_>| {
            let is_enough = match heard {
                Heard::Delta(delta) => {
                    scene.emit(EventKind::Delta(run.identify(delta.clone())));
                    impossible = watch.push(delta);
                    impossible.is_some()
                }
                Heard::Activity(event) => {
                    run.witnessed(*event);
                    run.take_events().into_iter().for_each(|kind| scene.emit(kind));
                    run.is_over()
                }
                Heard::WentOn(used) => {
                    run.went_on(&used);
                    run.is_over()
                }
            };
            if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let sent = scene.provider.send(request, &mut listen, self.limit.reached());
        let exchange = self.background.alongside(sent).await;
        (exchange, impossible)
    }

    /// Waits before the next request, or breaks off when it is time to stop.
    async fn pause(&mut self, pause: Duration) -> ControlFlow<()> {
        let limit = self.limit.clone();
        let pause = async {
            tokio::select! {
                biased;
                () = limit.reached() => ControlFlow::Break(()),
                () = sleep(pause) => ControlFlow::Continue(()),
            }
        };
        self.background.alongside(pause).await
    }
}
