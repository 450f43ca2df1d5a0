//! What hosts need to know, derived from parameters and fabric.

use super::cutoffs::{Cutoffs, unscheduled_share};
use super::params::{Asked, LevelUse, Params, Unscheduled};
use incast_transport::fault::{Fault, expected};
use incast_transport::{Bytes, FabricSite, HostSite, Span};

/// Scheduled messages wait no shorter than this before missing packets are requested.
const RESEND_LEAST: Span = Span::from_ms(1);
/// The same in base RTT.
const RESEND_ROUND_TRIPS: u64 = 20;

/// How a port's classes are used: class 0 for control, then unscheduled, then scheduled levels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Levels {
    /// The lowest class.
    pub lowest: u8,
    /// Number of levels for unscheduled packets.
    pub unscheduled: u8,
    /// Number of levels for scheduled packets.
    pub scheduled: u8,
    /// Which of them few messages use.
    pub used: LevelUse,
}

impl Levels {
    /// The class of scheduled packets of the message that is `rank`-th of `active` (Homa §3.4).
    #[inline]
    pub fn scheduled_class(&self, rank: usize, active: usize) -> u8 {
        let levels = match self.used {
            LevelUse::Lowest => active.min(self.scheduled as usize),
            LevelUse::Fixed => self.scheduled as usize,
        };
        self.lowest + 1 - levels as u8 + rank.min(levels - 1) as u8
    }

    /// A valid data class for any value in a packet.
    #[inline]
    pub fn valid(&self, class: u32) -> u8 {
        class.clamp(1, self.lowest as u32) as u8
    }
}

/// What a host of a fabric goes by.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Unscheduled packets of a message: RTTbytes.
    pub blind: u32,
    /// Packets a message may have in flight to this host.
    pub window: u32,
    /// Scheduled packets of all messages that may be in flight to this host, for each message
    /// that may be granted.
    pub incoming_each: u32,
    /// The same for all of them, if it is fixed.
    pub incoming: Option<u32>,
    /// Payload of a full packet.
    pub mss: u64,
    /// Time of a full packet on the host's link.
    pub slot: Span,
    /// Classes.
    pub levels: Levels,
    /// Sizes that split unscheduled classes.
    pub cutoffs: Cutoffs,
    /// What they are compared with.
    pub unscheduled: Unscheduled,
    /// Whether the last packets of a message may use an unscheduled class.
    pub boost_tail: bool,
    /// Messages granted at a time.
    pub overcommitment: usize,
    /// Whether only one of a sender's messages is granted at a time.
    pub one_per_sender: bool,
    /// Time without progress after which missing packets are requested.
    pub resend_interval: Span,
    /// Whether every missing range is requested.
    pub ask_all: bool,
    /// Requests without a reply after which a message is set aside.
    pub give_up: u32,
    /// Idle time of the downlink after which one more message is granted.
    pub idle_check: Option<Span>,
}

/// RTTbytes in packets: of the slowest host link's RTT, so that a sender and its receiver
/// mean the same without telling each other.
pub fn blind_packets(params: &Params, fabric: &FabricSite) -> u32 {
    let packets = |bytes: Bytes| bytes.0.div_ceil(fabric.framing.mss() as u64) as u32;
    params.rtt_bytes.map_or_else(|| fabric.bdp_packets(fabric.host_rate), packets)
}

