"""My topology and my flow sizes: a network from a file, a distribution from a file, two transports.

    python examples/my_topology.py [--quick] [--pictures DIR]
"""

import incast
from common import folder, quick, save
from incast.scenario import Fabric, File, Poisson, Scenario, Transport

place = folder("my_topology")
place.mkdir(parents=True, exist_ok=True)

# Sixteen hosts under four switches (16 to 19) in a ring with one fast chord, in the format of HPCC's
# simulator: nodes, switches, links; the switches; one line per link with rate, delay and loss.
links = [(host, 16 + host // 4, "25Gbps", "1us") for host in range(16)]
links += [(16, 17, "50Gbps", "2us"), (17, 18, "50Gbps", "2us"), (18, 19, "50Gbps", "2us")]
links += [(19, 16, "50Gbps", "2us"), (16, 18, "100Gbps", "2us")]
lines = [f"20 4 {len(links)}", "16 17 18 19"]
lines += [f"{a} {b} {rate} {delay} 0" for a, b, rate, delay in links]
(place / "ring.topo").write_text("\n".join(lines) + "\n")

# Half of the flows have at most 2 KB; one in twenty has 1 MB or more.
(place / "mine.csv").write_text("size_bytes,cdf\n100,0\n2000,0.5\n50000,0.8\n1000000,0.95\n5000000,1\n")

scenario = Scenario(
    title="Sixteen hosts on a ring with a chord, sizes of my own",
    fabric=Fabric(file=str(place / "ring.topo")),
    transport=Transport(names=["dctcp", "ndp"]),
    traffic=[Poisson(workload=str(place / "mine.csv"), load=0.4, flows=quick(3000, 200))],
)
results = incast.run(scenario)
print(results)
save(results.charts.fct_by_size(), "my_topology")
save(results.charts.queues(), "my_topology_queues")

# The same flows again, from a file that other simulators read too: number, then one line per flow.
flows = results["dctcp"].flows.sort("start_ps")
rows = flows.select("src", "dst", "size_bytes", "start_ns").head(50)
(place / "flows.csv").write_text(rows.write_csv())
scenario.traffic = [File(file=str(place / "flows.csv"))]
print(incast.run(scenario).summary.select("run", "fct_mean_ns", "slowdown_p99"))
