// What keys do in a flame graph.
import type { Key } from "../../ui/keys.js";
import type { FlameController } from "./controller.js";
import type { Move } from "./moves.js";

export interface StageActions {
  readonly controller: FlameController;
  readonly upward: boolean;
  width(): number;
  move(to: Move): void;
  zoomToChosen(): void;
  showAll(): void;
  openMenu(): void;
}

export function stageKeys({ controller, upward, ...act }: StageActions): readonly Key[] {
  return [
    { keys: ["ArrowDown", "j"], text: "box below", run: () => act.move(upward ? "out" : "in") },
    { keys: ["ArrowUp", "k"], text: "box above", run: () => act.move(upward ? "in" : "out") },
    { keys: ["ArrowLeft", "h"], text: "box to the left", run: () => act.move("left") },
    { keys: ["ArrowRight", "l"], text: "box to the right", run: () => act.move("right") },
    { keys: ["Enter"], text: "zoom to the chosen box", run: () => act.zoomToChosen() },
    { keys: ["0"], text: "the whole graph", run: () => act.showAll() },
    { keys: ["+", "="], text: "closer", run: () => controller.zoomBy(1 / 1.5, act.width() / 2) },
    { keys: ["-"], text: "farther", run: () => controller.zoomBy(1.5, act.width() / 2) },
    { keys: ["<"], text: "to the left", run: () => controller.pan(-act.width() / 4) },
    { keys: [">"], text: "to the right", run: () => controller.pan(act.width() / 4) },
    { keys: ["."], text: "what can be done with the box", run: () => act.openMenu() },
  ];
}
