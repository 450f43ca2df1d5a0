//! ACKs that carry explicit feedback and SACK ranges, delayed ACKs that stand for several,
//! smaller payloads, and the packet that takes leave.

use super::controls::*;
use crate::sender::*;
use incast_transport::{Explicit, Extension, Flow, FlowId, Header, Span, Time, tcp_flag};

const END: Time = Time(100_000_000_000_000);
/// Bytes of the extension on every packet.
const OWN: u64 = 16;

fn fields(feedback: i32, reverse: i32) -> Explicit {
    Explicit::Window { long: false, rtt: 5, spacing: 7, feedback, reverse }
}

/// Sends the number of a packet and adds up what comes back.
#[derive(Default)]
struct Adding {
    sent: i32,
    sum: i32,
    window: u64,
}

impl Control for Adding {
    fn on_send(&mut self, packet: &mut Outbound, _progress: &Progress) {
        self.sent += 1;
        packet.extension = Extension::explicit(fields(1, 0));
    }
    fn on_ack(&mut self, ack: &Ack<'_>, _progress: &Progress) {
        let Extension::Explicit { fields: Explicit::Window { reverse, .. }, .. } = ack.extension
        else {
            panic!("{:?}", ack.extension)
        };
        self.sum += reverse;
    }
    fn on_loss(&mut self, _loss: Loss, _progress: &Progress) {}
    fn close(&mut self, progress: &Progress) -> Option<Request> {
        assert_eq!(progress.acknowledged, progress.size);
        let extension = Extension::explicit(fields(0, self.sum));
        Some(Request { nibble: 2, window: 0, class: 1, extension })
    }
    fn window(&self) -> u64 {
        self.window
    }
}

/// Returns what came; a delayed ACK returns the sum.
struct Returning;

fn feedback_of(extension: &Extension) -> i32 {
    match extension {
        Extension::Explicit { fields: Explicit::Window { feedback, reverse, .. }, .. } => {
            feedback + reverse
        }
        _ => 0,
    }
}

impl Feedback for Returning {
    fn on_data(&mut self, data: &Arriving<'_>, ack: &mut AckFields) -> Option<Notification> {
        ack.extension = Extension::explicit(fields(0, feedback_of(data.extension)));
        None
    }
    fn join(&mut self, earlier: &AckFields, ack: &mut AckFields) {
        let sum = feedback_of(&earlier.extension) + feedback_of(&ack.extension);
        ack.extension = Extension::explicit(fields(0, sum));
    }
}

struct AddingFactory;

impl ControlFactory for AddingFactory {
    type Control = Adding;
    type Feedback = Returning;
    fn control(&mut self, _now: Time, _flow: &Flow, _others: usize) -> Adding {
        Adding { window: 20 * MSS, ..Adding::default() }
    }
    fn feedback(&mut self) -> Returning {
        Returning
    }
}

fn network(
    delayed_ack: Option<DelayedAck>,
    script: Script,
) -> Network<SenderDriven<AddingFactory>> {
    let options = Options {
        delayed_ack,
        max_payload: (MSS - OWN) as u16,
        ..Options::tcp(ID, Span::from_ms(10))
    };
    super::controls::network(vec![AddingFactory, AddingFactory], options, script)
}

/// The sum of the feedback that came back, as the sender's last packet says.
fn returned(network: &Network<SenderDriven<AddingFactory>>) -> i32 {
    let last = network.sent.iter().rfind(|s| s.packet.src.0 == 0).expect("it took leave");
    assert!(!last.packet.is_data());
    feedback_of(&last.extension)
}

#[test]
fn an_ack_carries_feedback_and_the_ranges_beyond_a_hole() {
    let script: Script = Box::new(|_, n| if n == 2 { Impairment::LOST } else { Impairment::NONE });
    let mut network = network(None, script);
    let flow = flow(0, 0, 1, 12 * (MSS - OWN), Time::ZERO);
    network.open(&flow);
    network.settle(END);
    network.assert_delivered_once(&flow);
    // The third packet was lost; what came later says so, at once and not by a timer.
    let copy = network.sent.iter().filter(|s| s.packet.is_data()).nth(12).expect("a copy");
    assert_eq!(copy.packet.header.data_key() as u64, 2 * (MSS - OWN));
    assert!(copy.at < Time::ZERO + Span::from_ms(1));
    assert_eq!(returned(&network), 12, "one of thirteen was lost");
    let acks: Vec<&Sent> = network.sent.iter().filter(|s| s.packet.src.0 == 1).collect();
    let with: Vec<_> = acks.iter().filter(|s| s.extension.sack_ranges().len() == 1).collect();
    assert!(with.len() >= 9, "{}", with.len());
    for sent in acks {
        let ranges = sent.extension.sack_ranges().len() as u8;
        let sack = if ranges > 0 { 2 + 8 * ranges } else { 0 };
        assert_eq!(sent.packet.extension, OWN as u8 + sack, "both are charged");
    }
}

#[test]
fn full_packets_leave_room_for_their_extension() {
    let mut network = network(None, Box::new(|_, _| Impairment::NONE));
    let flow = flow(0, 0, 1, 5 * MSS, Time::ZERO);
    network.open(&flow);
    network.settle(END);
    network.assert_delivered_once(&flow);
    let data: Vec<_> = network.sent.iter().filter(|s| s.packet.is_data()).collect();
    assert_eq!(data.len(), 6);
    assert!(data[..5].iter().all(|s| s.packet.ip_bytes() == 1_500));
    assert_eq!(data[5].packet.payload as u64, 5 * OWN);
}

#[test]
fn a_delayed_ack_returns_the_feedback_of_all_it_acknowledges() {
    // Some overtake others by a packet's time.
    let script: Script = Box::new(|packet, n| match n % 11 {
        4 if packet.is_data() => Impairment::late(Span::from_us(2)),
        _ => Impairment::NONE,
    });
    let delayed = DelayedAck { count: 3, timeout: Span::from_us(200) };
    let mut network = network(Some(delayed), script);
    let flow = flow(0, 0, 1, 40 * MSS, Time::ZERO);
    network.open(&flow);
    network.settle(END);
    network.assert_delivered_once(&flow);
    let acks = network.sent.iter().filter(|s| s.packet.src.0 == 1).count();
    let data = network.sent.iter().filter(|s| s.packet.is_data()).count();
    assert_eq!(returned(&network), data as i32, "none was lost, none counted twice");
    assert!(acks < data * 2 / 3, "{acks} ACKs to {data} packets");
}

#[test]
fn a_flow_may_send_a_close() {
    let mut network = network(None, Box::new(|_, _| Impairment::NONE));
    network.open(&flow(0, 0, 1, 3 * MSS, Time::ZERO));
    network.settle(END);
    let last = network.sent.last().expect("packets were sent");
    let Header::Segment { flags, nibble, .. } = last.packet.header else { panic!() };
    assert_eq!((flags, nibble, last.packet.payload), (tcp_flag::FIN, 2, 0));
    assert_eq!((last.packet.src.0, last.packet.extension), (0, OWN as u8));
    assert_eq!(
        network.sent.iter().filter(|s| s.packet.src.0 == 0 && !s.packet.is_data()).count(),
        1
    );
    assert!(network.hosts.iter().all(|host| host.progress(FlowId(0), network.now).is_none()));
}
