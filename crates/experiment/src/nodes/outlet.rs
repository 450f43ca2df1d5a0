//! Where the ports of a node lead out of its process.

use super::{Node, packet_bytes};
use crate::Fault;
use crate::fault::{Problem, expected, one_of, wrong};
use crate::plan::Plan;
use incast_dataplane::{
    Addresses, ENCAPSULATION, KEY_LEAST, Key, Keyed, Outside, PacketSockets, TRAILER, UDP_PORT,
    system,
};
use incast_transport::{EcnUse, Framing};
use std::fmt;
use std::path::Path;

/// Where a port of a node leads out of the process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outlet {
    /// An interface of this machine, through packet sockets.
    Interface(String),
    /// The same on an ordinary network: packets go in UDP datagrams between these addresses.
    Udp(String, Addresses),
    /// A device of DPDK: a PCI address, or a virtual device with its arguments.
    Device(String),
}

impl Outlet {
    /// How an outlet is written.
    pub const FORM: &str = "if:INTERFACE, such as if:veth0, or on an ordinary network \
         if:eth1,ip=10.1.0.2/24,peer=10.2.0.2,gateway=10.1.0.1, or a device of DPDK: a PCI address, such as \
         0000:3b:00.0, or a virtual device, such as net_af_packet0,iface=veth0";

    /// Reads `if:veth0`, `0000:3b:00.0` or `net_af_packet0,iface=veth0`.
    ///
    /// # Errors
    /// It is none of these, or a device and this program was built without DPDK.
    pub fn parse(text: &str) -> Result<Outlet, Problem> {
        if let Some(rest) = text.strip_prefix("if:").filter(|rest| !rest.is_empty()) {
            let Some((interface, keys)) = rest.split_once(',') else {
                return Ok(Outlet::Interface(rest.into()));
            };
            return Ok(Outlet::Udp(interface.into(), addresses(keys)?));
        }
        let name = text.split(',').next().unwrap_or_default();
        let is_address = name.contains(':')
            && name.chars().all(|one| one.is_ascii_hexdigit() || [':', '.'].contains(&one));
        let is_virtual = name.strip_prefix("net_").is_some_and(|rest| !rest.is_empty());
        match is_address || is_virtual {
            true if cfg!(feature = "dpdk") => Ok(Outlet::Device(text.into())),
            true => Err(wrong("this program was built without DPDK")
                .expected("if:INTERFACE (`incast doctor` says how to get DPDK)")),
            false => Err(expected(Outlet::FORM)),
        }
    }

    /// The interface of this machine that it uses, if any.
    fn interface(&self) -> Option<&str> {
        match self {
            Outlet::Interface(name) | Outlet::Udp(name, _) => Some(name),
            Outlet::Device(device) => device.split(',').find_map(|one| one.strip_prefix("iface=")),
        }
    }

    /// What no other node may have: an interface, or of one on an ordinary network a pair of addresses.
    fn claimed(&self) -> Option<String> {
        match self {
            Outlet::Udp(..) => Some(self.to_string()),
            _ => self.interface().map(str::to_string),
        }
    }

    /// Whether it is a device of DPDK.
    pub fn is_device(&self) -> bool {
        matches!(self, Outlet::Device(_))
    }
}

impl fmt::Display for Outlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outlet::Interface(name) => write!(f, "if:{name}"),
            Outlet::Udp(name, Addresses { own, prefix, gateway, peer, port }) => {
                write!(f, "if:{name},ip={own}/{prefix},peer={peer}")?;
                gateway.iter().try_for_each(|gateway| write!(f, ",gateway={gateway}"))?;
                if *port == UDP_PORT { Ok(()) } else { write!(f, ",udp={port}") }
            }
            Outlet::Device(device) => f.write_str(device),
        }
    }
}

/// Keys of a port on an ordinary network.
const KEYS: [&str; 4] = ["ip", "peer", "gateway", "udp"];

