//! How PowerTCP differs from its paper and code. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "Algorithm 1, line 3",
        what: "The window of the round before is kept as one value, renewed once per RTT.",
        reason: "The paper's is that at the time the acknowledged packet was sent; the simulator and \
                 HPCC do this.",
        effect: None,
    },
    Deviation {
        number: 2,
        section: "Algorithm 1, line 17",
        what: "The rate of arrivals is at least half of the link's (`power_floor`).",
        reason: "The authors' simulator; it bounds how fast windows grow.",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "PowerTCP §3",
        what: "beta is a tenth of the BDP; `set = \"code\"` has the simulator's 150 Mb/s.",
        reason: "The paper divides by the flows that a host expects and gives no number.",
        effect: Some(
            "Ten flows, 100 Gb/s: a queue of a BDP; with the simulator's values none and 96.5 %.",
        ),
    },
    Deviation {
        number: 4,
        section: "",
        what: "Telemetry, packet sizes, requests to go back and the timeout are HPCC's, with its \
               deviations.",
        reason: "PowerTCP is built on HPCC's simulator.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "",
        what: "tau counts the longer ACKs; windows count payload, power counts charged bytes.",
        reason: "A lone flow is never held back; the rest is HPCC's.",
        effect: Some("Queues are 6 % longer than the sum of beta: that much is header."),
    },
    Deviation {
        number: 6,
        section: "",
        what: "A timeout halves the window; other losses do not change it.",
        reason: "The paper and its simulator assume a lossless fabric.",
        effect: None,
    },
];
