import { Laboratory } from "./lab";
import { Results } from "./results";
import { address, section } from "./route";
import { theme, toggleTheme } from "./theme";

const SECTIONS = [
  { name: "results", title: "Results" },
  { name: "lab", title: "Laboratory" },
] as const;

/** The page: a bar with the sections, and the section. */
export function App() {
  const here = section.value;
  const other = theme.value === "dark" ? "light" : "dark";
  return (
    <div class="shell">
      <a class="skip" href={location.hash} onClick={skip}>Skip to the content</a>
      <header class="bar">
        <h1>Incast explorer</h1>
        <nav aria-label="Sections">
          {SECTIONS.map(({ name, title }) => (
            <a class="tab" href={address(name)} aria-current={here === name ? "page" : undefined}>{title}</a>
          ))}
        </nav>
        <button type="button" onClick={toggleTheme} title={`Change to ${other} colours`}>
          {other === "dark" ? "Dark" : "Light"}
        </button>
      </header>
      <main id="content" tabIndex={-1}>{here === "lab" ? <Laboratory /> : <Results />}</main>
    </div>
  );
}

/** Moves the focus past the bar; the address stays the view's. */
function skip(event: Event) {
  event.preventDefault();
  document.getElementById("content")?.focus();
}
