/** Which columns to read. */
export interface Wanted {
  readonly numbers: readonly string[];
  readonly texts: readonly string[];
}

/** The columns of a trace that the time-sequence diagram needs. */
export const TRACE_COLUMNS: Wanted = {
  numbers: ["time_ps", "number", "bytes", "payload_bytes", "retransmission", "departed_ps", "queue_bytes"],
  texts: ["place", "event", "packet", "why"],
};
