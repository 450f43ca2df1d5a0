//! How HPCC differs from its paper and code. The README explains each under the same number.

use incast_endpoint::unordered::UNORDERED;
use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "HPCC §4.1",
        what: "Full packets keep room for the records of the longest path.",
        reason: "No link carries more than the MTU; the authors' simulator has longer packets.",
        effect: Some("Three switches: 1,434 instead of 1,460 B of payload."),
    },
    Deviation {
        number: 2,
        section: "HPCC §4.1",
        what: "There are as many records as the longest path has switches, at most 8 (`int_hops`).",
        reason: "The authors' five do not fit every fabric; a deeper one is an error.",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "HPCC §4.1",
        what: "The rate's code is its place in the list of the fabric's rates, at most 15.",
        reason: "Four bits.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "HPCC §4.1",
        what: "A queue longer than its field stays at the largest value.",
        reason: "The authors' counter wraps.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "",
        what: "Records of the same or an earlier instant tell nothing, nor does the first ACK \
               after a pause of 8.4 ms.",
        reason: "ACKs may be reordered; clocks have 24 bits.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "",
        what: "Windows count payload, utilisation counts charged bytes.",
        reason: "As in the authors' simulator, with 38 B of Ethernet.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "",
        what: "A retransmission timer of 1 ms, at least 8 T; losses do not change the window.",
        reason: "HPCC has none, because it assumes PFC.",
        effect: None,
    },
    Deviation {
        number: 8,
        section: "",
        what: "`quantise_int = false` keeps the bytes that units of records leave over.",
        reason: "An ablation without a codec; not on the data plane.",
        effect: None,
    },
    Deviation {
        number: 9,
        section: "HPCC Algorithm 1",
        what: "W is at most link x T (unless `cap_window` is false).",
        reason: "The authors' simulator limits the rate to the link's; the listing has no bound.",
        effect: None,
    },
    Deviation {
        number: 10,
        section: "",
        what: UNORDERED,
        reason: "RDMA keeps order. For comparisons with transports that spread packets; off by \
                 default. Records are compared with those before of the same path number.",
        effect: Some(
            "A permutation of 16 hosts over 4 leaves and 4 spines, 4 MB each at 100 Gb/s: 400 us \
             with source-path, 492 with entropy, nothing sent again. Where switches choose, \
             records are of other ports: a lone flow of 1 MB took 43 ms with spray (95 us on one \
             path).",
        ),
    },
];
