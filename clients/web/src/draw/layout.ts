// An answer of view/flameGraph as typed arrays with an index by row: what painting, hit tests and motion read. Boxes
// come first, joined siblings (remainders) after them.
import {
  BoxFlag,
  ChangeKind,
  type FlameGraphResult,
  type FrameKind,
  type HiddenMatchesResult,
} from "../../../shared/ts/psp.js";
import { shown } from "./shown.js";

export interface Layout {
  /** Boxes; items from here on are remainders. */
  readonly boxes: number;
  readonly size: number;
  readonly rows: number;
  /** In the metric's unit, from the left edge of the zoomed box. */
  readonly x: Float64Array;
  readonly w: Float64Array;
  readonly depth: Int32Array;
  readonly parent: Int32Array;
  readonly key: Float64Array;
  readonly flags: Int32Array;
  readonly kind: readonly FrameKind[];
  /** Index into `names` and `labels`; -1: a remainder. */
  readonly name: Int32Array;
  readonly names: readonly string[];
  readonly labels: readonly string[];
  /** Where the beginning of each label may be left out. */
  readonly cuts: readonly (readonly number[])[];
  /** Per item: total and share, or what was joined. */
  readonly text: readonly string[];
  /** Items sorted by row, then from left to right; row r is rowItems[rowStart[r]] to rowItems[rowStart[r + 1]]. */
  readonly rowStart: Int32Array;
  readonly rowItems: Int32Array;
  /** The zoomed box. */
  readonly zoomed: number;
  /** Width of the picture. */
  readonly span: number;
  readonly answer: FlameGraphResult;
  /** With a search: what matches and has no box. Counted while the picture is there already. */
  hidden?: HiddenMatchesResult;
}

/** `zoomDepth`: how many keys the path of the zoomed box has. `root`: what the first box is called, if not "all". */
export function layoutOf(answer: FlameGraphResult, zoomDepth: number, root = ""): Layout {
  const { boxes: b, remainder: r } = answer;
  const boxes = b.depth.length;
  const size = boxes + r.depth.length;
  const layout = {
    boxes,
    size,
    x: new Float64Array(size),
    w: new Float64Array(size),
    depth: new Int32Array(size),
    parent: new Int32Array(size),
    key: new Float64Array(size).fill(-1),
    flags: new Int32Array(size),
    name: new Int32Array(size).fill(-1),
  };
  layout.x.set(b.x);
  layout.x.set(r.x, boxes);
  layout.w.set(b.width);
  layout.w.set(r.width, boxes);
  layout.depth.set(b.depth);
  layout.depth.set(r.depth, boxes);
  layout.parent.set(b.parent);
  layout.parent.set(r.parent, boxes);
  layout.key.set(b.key);
  layout.flags.set(b.flags);
  layout.name.set(b.name);

  let rows = 0;
  for (const depth of layout.depth) rows = Math.max(rows, depth + 1);
  const rowStart = new Int32Array(rows + 1);
  for (const depth of layout.depth) ++rowStart[depth + 1]!;
  for (let row = 0; row < rows; ++row) rowStart[row + 1]! += rowStart[row]!;
  const next = rowStart.slice();
  const rowItems = new Int32Array(size);
  for (let i = 0; i < size; ++i) rowItems[next[layout.depth[i]!]!++] = i;
  // Each kind comes sorted; the two are merged.
  for (let row = 0; row < rows; ++row)
    rowItems
      .subarray(rowStart[row], rowStart[row + 1])
      .sort((one, two) => layout.x[one]! - layout.x[two]! || one - two);

  return {
    ...layout,
    rows,
    rowStart,
    rowItems,
    // Its ancestors come first, one a row.
    zoomed: Math.min(zoomDepth, Math.max(0, boxes - 1)),
    span: boxes > 0 ? layout.w[0]! : 0,
    kind: b.kind,
    names: answer.names,
    labels: answer.labels.map((label, i) => shown(root !== "" && i === b.name[0] ? root : label)),
    // Places in a text that is shown otherwise than it came mean nothing.
    cuts: answer.labels.map((label, i) => (shown(label) === label ? (answer.cuts?.[i] ?? []) : [])),
    text: [...b.text, ...r.text],
    answer,
  };
}

/** The item at a place, in the metric's unit; -1: none. */
export function hit(layout: Layout, row: number, at: number): number {
  if (row < 0 || row >= layout.rows) return -1;
  let low = layout.rowStart[row]!;
  let high = layout.rowStart[row + 1]! - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const item = layout.rowItems[middle]!;
    if (at < layout.x[item]!) high = middle - 1;
    else if (at >= layout.x[item]! + layout.w[item]!) low = middle + 1;
    else return item;
  }
  return -1;
}

