//! How ExpressPass differs from its paper and code. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "",
        what: "A stop is confirmed: the source keeps its state until `Finish` arrives and repeats \
               the stop.",
        reason: "The authors' code confirms nothing; a lost tail would never be recovered.",
        effect: Some("84 B per flow."),
    },
    Deviation {
        number: 2,
        section: "",
        what: "A final stop with packets missing requests them at once.",
        reason: "No later packet would reveal the loss.",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "",
        what: "A source without credits requests them again after 4 timeouts; requests and stops \
               carry their send time. A destination stops after 4,096 credits and 16 timeouts \
               without an answer.",
        reason: "The authors' code aborts on reordering; here every flow completes. Credits for a \
                 source that is gone would fill the ports for ever.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "",
        what: "A late credit number is subtracted from the losses of its period.",
        reason: "It was reordered, not lost.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "",
        what: "With `size_jitter`, off by default, credits vary from 84 to 100 charged bytes in \
               steps of two; the script has 76 to 92 B.",
        reason: "The script's least is below Ethernet's; 84 B is its mean.",
        effect: Some("Mean FCT of REN's figure 16 at load 0.7 with it: 2 to 3 % higher."),
    },
    Deviation {
        number: 6,
        section: "",
        what: "A flow completes when its last byte arrives.",
        reason: "The authors' code takes the arrival of the stop.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "",
        what: "Tokens are exact; the rate of a bucket is rounded down to 1 b/s.",
        reason: "The authors' code truncates tokens to bytes.",
        effect: None,
    },
    Deviation {
        number: 8,
        section: "",
        what: "Numbers count packets; the echoed credit number has 24 bits.",
        reason: "Room in the header.",
        effect: None,
    },
    Deviation {
        number: 9,
        section: "",
        what: "`first_rtt = aeolus` adds the first RTT of Aeolus (SIGCOMM 2020); off by \
               default.",
        reason: "It allows a comparison with Aeolus on ExpressPass.",
        effect: Some("2,000 flows at load 0.5: mean slowdown 4.2 instead of 6.6."),
    },
];
