//! How DCQCN differs from its paper. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "DCQCN §3.1",
        what: "Within 1 b/s of the line rate a flow is not paced, and its increase timer stops \
               until the next CNP.",
        reason: "There is nothing to increase.",
        effect: Some("None on rates."),
    },
    Deviation {
        number: 2,
        section: "DCQCN §3.1",
        what: "Alpha is updated when it is used, not by a timer.",
        reason: "The same values at the same instants with half the timers.",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "DCQCN §3.1",
        what: "Packets are marked at dequeue by the queue length that remains, over all data classes \
               of the port; only DCQCN's own are marked.",
        reason: "As in HPCC's simulator; the paper does not specify it.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "DCQCN §4",
        what: "Kmax is at most 70 % of a port's buffer unless it is given.",
        reason: "200 KB apply to 12 MB switches; marks must come before the buffer fills.",
        effect: Some(
            "128 KiB without PFC: 2 % of packets are retransmitted; with 200 KB 79 %, and \
             a quarter of the flows does not complete.",
        ),
    },
    Deviation {
        number: 5,
        section: "DCQCN §5.2",
        what: "R_HAI = 400 Mb/s, R_min = 40 Mb/s, RTO = 1 ms, adaptive and doubling.",
        reason: "The paper's table does not list them.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "",
        what: "Bytes count as links charge them: 10 MB are 6,502 full packets.",
        reason: "Rates are of charged bytes everywhere here.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "",
        what: "`mlx` leaves out the 1 ns between the update of alpha and the decision to cut.",
        reason: "HPCC's simulator orders the two by it; here the order is fixed.",
        effect: None,
    },
    Deviation {
        number: 8,
        section: "",
        what: "Full packets carry 1,460 B; HPCC's simulator has 1,000 B.",
        reason: "One MTU for all transports.",
        effect: None,
    },
    Deviation {
        number: 9,
        section: "",
        what: "`recovery = \"sack\"` is IRN's selective repeat and BDP cap, with the timeout of go-back-N.",
        reason: "IRN has two timeouts, by how many packets are in flight.",
        effect: None,
    },
];
