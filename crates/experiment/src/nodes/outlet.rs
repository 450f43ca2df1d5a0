//! Where the ports of a node lead out of its process.

use super::Node;
use crate::Fault;
use crate::fault::{Problem, expected, wrong};
use crate::plan::Plan;
use incast_dataplane::{KEY_LEAST, Key, Keyed, Outside, PacketSockets, system};
use incast_transport::Framing;
use std::fmt;
use std::path::Path;

/// Where a port of a node leads out of the process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outlet {
    /// An interface of this machine, through packet sockets.
    Interface(String),
    /// A device of DPDK: a PCI address, or a virtual device with its arguments.
    Device(String),
}

impl Outlet {
    /// How an outlet is written.
    pub const FORM: &str = "if:INTERFACE, such as if:veth0, or a device of DPDK: a PCI address, such as \
         0000:3b:00.0, or a virtual device, such as net_af_packet0,iface=veth0";

    /// Reads `if:veth0`, `0000:3b:00.0` or `net_af_packet0,iface=veth0`.
    ///
    /// # Errors
    /// It is none of these, or a device and this program was built without DPDK.
    pub fn parse(text: &str) -> Result<Outlet, Problem> {
        if let Some(interface) = text.strip_prefix("if:").filter(|name| !name.is_empty()) {
            return Ok(Outlet::Interface(interface.into()));
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
            Outlet::Interface(name) => Some(name),
            Outlet::Device(device) => device.split(',').find_map(|one| one.strip_prefix("iface=")),
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
            Outlet::Device(device) => f.write_str(device),
        }
    }
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
    let Some(key) = key else { return over_ports(node, plan, eal, job) };
    let ports =
        node.ports.iter().map(|(port, _)| (*port, plan.fabric.ports()[*port as usize].reverse.0));
    let ports = ports.collect();
    over_ports(node, plan, eal, WithKey { key, ports, job })
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
    job: J,
) -> Result<J::Out, Fault> {
    let claim = |(port, outlet): &(u32, Outlet)| {
        let place = format!("--port {port}={outlet}");
        let claimed = outlet.interface().map(system::claim).transpose();
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
    for (port, outlet) in &node.ports {
        if let Outlet::Interface(interface) = outlet {
            let place = format!("--port {port}={outlet}");
            io.attach(*port, interface).map_err(|problem| Fault::new(problem).placed(place))?;
        }
    }
    job.run(io)
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
}
