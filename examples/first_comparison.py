"""First comparison: six transports on identical arrivals, the table, and the two charts that say most.

    python examples/first_comparison.py [--quick] [--pictures DIR]
"""

import incast
from common import quick, save

results = incast.compare(
    ["ren", "homa", "ndp", "expresspass", "hpcc", "dctcp"],
    topology="leaf-spine:4x2x8",
    workload="hadoop",
    load=0.6,
    flows=quick(2000, 150),
    incast=16,
)
print(results)

save(results.charts.slowdown_by_size(), "first_comparison")
save(results.charts.breakdown(), "first_comparison_breakdown")

# Everything else is in frames: the ten flows that waited longest, and where.
slowest = results.flows.sort("slowdown", descending=True, nulls_last=True).head(10)
print(slowest.select("run", "size_bytes", "slowdown", "worst_port", "recovery_ps"))
print(incast.units(slowest)["recovery_ps"])
