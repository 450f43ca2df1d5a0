//! How MLCP differs from its paper. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "",
        what: "Levels, xi, factors, kappa_q = 0.75, target 0.98, average and AI are reconstructed.",
        reason: "The paper's constants are not all given.",
        effect: None,
    },
    Deviation {
        number: 2,
        section: "DECN §II-A",
        what: "Steps do not make up for round trips longer than t_p (`scale_max = 1`).",
        reason: "DECN's Fig. 1(b) wants it.",
        effect: Some(
            "400 us: a joining flow is within 20 % after 126 ms instead of 28 with VCP's 2.5 \
             (DECN: 108).",
        ),
    },
    Deviation {
        number: 3,
        section: "DECN §II-B",
        what: "Classes of round-trip times are carried but not used.",
        reason: "DECN fixes t_p.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "",
        what: "Pacing at window / RTT, ports at NICs, charged bytes, a random phase, and SACK are \
               VCP's.",
        reason: "See VCP's deviations.",
        effect: None,
    },
];
