//! How XCP differs from its paper and ns-2. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "XCP §3.5",
        what: "Intervals follow the round trip (`timers = scaled`): floors of two packets' time, \
               first interval the base RTT.",
        reason: "The floors of ns-2 (1, 2 and 50 ms) are longer than a data center's round trips.",
        effect: Some("10 Gb/s, 400 us: a joining flow is within 10 % after 11 ms, ns2 25 ms."),
    },
    Deviation {
        number: 2,
        section: "XCP §3.3",
        what: "Packets are paced at window / RTT; `pacing = false` sends bursts.",
        reason: "Bursts of a window fill queues that no interval sees.",
        effect: Some("Peak queue 22 instead of 68 packets."),
    },
    Deviation {
        number: 3,
        section: "",
        what: "Ports at NICs give feedback too (`at_nics`).",
        reason: "Every link of ns-2 has one; otherwise the windows of flows that share a NIC grow \
                 without end.",
        effect: Some("Without, peak queue 57 instead of 22 packets."),
    },
    Deviation {
        number: 4,
        section: "XCP §3.5",
        what: "Windows and feedback count charged bytes.",
        reason: "As ports do; otherwise gains would be 6 % larger than alpha.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "",
        what: "The header has 24 bits of 64 ns for the RTT, spacing in 64 ps, feedback in 16 B/s, \
               cut towards zero.",
        reason: "Residues then bound what is given.",
        effect: Some("A flow of 10 Gb/s gets its changes to 10 ppm."),
    },
    Deviation {
        number: 6,
        section: "",
        what: "Spacing is that of the packet at hand, RTT x its length / window.",
        reason: "Flows of short packets get the same as flows of long ones.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "",
        what: "A residue never grows: the part of the pool that is charged is at least 0.",
        reason: "ns-2 lets P rise where a hop before took more than this port holds.",
        effect: None,
    },
    Deviation {
        number: 8,
        section: "XCP §3.5",
        what: "Ports begin at a random phase; intervals without packets are computed at once.",
        reason: "Otherwise all ports of a run measure at the same instants.",
        effect: None,
    },
    Deviation {
        number: 9,
        section: "",
        what: "Reliability is the common sender's: SACK; half at a loss, one packet after a timeout.",
        reason: "All sender-driven transports share one sender.",
        effect: None,
    },
];
