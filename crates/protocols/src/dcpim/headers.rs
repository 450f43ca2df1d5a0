//! The packets of dcPIM.

use incast_transport::{HeaderView, TransportId, data_flag, header_view};

/// dcPIM's number on the wire.
pub const ID: TransportId = TransportId(30);

/// The packets that dcPIM sends.
pub const HEADERS: &[HeaderView] = &[
    Unscheduled::VIEW,
    Scheduled::VIEW,
    Announce::VIEW,
    Request::VIEW,
    Grant::VIEW,
    Accept::VIEW,
    Return::VIEW,
    Token::VIEW,
    Finish::VIEW,
];

/// Bits of the packets of matching.
const REQUEST: u8 = 1;
const GRANT: u8 = 2;
const ACCEPT: u8 = 4;
const RETURN: u8 = 8;

header_view! {
    /// One packet of a short flow, sent without a token.
    pub struct Unscheduled over Data {
        /// The packet's number in the flow.
        packet: u32 = seq, "packets";
        /// The offset of its first byte in the flow, modulo 2^32.
        offset: u32 = offset, "bytes";
    }
    bits {
        /// It is the flow's last packet.
        last = data_flag::LAST;
    }
    set data_flag::UNSCHEDULED;
    unused tag;

    /// One packet, sent with a token.
    pub struct Scheduled over Data {
        /// The packet's number in the flow.
        packet: u32 = seq, "packets";
        /// The offset of its first byte in the flow, modulo 2^32.
        offset: u32 = offset, "bytes";
        /// The number of the token, modulo 2^24.
        token: u24 = tag, "tokens";
    }
    bits {
        /// It is the flow's last packet.
        last = data_flag::LAST;
    }
    clear data_flag::UNSCHEDULED;

    /// Announces a flow (RTS).
    pub struct Announce over Announce {
        /// Packets of the flow.
        packets: u32 = packets, "packets";
        /// Bytes of the flow, the lower 32 bits.
        bytes_low: u32 = bytes_low, "bytes";
        /// Bytes of the flow, the next 24 bits.
        bytes_high: u24 = bytes_high, "2^32 bytes";
    }

    /// A destination asks a source for channels in an epoch's data phase, for its flow with the fewest packets
    /// left.
    pub struct Request over Match {
        /// The epoch, modulo 2^32.
        epoch: u32 = epoch, "epochs";
        /// What the flow has left.
        remaining: u32 = remaining, "packets";
        /// Channels.
        channels: u8 = channels, "channels";
        /// Of these, how many may be used at once.
        prompt: u8 = prompt, "channels";
        /// The round of the matching, from 1.
        round: u8 = round, "rounds";
    }
    set REQUEST;
    clear GRANT | ACCEPT | RETURN;

    /// A source offers channels that a destination has asked for.
    pub struct Grant over Match {
        /// The epoch, modulo 2^32.
        epoch: u32 = epoch, "epochs";
        /// What the flow has left.
        remaining: u32 = remaining, "packets";
        /// Channels.
        channels: u8 = channels, "channels";
        /// Of these, how many may be used at once.
        prompt: u8 = prompt, "channels";
        /// The round of the matching, from 1.
        round: u8 = round, "rounds";
    }
    set GRANT;
    clear REQUEST | ACCEPT | RETURN;

    /// A destination takes channels that a source has offered.
    pub struct Accept over Match {
        /// The epoch, modulo 2^32.
        epoch: u32 = epoch, "epochs";
        /// Channels.
        channels: u8 = channels, "channels";
        /// Of these, how many may be used at once.
        prompt: u8 = prompt, "channels";
        /// The round of the matching, from 1.
        round: u8 = round, "rounds";
    }
    set ACCEPT;
    clear REQUEST | GRANT | RETURN;
    unused remaining;

    /// A source takes channels back that it does not have (GRANTSR).
    pub struct Return over Match {
        /// The epoch, modulo 2^32.
        epoch: u32 = epoch, "epochs";
        /// Channels.
        channels: u8 = channels, "channels";
    }
    set RETURN;
    clear REQUEST | GRANT | ACCEPT;
    unused remaining, prompt, round;

    /// The right to send one packet.
    pub struct Token over Token {
        /// The packet.
        packet: u32 = seq, "packets";
        /// The epoch, modulo 2^24, times 256, and the priority among the source's tokens, 1 being the
        /// highest.
        turn: u32 = remaining, "codes";
        /// The token's number, modulo 2^24.
        token: u24 = number, "tokens";
    }

    /// Every packet of the flow has arrived.
    pub struct Finish over Finish {}
    unused packets, spare, spare_high;
}
