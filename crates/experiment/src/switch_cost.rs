//! What a packet costs the software switch, with and without a transport's marker (REN §4: Figure 13).

use crate::Fault;
use crate::fault::expected;
use crate::mix::of_policies;
use crate::plan::transport;
use crate::scenario::Backend;
use incast_dataplane::cost::{Cost, SwitchCost};
use incast_dataplane::{Mem, PacketIo, Testbed, Virtual};
use incast_egress::port::Join;
use incast_fabric::{Fabric, LinkDefaults};
use incast_transport::{
    Configured, FabricSite, Flow, FlowId, Framing, HostId, HostSite, Limit, Policy, PortSite, Rate,
    Segments, Span, SwitchHook, SwitchSite, Time,
};
use incast_wire::{HEADER_BYTES, encode};
use incast_world::{
    FlowSetup, Monitor, Options, RunTransport, Setup, assemble, fabric_site, port_site,
};
use std::sync::Arc;

/// Different packets that are sent again and again.
const PACKETS: usize = 256;
/// Sizes of packets that are accepted, in bytes from the IPv4 header on.
const SIZES: std::ops::RangeInclusive<u32> = 42..=1_500;

/// What a packet of one size costs.
pub struct SizeCost {
    /// Bytes of the packet, from the IPv4 header on.
    pub bytes: u32,
    /// With the transport's markers at the ports.
    pub with: SwitchCost,
    /// The same ports without markers.
    pub without: SwitchCost,
    /// A bare forwarder in C over the same rings; `None` in memory.
    pub forwarder: Option<Cost>,
    /// Bytes that the markers of a port keep.
    pub state: usize,
}

/// A transport whose ports have no markers.
struct Unmarked(Arc<dyn Configured>);

impl Configured for Unmarked {
    fn host(&self, site: &HostSite) -> Box<dyn incast_transport::Host> {
        self.0.host(site)
    }
    fn policy(&self, site: &PortSite) -> Policy {
        Policy { markers: vec![], ..self.0.policy(site) }
    }
    fn hook(&self, site: &SwitchSite) -> Option<Box<dyn SwitchHook>> {
        self.0.hook(site)
    }
    fn shapes_nic(&self) -> bool {
        self.0.shapes_nic()
    }
    fn resolved(&self) -> Vec<(&'static str, String)> {
        self.0.resolved()
    }
    fn unsolicited(&self, site: &HostSite, packets: u32) -> u32 {
        self.0.unsolicited(site, packets)
    }
}

/// The switch's port to host 1.
fn port_of(fabric: &Fabric, site: &Arc<FabricSite>) -> PortSite {
    let port = fabric.port(fabric.host_port(1)).reverse;
    port_site(port.0, fabric.port(port), site)
}

/// Two hosts and a switch on links of 10 Gb/s, and a flow between them in packets of one size.
struct Bench {
    name: String,
    bytes: u32,
}

impl Bench {
    fn setup(&self, marked: bool, options: Options) -> Result<(Setup, usize), Fault> {
        let entry = transport(&self.name, "--transport")?;
        let links =
            LinkDefaults { rate: Rate::from_gbps(10), propagation: Span::from_us(1), loss: 0.0 };
        let fabric = Arc::new(incast_fabric::parse("star:2", links)?);
        let site = fabric_site(&fabric, Framing::ETHERNET, Limit::Packets(256), None, None);
        let mut configured = entry.configure(&[], site.clone())?;
        let to_host = port_of(&fabric, &site);
        let state = configured.policy(&to_host).markers.iter().map(|one| one.state_bytes()).sum();
        if !marked {
            configured = Arc::new(Unmarked(configured));
        }
        let info = entry.info();
        let transports = [RunTransport { info, configured, routing: info.routing }];
        let payload = self.bytes as u16 - HEADER_BYTES;
        let flow = Flow {
            id: FlowId(0),
            src: HostId(0),
            dst: HostId(1),
            size: u64::from(payload) * 100_000,
            start: Time::ZERO,
            segments: Segments::Uniform(payload),
            burst: None,
            connection: None,
        };
        let flow = FlowSetup {
            flow,
            transport: info.id,
            after: vec![],
            delay: Span::ZERO,
            gate: None,
            cut: Time::NEVER,
        };
        let setup = assemble(fabric, site, &transports, Join::Shared, vec![flow], None, options)
            .map_err(of_policies)?;
        Ok((setup, state))
    }

    /// Packets of the flow as its source sends them.
    fn frames(&self) -> Result<Vec<Vec<u8>>, Fault> {
        let (setup, _) = self.setup(true, Options::default())?;
        let port = setup.fabric.host_port(0).0;
        let options = Options {
            capture: vec![port],
            until: Time::ZERO + Span::from_ms(5),
            ..Options::default()
        };
        let (setup, _) = self.setup(true, options)?;
        let (_, packets) = incast_dataplane::run(setup, &Monitor::default());
        let full = packets.iter().filter(|one| one.packet.is_data());
        let frames: Vec<Vec<u8>> = full
            .map(|one| {
                let mut frame = vec![];
                encode(&one.packet, &one.extension, &mut frame);
                frame
            })
            .take(PACKETS)
            .collect();
        match frames.is_empty() {
            true => Err(Fault::new(format!("{} sends no data within 5 ms", self.name))),
            false => Ok(frames),
        }
    }

