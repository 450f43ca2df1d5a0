//! How CCRP differs from its paper. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "Algorithm 1, line 5",
        what: "The comparison is \">\", not \">=\" (`ratio_test`).",
        reason: "With a target of 0, \">=\" would cut in every RTT, marked or not.",
        effect: Some("With \">=\" the rate falls to 17 % by the seventh RTT."),
    },
    Deviation {
        number: 2,
        section: "Algorithm 1, lines 8-10",
        what: "DCQCN's rate increase runs from the first cut on (`recovery`); `strict_text` waits \
               for RTTs without marks, `listing` runs it where the lines stand, `off` disables it.",
        reason: "The lines are for RTTs without a mark (CCRP §3.2), and with \">\" (deviation 1) such an \
                 RTT does not reach them; with \">=\" and a target of 0 each RTT does.",
        effect: Some(
            "As written (`at_least`, `listing`) a flow without marks has 20 % of the rate in the 4th RTT, \
             81 % in the 10th, 94 % in the 30th.",
        ),
    },
    Deviation {
        number: 3,
        section: "CCRP §3.2",
        what: "The rate before a cut is the target of the recovery, as in DCQCN.",
        reason: "The paper does not say what the target is.",
        effect: Some(
            "With NUDT's model, whose target follows the rate, CCRP has 15 instead of 3.8 \
             times DCQCN's rate (steps of 5 and 50 Mb/s).",
        ),
    },
    Deviation {
        number: 4,
        section: "Algorithm 1, line 13",
        what: "Omega grows in every increase; `omega_guard` requires two in a row, as ExpressPass.",
        reason: "The line says so.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "CCRP §3.2",
        what: "A cut by marks and a cut by lost credits both apply in one update, the marks' first.",
        reason: "The paper does not order them.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "CCRP §3.3",
        what: "g = 1/16, Pmax = 1 %, the first rate is that of the link, R_AI and R_HAI are DCQCN's 40 \
               and 400 Mb/s x 84/1538; `set` selects others.",
        reason: "The paper does not give them.",
        effect: Some(
            "CCRP : DCQCN at omega 0.06: 5.0, without the recovery 2.4; with the constants of the \
             authors' group 2.5 and 1.3.",
        ),
    },
    Deviation {
        number: 7,
        section: "",
        what: "The first RTT is twice the request's one-way delay.",
        reason: "No sample exists yet; the clocks of hosts agree here.",
        effect: None,
    },
    Deviation {
        number: 8,
        section: "CCRP §3.4",
        what: "Each transport marks its own data, by the length of the common queue.",
        reason: "Port policies are per transport; `transport.marking = \"dcqcn\"` is the paper's \
                 switch with one RED for both. CCRP marks when a packet is queued, DCQCN when it leaves.",
        effect: Some(
            "ccrp/fig5 without one RED for both: Jain's index 0.698 instead of 0.704, largest queue \
             397 instead of 349 KB.",
        ),
    },
    Deviation {
        number: 9,
        section: "",
        what: "Lost data is recovered as in ExpressPass; a packet still missing is requested \
               again after 1 ms.",
        reason: "The paper describes no recovery.",
        effect: None,
    },
    Deviation {
        number: 10,
        section: "CCRP §3.4",
        what: "Data is not kept to 95 % of a link unless `reserve` is set.",
        reason: "It limits only the other transport in a mix.",
        effect: Some("With it a mix uses 94.8 % of a link (the paper: 95 %), without it all."),
    },
    Deviation {
        number: 11,
        section: "CCRP §3.4",
        what: "Requests and stops wait in the data queue; credits have 5.18 % of a link.",
        reason: "As in ExpressPass, whose credit queue holds credits alone: 84 B of 1622.",
        effect: None,
    },
];
