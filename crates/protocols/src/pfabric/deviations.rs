//! How pFabric differs from its paper and from YAPS. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "",
        what: "A host sends the flow with the least left first, and drops nothing.",
        reason: "NICs here take packets from hosts one by one; YAPS queues windows in the NIC and drops there.",
        effect: None,
    },
    Deviation {
        number: 2,
        section: "",
        what: "The timer runs from when a packet leaves, not while it waits for the NIC.",
        reason: "A flow behind shorter ones at its own host would time out without having sent.",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "",
        what: "Packets carry packets that are left, not bytes.",
        reason: "Headers have 24 bits for it; the order is that of bytes for full packets.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "",
        what: "Each ACK names its packet and the lowest missing one; the source keeps the list.",
        reason: "The ACKs of YAPS carry complete lists of any length.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "",
        what: "A packet is dropped only if that makes enough room, so one at a time is enough.",
        reason: "YAPS drops one and may exceed its limit; with full packets both are the same.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "",
        what: "Windows, buffer and timeout follow from the fabric's base RTT.",
        reason: "YAPS's numbers are of one fabric; sets have them and those of dcPIM's authors.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "",
        what: "A flow completes when its last byte arrives.",
        reason: "YAPS and the paper count until its last ACK; `sender_fct` is that time.",
        effect: None,
    },
    Deviation {
        number: 8,
        section: "",
        what: "A destination answers late packets of a flow that is complete.",
        reason: "YAPS's two ends share one object, so the source knows without an ACK.",
        effect: None,
    },
];
