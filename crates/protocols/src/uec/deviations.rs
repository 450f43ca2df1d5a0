//! How UEC differs from its specification and the authors' simulator. The README explains each under the
//! same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "",
        what: "Behind an oversubscribed core a receiver's pace first changes an interval after its first packet.",
        reason: "A host without flows has no timer; the authors' simulator counts intervals from the start of the run.",
        effect: None,
    },
    Deviation {
        number: 2,
        section: "",
        what: "A packet is marked by the queue behind it as its transmission begins.",
        reason: "Ports here do so for all transports; the authors' simulator looks as it ends.",
        effect: Some("The queue of one transmission earlier, 332 ns at 100 Gb/s."),
    },
    Deviation {
        number: 3,
        section: "",
        what: "A request to be answered names the packet that expired and takes no number of its own.",
        reason: "Packet numbers then follow from offsets, and a flow is over when all have arrived.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "",
        what: "Control leaves a NIC before data.",
        reason: "The contract of hosts; the authors' NIC gives data one turn of eleven.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "",
        what: "With nothing in flight one packet may go, and a NACK's RTT counts only if its packet was sent \
               once, and a pull beyond what was asked for is ignored.",
        reason: "Forged or doubled packets must not stop a flow or shorten its base RTT.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "",
        what: "Without trimming a full queue drops the arriving packet.",
        reason: "As every drop-tail port; the authors' simulator drops the last one of the queue as often.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "",
        what: "A flow's last ACK does not change its window and lists nothing; pulls end with \
               the flow.",
        reason: "The flow is over, and receivers of finished flows keep only the number.",
        effect: None,
    },
    Deviation {
        number: 8,
        section: "",
        what: "In a recovery of Sleek timeouts go on.",
        reason: "In the authors' simulator they send nothing again then, and a retransmission that is lost \
                 waits for the next recovery.",
        effect: None,
    },
    Deviation {
        number: 9,
        section: "",
        what: "The link layer (retransmission on a link, credits between neighbours) is not built.",
        reason: "The authors' simulator has none either: links drop, or PFC pauses them.",
        effect: None,
    },
];
