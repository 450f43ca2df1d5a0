//! Congestion controls from outside the catalogue: a program that uses these crates, or a notebook,
//! gives the control law and names the transport whose ports it runs through.
//!
//! A [`Law`] reads its parameters and gives [`Flows`], which make a [`CustomControl`] for each flow:
//! a trait object behind the [common sender](crate::sender), called per ACK, loss, timer and data
//! packet that leaves its host, and never per hop. Each call returns the [`Limits`] that hold until
//! the next one, or why the control cannot go on; then the run ends with that message. [`Custom`]
//! makes a [`Transport`] of it.
//!
//! Sequence numbers, ACKs, retransmission and pacing are the common sender's; queues, marking and
//! routing those of the transport in [`Custom::ports`], which lends them
//! ([`Transport::lends_ports`]).

mod control;
mod guard;
mod params;

pub use control::{
    BadValue, CustomControl, CustomParameter, Flows, Law, Limits, Opening, fixed_law,
};
pub use params::{Recovery, SenderParams};

use crate::sender::views::{Ack, DATA, GoBack};
use crate::sender::{
    AckFields, Arriving, Feedback, Notification, Options, SenderDriven, congestion_control,
};
use guard::{Failures, Guarded};
use incast_transport::{
    Acks, Configured, Ecn, EcnUse, FabricSite, Fault, HeaderView, Host, HostSite, Info, LentPorts,
    Notice, ParameterDoc, Policy, PortSite, Setting, Transport, TransportId, TransportKind, Values,
    parameter,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The packets of a custom control.
const HEADERS: &[HeaderView] = &[DATA, Ack::VIEW.without("window").without("nibble"), GoBack::VIEW];

/// The same through ports that write codes of their own.
const CODED: &[HeaderView] = &[DATA, Ack::VIEW.without("window"), GoBack::VIEW];

/// What an ACK returns of its data packet's ECN bits: the code of ports that write codes, else
/// whether it was marked.
#[derive(Clone, Copy)]
struct Echo {
    codes: bool,
}

impl Feedback for Echo {
    #[inline]
    fn on_data(&mut self, data: &Arriving<'_>, ack: &mut AckFields) -> Option<Notification> {
        match self.codes {
            // In the header: the ACK's own ECN bits belong to the reverse path.
            true => ack.nibble = data.packet.mark,
            false => ack.ece = data.packet.mark == Ecn::Ce as u8,
        }
        None
    }
}

/// A congestion control from outside the catalogue, as a transport.
pub struct Custom {
    /// Its facts, from [`Custom::info`].
    pub info: &'static Info,
    /// A hash of all that decides what it does, such as that of its source.
    pub version: String,
    /// The transport through whose ports it runs; it [lends](Transport::lends_ports) them.
    pub ports: &'static dyn Transport,
    /// Settings of the common sender, [`SenderParams`], that take the place of the defaults.
    pub sender: Vec<(String, Setting)>,
    /// Parameters of its own.
    pub parameters: Vec<CustomParameter>,
    /// The control law.
    pub law: Arc<dyn Law>,
}

impl Custom {
    /// The facts of a control: routing, ports and paths are those of `ports`. With `ecn` its data
    /// packets are ECN-capable; through ports that write codes of their own they carry those.
    ///
    /// # Errors
    /// `ports` does not lend its ports.
    pub fn info(
        name: &'static str,
        id: TransportId,
        title: &'static str,
        kind: TransportKind,
        ecn: bool,
        ports: &dyn Transport,
    ) -> Result<Info, String> {
        let like = ports.info();
        let Some(lent) = ports.lends_ports() else {
            return Err(format!(
                "the ports of {} need more of packets than a custom control writes: {}",
                like.name, like.switch_support
            ));
        };
        let own = match (lent.code, ecn) {
            (Some(_), _) => EcnUse::OwnCode,
            (None, true) => EcnUse::Rfc3168,
            (None, false) => EcnUse::None,
        };
        Ok(Info {
            name,
            id,
            title,
            paper: "a custom congestion control",
            kind,
            switch_support: like.switch_support,
            routing: like.routing,
            symmetric_paths: like.symmetric_paths,
            one_path: like.one_path,
            ecn: own,
            marks: own != EcnUse::None && like.marks,
            made_for_pfc: like.made_for_pfc,
            feedback_bits: None,
            headers: if lent.code.is_some() { CODED } else { HEADERS },
            deviations: &[],
        })
    }

    /// What tells its results from those of another control of its name: version, ports, and
    /// defaults.
    pub fn identity(&self) -> String {
        let own = self.parameters.iter().map(|one| (one.name, one.default.clone()));
        let sender = self.sender.iter().map(|(key, value)| (key.as_str(), value.to_string()));
        let defaults: Vec<String> =
            own.chain(sender).map(|(key, value)| format!("{key}={value}")).collect();
        let (ecn, ports) = (self.info.ecn.name(), self.ports.info().name);
        format!("{} ecn={ecn} ports={ports} {}", self.version, defaults.join(" "))
    }

    fn lent(&self) -> LentPorts {
        self.ports.lends_ports().expect("checked with its facts")
    }

    /// Settings of its own, of the sender and of the ports.
    fn split<'a>(
        &self,
        settings: &'a [(String, Setting)],
    ) -> Result<[Vec<&'a (String, Setting)>; 3], Fault> {
        let lent = self.lent().parameters;
        let sender: Vec<&str> = SenderParams::docs().iter().map(|doc| doc.name).collect();
        let mut parts = [vec![], vec![], vec![]];
        for setting in settings {
            let key = setting.0.as_str();
            let part = match key {
                _ if self.parameters.iter().any(|own| own.name == key) => 0,
                _ if sender.contains(&key) => 1,
                _ if lent.contains(&key) => 2,
                _ => {
                    let known: Vec<&str> = self.parameters().iter().map(|doc| doc.name).collect();
                    return Err(parameter::unknown(key, &setting.1, &known));
                }
            };
            parts[part].push(setting);
        }
        Ok(parts)
    }

    /// The values of its own parameters, in their order.
    fn values(&self, settings: &[&(String, Setting)]) -> Vec<(&'static str, String)> {
        let written = |name: &str| settings.iter().rfind(|(key, _)| key == name);
        let value = |own: &CustomParameter| {
            let value =
                written(own.name).map_or(own.default.clone(), |(_, value)| value.to_string());
            (own.name, value)
        };
        self.parameters.iter().map(value).collect()
    }

    fn options(&self, sender: &SenderParams) -> Options {
        let mark = if self.info.ecn == EcnUse::None { Ecn::NotEct } else { Ecn::Ect0 };
        Options {
            data_mark: self.lent().code.unwrap_or(mark as u8),
            ack_class: if self.lent().acks == Acks::Control { 0 } else { 1 },
            ..sender.options(self.info.id)
        }
    }
}