export const isRemainder = (layout: Layout, item: number) => item >= layout.boxes;

/** The keys from below the root down to the box. */
export function pathOf(layout: Layout, item: number): number[] {
  const path: number[] = [];
  for (let at = item; at > 0; at = layout.parent[at]!) path.push(layout.key[at]!);
  return path.reverse();
}

/** Full names from below the root down to the box. */
export function namesOf(layout: Layout, item: number): string[] {
  const names: string[] = [];
  for (let at = item; at > 0; at = layout.parent[at]!) names.push(layout.names[layout.name[at]!] ?? "");
  return names.reverse();
}

export function nameOf(layout: Layout, item: number): string {
  return layout.names[layout.name[item]!] ?? "";
}

export function labelOf(layout: Layout, item: number): string {
  if (isRemainder(layout, item)) return layout.text[item] ?? "";
  return layout.labels[layout.name[item]!] ?? "";
}

/** What became of something, in one sign. */
export const CHANGE_MARKS: Readonly<Record<number, string>> = {
  [ChangeKind.same]: "[=]",
  [ChangeKind.more]: "[+]",
  [ChangeKind.less]: "[-]",
  [ChangeKind.added]: "[A]",
  [ChangeKind.deleted]: "[D]",
};

/** What became of a box of a diff. */
export function changeOf(layout: Layout, item: number): ChangeKind | undefined {
  return isRemainder(layout, item) ? undefined : layout.answer.changes?.change[item];
}

/** Only one side of a diff has the box. */
export function isOneSided(layout: Layout, item: number): boolean {
  const change = changeOf(layout, item);
  return change === ChangeKind.added || change === ChangeKind.deleted;
}

/**
 * What is said behind a label: that the compiler put the function into its caller, that one side of a diff alone has it;
 * with `all`, every change.
 */
export function markOf(layout: Layout, item: number, all = false): string {
  if (isRemainder(layout, item)) return "";
  const inlined = (layout.flags[item]! & BoxFlag.inlined) !== 0 ? " (inlined)" : "";
  const change = changeOf(layout, item) ?? ChangeKind.same;
  const isSaid = all ? change !== ChangeKind.same : isOneSided(layout, item);
  return isSaid ? `${inlined} ${CHANGE_MARKS[change] ?? ""}` : inlined;
}

export function cutsOf(layout: Layout, item: number): readonly number[] {
  return isRemainder(layout, item) ? [] : (layout.cuts[layout.name[item]!] ?? []);
}

/** The boxes right below, from left to right, remainders last. */
export function childrenOf(layout: Layout, item: number): number[] {
  const row = layout.depth[item]! + 1;
  if (row >= layout.rows) return [];
  const found: number[] = [];
  for (let at = layout.rowStart[row]!; at < layout.rowStart[row + 1]!; ++at)
    if (layout.parent[layout.rowItems[at]!] === item) found.push(layout.rowItems[at]!);
  return found;
}

/** The box at this path, or the deepest of its ancestors that is there. */
export function findPath(layout: Layout, path: readonly number[]): { item: number; whole: boolean } {
  let at = 0;
  for (const key of path) {
    const child = childrenOf(layout, at).find((i) => !isRemainder(layout, i) && layout.key[i] === key);
    if (child === undefined) return { item: at, whole: false };
    at = child;
  }
  return { item: at, whole: true };
}

/** Where the zoomed box of a picture is in another one of the same view, as far down as that has it. */
export function zoomedIn(whole: Layout, zoomed: Layout): number {
  return findPath(whole, pathOf(zoomed, zoomed.zoomed)).item;
}

/** Which item of `before` each item of `after` is: the same keys from the root. -1: it is new. */
export function join(before: Layout, after: Layout): Int32Array {
  const known = new Map<number, Map<number, number>>();
  for (let i = 1; i < before.boxes; ++i) {
    const parent = before.parent[i]!;
    const children = known.get(parent) ?? new Map<number, number>();
    known.set(parent, children);
    children.set(before.key[i]!, i);
  }
  const same = new Int32Array(after.size).fill(-1);
  if (after.boxes > 0 && before.boxes > 0) same[0] = 0;
  for (let i = 1; i < after.boxes; ++i) {
    const parent = same[after.parent[i]!]!;
    if (parent >= 0) same[i] = known.get(parent)?.get(after.key[i]!) ?? -1;
  }
  return same;
}
