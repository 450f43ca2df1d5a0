//! How Bolt differs from its paper and from its authors' simulator. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "",
        what: "Headers are 40 B and a time stamp of 8 B, and data carries no drain time.",
        reason: "Every transport here has the same header; only notices use drain time and rate. The authors' \
                 header is 21 B behind IP.",
        effect: None,
    },
    Deviation {
        number: 2,
        section: "",
        what: "Ports of switches only: a host's own NIC neither tells nor spares anything.",
        reason: "The authors' simulator runs the same queue in the NIC and then leaves out its verdict; a source \
                 does not send faster than its NIC.",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "",
        what: "The share of a link that a flow has is at most 1.",
        reason: "The first window at a faster NIC would count as more than the whole link; the authors' simulator \
                 has no bound.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "",
        what: "A window of a packet or less is halved at most once per round trip of its notices.",
        reason: "The authors' simulator halves it with each notice, of which a queue sends many in a round trip.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "",
        what: "Unused capacity counts bytes that joined the port, of every class and transport.",
        reason: "The authors' simulator counts what it then drops, and remains silent afterwards.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "",
        what: "Receivers ask to go back at most once per `nack_interval` for the same byte, and requests do not \
               repeat the packet's bits; after a loss the next packet raises the window again.",
        reason: "The common sender's go-back-N. In the authors' simulator a flow whose raising packet is lost never \
                 sends another.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "",
        what: "A loss is never given up, and the timeout is at least 1 ms and eight RTTs.",
        reason: "Every flow completes here; the authors' simulator waits for 10 ms and gives up after five.",
        effect: None,
    },
    Deviation {
        number: 8,
        section: "",
        what: "Between one and two packets, a window lets one be in flight.",
        reason: "Whole packets, as with every transport here; the authors' simulator spaces the rest by time.",
        effect: None,
    },
];
