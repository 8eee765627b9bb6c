// The menu of a frame, and the keys that do the same to the chosen one.
import { SourceDisassemblyRequest } from "../../../shared/ts/psp.js";
import type { App, Selected } from "../app.js";
import { shown } from "../draw/shown.js";
import { deedsOf } from "../state/doing.js";
import type { ViewId } from "../state/place.js";
import { go, show } from "../state/state.js";
import { copyText } from "./copy.js";
import { useKeys } from "./keys.js";
import { Menu, type MenuItem, type Point } from "./menu.js";
import { useApp } from "./context.js";

export interface Opened {
  readonly box: Selected;
  readonly at: Point;
}

const short = (text: string) => (text.length > 60 ? text.slice(0, 59) + "…" : text);

export function boxItems(app: App, box: Selected, extra: readonly MenuItem[] = []): MenuItem[] {
  const deeds = deedsOf(app.state.peek(), box.name, box.frames, box.module);
  const items: MenuItem[] = [{ text: short(shown(box.name)), heading: true }, ...extra];
  for (const deed of deeds)
    items.push({
      text: shown(deed.text),
      ...(deed.keys === undefined ? {} : { keys: deed.keys }),
      apart:
        deed.id === "callers" ||
        deed.id === "path" ||
        deed.id === "keep-module" ||
        (deed.id === "keep" && box.frames.length < 2),
      run: () => app.update(deed.apply),
    });
  items.push(
    { text: "Go to source", keys: "g", icon: "source", apart: true, run: () => goToSource(app, box) },
    ...(app.can(SourceDisassemblyRequest.method)
      ? [{ text: "Show assembly", keys: "A", run: () => showAssembly(app, box) }]
      : []),
    { text: "Copy name", keys: "y", icon: "copy", run: () => copyText(app, box.name, "The name") },
  );
  if (box.frames.length > 1)
    items.push({
      text: "Copy stack",
      icon: "copy",
      run: () => copyText(app, [...box.frames].reverse().join("\n"), "The stack"),
    });
  return items;
}

export function goToSource(app: App, box: Selected): void {
  app.update((state) => go(state, { view: "source", fn: box.name, file: box.file ?? "", line: box.line ?? 0 }));
}

/** Its instructions, beside its source where that is known. */
export function showAssembly(app: App, box: Selected): void {
  const { asm } = app.place.peek();
  const place = { fn: box.name, file: box.file ?? "", line: box.line ?? 0 };
  app.update((state) => go(state, { view: "source", asm: asm === "" ? "beside" : asm, ...place }));
}

/** Another view; one of a single function is of the chosen one. */
export function showView(app: App, view: ViewId): void {
  const box = app.selected.peek();
  if (box !== undefined && view === "source") goToSource(app, box);
  else if (box !== undefined && view === "sandwich")
    app.update((state) => go(state, { view, fn: box.name, file: box.file ?? "", line: box.line ?? 0 }));
  else app.update((state) => show(state, view));
}

export function BoxMenu({
  opened,
  extra,
  onClose,
}: {
  opened: Opened;
  extra?: readonly MenuItem[];
  onClose: () => void;
}) {
  const app = useApp();
  return (
    <Menu
      label={`What can be done with ${opened.box.name}`}
      at={opened.at}
      items={boxItems(app, opened.box, extra)}
      onClose={onClose}
    />
  );
}

/** Keys for the chosen frame, in every view. */
export function useBoxKeys(): void {
  const app = useApp();
  const act = (id: string) => () => {
    const box = app.selected.peek();
    if (box === undefined) {
      app.say("Choose a frame first: with the arrow keys, or by a click");
      return;
    }
    const deed = deedsOf(app.state.peek(), box.name, box.frames, box.module).find((d) => d.id === id);
    if (deed !== undefined) app.update(deed.apply);
    else if (id === "path") app.say("Choose a frame in a tree: a path leads to it there");
  };
  const withBox = (run: (box: Selected) => void) => () => {
    const box = app.selected.peek();
    if (box === undefined) app.say("Choose a frame first: with the arrow keys, or by a click");
    else run(box);
  };
  useKeys({
    title: "The chosen frame",
    keys: [
      { keys: ["c"], text: "callers of it", run: act("callers") },
      { keys: ["C"], text: "callees of it", run: act("callees") },
      { keys: ["f"], text: "keep only this path", run: act("path") },
      { keys: ["x"], text: "hide it", run: act("hide") },
      { keys: ["X"], text: "drop its stacks", run: act("drop") },
      { keys: ["z"], text: "collapse recursion", run: act("collapse") },
      { keys: ["g"], text: "go to its source", run: withBox((box) => goToSource(app, box)) },
      { keys: ["A"], text: "show its assembly", run: withBox((box) => showAssembly(app, box)) },
      { keys: ["y"], text: "copy its name", run: withBox((box) => copyText(app, box.name, "The name")) },
    ],
  });
}
