// Shows the cards of docs/transports.md that fit what is chosen above them.
const filters = document.querySelector("form.filters");
filters?.addEventListener("change", () => {
  const { kind, switches, from } = Object.fromEntries(new FormData(filters));
  for (const card of document.querySelectorAll("a.card")) {
    const own = card.dataset;
    const fits = (!kind || own.kind === kind) && (!switches || own.switches.split("|").includes(switches)) && (!from || own.from >= from);
    card.hidden = !fits;
  }
});

// Opens the part of a long page that an address leads to.
const reveal = () => {
  const part = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("details.part");
  if (part) part.open = true;
};
addEventListener("hashchange", reveal);
reveal();
