//! How NDP differs from its paper and code. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "",
        what: "Packets have 1,500 B, not 9,000 B.",
        reason: "As REN and AMRT use NDP.",
        effect: Some(
            "ACKs and pulls leave 90 to 95 % of a link for data when traffic goes both ways and \
             nothing is trimmed; at 1.5 times what a link takes in each direction 23 % less is delivered than in one.",
        ),
    },
    Deviation {
        number: 2,
        section: "NDP §3.1.1",
        what: "A packet carries one path number instead of a source route; switches read their \
               choice off its digits.",
        reason: "It fits the header; permutations per flow are as in the paper.",
        effect: Some("Permutation of 16 hosts: 96 % of the last links busy, 88 % with `spray`."),
    },
    Deviation {
        number: 3,
        section: "",
        what: "There is no path penalty.",
        reason: "The authors leave bad paths out of permutations, which matters after failures.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "NDP §3.1",
        what: "The header queue is measured in charged bytes: 285 headers of 84 B.",
        reason: "Links charge 84 B at least; the authors' 64 B headers would be 375.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "NDP §3.1",
        what: "The service of 10:1 counts packets.",
        reason: "As in the paper; the authors' code of today has 100000:1.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "",
        what: "The timeout of a packet is on: at least 1 ms and two base RTT, else RTT + 4 \
               deviations, doubling up to 64 times while nothing is heard of the flow.",
        reason: "The authors' code has 5 ms, and only if compiled in.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "",
        what: "A sender that waits for pulls and hears nothing for a timeout sends one packet.",
        reason: "Pulls can be lost; the authors' code would wait for ever.",
        effect: None,
    },
    Deviation {
        number: 8,
        section: "",
        what: "A late header of a packet that has arrived gets an ACK.",
        reason: "It need not be sent again.",
        effect: None,
    },
    Deviation {
        number: 9,
        section: "",
        what: "The last packet has its true size; pulls are spaced by full packets all the same.",
        reason: "The authors' code sends a full one.",
        effect: None,
    },
    Deviation {
        number: 10,
        section: "",
        what: "Finished receivers remember the flow's number and acknowledge late packets \
               that says so.",
        reason: "State of finished flows must be bounded.",
        effect: None,
    },
];
