//! Several transports on one NIC.

use incast_transport::{Classes, Env, Host, PacketRef, TransportId};

/// Asks the transports of a host for the next packet: control of all of them first, then the other
/// open classes in turn. `turn` is the transport that is asked first, kept between calls.
#[inline]
pub fn pull(
    transports: &mut [(TransportId, Box<dyn Host>)],
    turn: &mut u32,
    env: &mut Env<'_>,
    open: Classes,
) -> Option<PacketRef> {
    if let [(_, only)] = transports {
        return only.transmit(env, open);
    }
    let count = transports.len();
    for classes in [Classes(open.0 & Classes::CONTROL.0), open] {
        for step in 0..count {
            let index = (*turn as usize + step) % count;
            let packet = transports[index].1.transmit(env, classes);
            if packet.is_some() {
                if classes == open {
                    *turn = (index as u32 + 1) % count as u32;
                }
                return packet;
            }
        }
    }
    None
}
