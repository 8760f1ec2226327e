//! Asking the model, and asking it again when its provider fails.

use std::ops::ControlFlow;
use std::time::Duration;

use airtight_core::codec::{FailureKind, ProviderFailure, Reply, Request};
use airtight_core::price::Cost;
use airtight_core::run::{Bill, CallFailure, EventKind};
use airtight_core::stream::Impossible;
use tokio::time::sleep;
use tracing::{Instrument as _, Span};

use super::Performance;
use crate::journal::{Arrival, Course, Departure, Landing};
use crate::provider::{End, Exchange, Heard};
use crate::telemetry::{self, Cut};

/// It is time to stop.
struct Reached;

impl Performance<'_> {
    /// Sends `request` until there is an answer, no hope or no time.
    pub(super) async fn converse(&mut self, request: Request) {
        let span = telemetry::turn(self.scene.provider, self.run.job(), self.run.turns());
        self.exchange(&request, &span).instrument(span.clone()).await;
    }

    async fn exchange(&mut self, request: &Request, span: &Span) {
        let mut retries = 0;
        loop {
            let Ok(number) = self.depart(request).await else {
                return self.mind_limit();
            };
            let (mut exchange, impossible) = self.attempt(request).await;
            if let Some(record) = exchange.record.take() {
                self.run.recorded(*record);
            }
            let account = Account::of(&exchange, impossible.as_ref());
            let pause = self.digest(exchange, impossible, retries, span).await;
            self.publish();
            self.arrive(number, &account).await;
            let Some((pause, partial)) = pause else { return };
            retries += 1;
            if self.pause(pause).await.is_break() {
                telemetry::turn_ended(span, &partial, Some(Cut::Stopped));
                return self.mind_limit();
            }
        }
    }

    /// Tells the run what came of a request; returns how long to wait if it is sent again, with what
    /// was said before it failed.
    async fn digest(
        &mut self,
        exchange: Exchange,
        impossible: Option<Impossible>,
        retries: u32,
        span: &Span,
    ) -> Option<(Duration, Reply)> {
        let reply = exchange.reply;
        let failure = match (exchange.end, impossible) {
            (_, Some(impossible)) => {
                telemetry::turn_ended(span, &reply, Some(Cut::Impossible));
                self.run.failed(reply, CallFailure::Impossible(Box::new(impossible)));
                return None;
            }
            (End::Whole, None) => {
                telemetry::turn_ended(span, &reply, None);
                self.take(reply).await;
                return None;
            }
            (End::Stopped, None) => {
                telemetry::turn_ended(span, &reply, Some(Cut::Stopped));
                self.stopped(reply);
                return None;
            }
            (End::Failed(failure), None) => failure,
        };
        let left = self.limit.left();
        let cut = Some(Cut::Failed(failure.kind));
        let pause = self.scene.agent.retries.pause(retries, &failure, fastrand::f64(), left);
        let Some(pause) = pause else {
            telemetry::turn_ended(span, &reply, cut);
            self.run.failed(reply, CallFailure::Provider(failure));
            return None;
        };
        self.run.retried(&reply, &failure, pause);
        if self.run.is_over() {
            telemetry::turn_ended(span, &reply, cut);
            return None;
        }
        Some((pause, reply))
    }

    /// Has the journal put a request on record before it leaves; fails if it must not leave any more.
    async fn depart(&mut self, request: &Request) -> Result<Option<i64>, Reached> {
        let Some(journal) = self.scene.journal else { return Ok(None) };
        let limit = self.limit.clone();
        let parent_call_id = self.scene.parent;
        let recorded = async {
            tokio::select! {
                biased;
                number = journal.open(Departure { model: &request.model, parent_call_id }) => Ok(number),
                () = limit.reached() => Err(Reached),
            }
        };
        self.background.alongside(recorded).await
    }

    /// Has the journal put on record what came of a request.
    async fn arrive(&mut self, number: Option<i64>, account: &Account) {
        let (Some(journal), Some(number)) = (self.scene.journal, number) else { return };
        let is_over = self.run.is_over() && self.scene.parent.is_none();
        let arrival = Arrival {
            parent_call_id: self.scene.parent,
            bill: account.bill,
            told_cost: account.told_cost,
            end: match &account.end {
                End::Whole => Landing::Whole,
                End::Stopped => Landing::Stopped,
                End::Failed(failure) => Landing::Failed(failure),
            },
            course: if is_over { Course::Over } else { Course::On },
        };
        self.background.alongside(journal.close(number, arrival)).await;
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

/// What a request used and how it ended, before the run takes what was said.
struct Account {
    bill: Bill,
    told_cost: Option<Cost>,
    end: End,
}

impl Account {
    fn of(exchange: &Exchange, impossible: Option<&Impossible>) -> Self {
        let bill = match &exchange.end {
            End::Whole | End::Stopped => Bill::of_answer(&exchange.reply),
            End::Failed(failure) => Bill::of_failure(&exchange.reply, failure),
        };
        let end = if impossible.is_some() { End::Stopped } else { exchange.end.clone() };
        Self { bill, told_cost: exchange.reply.cost, end }
    }
}
