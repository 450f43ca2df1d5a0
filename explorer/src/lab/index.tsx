/** The laboratory: runs scenarios in the page. */
export function Laboratory() {
  return <h2>Laboratory</h2>;
}
