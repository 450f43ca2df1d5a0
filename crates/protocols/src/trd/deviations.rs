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
        what: "With `order = srpt` the tokens of a flow that needs no more pass to the shortest flow \
               with less than one BDP under way; if there is none, they are dropped.",
        reason: "The papers say only that a packet that comes releases a token and that the shortest \
                 flow has it. Without a bound each flow that ends leaves the others a BDP more.",
        effect: Some(
            "A flow of 7,000 packets beside 20 of 100 in turn: a queue of 286 KB without the bound, \
             15 KB with it, 29 KB without the order.",
        ),
    },
];
