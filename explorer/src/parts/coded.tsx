/** A sentence whose names in backticks are set as code, and in which names of ports are not broken. */
export function coded(sentence: string) {
  return sentence.split("`").map((part, at) => (at % 2
    ? <code>{part}</code>
    : part.split(/([\w.-]+->[\w.-]*\w)/).map((words, name) => (name % 2 ? <span class="whole">{words}</span> : words))));
}
