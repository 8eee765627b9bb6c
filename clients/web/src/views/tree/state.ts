// A tree of which only what was opened is here. Pure: answers go in, rows come out.
import type { TableResult } from "../../../../shared/ts/psp.js";
import { rowOf, type TableRow } from "../flat/rows.js";

export interface Node {
  readonly row: TableRow;
  /** Keys from below the root. */
  readonly path: readonly number[];
  readonly names: readonly string[];
  /** Of all rows this one, after a reload, too: by the names and files of its path. */
  readonly id: string;
}

export type Parent = Pick<Node, "path" | "names" | "id">;

export interface LevelOf {
  readonly nodes: readonly Node[];
  /** Offset of what comes after, and what it is. */
  readonly next: number | undefined;
  readonly left: string;
  readonly count: number;
}

export interface Tree {
  /** By ids, like what is open. */
  readonly levels: ReadonlyMap<string, LevelOf>;
  readonly open: ReadonlySet<string>;
}

export const EMPTY: Tree = { levels: new Map(), open: new Set() };

export const ROOT: Parent = { path: [], names: [], id: "" };

export function withPage(tree: Tree, parent: Parent, page: TableResult): Tree {
  const before = page.offset > 0 ? (tree.levels.get(parent.id)?.nodes ?? []) : [];
  const nodes = [...before];
  const taken = new Set(before.map(({ id }) => id));
  for (let at = 0; at < page.rows.name.length; ++at) {
    const row = rowOf(page, at);
    if (row === undefined) continue;
    // Siblings may have one name: `<module>` of every file. Lines move with every edit and are only asked
    // where nothing else tells them apart.
    let id = `${parent.id}\0${row.name}\u0001${row.file ?? row.module ?? ""}`;
    while (taken.has(id)) id += `\u0001${row.line}`;
    taken.add(id);
    nodes.push({ row, path: [...parent.path, row.key], names: [...parent.names, row.name], id });
  }
  const levels = new Map(tree.levels);
  levels.set(parent.id, {
    nodes,
    next: page.remainder?.offset,
    left: page.remainder?.text ?? "",
    count: page.rowCount,
  });
  return { ...tree, levels };
}

export function opened(tree: Tree, id: string, open: boolean): Tree {
  const all = new Set(tree.open);
  if (open) all.add(id);
  else all.delete(id);
  return { ...tree, open: all };
}

export type Row =
  | {
      readonly kind: "node";
      readonly node: Node;
      readonly depth: number;
      readonly open: boolean | undefined;
      readonly position: number;
      readonly size: number;
    }
  | {
      readonly kind: "more";
      readonly parent: Parent;
      readonly depth: number;
      readonly offset: number;
      readonly text: string;
    }
  | { readonly kind: "waiting"; readonly parent: Parent; readonly depth: number };

/** What is on the screen, in order; without recursion, as stacks are thousands deep. */
export function rowsOf(tree: Tree): Row[] {
  const rows: Row[] = [];
  const work: { parent: Parent; level: LevelOf | undefined; at: number; depth: number }[] = [
    { parent: ROOT, level: tree.levels.get(ROOT.id), at: 0, depth: 0 },
  ];
  while (work.length > 0) {
    const top = work.at(-1)!;
    if (top.level === undefined) {
      rows.push({ kind: "waiting", parent: top.parent, depth: top.depth });
      work.pop();
      continue;
    }
    const node = top.level.nodes[top.at];
    if (node === undefined) {
      if (top.level.next !== undefined)
        rows.push({ kind: "more", parent: top.parent, depth: top.depth, offset: top.level.next, text: top.level.left });
      work.pop();
      continue;
    }
    ++top.at;
    const open = node.row.children ? tree.open.has(node.id) : undefined;
    rows.push({ kind: "node", node, depth: top.depth, open, position: top.at, size: top.level.count });
    if (open === true) work.push({ parent: node, level: tree.levels.get(node.id), at: 0, depth: top.depth + 1 });
  }
  return rows;
}
