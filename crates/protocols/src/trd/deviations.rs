//! How trd differs from what REN and AMRT describe. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "REN §2, AMRT §2",
        what: "The scheme is not called pHost.",
        reason: "The papers call it so, but pHost's code paces tokens by a timer; both are in the \
                 catalogue.",
        effect: None,
    },
    Deviation {
        number: 2,
        section: "",
        what: "Recovery is REN's.",
        reason: "It is described nowhere.",
        effect: Some("Web search at load 0.6, 1,000 flows: 852 packets dropped, 864 sent again."),
    },
    Deviation {
        number: 3,
        section: "REN §2.2, AMRT §2",
        what: "The link stays full after other flows leave, if the buffer holds the first burst \
               of every flow.",
        reason: "Each flow keeps a BDP of tokens; the papers' losses of utilisation appear when \
                 tokens were lost first.",
        effect: Some("Measured by `incast reproduce amrt/fig2`."),
    },
    Deviation {
        number: 4,
        section: "AMRT §2",
        what: "With `order = srpt` nothing bounds the tokens that pass to the waiting flow.",
        reason: "Each packet that comes releases one token, and the shortest flow has it (data-clocked).",
        effect: Some(
            "A 10 MB flow beside 20 short ones in turn: the queue grows to 853 KB (44 KB without \
             the order), the last short flow takes 728 us, the first 84 us.",
        ),
    },
];
