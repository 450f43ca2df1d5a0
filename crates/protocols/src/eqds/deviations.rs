//! How EQDS differs from its authors' simulator. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "",
        what: "Credits stand in pulls alone: ACKs and NACKs do not repeat them.",
        reason: "Twelve bytes of header. Pulls are cumulative, so the next one brings what a lost one had.",
        effect: None,
    },
    Deviation {
        number: 2,
        section: "",
        what: "A request to send names the packet that expired, takes no number of its own, and counts as a packet \
               to be repaired; it asks for what is left now.",
        reason: "Packet numbers then follow from offsets. The authors' simulator repeats what the last packet asked \
                 for, from before the loss.",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "",
        what: "A flow waits in one queue of its receiver at a time.",
        reason: "In the authors' simulator one that asked for more while its lost packets were repaired is in none \
                 afterwards and waits for a timeout.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "",
        what: "Without an answer timeouts double, up to 64 times.",
        reason: "On a wire that is slower than the first timeout each packet would be sent again and again, and no \
                 answer would be that of a packet sent once.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "",
        what: "The last packet, one sent again, and one after which the credit holds no other ask for an ACK at once, \
               and ACKs list what has arrived beyond the lowest missing packet.",
        reason: "The sender is shared with UEC. In the authors' simulator the list is always empty, by a slip.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "",
        what: "Control leaves a NIC before data; a flow's last ACK lists nothing, and pulls end with the flow.",
        reason: "The contract of hosts; receivers of finished flows keep only the number.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "",
        what: "Until a flow has heard something it asks for a packet at least, and one that waits for credit with \
               nothing in flight asks again after each timeout.",
        reason: "In the authors' simulator a short flow whose first answer comes before its last packet has left loses \
                 its first credit, has asked for none, and stops; their next one, UEC's, asks for a packet. And here a \
                 pull may be lost.",
        effect: Some(
            "Web search at load 0.3 (docs/lineup.md), with the second part alone: 99th percentile of the slowdown 14.7; with both: 4.9.",
        ),
    },
    Deviation {
        number: 8,
        section: "",
        what: "A host has no queue of other transports' packets: flows are messages of EQDS itself.",
        reason: "The paper carries datagrams of TCP and RDMA in credits; what it compares in a fabric is the service \
                 below them. Its back end for switches that do not cut packets is not built.",
        effect: None,
    },
];
