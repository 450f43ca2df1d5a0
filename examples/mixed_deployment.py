"""Mixed deployment: what happens to DCTCP if half of the hosts change to another transport?

    python examples/mixed_deployment.py [--quick] [--pictures DIR]
"""

import altair as alt
import polars as pl

import incast
from common import quick, save
from incast.scenario import Assign, Fabric, Long, Poisson, Scenario, Transport

NEW = ["cubic", "expresspass", "ccrp"]


def scenario(new: str | None, join: str) -> Scenario:
    """DCTCP everywhere, or `new` on the hosts 0 to 15. `join`: one set of queues, or one per transport."""
    assign = [] if new is None else [Assign(name=new, hosts="0-15")]
    return Scenario(
        fabric=Fabric(topology="leaf-spine:4x2x8", rate="25Gbps"),
        transport=Transport(names=["dctcp"], assign=assign, join=join),
        traffic=[
            Poisson(workload="web_server", load=0.4, flows=quick(3000, 200)),
            Long(from_="0,16", to="31,30", size=quick("20MB", "1MB")),
        ],
    )


rows = []
for join in ("shared", "separate"):
    for new in [None, *NEW]:
        results = incast.run(scenario(new, join))
        old = results.flows.filter(pl.col("transport") == "dctcp", ~pl.col("warmup"))
        p99 = old["slowdown"].quantile(0.99, interpolation="higher")
        rows.append({"beside": new or "DCTCP alone", "queues": join, "slowdown_p99": p99})
        if (new, join) == ("cubic", "shared"):
            save(results.charts.shares(), "mixed_deployment_shares")

table = pl.DataFrame(rows)
print(table)
chart = (
    alt.Chart(table)
    .mark_bar(stroke="black", strokeWidth=0.4)
    .encode(
        y=alt.Y("beside:N").sort(["DCTCP alone", *NEW]).title(None),
        x=alt.X("slowdown_p99:Q").title("p99 slowdown of the flows that stay with DCTCP"),
        yOffset="queues:N",
        color=alt.Color("queues:N").scale(range=["#0072B2", "#E69F00"]),
    )
    .properties(width=420, height=200, title="Half of the hosts change to another transport")
)
save(chart, "mixed_deployment")
