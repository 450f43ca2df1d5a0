"""Ablation: what each part of a design is worth. REN as it is, and REN without one of its choices at a time.

    python examples/ablation.py [--quick] [--pictures DIR]
"""

import incast
from common import folder, quick, save
from incast.parameters import Ren

# What can be changed, and where the paper says so.
print(Ren.__doc__)

study = incast.study(
    transports=["ren"],
    variants={
        "spend on any packet": {"transport": "ren", "spend": "any"},
        "marks spread evenly": {"transport": "ren", "spread": "even"},
        "least queue of a period": {"transport": "ren", "sample": "least"},
    },
    topology="leaf-spine:4x2x8",
    workload="web_server",
    load=0.6,
    flows=quick(1500, 80),
    vary={"fabric.buffer": quick(["64KiB", "128KiB", "256KiB"], ["64KiB", "128KiB"])},
    seeds=quick(5, 2),
    baseline="ren",
    out=folder("ablation"),
)
study.run()
print(study.curves("slowdown_p99"))
save(study.charts.curve("slowdown_p99"), "ablation")
save(study.charts.difference("slowdown_p99"), "ablation_difference")
