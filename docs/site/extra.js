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

// On a small screen the parts of a long page are closed until one is asked for.
if (matchMedia("(max-width: 60em)").matches) for (const part of document.querySelectorAll("details.part[open]")) part.open = false;

// The front page has the laboratory once somebody asks for it: it is twenty times as large as the page.
document.querySelector("figure.incast a.here")?.addEventListener("click", (event) => {
  event.preventDefault();
  const frame = document.createElement("iframe");
  Object.assign(frame, { className: "laboratory", src: event.target.href, title: "The laboratory" });
  event.target.closest("figure").replaceWith(frame);
  frame.focus();
});

// Opens the part of a long page that an address leads to.
const reveal = () => {
  const part = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("details.part");
  if (part) part.open = true;
};
addEventListener("hashchange", reveal);
reveal();