/// Reads `ip=10.1.0.2/24,peer=10.2.0.2,gateway=10.1.0.1,udp=49253`.
fn addresses(text: &str) -> Result<Addresses, Problem> {
    let (mut ip, mut peer, mut gateway, mut udp) = (None, None, None, None);
    for part in text.split(',') {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let refuse =
            |accepted: &str| wrong(format!("`{part}`")).expected(format!("{key}={accepted}"));
        let known = match key {
            "ip" => ip.replace(network(value).ok_or_else(|| {
                refuse("ADDRESS/BITS, the own address and how much of it is the network's: 10.1.0.2/24")
            })?).is_some(),
            "peer" => peer.replace(value.parse().map_err(|_| refuse("the IPv4 address of the other end"))?).is_some(),
            "gateway" => gateway.replace(value.parse().map_err(|_| refuse("the IPv4 address of a router"))?).is_some(),
            "udp" => {
                let port = value.parse().ok().filter(|port: &u16| *port > 0);
                udp.replace(port.ok_or_else(|| refuse("a port, 1 to 65535, the same at both ends"))?).is_some()
            }
            _ => return Err(one_of(key, KEYS).in_part(&format!("`{part}`"))),
        };
        if known {
            return Err(wrong(format!("`{key}` is given twice")));
        }
    }
    let missing = |key: &str| wrong(format!("`{key}` is missing")).expected(Outlet::FORM);
    let (own, prefix) = ip.ok_or_else(|| missing("ip"))?;
    let peer = peer.ok_or_else(|| missing("peer"))?;
    let addresses = Addresses { own, prefix, gateway, peer, port: udp.unwrap_or(UDP_PORT) };
    match addresses.check() {
        Ok(()) => Ok(addresses),
        Err((key, accepted)) => Err(wrong(format!("`{key}`")).expected(accepted)),
    }
}

/// Reads `10.1.0.2/24`.
fn network(text: &str) -> Option<(std::net::Ipv4Addr, u8)> {
    let (address, bits) = text.split_once('/')?;
    let bits = bits.parse().ok().filter(|bits| *bits <= 32)?;
    Some((address.parse().ok()?, bits))
}

/// What is done with the opened ports of a node, whatever they are.
pub trait OverPorts {
    /// What comes of it.
    type Out;
    /// Does it.
    fn run<I>(self, io: I) -> Result<Self::Out, Fault>
    where
        I: Outside + Send,
        I::Frame: Send;
}

/// Opens the outlets of a node and goes on with them. `eal` replaces the arguments with which DPDK is
/// started for its devices. With a `key`, frames are authenticated.
///
/// # Errors
/// An interface or device is not there, another node has it, or there is no right to use it; and what `job`
/// says.
pub fn over<J: OverPorts>(
    plan: &Plan,
    node: &Node,
    eal: Option<&str>,
    key: Option<Key>,
    job: J,
) -> Result<J::Out, Fault> {
    let Some(key) = key else { return over_ports(node, plan, eal, 0, job) };
    let ports = node.ports.iter().map(|(port, _)| (*port, node.peer(plan, *port)));
    let ports = ports.collect();
    over_ports(node, plan, eal, TRAILER, WithKey { key, ports, job })
}

/// What is done over ports whose frames are authenticated.
struct WithKey<J> {
    key: Key,
    ports: Vec<(u32, u32)>,
    job: J,
}

impl<J: OverPorts> OverPorts for WithKey<J> {
    type Out = J::Out;

    fn run<I>(self, io: I) -> Result<J::Out, Fault>
    where
        I: Outside + Send,
        I::Frame: Send,
    {
        self.job.run(Keyed::new(io, self.key, &self.ports))
    }
}

/// The key of a network, of a file; the end of its last line is none of it.
///
/// # Errors
/// It cannot be read, or is too short.
pub fn read_key(file: &Path) -> Result<Key, Fault> {
    let refuse = |problem: Problem| Fault::value("--key", file.display(), problem);
    let bytes =
        std::fs::read(file).map_err(|error| refuse(expected(format!("a file: {error}"))))?;
    let key = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    Key::new(key).ok_or_else(|| {
        let length = key.len();
        refuse(
            wrong(format!("it has {length} bytes")).expected(format!("{KEY_LEAST} bytes or more")),
        )
    })
}

