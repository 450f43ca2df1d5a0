//! `clos`: three tiers with any counts.

use super::parts::{Size, product, sum};
use super::shape::{Count, Shape};
use super::three_tier::ThreeTier;
use incast_units::Span;

/// `clos:4x2x16x2x2`.
pub(super) static SHAPE: Shape = Shape {
    name: "clos",
    counts: &[
        Count { symbol: "PODS", what: "pods", least: 1 },
        Count { symbol: "LEAVES", what: "leaves per pod", least: 1 },
        Count { symbol: "HOSTS", what: "hosts per leaf", least: 1 },
        Count { symbol: "AGGREGATIONS", what: "aggregation switches per pod", least: 1 },
        Count { symbol: "CORES", what: "core switches per aggregation switch", least: 1 },
    ],
    doc: "LEAVES and AGGREGATIONS per pod, HOSTS per leaf, CORES per aggregation switch",
    example: "clos:4x2x16x2x2",
    uplinks: true,
    size: |counts| {
        let [pods, leaves, hosts, aggregations, cores] =
            [counts[0], counts[1], counts[2], counts[3], counts[4]];
        let edges = product(&[pods, leaves]);
        let nodes = sum(&[
            product(&[edges, hosts]),
            edges,
            product(&[pods, aggregations]),
            product(&[aggregations, cores]),
        ]);
        let links = sum(&[
            product(&[edges, hosts]),
            product(&[edges, aggregations]),
            product(&[pods, aggregations, cores]),
        ]);
        Size { nodes, links }
    },
    build: |spec| {
        let [pods, leaves, hosts, aggregations, cores] = spec.counts();
        let uplink_rate = spec.uplink_rate(hosts, aggregations);
        let uplink_propagation = spec.uplink_propagation();
        let three_tier = ThreeTier {
            pods,
            edges_per_pod: leaves,
            hosts_per_edge: hosts,
            aggregations_per_pod: aggregations,
            cores_per_aggregation: cores,
            edge_bundle: 1,
            core_bundle: 1,
            rates: [spec.links.rate, uplink_rate, spec.options.core_rate.unwrap_or(uplink_rate)],
            propagations: [spec.links.propagation, uplink_propagation, uplink_propagation],
            latencies: [Span::ZERO; 3],
            loss: spec.links.loss,
        };
        let name = format!("clos:{pods}x{leaves}x{hosts}x{aggregations}x{cores}");
        Ok(three_tier.build()?.named(name))
    },
};