impl Transport for Custom {
    fn keeps_connections(&self) -> bool {
        true
    }

    fn info(&self) -> &'static Info {
        self.info
    }

    fn parameters(&self) -> Vec<ParameterDoc> {
        let own = self.parameters.iter().map(CustomParameter::doc);
        let taken = |name: &str| self.parameters.iter().any(|own| own.name == name);
        let mut sender = SenderParams::docs();
        for (key, value) in &self.sender {
            let known = sender.iter_mut().find(|doc| doc.name == key);
            known.into_iter().for_each(|doc| doc.default = value.to_string());
        }
        let lent = self.lent().parameters;
        let ports = self.ports.parameters().into_iter().filter(|doc| lent.contains(&doc.name));
        own.chain(sender.into_iter().chain(ports).filter(|doc| !taken(doc.name))).collect()
    }

    fn configure(
        &self,
        settings: &[(String, Setting)],
        fabric: Arc<FabricSite>,
    ) -> Result<Arc<dyn Configured>, Fault> {
        let [own, sender, ports] = self.split(settings)?;
        let given: Vec<(String, Setting)> = self.sender.iter().chain(sender).cloned().collect();
        let sender = SenderParams::read(&given)?;
        let ports: Vec<(String, Setting)> = ports.into_iter().cloned().collect();
        let ports = self.ports.configure(&ports, fabric.clone())?;
        let values = self.values(&own);
        let flows = self.law.configure(&values, &fabric).map_err(|BadValue { key, problem }| {
            let value = values.iter().find(|(name, _)| *name == key);
            let value = value.map_or(String::new(), |(_, value)| value.clone());
            Fault::value(key, value, problem)
        })?;
        let options = self.options(&sender);
        let lent = self.lent().parameters;
        let mut resolved: Values = values;
        resolved.extend(sender.resolved());
        resolved.extend(ports.resolved().into_iter().filter(|(key, _)| lent.contains(key)));
        resolved.push(("version (in force)", self.version.clone()));
        resolved.push(("ports_like (in force)", self.ports.info().name.into()));
        let failures = Arc::new(Failures::default());
        let info = self.info;
        let echo = Echo { codes: self.lent().code.is_some() };
        Ok(Arc::new(InForce { info, ports, flows, options, echo, resolved, failures, fabric }))
    }
}

/// A custom control with its parameters, for one fabric.
struct InForce {
    info: &'static Info,
    ports: Arc<dyn Configured>,
    flows: Arc<dyn Flows>,
    options: Options,
    echo: Echo,
    resolved: Values,
    failures: Arc<Failures>,
    fabric: Arc<FabricSite>,
}

impl Configured for InForce {
    fn host(&self, site: &HostSite) -> Box<dyn Host> {
        let (flows, failures, own) = (self.flows.clone(), self.failures.clone(), site.clone());
        let segment = self.fabric.framing.mss() as u64;
        let control = congestion_control(self.echo, move |now, flow, others| {
            let opening = Opening { now, flow, site: &own, segment, others };
            Guarded::open(&*flows, &opening, &failures)
        });
        let mut host = Box::new(SenderDriven::new(control, self.options));
        site.set_up(&mut *host);
        host
    }

    fn policy(&self, site: &PortSite) -> Policy {
        Policy { transport: self.info.id, ..self.ports.policy(site) }
    }

    fn shapes_nic(&self) -> bool {
        self.ports.shapes_nic()
    }

    fn resolved(&self) -> Values {
        self.resolved.clone()
    }

    fn warnings(&self) -> Vec<Notice> {
        self.ports.warnings()
    }

    fn begin(&self, halt: &Arc<AtomicBool>) {
        self.failures.begin(halt);
    }

    fn failure(&self) -> Option<String> {
        self.failures.first().map(|failure| format!("the control `{}`, {failure}", self.info.name))
    }

    fn unsolicited(&self, site: &HostSite, packets: u32) -> u32 {
        guard::first_window(&*self.flows, site, self.fabric.framing.mss(), packets)
    }
}