fn over_ports<J: OverPorts>(
    node: &Node,
    plan: &Plan,
    eal: Option<&str>,
    trailer: usize,
    job: J,
) -> Result<J::Out, Fault> {
    let claim = |(port, outlet): &(u32, Outlet)| {
        let place = format!("--port {port}={outlet}");
        let claimed = outlet.claimed().map(|name| system::claim(&name)).transpose();
        claimed.map_err(|problem| Fault::new(problem).placed(place))
    };
    let _claims: Vec<_> = node.ports.iter().map(claim).collect::<Result<_, _>>()?;
    if node.ports.iter().any(|(_, outlet)| outlet.is_device()) {
        return job.run_over_devices(node, plan.site.framing, eal);
    }
    if eal.is_some() {
        let problem = "no port is a device of DPDK: EAL arguments have no effect";
        return Err(Fault::new(problem).placed("--eal"));
    }
    let mut io = PacketSockets::new();
    let marks = plan.cases[0].transports.iter().all(|own| own.info.ecn == EcnUse::Rfc3168);
    for (port, outlet) in &node.ports {
        let refuse =
            |problem: String| Fault::new(problem).placed(format!("--port {port}={outlet}"));
        let (interface, datagram) = match outlet {
            Outlet::Interface(interface) => (interface, 0),
            Outlet::Udp(interface, _) => (interface, ENCAPSULATION),
            Outlet::Device(_) => continue,
        };
        match outlet {
            Outlet::Udp(_, addresses) => io.attach_udp(*port, interface, *addresses, marks),
            _ => io.attach(*port, interface),
        }
        .map_err(refuse)?;
        let has = io.mtu(*port).unwrap_or(0);
        check_mtu(plan, interface, has, [datagram, trailer]).map_err(refuse)?;
    }
    job.run(io)
}

/// Whether an interface takes the scenario's longest packets, each with so many bytes around it: of a datagram's
/// headers, and of the key.
fn check_mtu(
    plan: &Plan,
    interface: &str,
    has: usize,
    [datagram, trailer]: [usize; 2],
) -> Result<(), String> {
    let packet = packet_bytes(plan);
    let needed = packet + datagram + trailer;
    if has >= needed {
        return Ok(());
    }
    let around = [(datagram, "of IPv4 and UDP"), (trailer, "of the key")];
    let around = around.iter().filter(|(bytes, _)| *bytes > 0);
    let around: String = around.map(|(bytes, what)| format!(" + {bytes} {what}")).collect();
    let mtu = plan.site.framing.mtu as usize;
    let most = mtu.saturating_sub(needed - has);
    Err(format!(
        "{interface} takes packets of at most {has} bytes (MTU), and {needed} are needed: {packet} of the scenario's \
         longest packet{around}. Set fabric.mtu to {most} or less at every node (it is {mtu}), or raise the \
         interface's (`ip link set {interface} mtu {needed}`) and those of the network"
    ))
}

/// With DPDK or without.
trait OverDevices: OverPorts + Sized {
    fn run_over_devices(
        self,
        node: &Node,
        framing: Framing,
        eal: Option<&str>,
    ) -> Result<Self::Out, Fault>;
}

#[cfg(feature = "dpdk")]
impl<J: OverPorts> OverDevices for J {
    fn run_over_devices(
        self,
        node: &Node,
        framing: Framing,
        eal: Option<&str>,
    ) -> Result<J::Out, Fault> {
        use incast_dataplane::dpdk::{Environment, Wire, arguments_for};
        let devices: Vec<(u32, String)> =
            node.ports.iter().map(|(port, outlet)| (*port, outlet.to_string())).collect();
        let devices: Vec<(u32, &str)> =
            devices.iter().map(|(port, device)| (*port, device.as_str())).collect();
        let names: Vec<&str> = devices.iter().map(|(_, device)| *device).collect();
        let refused = |place: &str| {
            let place = place.to_string();
            move |error| Fault::new(error).placed(place)
        };
        let known = arguments_for(&names).map_err(refused("--port"))?;
        let started = Environment::start(eal.unwrap_or(&known)).map_err(|error| {
            let help = if known.contains("-a ") { "; see `incast doctor --tier nic`" } else { "" };
            Fault::new(format!("{error}{help}")).placed(if eal.is_some() {
                "--eal"
            } else {
                "--port"
            })
        });
        let environment = started?;
        let io = Wire::open(environment, &devices, framing).map_err(refused("--port"))?;
        self.run(io)
    }
}

