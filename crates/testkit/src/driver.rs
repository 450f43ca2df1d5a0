//! One host, call by call.

use crate::{Harness, configured, host_site};
use incast_transport::{
    Classes, Env, Extension, FabricSite, Flow, Host, HostClock, HostId, Packet, Time, Transport,
};
use std::sync::Arc;

/// A host and what it borrows. Each call is checked against the contract: only packets of open
/// classes leave, an idle host sends nothing, no timer is left behind, and waking twice is waking
/// once.
pub struct Driver<H: Host + ?Sized = dyn Host> {
    /// What is driven.
    pub host: Box<H>,
    /// What it borrows.
    pub harness: Harness,
    id: HostId,
}

impl Driver {
    /// Host `id` of a transport.
    pub fn of(
        transport: &dyn Transport,
        settings: &[(&str, &str)],
        fabric: &Arc<FabricSite>,
        id: u32,
    ) -> Driver {
        let host = configured(transport, settings, fabric).host(&host_site(id, fabric));
        let harness = Harness::framed(fabric.framing);
        Driver { host, harness, id: HostId(id) }
    }
}

impl<H: Host> Driver<H> {
    /// This host, with Ethernet.
    pub fn new(host: H, id: u32) -> Driver<H> {
        Driver { host: Box::new(host), harness: Harness::new(), id: HostId(id) }
    }
}

impl<H: Host + ?Sized> Driver<H> {
    /// Any call.
    pub fn call<T>(&mut self, now: Time, f: impl FnOnce(&mut H, &mut Env<'_>) -> T) -> T {
        self.harness.probe.enter(now, HostClock::default());
        f(&mut self.host, &mut self.harness.env(now, self.id))
    }

    /// A flow starts here.
    pub fn open(&mut self, now: Time, flow: &Flow) {
        self.call(now, |host, env| {
            env.probe.opened(flow.id);
            host.open(env, flow);
        });
    }

    /// A packet arrives that left its source at this instant.
    pub fn receive(&mut self, now: Time, packet: Packet) {
        self.receive_with(now, packet, Extension::None);
    }

    /// The same with an extension.
    pub fn receive_with(&mut self, now: Time, packet: Packet, extension: Extension) {
        let handle = self.harness.departed(now, packet);
        if extension != Extension::None {
            self.harness.packets.extend(handle, extension);
        }
        self.call(now, |host, env| {
            let (content, stamps) = (env.packets[handle], env.packets.stamps(handle));
            env.probe.arriving(&content, stamps, env.packets.meta(handle));
            host.receive(env, handle);
            env.packets.free(handle);
        });
    }

    /// The NIC takes a packet of an open class.
    pub fn transmit_if(&mut self, now: Time, open: Classes) -> Option<Packet> {
        let idle = self.host.idle();
        let sent = self.call(now, |host, env| {
            let packet = host.transmit(env, open)?;
            let content = env.packets[packet];
            env.packets.free(packet);
            Some(content)
        });
        if let Some(packet) = &sent {
            assert!(!idle, "an idle host sent {packet:?}");
            assert!(open.has(packet.class), "class {} is closed", packet.class);
        }
        sent
    }

    /// The same with all classes open.
    pub fn transmit(&mut self, now: Time) -> Option<Packet> {
        self.transmit_if(now, Classes::ALL)
    }

    /// Everything of these classes that leaves at this instant.
    pub fn drain_if(&mut self, now: Time, open: Classes) -> Vec<Packet> {
        std::iter::from_fn(|| self.transmit_if(now, open)).collect()
    }

    /// Everything that leaves at this instant.
    pub fn drain(&mut self, now: Time) -> Vec<Packet> {
        self.drain_if(now, Classes::ALL)
    }

    /// Wakes the host, on time or early, with its NIC busy.
    pub fn wake(&mut self, now: Time) {
        self.call(now, |host, env| host.wake(env));
        let deadline = self.host.deadline();
        assert!(deadline > now, "a timer in the past: {deadline} at {now}");
        self.call(now, |host, env| host.wake(env));
        assert_eq!(self.host.deadline(), deadline, "waking twice is not waking once");
    }

    /// Wakes the host at each of its deadlines until `until`, which is included, and after each
    /// lets everything leave: what it sent, and when.
    pub fn run(&mut self, until: Time) -> Vec<(Time, Packet)> {
        let mut sent = vec![];
        while self.host.deadline() <= until {
            let now = self.host.deadline();
            self.wake(now);
            sent.extend(self.drain(now).into_iter().map(|packet| (now, packet)));
        }
        sent
    }

    /// Wakes the host at each of its deadlines until `until`, which is included, with its NIC busy.
    pub fn pass(&mut self, until: Time) {
        while self.host.deadline() <= until {
            self.wake(self.host.deadline());
        }
    }
}
