//! Sites without a fabric around them, and transports configured for them.

use incast_transport::{
    Bytes, Configured, FabricSite, Framing, HostId, HostSite, Limit, PortSite, Rate, Routing,
    Setting, Span, Transport,
};
use std::sync::Arc;

/// One switch between `hosts` hosts: all links of `rate`, Ethernet, 128 packets of buffer per port.
pub fn fabric_site(hosts: u32, rate: Rate, base_rtt: Span) -> Arc<FabricSite> {
    let framing = Framing::ETHERNET;
    let longer = Bytes((framing.charged_mtu() - framing.charged_header()) as u64);
    Arc::new(FabricSite {
        hosts,
        framing,
        base_rtt,
        data_delay: rate.tx_time(longer) * 2,
        max_rate: rate,
        rates: Arc::new([rate]),
        host_rate: rate,
        buffer: Limit::Packets(128),
        hops: 2,
        paths: 1,
        oversubscription: 1.0,
        sizes: None,
        acks: None,
        timers: Default::default(),
        plb: Default::default(),
    })
}

/// A host of this fabric, whose packets keep their order.
pub fn host_site(host: u32, fabric: &Arc<FabricSite>) -> HostSite {
    HostSite {
        host: HostId(host),
        rate: fabric.host_rate,
        bdp_packets: fabric.bdp_packets(fabric.host_rate),
        routing: Routing::Ecmp,
        fabric: fabric.clone(),
    }
}

/// A port of this fabric's edge switch that leads to a host.
pub fn port_site(fabric: &Arc<FabricSite>) -> PortSite {
    PortSite {
        port: fabric.hosts,
        rate: fabric.host_rate,
        nic: false,
        tier: 1,
        upward: false,
        buffer: fabric.buffer,
        fabric: fabric.clone(),
    }
}

/// A port of `rate` between three hosts, for tests that look at nothing else of the fabric.
pub fn switch_port(rate: Rate, base_rtt: Span) -> PortSite {
    port_site(&fabric_site(3, rate, base_rtt))
}

/// Settings in the form in which a user writes them.
pub fn key_values(settings: &[(&str, &str)]) -> Vec<(String, Setting)> {
    settings.iter().map(|(key, value)| (key.to_string(), (*value).into())).collect()
}

/// A transport with settings that it must accept.
pub fn configured(
    transport: &dyn Transport,
    own: &[(&str, &str)],
    fabric: &Arc<FabricSite>,
) -> Arc<dyn Configured> {
    let configured = transport.configure(&key_values(own), fabric.clone());
    configured.unwrap_or_else(|error| panic!("{error}"))
}
