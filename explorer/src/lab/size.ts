/** What is too large for a page. */
import type { Check } from "incast-web";

/** Hosts that the pictures hold. */
export const HOSTS_MOST = 128;
/** Packet-hops that a page takes at most: about a minute. */
const HOPS_MOST = 40e6;
/** What to do instead. */
export const COMMAND = "incast run scenario.toml";

/** `run.until` of a scenario in ps, if it is given. */
function until(toml: string): number | undefined {
  const [, value = "", unit = ""] = /^until\s*=\s*"([\d.]+)(us|ms|s)"/m.exec(toml) ?? [];
  return unit ? Number(value) * { us: 1e6, ms: 1e9, s: 1e12 }[unit as "us"] : undefined;
}

/** Why a scenario is too large, and the key that makes it so; `undefined` if it is not. */
export function tooLarge(toml: string, check: Check & { ok: true }): { readonly key: string; readonly message: string } | undefined {
  const instead = `Run it on your machine: ${COMMAND}`;
  if (check.hosts > HOSTS_MOST) {
    return { key: "fabric.topology", message: `${check.hosts} hosts are too many for this page, which takes ${HOSTS_MOST}. ${instead}` };
  }
  const length = until(toml);
  const bound = length === undefined ? Infinity : (check.hosts * check.host_rate_bps * length) / 8e12;
  const hops = (Math.min(check.total_bytes, bound) / 1460) * 5 * check.cases.length;
  if (hops <= HOPS_MOST) return undefined;
  const millions = Math.round(hops / 1e6).toLocaleString("en");
  return {
    key: "run.until",
    message: `About ${millions} million packet-hops are too many for this page, which takes ${HOPS_MOST / 1e6} million: ` +
      `choose smaller flows or an earlier end. ${instead}`,
  };
}
