//! How theta-PowerTCP differs from its paper and code. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "PowerTCP §3",
        what: "gamma is 0.7.",
        reason: "The authors' simulator; the paper recommends 0.9 for both algorithms.",
        effect: None,
    },
    Deviation {
        number: 2,
        section: "Algorithm 2",
        what: "The growth of delay is at least -0.5 (`power_floor`).",
        reason: "The authors' simulator; it bounds how fast windows grow.",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "PowerTCP §3",
        what: "beta is a tenth of the BDP; `set = \"code\"` has the simulator's 150 Mb/s.",
        reason: "The paper divides by the flows that a host expects and gives no number.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "",
        what: "tau is that of the fabric's longest path, also for flows of shorter ones.",
        reason: "The simulator lowers it to a flow's shortest RTT, which changes powers in mid-flow.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "",
        what: "Windows, losses, requests to go back and the timeout are PowerTCP's; so are its ports, \
               without telemetry.",
        reason: "The paper describes only what differs.",
        effect: None,
    },
];
