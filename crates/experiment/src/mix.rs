//! Whether several transports can share the ports of a fabric, and how.

use crate::Fault;
use crate::custom;
use crate::fault::{one_of, wrong};
use incast_egress::port::Join;
use incast_egress::port::{PolicyConflict, Remedy};
use incast_fabric::Fabric;
use incast_transport::{FabricSite, Schedule, TransportId};
use incast_world::{RunTransport, check_ports, marks_ecn, shaped_share};
use std::sync::Arc;

/// The transports of a run, in the ports of a fabric.
pub struct Mix<'a> {
    /// Label of the run.
    pub label: &'a str,
    /// The transports.
    pub transports: &'a [RunTransport],
    /// The network.
    pub fabric: &'a Fabric,
    /// Configuration that transports receive.
    pub site: &'a Arc<FabricSite>,
    /// How they share ports.
    pub join: Join,
    /// The queues of data, if there are several.
    pub queues: &'a [Schedule],
}

impl Mix<'_> {
    /// Checks the ports before the run.
    pub fn check(&self) -> Result<(), Fault> {
        if self.transports.len() > 1 {
            check_ports(self.fabric, self.site, self.transports, self.join, self.queues)
                .map_err(of_policies)?;
            self.check_credits()?;
        }
        Ok(())
    }

    /// The transport of this name, whose marking rule applies to all packets.
    pub fn marking(&self, wanted: &str) -> Result<TransportId, Fault> {
        let marks = |transport: &&RunTransport| marks_ecn(self.fabric, self.site, transport);
        let able: Vec<&RunTransport> = self.transports.iter().filter(marks).collect();
        let found = able.iter().find(|transport| transport.info.name == wanted);
        found.map(|transport| transport.info.id).ok_or_else(|| {
            let names: Vec<&str> = able.iter().map(|transport| transport.info.name).collect();
            let problem = match names.as_slice() {
                [] => wrong("no transport of this run uses ECN marking; remove the key"),
                names => one_of(wanted, names.iter().copied()),
            };
            let run = format!("run `{}`", self.label);
            Fault::value("transport.marking", wanted, problem).noted(&run)
        })
    }

    /// Refuses credit shares of several transports whose data would exceed a link's capacity.
    fn check_credits(&self) -> Result<(), Fault> {
        let framing = &self.site.framing;
        let calls = framing.charged_mtu() as f64 / framing.charged_header() as f64;
        let shares = self.transports.iter().map(|transport| {
            let share = shaped_share(self.fabric, self.site, transport);
            (transport.info.name, share * calls)
        });
        let shares: Vec<(&str, f64)> = shares.filter(|(_, share)| *share > 0.0).collect();
        let all: f64 = shares.iter().map(|(_, share)| share).sum();
        if shares.len() < 2 || all <= 1.0 {
            return Ok(());
        }
        let names: Vec<&str> = shares.iter().map(|(name, _)| *name).collect();
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let keys: Vec<String> =
            names.iter().map(|name| format!("transport.parameters.{name}.credit_share")).collect();
        let each = 1.0 / (calls * names.len() as f64);
        let problem = wrong(format!(
            "the credits of {} together request {all:.2} times the capacity of a link (run `{}`)",
            quoted.join(" and "),
            self.label
        ));
        Err(Fault::new(problem.expected(format!(
            "{} with a sum of at most {:.4}, such as {:.4} each",
            keys.join(" and "),
            1.0 / calls,
            each - 5e-5
        ))))
    }
}

/// Names the transports, and the keys of a scenario that resolve the conflict, instead of numbers
/// and positions within a policy.
pub(crate) fn of_policies(conflict: PolicyConflict) -> Fault {
    let name = |id: TransportId| {
        let entry = incast_protocols::CATALOGUE.iter().find(|entry| entry.info().id == id);
        let known = entry.map(|entry| entry.info().name).or_else(|| custom::name_of(id));
        known.unwrap_or("another transport")
    };
    let (first, second) = (name(conflict.first), name(conflict.second));
    let who = match conflict.first == conflict.second {
        true => format!("`{first}` cannot have its port"),
        false => format!("`{first}` and `{second}` cannot share a port"),
    };
    let queue = match conflict.key.strip_prefix("classes[").and_then(|key| key.split_once(']')) {
        Some(("0", _)) => "for control packets: ".to_string(),
        Some((class, _)) => format!("for packets of class {class}: "),
        None => String::new(),
    };
    let problem = wrong(format!("{who}: {queue}{}", conflict.problem));
    let problem = match conflict.remedy {
        Remedy::Separate => problem.expected("transport.join = \"separate\""),
        Remedy::FewerQueues => problem.expected(format!(
            "fewer classes in transport.parameters.{first} or transport.parameters.{second}, or \
                 transport.join = \"shared\""
        )),
        Remedy::None => problem,
    };
    Fault::at("transport.names", problem)
}
