//! A custom control behind the common sender: what holds, and what may not be.

use super::control::{CustomControl, Flows, Limits, Opening};
use crate::sender::{Ack, Control, Loss, Outbound, Progress};
use incast_transport::{Flow, FlowId, HostId, HostSite, Rate, Segments, Time};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Calls of a timer in a row while nothing was sent and nothing was in flight, after which a flow
/// is taken for one that never sends.
const TIMERS_MOST: u32 = 100_000;
/// The same for retransmission timeouts with a window of 0.
const TIMEOUTS_MOST: u32 = 8;

/// Why a control cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    at: Time,
    flow: FlowId,
    call: &'static str,
    problem: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { at, flow, call, problem } = self;
        write!(f, "flow {} at {at}, {call}: {problem}", flow.0)
    }
}

/// What went wrong in a run: the first failure in simulated time, whichever thread found it. Threads
/// end at the same window, so it does not depend on their number.
#[derive(Default)]
pub(super) struct Failures {
    first: Mutex<Option<Failure>>,
    halt: Mutex<Arc<AtomicBool>>,
}

impl Failures {
    pub fn begin(&self, halt: &Arc<AtomicBool>) {
        *self.first.lock().expect("no panic") = None;
        *self.halt.lock().expect("no panic") = halt.clone();
    }

    pub fn first(&self) -> Option<Failure> {
        self.first.lock().expect("no panic").clone()
    }

    fn add(&self, failure: Failure) {
        let mut first = self.first.lock().expect("no panic");
        let order = |one: &Failure| (one.at, one.flow.0);
        if first.as_ref().is_none_or(|known| order(&failure) < order(known)) {
            *first = Some(failure);
        }
        self.halt.lock().expect("no panic").store(true, Ordering::Relaxed);
    }
}

/// The control of one flow, and its limits until the next call. Once it has failed, the flow is
/// stopped and the control is not called again.
pub(super) struct Guarded {
    control: Option<Box<dyn CustomControl>>,
    limits: Limits,
    flow: FlowId,
    failures: Arc<Failures>,
    /// Timers in a row while nothing was sent, and what had been sent.
    timers: u32,
    sent: u64,
    /// Retransmission timeouts in a row with a window of 0.
    timeouts: u32,
}

impl Guarded {
    pub fn open(flows: &dyn Flows, opening: &Opening<'_>, failures: &Arc<Failures>) -> Guarded {
        let stopped = Limits::window(0);
        let mut own = Guarded {
            control: None,
            limits: stopped,
            flow: opening.flow.id,
            failures: failures.clone(),
            timers: 0,
            sent: 0,
            timeouts: 0,
        };
        match flows.open(opening) {
            Ok((control, limits)) => {
                own.control = Some(control);
                own.take("opening", opening.now, true, Ok(limits));
            }
            Err(problem) => own.fail("opening", opening.now, problem),
        }
        own
    }

    #[cold]
    fn fail(&mut self, call: &'static str, at: Time, problem: String) {
        self.failures.add(Failure { at, flow: self.flow, call, problem });
        self.control = None;
        self.limits = Limits::window(0);
    }

    /// Takes the limits that a call returned. `quiet`: nothing is in flight, so no ACK will come.
    #[inline]
    fn take(
        &mut self,
        call: &'static str,
        now: Time,
        quiet: bool,
        returned: Result<Limits, String>,
    ) {
        let limits = match returned {
            Ok(limits) => limits,
            Err(problem) => return self.fail(call, now, problem),
        };
        // A timer that is due at this instant runs after the packets that arrive.
        let due = limits.timer == self.limits.timer;
        if let Some(problem) = refused(&limits, now, due, quiet) {
            return self.fail(call, now, problem);
        }
        self.limits = limits;
    }
}

/// What is wrong with limits at `now`.
#[inline]
fn refused(limits: &Limits, now: Time, due: bool, quiet: bool) -> Option<String> {
    let Limits { window, pacing, timer } = *limits;
    if pacing == Some(Rate(0)) {
        return Some("the pacing rate is 0; expected more than 0, or none".into());
    }
    if timer <= now && !due {
        return Some(format!(
            "the timer is set to {timer}; expected a time later than now, or none"
        ));
    }
    if quiet && window == 0 && timer == Time::NEVER {
        return Some(
            "the flow never sends again: its window is 0, nothing is in flight and no timer is set"
                .into(),
        );
    }
    None
}

/// Nothing is in flight and something is left to send.
#[inline]
fn quiet(progress: &Progress) -> bool {
    progress.acknowledged == progress.sent && progress.sent < progress.size
}

impl Control for Guarded {
    fn on_send(&mut self, packet: &mut Outbound, progress: &Progress) {
        let Some(control) = &mut self.control else { return };
        match control.on_send(packet, progress) {
            Ok(None) => {}
            Ok(Some(limits)) => self.take("on_send", progress.now, false, Ok(limits)),
            Err(problem) => self.fail("on_send", progress.now, problem),
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        let Some(control) = &mut self.control else { return };
        let returned = control.on_ack(ack, progress);
        self.timeouts = 0;
        self.take("on_ack", progress.now, quiet(progress), returned);
    }

    fn on_loss(&mut self, loss: Loss, progress: &Progress) {
        let Some(control) = &mut self.control else { return };
        let returned = control.on_loss(loss, progress);
        self.take("on_loss", progress.now, false, returned);
        self.timeouts = match loss {
            Loss::Timeout if self.limits.window == 0 => self.timeouts + 1,
            _ => 0,
        };
        if self.timeouts >= TIMEOUTS_MOST && self.control.is_some() {
            let problem = format!(
                "the flow never sends again: its window is 0 after {TIMEOUTS_MOST} retransmission \
                 timeouts in a row"
            );
            self.fail("on_loss", progress.now, problem);
        }
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.limits.timer
    }

    fn on_deadline(&mut self, progress: &Progress) {
        let Some(control) = &mut self.control else { return };
        self.limits.timer = Time::NEVER;
        let returned = control.on_timer(progress);
        let silent = quiet(progress) && progress.sent == self.sent;
        self.timers = if silent { self.timers + 1 } else { 0 };
        self.sent = progress.sent;
        self.take("on_timer", progress.now, quiet(progress), returned);
        if self.timers >= TIMERS_MOST && self.control.is_some() {
            let problem = format!(
                "the flow never sends: its timer ran {TIMERS_MOST} times in a row while nothing was \
                 sent"
            );
            self.fail("on_timer", progress.now, problem);
        }
    }

    #[inline]
    fn window(&self) -> u64 {
        self.limits.window
    }

    #[inline]
    fn pacing(&self) -> Option<Rate> {
        self.limits.pacing
    }
}

/// Packets of a flow of `packets` that leave before the first ACK.
pub(super) fn first_window(flows: &dyn Flows, site: &HostSite, mss: u16, packets: u32) -> u32 {
    let flow = Flow {
        id: FlowId(0),
        src: site.host,
        dst: HostId((site.host.0 + 1) % site.fabric.hosts.max(2)),
        size: packets.max(1) as u64 * mss as u64,
        start: Time::ZERO,
        segments: Segments::Uniform(mss),
        burst: None,
        connection: None,
    };
    let segment = mss as u64;
    let opening = Opening { now: Time::ZERO, flow: &flow, site, segment, others: 0 };
    let window = flows.open(&opening).map_or(0, |(_, limits)| limits.window);
    packets.min(u32::try_from(window / segment).unwrap_or(u32::MAX).max(1))
}
