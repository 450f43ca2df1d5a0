/** The fabric as the drawings need it. */
import type { Fabric } from "incast-web";

/** A tier, from the hosts up. */
export type Tier = "host" | "edge" | "aggregation" | "core";

export interface FabricNode {
  readonly name: string;
  readonly tier: Tier;
}

/** One direction of a link: the port that sends on it. */
export interface FabricPort {
  readonly name: string;
  /** Index of the node that it belongs to. */
  readonly from: number;
  /** Index of the node at the other end. */
  readonly to: number;
  /** Bits per second. */
  readonly rate: number;
}

/** Nodes and ports; a port's place in the list is its number. */
export interface FabricShape {
  readonly nodes: readonly FabricNode[];
  readonly ports: readonly FabricPort[];
}

const TIERS: readonly Tier[] = ["host", "edge", "aggregation", "core"];

/** Of the engine's description. */
export function shapeOf(fabric: Fabric): FabricShape {
  return {
    nodes: fabric.nodes.map(({ name, host, tier }) => ({ name, tier: host ? "host" : (TIERS[tier] ?? "core") })),
    ports: fabric.ports.map(({ name, node, peer, rate_bps }) => ({ name, from: node, to: peer, rate: rate_bps })),
  };
}

/** Places of nodes between 0 and 1, and how many nodes the fullest tier has. */
export interface Layout {
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** Tiers that the fabric has, from the top down. */
  readonly tiers: readonly Tier[];
  readonly widest: number;
}

const TOP_DOWN: readonly Tier[] = ["core", "aggregation", "edge", "host"];

/**
 * Draws by tiers: cores on top, hosts at the bottom. Hosts stand under their edge switch and, tier by tier
 * upwards, switches above the middle of what hangs under them; equal middles keep the order of numbers.
 */
export function layout(shape: FabricShape): Layout {
  const { nodes, ports } = shape;
  const tiers = TOP_DOWN.filter((tier) => nodes.some((node) => node.tier === tier));
  const rank = nodes.map((node) => tiers.indexOf(node.tier));
  const middle = new Float32Array(nodes.length);
  const x = new Float32Array(nodes.length);
  const y = new Float32Array(nodes.length);
  let widest = 1;
  for (let row = tiers.length - 1; row >= 0; row--) {
    const own = nodes.flatMap((_, node) => (rank[node] === row ? [node] : []));
    const lowest = row === tiers.length - 1;
    if (lowest) orderHosts(shape, rank, own, middle);
    else own.forEach((node) => (middle[node] = below(shape, rank, x, node)));
    own.sort((a, b) => (middle[a] ?? 0) - (middle[b] ?? 0) || a - b);
    own.forEach((node, place) => {
      x[node] = (place + 0.5) / own.length;
      y[node] = tiers.length === 1 ? 0.5 : row / (tiers.length - 1);
    });
    widest = Math.max(widest, own.length);
  }
  // A fabric that is only switches among themselves (rings, meshes) would hide links in one row.
  if (tiers.length <= 2 && ports.some((port) => rank[port.from] === rank[port.to])) bow(nodes, rank, x, y);
  return { x, y, tiers, widest };
}

/** The edge switch of a host, as a number to order by. */
function orderHosts(shape: FabricShape, rank: number[], own: number[], middle: Float32Array) {
  const edge = new Map<number, number>();
  for (const port of shape.ports) {
    if (rank[port.to] !== rank[port.from] && !edge.has(port.from)) edge.set(port.from, port.to);
  }
  own.forEach((node) => (middle[node] = edge.get(node) ?? node));
}

/** The mean place of what hangs under a node. */
function below(shape: FabricShape, rank: number[], x: Float32Array, node: number): number {
  let sum = 0;
  let count = 0;
  for (const port of shape.ports) {
    if (port.from === node && (rank[port.to] ?? 0) > (rank[node] ?? 0)) {
      sum += x[port.to] ?? 0;
      count++;
    }
  }
  return count ? sum / count : 0.5;
}

/** Lifts switches of a row onto an arc, so that links between them can be seen. */
function bow(nodes: readonly FabricNode[], rank: number[], x: Float32Array, y: Float32Array) {
  nodes.forEach((node, at) => {
    if (node.tier !== "host" && rank[at] === 0) y[at] = 0.45 - 0.45 * Math.sin(Math.PI * (x[at] ?? 0));
  });
}
