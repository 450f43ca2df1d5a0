//! How CUBIC differs from RFC 9438. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "",
        what: "HyStart is off by default.",
        reason: "Reproducibility.",
        effect: Some(
            "On, slow start ends near half the BDP: at 1 Gb/s and 1 ms no loss instead of \
             more than 50.",
        ),
    },
    Deviation {
        number: 2,
        section: "RFC 5681, Eq. 2",
        what: "Slow start grows by at most one segment per ACK.",
        reason: "With byte counting, the ACK that closes a hole after a timeout releases a window \
                 at line rate.",
        effect: Some(
            "1 Gb/s, 1 ms, 81 packets of buffer: utilisation 100 instead of 80 %, 21 instead \
             of 107,651 losses in 3 s.",
        ),
    },
    Deviation {
        number: 3,
        section: "RFC 9438 §4.3",
        what: "The slope of the Reno-friendly line becomes 1 at W_max, after fast convergence too.",
        reason: "The RFC's point, the window before the loss, is up to 18 % higher.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "RFC 9438 §5.8",
        what: "The window grows only when it was the limit within the last window of data; \
               otherwise the curve's clock stops.",
        reason: "An idle flow must not gain a window that it never used.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "",
        what: "RTT samples, first timeout, partial ACKs and the end of a flow are the common \
               sender's.",
        reason: "All sender-driven transports share one sender: see deviations 1 and 4 to 6 of DCTCP.",
        effect: None,
    },
];
