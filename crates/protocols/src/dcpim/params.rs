//! Parameters.

use super::clock::Clock;
use incast_transport::fault::expected;
use incast_transport::{Bytes, FabricSite, Fault, HostSite, Limit, ParameterSet, Span};

fn packets(count: &Option<u32>) -> bool {
    count.is_none_or(|count| (1..=1_000_000).contains(&count))
}

fn share(v: &f64) -> bool {
    (0.01..=1_000.0).contains(v)
}

incast_transport::parameters! {
    /// Parameters of dcPIM.
    pub struct Params for "dcpim" {
        /// Rounds of a matching (r).
        rounds: u32 = 4, "1 to 32" => |v| (1..=32).contains(v), "the paper and its simulator: 4";
        /// Length of a round, in round trips of control packets (beta).
        round: f64 = 1.3, "1 to 1000 round trips" => |v| (1.0..=1_000.0).contains(v),
            "the paper and its simulator: 1.3";
        /// Length of a data phase, in matchings (alpha).
        data_phase: f64 = 1.0, "1 to 1000 matchings" => |v| (1.0..=1_000.0).contains(v),
            "authors' simulator: 1";
        /// Parts of a host's link, each for one flow at a time (k).
        channels: u32 = 4, "1 to 255" => |v| (1..=255).contains(v), "the paper and its simulator: 4";
        /// Round trip of control packets; auto: the base RTT less what full packets take longer.
        control_rtt: Option<Span> = None, "auto, or 1ns to 1s" => |v|
            v.is_none_or(|v| (Span::from_ns(1)..=Span::from_secs(1)).contains(&v)),
            "authors' simulator: 5.216 us";
        /// Rounds in which the flow with the fewest packets left is preferred; in the others a random one is.
        shortest_rounds: u32 = 1, "0 to 32" => |v| *v <= 32, "authors' simulator: 1";
        /// Whether channels that the epoch before left free are used while the matching goes on.
        prompt: bool = true, "true or false" => |_| true, "authors' simulator; false: an ablation";
        /// Largest flow that is sent without a token; auto: a BDP.
        token_initial: Option<u32> = None, "auto, or 1 to 1000000 packets" => packets,
            "authors' simulator: 1 BDP, 49 packets";
        /// Tokens under way of a flow that has all channels; auto: a BDP.
        token_window: Option<u32> = None, "auto, or 1 to 1000000 packets" => packets,
            "authors' simulator: 1 BDP, 49 packets";
        /// Time after which tokens are taken for lost, in packet times per packet of a BDP.
        window_timeout: f64 = 1.1, "0.01 to 1000 BDPs" => share, "authors' simulator: 1.1";
        /// Wait of a flow of which every missing packet has a token, the same.
        resend_timeout: f64 = 1.0, "0.01 to 1000 BDPs" => share, "authors' simulator: 1";
        /// Buffer of a port, for all classes together; auto: the fabric's.
        buffer: Option<Bytes> = None, "auto, or a full packet to 1GB" => |v|
            v.is_none_or(|v| v.0 <= 1_000_000_000), "authors' simulator: 500 KB";
        /// Largest share of a round by which clocks of hosts differ; at most (1 - 1 / round) / 2.
        clock_offset: f64 = 0.0, "0 to 0.5" => |v| (0.0..=0.5).contains(v),
            "authors' simulator: 0";
        /// Silence after which a flow is announced again; auto: 3 base RTT.
        retry: Option<Span> = None, "auto, or more than 0, at most 60s" => |v|
            v.is_none_or(|v| v > Span::ZERO && v <= Span::from_secs(60)),
            "ours: the authors' simulator loses no control packet";
    }
}

/// Values of the authors' simulator.
pub(super) const SETS: &[ParameterSet] = &[
    ParameterSet { name: "fabric", source: "BDP and round trip of the fabric", values: &[] },
    ParameterSet {
        name: "authors",
        source: "authors' simulator: 144 hosts at 100 Gb/s, 0.65 us a link",
        values: &[("token_initial", "49"), ("token_window", "49"), ("buffer", "500KB")],
    },
];

impl Params {
    /// The round trip of control packets without queues.
    fn least_control(fabric: &FabricSite) -> Span {
        Span(fabric.base_rtt.0.saturating_sub(fabric.data_delay.0).max(1))
    }

    fn control(&self, fabric: &FabricSite) -> Span {
        self.control_rtt.unwrap_or_else(|| Params::least_control(fabric))
    }

    fn times(&self, fabric: &FabricSite) -> (Span, Span, Span) {
        let control = self.control(fabric);
        let round = Span(((control.0 as f64 * self.round) as u64).max(2));
        let matching = round * self.rounds as u64;
        (control, round, Span((matching.0 as f64 * self.data_phase) as u64).max(matching))
    }

