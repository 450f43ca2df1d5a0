/** The laboratory: guided scenes, and experiments of one's own, run in the page. */
import { route } from "../route";
import { Free } from "./free";
import { SceneList, ScenePage } from "./guided";
import "./lab.css";

/** The section. */
export function Laboratory() {
  const [, view, name = ""] = route.value.view.split("/");
  return <div class="lab">{view === "scene" ? <ScenePage name={name} /> : view === "run" ? <Free /> : <SceneList />}</div>;
}
