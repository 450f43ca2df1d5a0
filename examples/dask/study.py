"""A study on the Dask cluster of compose.yaml: p99 slowdown against load, three transports, five seeds.

Run again, it goes on with what is missing in the folder `results`.
"""

import os

import incast
from dask.distributed import Client

study = incast.study(
    transports=["ren", "ndp", "dctcp"],
    topology="leaf-spine:4x2x8",
    workload="web_search",
    flows=400,
    vary={"traffic.0.load": [0.2, 0.4, 0.6, 0.8]},
    seeds=5,
    out="results",
)
with Client(os.environ.get("SCHEDULER", "tcp://127.0.0.1:8786")) as client:
    client.wait_for_workers(1)
    study.run(executor=client.get_executor())
print(study.curves("slowdown_p99"))
