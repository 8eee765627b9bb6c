// A tree of which only what was opened is here. Pure: answers go in, rows come out.
import type { TableResult } from "../../../../shared/ts/psp.js";
import { rowOf, type TableRow } from "../flat/rows.js";

export interface Node {
  readonly row: TableRow;
  /** Keys from below the root. */
  readonly path: readonly number[];
  readonly names: readonly string[];
}

export interface LevelOf {
  readonly nodes: readonly Node[];
  /** Offset of what comes after, and what it is. */
  readonly next: number | undefined;
  readonly left: string;
  readonly count: number;
}

export interface Tree {
  /** By the names of the path, so that a reload finds them again. */
  readonly levels: ReadonlyMap<string, LevelOf>;
  readonly open: ReadonlySet<string>;
}

export const EMPTY: Tree = { levels: new Map(), open: new Set() };

export const idOf = (names: readonly string[]) => names.join("\0");

export function withPage(tree: Tree, parent: Pick<Node, "path" | "names">, page: TableResult): Tree {
  const id = idOf(parent.names);
  const before = page.offset > 0 ? (tree.levels.get(id)?.nodes ?? []) : [];
  const nodes = [...before];
  for (let at = 0; at < page.rows.name.length; ++at) {
    const row = rowOf(page, at);
    if (row !== undefined) nodes.push({ row, path: [...parent.path, row.key], names: [...parent.names, row.name] });
  }
  const levels = new Map(tree.levels);
  levels.set(id, { nodes, next: page.remainder?.offset, left: page.remainder?.text ?? "", count: page.rowCount });
  return { ...tree, levels };
}

export function opened(tree: Tree, names: readonly string[], open: boolean): Tree {
  const all = new Set(tree.open);
  if (open) all.add(idOf(names));
  else all.delete(idOf(names));
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
      readonly parent: Pick<Node, "path" | "names">;
      readonly depth: number;
      readonly offset: number;
      readonly text: string;
    }
  | { readonly kind: "waiting"; readonly parent: Pick<Node, "path" | "names">; readonly depth: number };

const ROOT: Pick<Node, "path" | "names"> = { path: [], names: [] };

/** What is on the screen, in order; without recursion, as stacks are thousands deep. */
export function rowsOf(tree: Tree): Row[] {
  const rows: Row[] = [];
  const work: { parent: Pick<Node, "path" | "names">; level: LevelOf | undefined; at: number; depth: number }[] = [
    { parent: ROOT, level: tree.levels.get(""), at: 0, depth: 0 },
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
    const id = idOf(node.names);
    const open = node.row.children ? tree.open.has(id) : undefined;
    rows.push({ kind: "node", node, depth: top.depth, open, position: top.at, size: top.level.count });
    if (open === true) work.push({ parent: node, level: tree.levels.get(id), at: 0, depth: top.depth + 1 });
  }
  return rows;
}
