//! Priority-based flow control, and storms of its frames.

use super::field::{Auto, Field, auto};
use super::key::{Key, Preset};
use super::node::{Node, Value};
use super::section::{Section, Table, join, within};
use super::section::{brief, first, preset, read_key, section, section_field};
use crate::Fault;
use incast_transport::{Bytes, Span};
use incast_world::Stuck;
use std::collections::BTreeMap;

section! {
    /// Priority-based flow control.
    pub struct Pfc is "[fabric.pfc]" {
        /// Lossless classes.
        classes: Vec<u8> = (0..8).collect(), says "all", "0 to 7" => |class| *class < 8;
        /// Bytes that a link may occupy in a switch, per class, before it is paused.
        xoff: Auto<Bytes> = auto(),
            says "`fabric.buffer`, and at most the threshold of a shared buffer";
        /// The same for links of some rates, such as `{ "100Gbps" = "200KB" }`.
        xoff_by_rate: BTreeMap<String, Bytes> = BTreeMap::new(), says "`xoff` for all";
        /// A paused link resumes when its backlog is this far below `xoff`.
        release: Auto<Bytes> = auto(), says "two packets";
        /// Buffer space for packets that arrive after a pause frame is sent. Too small a value is
        /// refused.
        headroom: Auto<Bytes> = auto(), says "sufficient for each link";
        /// Factor of the free part of a shared buffer that a link may hold per class.
        alpha: Auto<f64> = auto(), says "`fabric.shared_buffer.alpha`",
            "a number above 0" => |alpha| alpha.is_finite() && *alpha > 0.0;
        /// The same for links of some rates, such as `{ "100Gbps" = 0.25 }`.
        alpha_by_rate: BTreeMap<String, f64> = BTreeMap::new(), says "`alpha` for all";
        /// Bytes that a link may hold per class apart from `xoff` and a shared buffer.
        reserve: Bytes = Bytes(0);
        /// The same for links of some rates, such as `{ "100Gbps" = "12KB" }`.
        reserve_by_rate: BTreeMap<String, Bytes> = BTreeMap::new(), says "`reserve` for all";
        /// Headroom and reserves are part of `fabric.shared_buffer.pool`, not in addition to it.
        headroom_in_pool: bool = false;
        /// Run even if a cyclic buffer dependency makes a PFC deadlock possible.
        allow_cycles: bool = false;
        /// What ends pauses that last too long, at switches. `{}` sets all defaults.
        watchdog: Option<Watchdog> = None, says "nothing";
    }
}

section! {
    /// A watchdog at every switch port, as SONiC has it.
    pub struct Watchdog is "[fabric.pfc.watchdog]" {
        /// A class is stuck at a port that has been paused for so long without a break.
        detect: Span = Span::from_us(200_000), "more than 0" => |span| *span > Span::ZERO;
        /// It is no longer once it has not been paused for so long.
        restore: Span = Span::from_us(200_000), "more than 0" => |span| *span > Span::ZERO;
        /// What becomes of packets of a class that is stuck: `drop`, or `forward` in spite of the pause.
        action: Stuck = Stuck::Drop;
    }
}

section! {
    /// A host whose NIC pauses its link for all classes of `fabric.pfc.classes`, as one that is broken does. It goes on
    /// to send and to receive.
    pub struct Storm is "[[fabric.storms]]" {
        /// The host.
        host: u32;
        /// When the NIC sends its first pause frame.
        at: Span;
        /// How long it goes on.
        lasts: Option<Span> = None, says "for good", "more than 0" => |span| *span > Span::ZERO;
    }
}

section_field! { Pfc, Watchdog, Storm }
