//! How REN differs from its paper. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "REN §5.1",
        what: "The interval is the idle time of the transmitter, from the end of one transmission \
               to the start of the next.",
        reason: "As figures 6 and 7 draw it; the difference of dequeue times would report a \
                 saturated link as idle.",
        effect: None,
    },
    Deviation {
        number: 2,
        section: "REN §3.2.1",
        what: "Marks of the last base RTT, whose effect cannot have come back yet, are subtracted \
               (`feedback = compensate`).",
        reason: "Literally, two flows that start together lose all tokens.",
        effect: Some("Literally 10, 10, 10, 0, 0 packets per round."),
    },
    Deviation {
        number: 3,
        section: "REN §3.2.3",
        what: "A port that was silent for a period gives no under marks; gaps of two periods and \
               more, at least two base RTT, are ignored.",
        reason: "The paper is silent about idle ports.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "",
        what: "Recovery: a stall timer of 2 base RTT + buffer / rate per flow, doubling; a hole \
               is named in the next grant. A source that hears nothing sends packet 0, and at \
               last the flow's last packet, again.",
        reason: "The paper describes none.",
        effect: Some("Web search at load 0.6, 1,000 flows: no packet dropped, none sent again."),
    },
    Deviation {
        number: 5,
        section: "REN §4.1",
        what: "The queue returns to zero three round trips after two bursts.",
        reason: "By the paper's Eq. 3 (40, 0) and text it does after one; marks of one round act in \
                 the next.",
        effect: Some("80, 80, 40 and 0 packets, without a limit."),
    },
    Deviation {
        number: 6,
        section: "REN §3.2.3",
        what: "Marks of under-utilisation are spent on packets that no earlier hop has raised \
               (`spend`).",
        reason: "Under needs every hop to say so; on a raised packet the mark has no effect.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "REN §5.1",
        what: "NICs withhold marks of under-utilisation as switch ports do (`at_nics`).",
        reason: "ns-2 marks in every link's queue; otherwise flows that share a NIC are doubled by \
                 each idle port behind it.",
        effect: None,
    },
    Deviation {
        number: 8,
        section: "REN §5.1",
        what: "Grants and finishes have a queue of their own, before the data.",
        reason: "The paper's prototype has one queue per port and does not say where grants wait; \
                 behind data they would add its queue to every round trip.",
        effect: None,
    },
];
