//! How SIRD differs from its paper and the authors' simulator. The README explains each under the same
//! number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "",
        what: "Credits, requests and finishes have a class above unscheduled data, not the same.",
        reason: "NICs here take class 0 as control, which no host fills with data.",
        effect: None,
    },
    Deviation {
        number: 2,
        section: "",
        what: "A source is congested when it holds unused credit of two destinations.",
        reason: "The paper's meaning; the authors' simulator counts messages, also to one destination (`busy`).",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "",
        what: "Credit and thresholds are in bytes as links charge them.",
        reason: "The simulator compares credit with headers to a threshold without.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "",
        what: "Every packet of an unscheduled message counts as a full one.",
        reason: "Its packets tell numbers of packets only, so that they fit the header.",
        effect: Some("At most a packet of a destination's budget, until the message is complete."),
    },
    Deviation {
        number: 5,
        section: "",
        what: "Credit that brings no data for 3 base RTTs is taken back and given again for the missing packets.",
        reason: "Neither paper nor simulator loses packets.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "",
        what: "A request is repeated after 3 base RTTs of silence, at doubling intervals.",
        reason: "The simulator loses none.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "",
        what: "Messages are ordered by packets that are missing, and both loops count data only.",
        reason: "The simulator counts bytes, and each packet of the other host, credits too.",
        effect: None,
    },
    Deviation {
        number: 8,
        section: "",
        what: "The bound of a source grows by a packet's square over itself in real numbers.",
        reason: "The simulator divides integers: 23 B for 23.7.",
        effect: None,
    },
    Deviation {
        number: 9,
        section: "",
        what: "The BDP is in whole packets, rounded up.",
        reason: "With less a lone message would wait for its own credits.",
        effect: None,
    },
    Deviation {
        number: 10,
        section: "",
        what: "What is known of a source is forgotten when nothing of it is missing and it may hold a BDP.",
        reason: "Otherwise a host keeps state of every other host.",
        effect: None,
    },
];
