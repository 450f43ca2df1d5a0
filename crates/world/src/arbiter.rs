//! Several transports on one NIC.

use incast_transport::{Classes, Env, Host, PacketRef, TransportId};

/// Asks the transports of a host for the next packet: control of all of them first, then the other
/// open classes in turn. `turn` is the transport that is polled first, kept between calls; `open`
/// are the classes that each may send.
#[inline]
pub fn pull(
    transports: &mut [(TransportId, Box<dyn Host>)],
    turn: &mut u32,
    env: &mut Env<'_>,
    open: impl Fn(TransportId) -> Classes,
) -> Option<PacketRef> {
    if let [(id, only)] = transports {
        return only.transmit(env, open(*id));
    }
    let count = transports.len();
    for among in [Classes::CONTROL, Classes::ALL] {
        for step in 0..count {
            let index = (*turn as usize + step) % count;
            let (id, transport) = &mut transports[index];
            let packet = transport.transmit(env, Classes(open(*id).0 & among.0));
            if packet.is_some() {
                if among == Classes::ALL {
                    *turn = (index as u32 + 1) % count as u32;
                }
                return packet;
            }
        }
    }
    None
}
