//! How Aeolus differs from its paper. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "Aeolus §3",
        what: "The threshold is that of the packet's class; `threshold_of = port` compares with \
               all data of the port.",
        reason: "The paper's RED has one queue; with Homa's classes, a threshold over all of them \
                 the scheduled packets of overcommitment alone exceed it.",
        effect: Some(
            "web_server on star:16, 128 KiB, load 0.5: mean slowdown 1.36 (class) and 1.97 \
             (port), Homa 1.34; 332 and 6,668 packets dropped.",
        ),
    },
    Deviation {
        number: 2,
        section: "Aeolus §3",
        what: "Missing packets count as lost one RTT after the probe's arrival.",
        reason: "Packets are sprayed; the paper has single paths.",
        effect: Some("Without it 0.57 instead of 0.60 % of packets are sent again at load 0.9."),
    },
    Deviation {
        number: 3,
        section: "Aeolus §3",
        what: "Unscheduled packets that the first grant cancels may leave at once as scheduled \
               ones, in the grant's class.",
        reason: "The receiver counts them in flight already.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "Aeolus §3",
        what: "A probe without a reply is repeated twice; Homa's RESEND and timeout cover later \
               losses.",
        reason: "The paper loses no probe.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "",
        what: "`host_burst`, off by default, limits the unscheduled packets of all flows of a host.",
        reason: "The paper has a budget per flow only; a burst of many flows overflows any buffer.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "Aeolus §3",
        what: "Lost packets are granted in the best class of their message's unscheduled ones.",
        reason: "The paper does not specify it; this is Homa's rule for retransmissions.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "",
        what: "Homa's own deviations apply.",
        reason: "Aeolus runs on Homa here.",
        effect: None,
    },
];
