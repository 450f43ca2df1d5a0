/** The guided scenes: their list, and one of them. */
import { useEffect, useState } from "preact/hooks";
import { address, go } from "../route";
import { type Answer } from "./bench";
import { broken, engine, told } from "./engine";
import { addressOf, Export } from "./export";
import { picoseconds, SCENES, type Scene, type SceneCase } from "./scenes";
import { changed, type Entry } from "./setup";
import { Stage } from "./stage";
import { open, over, port, setup, toEnd } from "./store";

/** The list. */
export function SceneList() {
  return (
    <>
      <h2>Laboratory</h2>
      <p>
        The simulator runs in this page. Each scene takes a few minutes: a paragraph, a picture that moves, a question. Everything in them can be
        changed, and every number in their text is what their scenario gives.
      </p>
      <ol class="scenes">
        {SCENES.map((scene) => (
          <li class="panel">
            <h3><a href={address(`lab/scene/${scene.name}`)}>{scene.title}</a></h3>
            <p class="small">{scene.summary}</p>
          </li>
        ))}
      </ol>
      <p><a class="button" href={address("lab/run")}>Make your own experiment</a></p>
    </>
  );
}

/** The scenario of a case, as TOML. */
async function entry(scene: Scene, own: SceneCase): Promise<Entry> {
  if (!own.set?.length) return { name: own.name, toml: scene.scenario };
  const { bench } = await engine();
  const table = await told(bench.table(scene.scenario) as Promise<Answer<Record<string, unknown>>>);
  const toml = await told(bench.toml(own.set.reduce(changed, table)) as Promise<Answer<string>>);
  return { name: own.name, toml };
}

/** Opens a scene with some of its tries beside its cases. */
async function show(scene: Scene, tries: readonly SceneCase[]): Promise<void> {
  const entries = await Promise.all([...scene.cases, ...tries].map((own) => entry(scene, own)));
  await open({ entries, port: scene.view.port }, scene.view.flows ?? []);
}

function Tries({ scene }: { readonly scene: Scene }) {
  const [on, setOn] = useState<readonly string[]>([]);
  useEffect(() => setOn([]), [scene.name]);
  const toggle = async (name: string) => {
    const next = on.includes(name) ? on.filter((one) => one !== name) : [...on, name];
    setOn(next);
    await show(scene, scene.tries.filter((one) => next.includes(one.name)));
    await toEnd();
  };
  return (
    <div class="row" role="group" aria-label="Try">
      <span class="small">Try, beside what is there:</span>
      {scene.tries.map(({ name }) => (
        <button type="button" aria-pressed={on.includes(name)} onClick={() => void toggle(name)}>{name}</button>
      ))}
    </div>
  );
}

/** What happens, for who has looked: folded until the runs are over. */
function Told({ scene }: { readonly scene: Scene }) {
  return (
    <details class="panel told" open={over.value} key={`${scene.name} ${over.value}`}>
      <summary><h3>What happens{over.value ? "" : " (look first)"}</h3></summary>
      <div class="intro">
        <p class="lead">{scene.text}</p>
        <ol class="watch">{scene.watch.map((line) => <li>{line}</li>)}</ol>
      </div>
    </details>
  );
}

function Neighbours({ at }: { readonly at: number }) {
  const [before, after] = [SCENES[at - 1], SCENES[at + 1]];
  return (
    <nav class="row small" aria-label="Scenes">
      <a href={address("lab")}>All scenes</a>
      {before && <a href={address(`lab/scene/${before.name}`)}>← {before.title}</a>}
      {after && <a href={address(`lab/scene/${after.name}`)}>{after.title} →</a>}
    </nav>
  );
}

/** One scene. */
export function ScenePage({ name }: { readonly name: string }) {
  const at = SCENES.findIndex((one) => one.name === name);
  const scene = SCENES[at];
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (!scene) return;
    setProblem("");
    window.scrollTo(0, 0);
    show(scene, []).catch((error: Error) => setProblem(error.message));
  }, [name]);
  if (!scene) return <div class="notice" role="alert">There is no scene {name}. <a href={address("lab")}>All scenes</a></div>;
  const change = async () => {
    const entries = (setup.value?.entries.length ? setup.value.entries : [{ name: "first run", toml: scene.scenario }]).slice(-1);
    go("lab/run", Object.fromEntries(new URLSearchParams((await addressOf(entries, port.value)).split("?")[1])));
  };
  return (
    <article class="scene">
      <Neighbours at={at} />
      <h2><span class="quiet">{at + 1}.</span> {scene.title}</h2>
      {(broken.value || problem) && <div class="notice" role="alert">{broken.value || problem}</div>}
      <p class="lead">{scene.ask}</p>
      <Stage base={picoseconds(scene.view.speed)} ports={scene.view.ports ?? []} />
      <Told scene={scene} />
      <section class="panel question">
        <h3>{scene.question}</h3>
        {scene.tries.length > 0 && <Tries scene={scene} />}
        <details key={scene.name}><summary>The answer</summary><p>{scene.answer}</p></details>
      </section>
      <div class="row">
        <button type="button" class="primary" onClick={() => void change()}>Change it yourself</button>
      </div>
      <details><summary>The scenario as TOML, and the command that runs it</summary><Export toml={scene.scenario} /></details>
    </article>
  );
}
