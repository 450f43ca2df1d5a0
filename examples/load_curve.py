"""Load curve: p99 slowdown against load with intervals over seeds, in a study that a second call continues.

    python examples/load_curve.py [--quick] [--pictures DIR]
"""

import incast
from common import folder, quick, save

study = incast.study(
    transports=["ren", "ndp", "dctcp"],
    topology="leaf-spine:4x2x8",
    workload="web_search",
    flows=quick(400, 60),
    vary={"traffic.0.load": quick([0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], [0.3, 0.6])},
    seeds=quick(5, 2),
    baseline="dctcp",
    out=folder("load_curve"),
)
print(study, study.estimate())
study.run()

print(study.curves("slowdown_p99"))
save(study.charts.curve("slowdown_p99"), "load_curve")
save(study.charts.difference("short_fct_p99_ns"), "load_curve_difference")
save(study.charts.slowdown_by_size(), "load_curve_by_size")

# More seeds run only what is new: everything else is in the folder.
print(len(study.frame), "rows in", study.out)

# The other way round: up to which load does a transport keep its promise?
answers = incast.search(
    transports=["ren", "dctcp"],
    topology="leaf-spine:4x2x8",
    workload="web_search",
    flows=quick(400, 60),
    key="traffic.0.load",
    low=0.1,
    high=0.9,
    tolerance=quick(0.05, 0.4),
    until="slowdown_p99 < 10",
    seeds=quick(3, 2),
    out=folder("load_search"),
)
print(answers)