    fn over<I: PacketIo>(
        &self,
        bursts: usize,
        make: impl Fn(&Setup) -> Result<I, Fault>,
    ) -> Result<(SwitchCost, SwitchCost, usize), Fault> {
        let frames = self.frames()?;
        let mut state = 0;
        let mut cost = |marked: bool| {
            let (setup, bytes) = self.setup(marked, Options::default())?;
            state = bytes;
            let io = make(&setup)?;
            Ok::<_, Fault>(Testbed::with(setup, io, Virtual::new()).switch_cost(&frames, bursts).0)
        };
        let (with, without) = (cost(true)?, cost(false)?);
        Ok((with, without, state))
    }
}

/// Measures what packets of `sizes` cost the switch at a transport's ports, in `bursts` bursts of 32.
///
/// # Errors
/// An unknown transport, a size out of range, or a backend that is not there.
pub fn switch_cost(
    name: &str,
    sizes: &[u32],
    bursts: usize,
    backend: Backend,
) -> Result<Vec<SizeCost>, Fault> {
    let of = |bytes: &u32| {
        if !SIZES.contains(bytes) {
            let accepted = expected(format!("{} to {} bytes", SIZES.start(), SIZES.end()));
            return Err(Fault::value("--size", bytes, accepted));
        }
        let bench = Bench { name: name.into(), bytes: *bytes };
        let (with, without, state) = match backend {
            Backend::Memory => bench.over(bursts, |s| Ok(Mem::new(&s.fabric, s.framing)))?,
            Backend::Rings => rings::over(&bench, bursts)?,
        };
        let forwarder = match backend {
            Backend::Memory => None,
            Backend::Rings => rings::forwarder(*bytes, bursts)?,
        };
        Ok(SizeCost { bytes: *bytes, with, without, forwarder, state })
    };
    sizes.iter().map(of).collect()
}

#[cfg(feature = "dpdk")]
mod rings {
    use super::{Bench, Cost, Fault, SwitchCost};
    use crate::testbed::dpdk::{refused, start};
    use incast_dataplane::cost::overhead;
    use incast_dataplane::dpdk::{Mempool, Port, Rings, forward};
    use std::sync::Arc;

    const BURST: usize = 32;

    pub fn over(bench: &Bench, bursts: usize) -> Result<(SwitchCost, SwitchCost, usize), Fault> {
        let environment = start()?;
        bench.over(bursts, |setup| {
            Rings::new(environment, &setup.fabric, setup.framing).map_err(refused)
        })
    }

    /// Bursts through the forwarder in C.
    pub fn forwarder(bytes: u32, bursts: usize) -> Result<Option<Cost>, Fault> {
        let pool = Mempool::<()>::new(start()?, 1_024, 1_600).map_err(refused)?;
        let pool = Arc::new(pool);
        let [mut source, mut from] = Port::pair(&pool, 64).map_err(refused)?;
        let [mut to, mut sink] = Port::pair(&pool, 64).map_err(refused)?;
        let (mut frames, mut taken) = (vec![], vec![]);
        pool.allocate(BURST, &mut frames);
        for _ in 0..bursts {
            frames.iter_mut().for_each(|frame| assert!(frame.reset(bytes as usize)));
            source.send(&mut frames);
            taken.push(forward(&mut from, &mut to, BURST, BURST as u64).1);
            sink.receive(BURST, &mut frames);
            assert_eq!(frames.len(), BURST, "the forwarder loses frames");
        }
        Ok(Some(Cost::of(&mut taken, overhead(), BURST)))
    }
}

#[cfg(not(feature = "dpdk"))]
mod rings {
    use super::{Bench, Cost, Fault, SwitchCost};
    use crate::testbed::dpdk::check;

    pub fn over(_: &Bench, _: usize) -> Result<(SwitchCost, SwitchCost, usize), Fault> {
        Err(check().expect_err("there is no DPDK"))
    }

    pub fn forwarder(_: u32, _: usize) -> Result<Option<Cost>, Fault> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_changes_packets_and_a_port_without_one_does_not() {
        let cost = &switch_cost("ren", &[1_500], 20, Backend::Memory).unwrap()[0];
        assert!(cost.with.changed > 0.0 && cost.without.changed == 0.0);
        assert!(cost.state > 16 && cost.forwarder.is_none());
        let sum: f64 = cost.with.stages.iter().map(|stage| stage.raw).sum();
        assert!(sum > 0.0 && cost.with.whole.corrected > 0.0);
        assert!(cost.with.whole.corrected <= cost.with.whole.raw);
    }

    #[test]
    fn every_transport_has_a_cost() {
        for entry in incast_protocols::CATALOGUE {
            let name = entry.info().name;
            let costs = switch_cost(name, &[64], 4, Backend::Memory);
            let cost = &costs.unwrap_or_else(|fault| panic!("{name}: {fault}"))[0];
            assert!(
                cost.with.whole.raw > 0.0 && cost.with.lost < 0.8,
                "{name}: {}",
                cost.with.lost
            );
            let short = ["aeolus", "amrt"].contains(&name);
            assert!(short || cost.with.lost == 0.0, "{name} loses {}", cost.with.lost);
        }
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        let refused = |name, size| switch_cost(name, &[size], 4, Backend::Memory).err().unwrap();
        assert!(refused("ren", 41).to_string().contains("42 to 1500"));
        assert!(refused("ren", 1_501).to_string().contains("42 to 1500"));
        assert!(refused("wren", 64).to_string().contains("ren"));
    }
}
