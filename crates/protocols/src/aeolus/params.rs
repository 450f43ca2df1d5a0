//! Parameters of Aeolus, in addition to those of Homa.

use crate::homa;
use incast_transport::{Fault, ParameterDoc, Parameters, Setting, Span, choice, parameters};

choice! {
    /// The queue that the threshold is compared with.
    pub enum ThresholdOf {
        /// All data queued at the port.
        Port = "port",
        /// The queue of the packet's class.
        Class = "class",
    }
}

parameters! {
    /// Parameters of Aeolus itself.
    pub struct Params for "aeolus" {
        /// Queue length up to which an unscheduled packet is admitted, in packets.
        threshold: u32 = 4, "0 to 1000000 packets" => |v| *v <= 1_000_000,
            "SIGCOMM 2020: 6 KB, four packets of 1500 B";
        /// Queue that the threshold is compared with: all data at the port, or the packet's class.
        threshold_of: ThresholdOf = ThresholdOf::Class, "port or class" => |_| true,
            "SIGCOMM 2020: RED on the queue that a packet joins; with Homa's classes, its class";
        /// Time after a probe's arrival until missing packets count as lost; auto: a base RTT, because packets are sprayed; 0ns without reordering.
        grace: Option<Span> = None, "0ns to 10s, or auto"
            => |v| v.is_none_or(|v| v <= Span::from_secs(10)),
            "ours: the paper has single paths";
        /// Time after which a probe without a reply is repeated; auto: a base RTT and the drain time of a full buffer, at least 3 base RTT.
        probe_timeout: Option<Span> = None, "1ns to 10s, or auto"
            => |v| v.is_none_or(|v| (Span::from_ns(1)..=Span::from_secs(10)).contains(&v)),
            "ours: the paper loses no probe";
        /// Most unscheduled packets in flight of all flows of a host; auto: only the limit per flow, RTTbytes.
        host_burst: Option<u32> = None, "0 to 1000000 packets, or auto"
            => |v| v.is_none_or(|v| v <= 1_000_000),
            "SIGCOMM 2020: a budget for each flow";
    }
}

/// The parameters of Aeolus and of Homa.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Both {
    /// Aeolus's own.
    pub own: Params,
    /// Homa's.
    pub homa: homa::Params,
}

impl Parameters for Both {
    fn read(settings: &[(String, Setting)]) -> Result<Both, Fault> {
        let is_own =
            |(key, _): &&(String, Setting)| Params::docs().iter().any(|doc| doc.name == key);
        let (own, homa): (Vec<_>, Vec<_>) = settings.iter().cloned().partition(|s| is_own(&s));
        Ok(Both { own: Params::read(&own)?, homa: homa::Params::read(&homa)? })
    }

    fn docs() -> Vec<ParameterDoc> {
        Params::docs().into_iter().chain(homa::Params::docs()).collect()
    }

    fn resolved(&self) -> Vec<(&'static str, String)> {
        self.own.resolved().into_iter().chain(self.homa.resolved()).collect()
    }
}
