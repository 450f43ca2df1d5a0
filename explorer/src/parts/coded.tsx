/** A sentence whose names in backticks are set as code. */
export function coded(sentence: string) {
  return sentence.split("`").map((part, at) => (at % 2 ? <code>{part}</code> : part));
}
