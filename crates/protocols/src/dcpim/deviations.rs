//! How dcPIM differs from its authors' simulator. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "",
        what: "Last packets of flows have their own length.",
        reason: "The authors' simulator charges 1500 B for every packet of data.",
        effect: None,
    },
    Deviation {
        number: 2,
        section: "",
        what: "A host without long flows does nothing; epochs are counted from the beginning of time.",
        reason: "The authors' simulator runs epochs at every host for ever, and an idle fabric would never end.",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "",
        what: "Announcements are repeated after three base RTTs without news, at intervals that double, and \
               FINISH with each packet of a finished flow.",
        reason: "The authors' simulator loses no control packet.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "",
        what: "A source answers one request of each destination in a round, and only until the middle of the round.",
        reason: "A destination sends one; what comes later is of no use, because the next round has begun when \
                 the grant arrives.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "",
        what: "A source offers prompt channels only as far as it has not promised its link already.",
        reason: "Tokens of two epochs would otherwise ask for more than its link carries; the authors' source \
                 takes the destination's word.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "",
        what: "Tokens of one flow are used in the order in which they came.",
        reason: "The authors' queue orders by what flows have left when it compares, with a comparison that is no \
                 strict order.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "",
        what: "A round trip of control packets is the base RTT less what a full packet takes longer than one \
               without payload.",
        reason: "The formula of the authors' simulator is for its own leaf-spine, where both are 5.216 us; \
                 `control_rtt` sets a longer one.",
        effect: None,
    },
];
