/** One key of a scenario in a form: its value, its meaning, and what is wrong with it. */
import type { Key } from "incast-web";
import { at, draft, put, wrong, type Path } from "./draft";

/** A key's own name. */
export const name = (key: Key) => key.path.split(".").at(-1) ?? key.path;
/** What a field holds: what the program declares, whole numbers with commas, or numbers by name such as `100Gbps = 0.25`. */
type Kind = Key["type"] | "parameter" | "numbers" | "pairs";

/** What the field of a key holds. */
function kindOf({ type, expects }: Key): Kind {
  if (type === "list" && /each a whole number$/.test(expects)) return "numbers";
  return type === "table" && /each value a number$/.test(expects) ? "pairs" : type;
}

/** Whether it is a field, and no section or list of sections. */
export const plain = (key: Key) => !["section", "table"].includes(kindOf(key)) && !(kindOf(key) === "list" && !key.choices.length);

function shown(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "object" ? Object.entries(value).map(([key, one]) => `${key} = ${one}`).join(", ") : String(value);
}

const NUMBER = /^-?\d+(\.\d+)?(e-?\d+)?$/i;
const numeric = (text: string) => (NUMBER.test(text) ? Number(text) : text);

/** What was typed, as the table holds it. */
function typed(type: Kind, text: string): unknown {
  const trimmed = text.trim();
  if (!trimmed) return undefined;
  const parts = () => trimmed.split(",").map((part) => part.trim()).filter(Boolean);
  if (type === "numbers") return parts().map(numeric);
  if (type === "pairs") {
    return Object.fromEntries(parts().map((part) => part.split("=").map((side) => side.trim())).map(([key = "", value = ""]) => [key, numeric(value)]));
  }
  if (["flag", "whole", "number", "parameter"].includes(type) && /^(true|false)$/.test(trimmed)) return trimmed === "true";
  return ["whole", "number", "parameter"].includes(type) ? numeric(trimmed) : trimmed;
}

interface FieldProps {
  readonly path: Path;
  readonly label: string;
  readonly help: string;
  readonly type: Kind;
  readonly choices: readonly string[];
  readonly standard: string;
  /** What may be typed, as suggestions. */
  readonly hints?: readonly string[];
  readonly required?: boolean | undefined;
}

/** A field. */
export function Field({ path, label, help, type, choices, standard, hints = [], required }: FieldProps) {
  const value = shown(at(draft.value, path));
  const id = `key-${path.join("-")}`;
  const key = path.join(".");
  // One of several values in a field has a key of its own.
  const own = wrong.value && (wrong.value.key === key || wrong.value.key.startsWith(`${key}.`)) ? wrong.value.message : "";
  const change = (event: Event) => put(path, typed(type, (event.currentTarget as HTMLInputElement).value));
  const described = { id, "aria-describedby": `${id}-help`, "aria-invalid": own ? true : undefined };
  const names = type === "flag" ? ["true", "false"] : type === "choice" ? choices : [];
  return (
    <div class={own ? "field bad" : "field"}>
      <label for={id}>{label}</label>
      {names.length
        ? (
          <select {...described} value={value} onChange={change}>
            {!required && <option value="">{standard ? `${standard} (default)` : "default"}</option>}
            {names.map((one) => <option value={one}>{one}</option>)}
          </select>
        )
        : (
          <input
            {...described} type="text" value={value} placeholder={standard} onInput={change} spellcheck={false} autocomplete="off"
            list={hints.length ? `${id}-hints` : undefined}
          />
        )}
      {hints.length > 0 && <datalist id={`${id}-hints`}>{hints.map((one) => <option value={one} />)}</datalist>}
      <p class="small quiet" id={`${id}-help`}>{own ? <strong role="alert">{own}</strong> : help}</p>
    </div>
  );
}

interface KeyProps {
  readonly one: Key;
  readonly path: Path;
  /** Names to choose from, where the program takes a text. */
  readonly choices?: readonly string[];
  readonly hints?: readonly string[];
}

/** The field of a key that the program declares. */
export function KeyField({ one, path, choices, hints = [] }: KeyProps) {
  const { default: standard, expects, meaning } = one;
  return (
    <Field
      path={path} label={name(one)} type={choices ? "choice" : kindOf(one)} choices={choices ?? one.choices} hints={hints}
      required={standard.required}
      standard={(standard.value ?? standard.words ?? "").replaceAll('"', "")}
      help={`${meaning}${/[.!]$/.test(meaning) ? "" : "."} Accepted: ${one.range ?? expects}.`}
    />
  );
}
