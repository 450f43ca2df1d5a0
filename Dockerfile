# The command with its page, the Python package and Dask, from source:
#     docker build -t incast .
#     docker run --rm -v "$PWD:/here" incast demo
FROM rust:1.95-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv
WORKDIR /incast
COPY . .
RUN make explorer
RUN python3 -m venv /opt/incast && /opt/incast/bin/pip install --no-cache-dir . "dask[distributed]"

FROM debian:12
RUN apt-get update && apt-get install -y --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/incast /opt/incast
ENV PATH=/opt/incast/bin:$PATH
WORKDIR /here
ENTRYPOINT ["incast"]