/// How classes are divided in a fabric.
///
/// # Errors
/// When the scheduled levels leave none for unscheduled packets, or fewer than the cutoffs need.
pub fn levels(params: &Params, fabric: &FabricSite) -> Result<Levels, Fault> {
    if let Some(limit) = params.buffer {
        fabric.check_data_limit("buffer", limit)?;
    }
    let lowest = params.priorities - 1;
    let blind = blind_packets(params, fabric) as u64 * fabric.framing.mss() as u64;
    let cutoffs = params.cutoffs.as_deref().unwrap_or_default();
    let scheduled = match (params.scheduled, &fabric.sizes) {
        // Explicit sizes set the number of classes.
        (None, _) if !cutoffs.is_empty() => lowest.saturating_sub(cutoffs.len() as u8 + 1).max(1),
        // One class for all data: an ablation.
        (None, _) if lowest == 1 => 1,
        (None, None) => lowest.div_ceil(2),
        (None, Some(sizes)) => {
            let unscheduled = unscheduled_share(sizes, blind) * lowest as f64;
            lowest - ((unscheduled + 0.5) as u8).clamp(1, lowest - 1)
        }
        (Some(scheduled), _) if scheduled < lowest || (scheduled, lowest) == (1, 1) => scheduled,
        (Some(scheduled), _) => {
            let problem = expected(format!(
                "1 to {}: of {} priorities control has one, and unscheduled packets need one",
                (lowest - 1).max(1),
                params.priorities
            ));
            return Err(Fault::value("scheduled", scheduled, problem));
        }
    };
    let unscheduled = (lowest - scheduled).max(1);
    if cutoffs.len() >= unscheduled as usize {
        let sizes: Vec<String> = cutoffs.iter().map(|size| size.to_string()).collect();
        let problem = expected(format!(
            "at most {} sizes: of {} priorities {unscheduled} are for unscheduled packets, and the \
             last needs none (see priorities and scheduled)",
            unscheduled - 1,
            params.priorities
        ));
        return Err(Fault::value("cutoffs", sizes.join(","), problem));
    }
    Ok(Levels { lowest, unscheduled, scheduled, used: params.levels })
}

impl Terms {
    /// What the host at `site` goes by.
    pub fn new(params: &Params, levels: Levels, site: &HostSite) -> Terms {
        let fabric = &site.fabric;
        let mss = fabric.framing.mss() as u64;
        let blind = blind_packets(params, fabric);
        // Grants may fill this host's own RTT if its link is faster than the slowest.
        let window = if params.rtt_bytes.is_some() { blind } else { blind.max(site.bdp_packets) };
        let sizes = fabric.sizes.as_deref();
        let interval = (fabric.base_rtt * RESEND_ROUND_TRIPS).max(RESEND_LEAST);
        let check = params.link_check;
        Terms {
            blind,
            window,
            incoming_each: window,
            incoming: params.max_incoming.map(|bytes| bytes.0.div_ceil(mss) as u32),
            mss,
            slot: fabric.mtu_time(site.rate),
            levels,
            cutoffs: match &params.cutoffs {
                Some(given) => Cutoffs::given(given, levels.unscheduled),
                None => {
                    let blind = blind as u64 * mss;
                    Cutoffs::new(sizes, blind, levels.unscheduled, params.unscheduled)
                }
            },
            unscheduled: params.unscheduled,
            boost_tail: params.boost_tail,
            overcommitment: params.overcommitment.unwrap_or(levels.scheduled as u32) as usize,
            one_per_sender: params.one_per_sender,
            resend_interval: params.resend_interval.unwrap_or(interval),
            ask_all: params.resend == Asked::All,
            give_up: params.give_up,
            idle_check: (check.0 > 0).then(|| site.rate.tx_time(check)),
        }
    }

    /// The class of an unscheduled packet of a message of `size` at which `remaining` bytes remain.
    #[inline]
    pub fn unscheduled_class(&self, size: u64, remaining: u64) -> u8 {
        self.cutoffs.class(match self.unscheduled {
            Unscheduled::Graduated => remaining,
            Unscheduled::Size => size,
        })
    }

    /// The class in which lost packets of a message of so many packets are sent again: the best
    /// that its unscheduled packets use.
    pub fn recovery_class(&self, packets: u32) -> u8 {
        let last = packets.saturating_sub(self.blind - 1).max(1);
        self.unscheduled_class(packets as u64 * self.mss, last as u64 * self.mss)
    }
}
