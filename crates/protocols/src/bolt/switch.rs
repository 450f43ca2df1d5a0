//! The switch (Bolt): before a data packet joins a queue, it tells the packet's source of a queue that is
//! there, or whether the link has room for a packet more.

use super::ID;
use super::headers::{Data, Notice, bit};
use super::params::Params;
use incast_transport::{
    Decision, Packet, PacketRef, PortView, SwitchEnv, SwitchHook, SwitchSite, Time, TransportId,
};

/// State of an egress port.
#[derive(Clone, Copy, Debug, Default)]
struct Tokens {
    port: u32,
    /// Packets of flows that are about to end (PRU).
    ending: u32,
    /// Bytes that the link could have carried and did not (SM), in millionths. Below 0 it has a queue to
    /// work off.
    spare: i128,
    /// When that was.
    at: Time,
    /// Bytes given to the port by then.
    given: u64,
}

/// The hook of one switch.
pub struct Reflector {
    ports: Vec<Tokens>,
    threshold: u64,
    /// In millionths of a byte.
    spare_limit: i128,
    /// The same of a full packet.
    packet: i128,
    ending_limit: u32,
    notices: bool,
    spare: bool,
    endings: bool,
}

const MILLION: i128 = 1_000_000;

impl Reflector {
    /// A switch of which no packet has come.
    pub fn new(params: &Params, site: &SwitchSite) -> Reflector {
        let packet = site.fabric.framing.charged_mtu() as u64;
        let spare_limit = params.spare_limit.map_or(packet, |bytes| bytes.0);
        Reflector {
            ports: vec![],
            threshold: params.threshold.map_or(2 * packet, |bytes| bytes.0),
            spare_limit: spare_limit as i128 * MILLION,
            packet: packet as i128 * MILLION,
            ending_limit: params.ending_limit,
            notices: params.notices,
            spare: params.spare,
            endings: params.endings,
        }
    }

    /// Tokens of a port: packets of ending flows, and spare bytes.
    pub fn tokens(&self, port: u32) -> (u32, i64) {
        let tokens = self.ports.iter().find(|tokens| tokens.port == port);
        tokens.map_or((0, 0), |tokens| (tokens.ending, (tokens.spare / MILLION) as i64))
    }

    /// The tokens of a port, by their place, now that `charged` bytes are about to join its queue.
    fn renew(&mut self, port: &PortView, now: Time, charged: u32) -> usize {
        let given = port.sent + port.all.bytes;
        let place = match self.ports.binary_search_by_key(&port.port, |tokens| tokens.port) {
            Ok(place) => place,
            Err(place) => {
                // A port of which no packet has come was idle.
                let new = Tokens { port: port.port, given, ..Tokens::default() };
                self.ports.insert(place, new);
                place
            }
        };
        let tokens = &mut self.ports[place];
        // Bits per second times picoseconds over 8e12, in millionths of a byte.
        let carried = port.rate.0 as i128 * now.since(tokens.at).0 as i128 / 8_000_000;
        // What did not join after all had been counted as given.
        let taken = (given as i128 - tokens.given as i128 + charged as i128) * MILLION;
        tokens.spare = (tokens.spare + carried - taken).min(self.spare_limit);
        (tokens.at, tokens.given) = (now, given + charged as u64);
        place
    }

    /// Whether the link has room for a packet more of the flow: of one that is about to end, or unused. Takes
    /// what it gives.
    fn has_room(&mut self, place: usize) -> bool {
        let tokens = &mut self.ports[place];
        if self.endings && tokens.ending > 0 {
            tokens.ending -= 1;
            return true;
        }
        let room = self.spare && tokens.spare >= self.packet;
        if room {
            tokens.spare -= self.packet;
        }
        room
    }
}

/// What a packet's source is told.
fn notice(env: &mut SwitchEnv<'_>, data: &Packet, handle: PacketRef) -> PacketRef {
    let port = &env.egress;
    let drain = port.all.bytes as u128 * 8_000_000_000 / port.rate.0.max(1) as u128;
    let header = Notice {
        drain: drain.min(u32::MAX as u128) as u32,
        about: data.header.data_key(),
        rate: (port.rate.0 / 100_000_000).clamp(1, (1 << 24) - 1) as u32,
    }
    .into();
    let (src, dst, stamp) = (data.dst, data.src, *env.packets.extension(handle));
    let (payload, class, flags, extension) = (0, 0, 0, 0);
    let packet = Packet { header, src, dst, payload, class, flags, extension, ..*data };
    let packet = env.packets.create(packet);
    env.packets.extend(packet, stamp);
    env.packets.stamps_mut(packet).informed = env.now.0;
    packet
}

impl SwitchHook for Reflector {
    fn transport(&self) -> TransportId {
        ID
    }

    fn forward(&mut self, env: &mut SwitchEnv<'_>, packet: PacketRef) -> Decision {
        let content = env.packets[packet];
        let Some(Data { bits, .. }) = Data::read(&content.header).filter(|_| content.is_data())
        else {
            return Decision::default();
        };
        let (now, charged) = (env.now, env.packets.charged(packet));
        let place = self.renew(&env.egress, now, charged);
        let (mut left, mut reply) = (bits, None);
        if env.egress.all.bytes >= self.threshold {
            left &= !bit::MORE;
            if bits & bit::CONGESTED == 0 {
                left |= bit::CONGESTED;
                reply = self.notices.then(|| notice(env, &content, packet));
            }
        } else if bits & bit::LAST != 0 {
            if bits & bit::FIRST == 0 {
                let tokens = &mut self.ports[place];
                tokens.ending = (tokens.ending + 1).min(self.ending_limit);
            }
        } else if bits & bit::MORE != 0 && !self.has_room(place) {
            left &= !bit::MORE;
        }
        if left != bits
            && let Some(bits) = Data::bits_mut(&mut env.packets[packet].header)
        {
            *bits = left;
        }
        if left & (bit::MORE | bit::CONGESTED) != 0 {
            env.packets.stamps_mut(packet).informed = now.0;
        }
        Decision { reply, ..Decision::default() }
    }

    fn entries(&self) -> usize {
        self.ports.len()
    }
}
