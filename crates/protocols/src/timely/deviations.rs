//! How TIMELY differs from its paper. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "Algorithm 1",
        what: "One decision per round trip; `update = \"segment\"` is the paper's.",
        reason: "As in HPCC's simulator.",
        effect: Some(
            "Two flows, 10 Gb/s: utilisation 96.8 % and 4 KB of queue instead of 99.97 % and \
             23 KB.",
        ),
    },
    Deviation {
        number: 2,
        section: "TIMELY §4.2",
        what: "Packets are spaced, not segments; `pace = \"segment\"` sends 16 KiB at line rate.",
        reason: "As in HPCC's simulator.",
        effect: Some("96.8 instead of 92.6 % of the link."),
    },
    Deviation {
        number: 3,
        section: "TIMELY §4.3",
        what: "The weight of the average is 0.875.",
        reason: "Not in the paper; HPCC's simulator's.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "Algorithm 1",
        what: "Rises below T_low do not count for hyperactive increase; `hyper_below_low = true` \
               is HPCC's simulator.",
        reason: "As in the algorithm.",
        effect: Some("96.8 instead of 91.6 % of the link."),
    },
    Deviation {
        number: 5,
        section: "",
        what: "The least rate is a thousandth of the link, the timeout 1 ms; losses do not change \
               the rate.",
        reason: "The paper does not state them.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "ECN or Delay §4.3",
        what: "The patched variant has its own factor 0.008 and T_low as its reference, without \
               hyperactive increase between the thresholds.",
        reason: "It is a control of its own, and the paper that proposes it gives these constants.",
        effect: Some(
            "Without PFC two flows lose 27,000 packets of a 1 MB buffer before they settle.",
        ),
    },
    Deviation {
        number: 7,
        section: "",
        what: "`recovery = \"sack\"` is IRN's selective repeat and BDP cap, with the timeout of go-back-N.",
        reason: "IRN has two timeouts, by how many packets are in flight.",
        effect: None,
    },
    Deviation {
        number: 8,
        section: "TIMELY §4.3, §4.4",
        what: "minRTT is at least half a base RTT, T_high at least ten.",
        reason: "The paper's 20 us and 500 us are those of its network; above T_high a rate only falls.",
        effect: None,
    },
];
