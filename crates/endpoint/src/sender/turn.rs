//! What the sending halves of a host share: its queues, and the packets that they make.

use super::control::{Control, Options, Outbound};
use super::cuts::Cuts;
use super::headers::{Urgency, open};
use super::outgoing::{Gate, Outgoing, Timer};
use super::views::{self, Data, GoBack};
use crate::queue::{Agenda, Queue};
use incast_transport::{
    Env, Extension, Flow, FlowId, Header, Packet, PacketRef, Reason, Time, Timers, flag,
};

/// What a flow or connection needs of its host after each event.
pub(super) struct Turn<'a> {
    pub queues: &'a mut [Urgency; 2],
    pub ready: &'a mut Queue<FlowId>,
    pub alarms: &'a mut Agenda<(Time, FlowId, Timer)>,
    pub timers: &'a Timers,
    pub options: &'a Options,
}

impl Turn<'_> {
    /// See [`SenderDriven::refresh`]; why the flow does not send. `key` stands for it in queues.
    #[inline(always)]
    pub fn give<C: Control, F: Cuts>(
        &mut self,
        now: Time,
        key: FlowId,
        out: &mut Outgoing<C, F>,
    ) -> Reason {
        let progress = out.progress(now);
        while let Some(request) = out.control.request(&progress) {
            let queue = &mut self.queues[(request.class != 0) as usize];
            queue.push(open(out.flow.current(), &progress, &request), &request.extension);
        }
        let gate = out.gate(now, self.options.admission);
        out.gate = gate;
        if gate == Gate::Open && !out.queued {
            out.queued = true;
            self.ready.push_back(key);
        }
        let dues = [
            (Timer::Recovery, out.due(Timer::Recovery, self.timers)),
            (Timer::Pace, if let Gate::Pacing(at) = gate { at } else { Time::NEVER }),
            (Timer::Control, out.due(Timer::Control, self.timers)),
        ];
        for (timer, due) in dues {
            if due < out.armed[timer as usize] {
                // A shorter RTT may bring a timeout before now: then it is due at once.
                let due = due.max(now);
                out.armed[timer as usize] = due;
                self.alarms.push((due, key, timer));
            }
        }
        match gate {
            Gate::Open | Gate::Empty => Reason::Ready,
            Gate::Window => Reason::Window,
            Gate::Pacing(_) => Reason::Pacing,
        }
    }
}

/// An ACK, and whether it is a request to go back.
#[inline]
pub(super) fn decoded(header: &Header) -> Option<(views::Ack, bool)> {
    match (views::Ack::read(header), GoBack::read(header)) {
        (Some(ack), _) => Some((ack, false)),
        (None, Some(GoBack { acked, cumulative, marked })) => {
            Some((views::Ack { acked, cumulative, marked, ..views::Ack::default() }, true))
        }
        (None, None) => None,
    }
}

/// Makes a packet of a flow, which begins at this byte of it and is or is not its last.
#[inline(always)]
pub(super) fn data_packet(
    env: &mut Env<'_>,
    options: &Options,
    (flow, byte, last): (&Flow, u64, bool),
    packet: &Outbound,
    path: u16,
) -> PacketRef {
    let (window, nibble) = (packet.window, packet.nibble);
    let handle = env.packets.create(Packet {
        header: Data { sequence: byte as u32, window, nibble, last }.into(),
        src: flow.src,
        dst: flow.dst,
        flow: flow.id,
        payload: packet.payload,
        path,
        mark: packet.mark,
        class: options.data_class,
        transport: options.transport,
        flags: if packet.retransmit { flag::RETRANSMIT } else { 0 },
        extension: 0,
    });
    if packet.extension != Extension::None {
        env.packets.extend(handle, packet.extension);
    }
    env.packets.stamps_mut(handle).informed = 0;
    handle
}