    /// Whether an epoch holds a packet of each channel, and buffers hold one.
    pub(super) fn check(&self, fabric: &FabricSite) -> Result<(), Fault> {
        let (given, least) = (self.control(fabric), Params::least_control(fabric));
        if given < least {
            let problem = expected(format!("at least {least}, or grants come after their round"));
            return Err(Fault::value("control_rtt", given, problem));
        }
        let slot = fabric.mtu_time(fabric.host_rate);
        let (_, round, epoch) = self.times(fabric);
        if epoch < slot * self.channels as u64 {
            let problem = expected(format!(
                "at most {}: an epoch of {epoch} ({} rounds of {round}) holds no packet of more",
                (epoch.0 / slot.0.max(1)).max(1),
                self.rounds
            ));
            return Err(Fault::value("channels", self.channels, problem));
        }
        let most = (1.0 - 1.0 / self.round) / 2.0;
        if self.clock_offset > most {
            let problem = expected(format!("at most {most:.3} with round = {}", self.round));
            return Err(Fault::value("clock_offset", self.clock_offset, problem));
        }
        match self.buffer {
            Some(buffer) => fabric.check_data_limit("buffer", buffer),
            None => Ok(()),
        }
    }

    /// What `auto` stands for.
    pub(super) fn in_force(&self, fabric: &FabricSite) -> Vec<(&'static str, String)> {
        let (control, round, epoch) = self.times(fabric);
        vec![
            ("control_rtt (in force)", control.to_string()),
            ("round (in force)", round.to_string()),
            ("epoch (in force)", epoch.to_string()),
        ]
    }

    /// What ports hold.
    pub(super) fn limit(&self, auto: Limit) -> Limit {
        self.buffer.map_or(auto, |bytes| Limit::Bytes(bytes.0))
    }
}

/// What hosts need to know.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Epochs and rounds.
    pub clock: Clock,
    /// Round trip of a control packet.
    pub control: Span,
    /// Time of a full packet on the host's link.
    pub slot: Span,
    /// Parts of the link.
    pub channels: u32,
    /// Packets of one channel in a data phase.
    pub per_channel: u32,
    /// Rounds in which the shortest flow is preferred.
    pub shortest_rounds: u32,
    /// Whether free channels are used before their data phase.
    pub prompt: bool,
    /// Largest flow that is sent without a token, in packets.
    pub token_initial: u32,
    /// Tokens under way of a flow with all channels.
    pub token_window: u32,
    /// After so long without one coming back they are lost.
    pub window_timeout: Span,
    /// Wait of a flow of which every missing packet has a token.
    pub resend_timeout: Span,
    /// After so long more than its own time, a short flow counts as a long one.
    pub downgrade: Span,
    /// Silence after which a flow is announced again.
    pub retry: Span,
}

impl Terms {
    /// The parameters at a host.
    pub fn new(params: &Params, site: &HostSite) -> Terms {
        let (fabric, slot) = (&site.fabric, site.fabric.mtu_time(site.rate));
        let (control, round, epoch) = params.times(fabric);
        let bdp = slot * site.bdp_packets as u64;
        let times = |share: f64| Span((bdp.0 as f64 * share) as u64);
        let per_channel = epoch.0 / slot.0.max(1) / params.channels as u64;
        let ahead = (round.0 as f64 * params.clock_offset * drawn(site.host.0)) as u64;
        Terms {
            clock: Clock { ahead: Span(ahead), round, rounds: params.rounds, epoch },
            control,
            slot,
            channels: params.channels,
            per_channel: per_channel.clamp(1, u32::MAX as u64) as u32,
            shortest_rounds: params.shortest_rounds,
            prompt: params.prompt,
            token_initial: params.token_initial.unwrap_or(site.bdp_packets),
            token_window: params.token_window.unwrap_or(site.bdp_packets),
            window_timeout: times(params.window_timeout),
            resend_timeout: times(params.resend_timeout),
            downgrade: bdp,
            retry: params.retry.unwrap_or(fabric.base_rtt * 3),
        }
    }

    /// Time between the tokens of so many channels.
    pub fn gap(&self, channels: u32) -> Span {
        Span(self.slot.0 * self.channels as u64 / channels.max(1) as u64)
    }

    /// The class of a flow's data: packets in powers of seven.
    pub fn class(packets: u32) -> u8 {
        (1..6).find(|class| packets <= 7u32.pow(*class as u32)).unwrap_or(6)
    }
}

/// A number from 0 to 1 of a host.
fn drawn(host: u32) -> f64 {
    (host.wrapping_mul(0x9e37_79b9) >> 8) as f64 / (1u32 << 24) as f64
}
