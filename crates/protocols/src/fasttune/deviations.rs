//! How FastTune differs from its paper. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "Algorithm 2, line 10",
        what: "U is HPCC's average, with the factor tau / T of the new sample.",
        reason: "Without it U grows without bound.",
        effect: None,
    },
    Deviation {
        number: 2,
        section: "FastTune §III-C",
        what: "The first sample of a link has no predecessor: with a queue it counts q / (B T) + \
               1, else nothing.",
        reason: "A zero in its place would average since the start of the run.",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "FastTune §III-C; line 16",
        what: "S-ACKs after the first move W, never W^c.",
        reason: "\"The switch ACK can update the reference window only once\", although line 16 \
                 reads otherwise.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "FastTune §V-A",
        what: "W is at most link x T (unless `cap_window` is false) and at least 100 Mb/s x T; W_AI has \
               N = 100; U starts at eta.",
        reason: "The paper does not state them; these are HPCC's values.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "FastTune §V",
        what: "T is the fabric's base RTT, serialisation of an MTU included.",
        reason: "\"8 us\" in FastTune §V are four links of 2 us one way; `base_rtt = \"8us\"` is as printed.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "",
        what: "Losses are recovered by SACK, timeout at least 1 ms and 8 T; they do not change W.",
        reason: "The paper has neither PFC nor a recovery.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "FastTune §III-B",
        what: "A port's sent bytes include a packet from the start of its transmission.",
        reason: "Samples differ by whole packets.",
        effect: Some("One flow alone has 91 to 95 % of 10 Gb/s at T = 10.6 us."),
    },
    Deviation {
        number: 8,
        section: "FastTune §III-B",
        what: "Switches remove a flow after 1 ms without a packet or with the ACK of its last \
               byte, and hold at most 65,536 flows.",
        reason: "State in switches must be bounded; switches acknowledge a removed flow again.",
        effect: None,
    },
    Deviation {
        number: 9,
        section: "FastTune §III-B",
        what: "After a link failure, records may be compared with those of other ports of the \
               same rate.",
        reason: "Paths may no longer be symmetric.",
        effect: None,
    },
];
