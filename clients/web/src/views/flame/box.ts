// A box of a picture as what is chosen on the page, and back.
import type { Selected } from "../../app.js";
import { parseSpec, specText } from "../../state/spec.js";
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

/** Whether two views have the same boxes, whatever metric makes them wide. */
function sameBoxes(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    const of = (text: string) => specText({ ...parseSpec(text), metric: "" });
    return of(one) === of(other);
  } catch {
    return false;
  }
}

/** The chosen frame in this picture: by its path where it is of these boxes, else the widest box of its name. */
export function placeOf(layout: Layout, selected: Selected | undefined): number {
  if (selected === undefined) return -1;
  if (selected.path !== undefined && selected.spec !== undefined && sameBoxes(selected.spec, layout.answer.spec)) {
    const found = findPath(layout, selected.path);
    if (found.whole) return found.item;
  }
  let best = -1;
  for (let i = 1; i < layout.boxes; ++i)
    if (nameOf(layout, i) === selected.name && (best < 0 || layout.w[i]! > layout.w[best]!)) best = i;
  return best;
}
