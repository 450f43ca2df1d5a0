//! How DCTCP differs from its paper and RFC 8257. The README explains each under the same number.

use incast_endpoint::unordered::UNORDERED;
use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "RFC 6298",
        what: "RTT samples come from the send times that the sender keeps, not from a timestamp \
               option.",
        reason: "The option would be charged 10 to 12 B per packet.",
        effect: Some("None without loss."),
    },
    Deviation {
        number: 2,
        section: "RFC 7661",
        what: "The window grows only when it was the limit within the last window of data.",
        reason: "The NIC pulls packets, so a sender has no queue of its own that could be marked.",
        effect: Some(
            "10 Gb/s, 400 us, 200 packets of buffer: 18 packets are dropped once when a \
             second flow joins.",
        ),
    },
    Deviation {
        number: 3,
        section: "RFC 8257 §3.5",
        what: "A loss in a window that marks have already cut deepens that cut to one half.",
        reason: "This keeps both the reaction to loss and one reduction per window.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "RFC 6298 §2",
        what: "The timeout before the first sample is `rto_min`; doublings end with progress.",
        reason: "1 s is for the Internet; as Linux.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "RFC 6582",
        what: "A partial ACK counts only if it arrives at least the least RTT after the \
               retransmission.",
        reason: "Otherwise one reordered packet makes NewReno retransmit the rest of the window.",
        effect: Some("None without reordering."),
    },
    Deviation {
        number: 6,
        section: "",
        what: "The last ACK carries FIN and ends the flow at the sender.",
        reason: "The sender frees its state without a further exchange, also when the ACK \
                 acknowledges a late duplicate.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "RFC 8257 §3.2",
        what: "ACKs are not delayed by default; `delayed_ack = 2` follows the RFC.",
        reason: "As in the papers' simulators.",
        effect: None,
    },
    Deviation {
        number: 8,
        section: "",
        what: "With `control = \"rate\"` a flow is paced from line rate on: a cut of alpha/2 per \
               round with marks, else a step; losses do not change the rate.",
        reason: "HPCC's simulator, for comparisons with RDMA transports; not the default.",
        effect: None,
    },
    Deviation {
        number: 9,
        section: "RFC 8257 §3.3",
        what: "With `window_unit = \"packet\"` windows count the flow's own packets, with their mean \
               size.",
        reason: "ns-2 counts packets of any size; not the default.",
        effect: Some(
            "decn/fig10 as compared, load 0.5: mean FCT 3.26 instead of 2.63 ms; of MLCP 3.79 instead \
             of 2.45, of VCP 5.35 instead of 3.01.",
        ),
    },
    Deviation {
        number: 10,
        section: "",
        what: UNORDERED,
        reason: "TCP keeps order. For comparisons with transports that spread packets; off by \
                 default.",
        effect: Some(
            "A permutation of 16 hosts over 4 leaves and 4 spines, 4 MB each at 100 Gb/s: 376 to \
             474 us by routing, alone 340, nothing sent again.",
        ),
    },
];
