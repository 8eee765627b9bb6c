// A box of a picture as what is chosen on the page, and back.
import type { Selected } from "../../app.js";
import { findPath, nameOf, namesOf, pathOf, type Layout } from "../../draw/layout.js";

export function boxOf(layout: Layout, item: number): Selected {
  const { named, files, modules } = layout.answer;
  const row = layout.name[item]!;
  return {
    name: nameOf(layout, item),
    frames: namesOf(layout, item),
    spec: layout.answer.spec,
    path: pathOf(layout, item),
    text: layout.text[item] ?? "",
    self: layout.answer.boxes.selfText?.[item],
    change: layout.answer.changes?.text[item],
    file: files?.[named?.file?.[row] ?? -1],
    line: named?.line?.[row],
    module: modules?.[named?.module?.[row] ?? -1],
  };
}

/** The chosen frame in this picture: by its path where it is of this view, else the widest box of its name. */
export function placeOf(layout: Layout, selected: Selected | undefined): number {
  if (selected === undefined) return -1;
  if (selected.path !== undefined && selected.spec === layout.answer.spec) {
    const found = findPath(layout, selected.path);
    if (found.whole) return found.item;
  }
  let best = -1;
  for (let i = 1; i < layout.boxes; ++i)
    if (nameOf(layout, i) === selected.name && (best < 0 || layout.w[i]! > layout.w[best]!)) best = i;
  return best;
}
