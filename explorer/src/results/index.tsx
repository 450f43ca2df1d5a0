/** Opens results folders. */
export function Results() {
  return <h2>Open results</h2>;
}
