//! How RCP differs from its papers and ns-2. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "",
        what: "The first rate of a port is half of its link.",
        reason: "ns-2 has a twentieth; it matters for ports that were never used.",
        effect: None,
    },
    Deviation {
        number: 2,
        section: "",
        what: "Intervals are as long as the average round trip, which begins at the fabric's base \
               RTT.",
        reason: "ns-2 has at most 10 ms, from 200 ms on: Internet values.",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "",
        what: "The header has 24 bits of 64 ns for the RTT and 32 bits of 64 B/s per rate, \
               rounded down.",
        reason: "Table I of DECN gives 96 bits; their split is ours.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "",
        what: "A lost SYN is sent again after 10, 20, ... 640 ms.",
        reason: "The paper is silent.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "",
        what: "Ports count and senders pace charged bytes.",
        reason: "Links charge 38 B of Ethernet.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "",
        what: "Losses do not change the rate; reliability is the common sender's SACK.",
        reason: "As in ns-2.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "",
        what: "`first_rtt_rate`, off: a host begins at the rate it learned last.",
        reason: "It saves the round trip of the SYN.",
        effect: None,
    },
    Deviation {
        number: 8,
        section: "",
        what: "Ports begin at a random phase; idle intervals are computed at once.",
        reason: "Otherwise all ports of a run measure at the same instants.",
        effect: None,
    },
    Deviation {
        number: 9,
        section: "",
        what: "A port believes no round trip longer than the base RTT and a full buffer at each hop \
               there and back.",
        reason: "Dukkipati's pseudo-code has a constant, MAX_ALLOWABLE_RTT; without one a single \
                 forged packet slows all flows down for seconds.",
        effect: None,
    },
];
