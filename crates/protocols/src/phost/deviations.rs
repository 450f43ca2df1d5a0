//! How pHost differs from its paper and code. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "",
        what: "Waits are in round trips: window and free tokens are the BDP, downgrade 3 RTT, \
               pause 1.1 RTT.",
        reason: "The authors' 8, 25 and 9 packet times assume a BDP of 8 packets.",
        effect: Some(
            "With a window of 8 and a BDP of 83 packets a lone flow would get 10 % of its link.",
        ),
    },
    Deviation {
        number: 2,
        section: "",
        what: "A short flow announces itself behind its data and in its data's class.",
        reason: "In front, the announcement would cost 84 B; its first data tells its length already.",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "",
        what: "Announcements are repeated after 3 RTT of silence, at doubling intervals.",
        reason: "The authors' control packets are never lost.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "",
        what: "A flow completes when its last byte arrives.",
        reason: "The authors' code records when the source hears of it.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "",
        what: "Ties go to the flow that was seen first.",
        reason: "The authors' code compares start times.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "",
        what: "While any data class is paused by the link, no data leaves the host.",
        reason: "PFC; the paper has none.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "",
        what: "`hold` is overwritten by each new flow; a flow larger than its free tokens sets it \
               to 0.",
        reason: "As in the later of two published versions of the authors' code; the earlier adds to it.",
        effect: Some(
            "Holding slots for those too would leave a lone flow's link idle for 0.8 RTT.",
        ),
    },
    Deviation {
        number: 8,
        section: "",
        what: "Among equals, the newest packet of the least important class is pushed out.",
        reason: "The paper does not say.",
        effect: None,
    },
    Deviation {
        number: 9,
        section: "",
        what: "The pause of 1.1 RTT is the authors', although it is shorter than a round trip \
               with queues.",
        reason: "Kept as in the code.",
        effect: Some(
            "Web search at load 0.6: 0.30 % of packets are sent again, 22 % of these without \
             a drop; with 2.2 RTT 0.21 % and 0.1 %, but mean FCT 657 instead of 647 us.",
        ),
    },
];
