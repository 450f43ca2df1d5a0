//! Sizes of packets: from the keys of a scenario to what links charge.

use crate::fault::{expected, wrong};
use crate::{Fault, scenario};
use incast_transport::Framing;
use incast_workload::{PacketTable, WireCost};
use incast_world::RunTransport;

/// Network-layer bytes that fill Ethernet's shortest frame.
const SHORTEST: u32 = 46;

/// Bytes that the extension of a packet without payload can take.
const LONGEST_EXTENSION: u32 = 66;

/// Resolves the sizes of packets. Refuses sizes that contradict each other.
pub fn framing(section: &scenario::Fabric) -> Result<Framing, Fault> {
    let scenario::Fabric { mtu, data_header, control_packet, pad_last, .. } = *section;
    let overhead = section.l2_overhead.0;
    let shortest = if overhead > 0 { SHORTEST + overhead } else { 0 };
    let minimum = section.min_frame.0.unwrap_or(shortest);
    if data_header >= mtu {
        let problem = expected(format!("less than fabric.mtu, {mtu}: data needs room"));
        return Err(Fault::value("fabric.data_header", data_header, problem));
    }
    if control_packet + LONGEST_EXTENSION > mtu {
        let problem = expected(format!(
            "at most {}: with up to {LONGEST_EXTENSION} B of feedback it must not exceed \
             fabric.mtu, {mtu}",
            mtu - LONGEST_EXTENSION
        ));
        return Err(Fault::value("fabric.control_packet", control_packet, problem));
    }
    if minimum > mtu + overhead {
        let problem = expected(format!("at most {}, a full packet", mtu + overhead));
        return Err(Fault::value("fabric.min_frame", minimum, problem));
    }
    Ok(Framing {
        overhead: overhead as u16,
        minimum: minimum as u16,
        mtu: mtu as u16,
        header: data_header as u16,
        control: control_packet as u16,
        pad_last,
    })
}

/// Refuses an MTU that the headers of a transport leave no room for data in.
pub fn check_room(framing: &Framing, own: &RunTransport) -> Result<(), Fault> {
    let (extension, name) = (own.configured.extension(), own.info.name);
    let headers = framing.header as u32 + extension as u32;
    if (framing.mtu as u32) > headers {
        return Ok(());
    }
    let problem = expected(format!(
        "{} or more: the headers of {name} take {headers} B ({} B of fabric.data_header \
         and {extension} B of its own)",
        headers + 1,
        framing.header
    ));
    Err(Fault::value("fabric.mtu", framing.mtu, problem))
}

/// The same sizes, for the definition of a load.
pub fn wire_cost(framing: &Framing) -> WireCost {
    WireCost {
        mss: framing.mss() as u32,
        header_bytes: framing.header as u32,
        layer2_bytes: framing.overhead as u32,
        minimum: framing.minimum as u32,
        padded: framing.pad_last,
    }
}

/// Refuses a table of packet sizes that does not go with the sizes of the scenario; `key` names
/// the table.
pub fn check_table(framing: &Framing, key: &str, table: &PacketTable) -> Result<(), Fault> {
    let longest = table.largest_payload() + framing.header as u32;
    if longest > framing.mtu as u32 {
        let problem = wrong(format!("its longest packet takes {longest} B with headers"))
            .expected(format!("a table for packets of at most fabric.mtu, {} B", framing.mtu));
        return Err(Fault::value(key, table.name(), problem));
    }
    if framing.pad_last {
        let problem = expected(
            "no such key, or `fabric.pad_last = false`: packets of a table \
                       are sent at their own size",
        );
        return Err(Fault::value(key, table.name(), problem));
    }
    Ok(())
}
