//! How VCP differs from its paper and code. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "VCP §3.1",
        what: "The interval t_rho is the base RTT, at least 0.1 ms (`interval = auto`).",
        reason: "200 ms are for the Internet.",
        effect: Some("10 Gb/s, 400 us: a joining flow is within 10 % after 177 ms."),
    },
    Deviation {
        number: 2,
        section: "VCP §3.3",
        what: "Round trips longer than t_rho make larger steps, at most (1 + xi)^2.5 and 25 packets.",
        reason: "The clamps of the authors' code in units of t_rho.",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "",
        what: "Packets are paced at window / RTT; `pacing = false` sends bursts.",
        reason: "The authors' code paces windows below 64 packets.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "VCP §3.1",
        what: "Ports at NICs measure load too.",
        reason: "Every link of ns-2 has one; otherwise the windows of flows that share only a NIC \
                 grow without end.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "VCP §3.1",
        what: "Ports measure charged bytes, ACKs and refused packets included, and begin at a \
               random phase.",
        reason: "The load offered is what counts.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "VCP §3.1",
        what: "The queue's average is taken over intervals with a weight of a quarter.",
        reason: "As the authors' code says; an assertion left in it would switch it off.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "",
        what: "Codes are ignored while a loss is being repaired; reliability is the common \
               sender's SACK.",
        reason: "The loss has cut the window already.",
        effect: None,
    },
];
