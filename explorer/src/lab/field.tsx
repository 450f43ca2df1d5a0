/** One key of a scenario in a form: its value, its meaning, and what is wrong with it. */
import type { Key } from "incast-web";
import { at, draft, put, wrong, type Path } from "./draft";

/** A key's own name. */
export const name = (key: Key) => key.path.split(".").at(-1) ?? key.path;
/** Whether it is a field, and no section or list of sections. */
export const plain = (key: Key) => !["section", "table"].includes(key.type) && !(key.type === "list" && !key.choices.length);

function shown(value: unknown): string {
  if (value === undefined || value === null) return "";
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** What was typed, as the table holds it. */
function typed(type: Key["type"] | "parameter", text: string): unknown {
  const trimmed = text.trim();
  if (!trimmed) return undefined;
  if (type === "flag" || (type === "parameter" && /^(true|false)$/.test(trimmed))) return trimmed === "true";
  if ((type === "whole" || type === "number" || type === "parameter") && /^-?\d+(\.\d+)?(e-?\d+)?$/i.test(trimmed)) return Number(trimmed);
  return trimmed;
}

interface FieldProps {
  readonly path: Path;
  readonly label: string;
  readonly help: string;
  readonly type: Key["type"] | "parameter";
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
  const own = wrong.value?.key === path.join(".") ? wrong.value.message : "";
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
      path={path} label={name(one)} type={choices ? "choice" : one.type} choices={choices ?? one.choices} hints={hints}
      required={standard.required}
      standard={(standard.value ?? standard.words ?? "").replaceAll('"', "")}
      help={`${meaning}${/[.!]$/.test(meaning) ? "" : "."} Accepted: ${one.range ?? expects}.`}
    />
  );
}