#[cfg(not(feature = "dpdk"))]
impl<J: OverPorts> OverDevices for J {
    fn run_over_devices(
        self,
        _node: &Node,
        _framing: Framing,
        _eal: Option<&str>,
    ) -> Result<J::Out, Fault> {
        Err(Fault::new("this program was built without DPDK").placed("--port"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlet_is_an_interface_or_a_device() {
        let interface = Outlet::Interface("veth0".into());
        assert_eq!(interface.interface(), Some("veth0"));
        let device = |text: &str| Outlet::Device(text.into());
        assert_eq!(device("net_af_packet0,qpairs=1,iface=b0").interface(), Some("b0"));
        assert_eq!(device("0000:3b:00.0").interface(), None);
        assert_eq!(Outlet::parse("if:veth0"), Ok(interface));
        for wrong in ["veth0", "if:", "", "net_", "eth1,x=1", "pci:zz"] {
            assert_eq!(Outlet::parse(wrong), Err(expected(Outlet::FORM)), "{wrong}");
        }
        for udp in [
            "if:eth1,ip=10.1.0.2/24,peer=10.2.0.2,gateway=10.1.0.1,udp=4000",
            "if:eth1,ip=10.1.0.2/24,peer=10.1.0.3",
        ] {
            let outlet = Outlet::parse(udp).unwrap();
            assert_eq!((outlet.to_string(), outlet.interface()), (udp.to_string(), Some("eth1")));
        }
        for device in ["0000:3b:00.0", "3b:00.1,mprq_en=1", "net_af_packet0,iface=veth0"] {
            let read = Outlet::parse(device);
            if cfg!(feature = "dpdk") {
                let outlet = read.expect(device);
                assert!(outlet.is_device() && outlet.to_string() == device);
            } else {
                assert!(read.unwrap_err().sentence().contains("built without DPDK"), "{device}");
            }
        }
    }

    #[test]
    fn addresses_that_are_written_wrongly_are_refused_with_what_is_expected() {
        let wrong = |text: &str| Outlet::parse(&format!("if:eth1,{text}")).unwrap_err().sentence();
        let key = wrong("ip=10.1.0.2/24,pear=10.1.0.3");
        assert!(
            key.contains("did you mean `peer`? Expected one of ip, peer, gateway, udp"),
            "{key}"
        );
        assert!(wrong("ip=10.1.0.2/24").contains("`peer` is missing"));
        assert!(wrong("peer=10.1.0.2").contains("`ip` is missing"));
        for ip in ["10.1.0.2", "10.1.0/24", "10.1.0.2/33", "10.1.0.2/", "::1/64", ""] {
            let said = wrong(&format!("ip={ip},peer=10.1.0.3"));
            assert!(said.contains("expected ip=ADDRESS/BITS"), "{said}");
        }
        assert!(wrong("ip=10.1.0.2/24,peer=host1").contains("expected peer=the IPv4 address"));
        for udp in ["0", "65536", "x"] {
            let said = wrong(&format!("ip=10.1.0.2/24,peer=10.1.0.3,udp={udp}"));
            assert!(said.contains("1 to 65535"), "{said}");
        }
        assert!(
            wrong("ip=10.1.0.2/24,ip=10.1.0.2/24,peer=10.1.0.3").contains("`ip` is given twice")
        );
        let far = wrong("ip=10.1.0.2/24,peer=10.2.0.3");
        assert!(far.contains("`gateway`: expected the router of 10.1.0.2/24"), "{far}");
    }
}
