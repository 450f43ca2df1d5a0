//! How Swift differs from its paper and from htsim. The README explains each under the same number.

use incast_endpoint::unordered::UNORDERED;
use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "Swift §3.3",
        what: "There is no second window for the delay in hosts.",
        reason: "Hosts take no time here, so it would never bind.",
        effect: None,
    },
    Deviation {
        number: 2,
        section: "Swift §3.5",
        what: "The base target is 1.25 base RTTs and 2 us, without a part per hop.",
        reason: "The paper's values are of one fleet; htsim's, SIRD's and Bolt's are sets.",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "Algorithm 1",
        what: "The last delay, not a smoothed one, says when a window may fall again and how packets \
               are spaced.",
        reason: "The paper says RTT; htsim smooths it and asks whether it should.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "Algorithm 1, line 33",
        what: "Only a fall of the window counts as a decrease, not an ACK that leaves it as it is.",
        reason: "At the largest window each ACK would postpone the next decrease; htsim does the \
                 same.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "Swift §3.4",
        what: "A packet that waits for the pacer is timed again when the window changes.",
        reason: "The pacer is that of all transports here; htsim's packet keeps its time.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "Algorithm 1",
        what: "A recovery lowers the window when it begins, and losses are found by selective \
               ACKs.",
        reason: "As the algorithm; htsim has duplicate ACKs and lowers it at the end.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "",
        what: "The first window is a BDP, the timeout at least 100 us and 1 ms at first.",
        reason: "The paper states none; the window is SIRD's and Bolt's, the timeouts are htsim's.",
        effect: None,
    },
    Deviation {
        number: 8,
        section: "",
        what: UNORDERED,
        reason: "Its flows keep their order. For comparisons with transports that spread \
                 packets; off by default.",
        effect: Some(
            "A permutation of 16 hosts over 4 leaves and 4 spines, 4 MB each at 100 Gb/s: 362 to \
             425 us by routing, alone 340, nothing sent again.",
        ),
    },
];
