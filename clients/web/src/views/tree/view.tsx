// The calling tree as a table: levels are fetched when they are opened.
import { GranularitySelect } from "../../ui/granularity.js";
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { HotPathRequest, TableRequest, type TableResult, type ViewShape } from "../../../../shared/ts/psp.js";
import type { App, Selected } from "../../app.js";
import { isDiff } from "../../state/compared.js";
import { filtersOf, isByChange, nameHash, specOf } from "../../state/place.js";
import { specText } from "../../state/spec.js";
import { go, setShape, show } from "../../state/state.js";
import { Busy, Empty, FittedName, FittedPath, Segments, Select } from "../../ui/bits.js";
import { BoxMenu, type Opened } from "../../ui/boxmenu.js";
import { ratiosOf, useApp, useProfile } from "../../ui/context.js";
import { Toolbar } from "../../ui/toolbar.js";
import { Icon } from "../../ui/icons.js";
import { useKeys } from "../../ui/keys.js";
import { SidesLine } from "../../ui/sides.js";
import { Table, type Column } from "../../ui/table.js";
import { changeColumns, columnsOf, derivedColumns, type RowChange, type TableRow } from "../flat/rows.js";
import { TableNotes } from "../flat/view.js";
import { EMPTY, opened, ROOT, rowsOf, withPage, type Node, type Parent, type Row, type Tree } from "./state.js";

const PAGE = 200;
/** Width from which there is room for what is beside the totals. */
const MIDDLE = 720;
/** The same beside both sides of a diff. */
const WIDE = 964;
/** So much of its column a name has, however deep its row is. */
const NAME_ROOM = "6rem";

/** What was open: another view that is looked at meanwhile closes nothing. */
let kept: { readonly of: string; readonly open: Tree["open"] } = { of: "", open: EMPTY.open };
/** The names of what is to be chosen once it is there. */
let wanted: readonly string[] = [];

/** What is right below the box of these names, all of it. */
export function showInTree(app: App, names: readonly string[]): void {
  wanted = names;
  app.update((state) => show(state, "tree"));
}

/** As a box of the flame graph has it. */
const sidesText = (change: RowChange | undefined) =>
  change === undefined ? undefined : `${change.totalBefore} → ${change.totalAfter}: ${change.total}`;

export function TreeView() {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const menu = useSignal<Opened | undefined>(undefined);
  const uri = profile?.uri ?? "";
  const [tree, setTree] = useState<Tree>(kept.of === uri ? { ...EMPTY, open: kept.open } : EMPTY);
  const [head, setHead] = useState<TableResult | undefined>(undefined);
  const [error, setError] = useState<string | undefined>(undefined);
  const [at, setAt] = useState(-1);
  // Ahead of what is shown while levels are asked for anew; a render meanwhile takes nothing of it back.
  const current = useRef(tree);
  const put = (next: Tree) => {
    current.current = next;
    kept = { of: uri, open: next.open };
    setTree(next);
  };
  const metrics = profile?.metrics ?? [];
  const derived = ratiosOf(profile);
  const metric = place.metric || (profile?.metric ?? "");
  const diff = isDiff(place.profile);
  const sort = place.sort.by === "name" ? "name" : "total";
  const descending = isByChange(place.sort) || place.sort.descending;
  const focused = place.shape === "callers" || place.shape === "callees";
  const shape: ViewShape = focused && place.focus.length === 0 ? "topDown" : place.shape;
  const spec = specText({ ...specOf(place, shape), metric });
  const generation = useRef(0);

  const load = async (parent: Parent, offset: number): Promise<TableResult | undefined> => {
    if (profile === undefined) return undefined;
    const mine = generation.current;
    try {
      const page = await app.ask(TableRequest, {
        profile: profile.handle,
        spec,
        sort,
        descending: sort === "name" ? false : descending,
        offset,
        limit: PAGE,
        metrics: derived.map(({ name }) => name),
        ...(parent.path.length > 0 ? { expand: [...parent.path], revision: profile.revision } : {}),
      });
      if (mine !== generation.current) return undefined;
      if (parent.path.length === 0 && offset === 0) setHead(page);
      put(withPage(current.current, parent, page));
      setError(undefined);
      return page;
    } catch (reason) {
      const text = app.explain(reason);
      if (text !== undefined) setError(text);
      return undefined;
    }
  };

  const open = async (node: Node) => {
    put(opened(current.current, node.id, true));
    if (!current.current.levels.has(node.id)) await load(node, 0);
  };
  // What leads down from a row, or the root, and what that ends at; as far as there are such rows.
  const openDown = async (from: Node | undefined, steps: readonly ((node: Node) => boolean)[]) => {
    if (from !== undefined) await open(from);
    let last = from;
    for (const isNext of steps) {
      const next = current.current.levels.get((last ?? ROOT).id)?.nodes.find(isNext);
      if (next === undefined) break;
      if (next.row.children) await open(next);
      last = next;
    }
    return last;
  };

  // Another view: levels go, what was open is opened again by its names.
  const key = `${profile?.handle ?? ""} ${profile?.revision ?? 0} ${spec} ${sort} ${descending} ${app.epoch.value} ${JSON.stringify(derived)}`;
  useEffect(() => {
    ++generation.current;
    const { open } = current.current;
    current.current = { levels: new Map(), open };
    const again = async () => {
      await load(ROOT, 0);
      const asked = wanted;
      wanted = [];
      const last = await openDown(
        undefined,
        asked.map((name) => (node) => node.row.name === name),
      );
      for (;;) {
        const waiting = rowsOf(current.current).find((row) => row.kind === "waiting");
        if (waiting?.kind !== "waiting" || waiting.parent.names.length === 0) break;
        if ((await load(waiting.parent, 0)) === undefined) break;
      }
      if (last !== undefined) setAt(placeOf(last));
    };
    void again();
  }, [key]);

  const placeOf = ({ id }: Node) => rowsOf(current.current).findIndex((r) => r.kind === "node" && r.node.id === id);
  const rows = useMemo(() => rowsOf(tree), [tree]);
  const toggle = (row: number, isOpen: boolean) => {
    const target = rows[row];
    if (target?.kind !== "node") return;
    if (isOpen) void open(target.node);
    else put(opened(current.current, target.node.id, false));
  };
  const selectedOf = (node: Node): Selected => ({
    name: node.row.name,
    frames: node.names,
    spec: head?.spec,
    path: node.path,
    file: node.row.file,
    line: node.row.line,
    module: node.row.module,
    text: `${node.row.totalText} · ${node.row.totalShare}`,
    self: `${node.row.selfText} · ${node.row.selfShare}`,
    change: sidesText(node.row.change),
  });
  const choose = (row: number) => {
    const target = rows[row];
    if (target?.kind === "more") void load(target.parent, target.offset);
    setAt(row);
    if (target?.kind === "node") app.select(selectedOf(target.node));
  };

  const openHotPath = async () => {
    if (profile === undefined) return;
    const from = rows[at]?.kind === "node" ? rows[at].node : undefined;
    try {
      const path = await app.ask(HotPathRequest, {
        profile: profile.handle,
        spec,
        ...(from === undefined ? {} : { from: [...from.path], revision: profile.revision }),
      });
      const last = await openDown(
        from,
        path.rows.key.map((key) => (node) => node.row.key === key),
      );
      if (last === undefined) return;
      setAt(placeOf(last));
      app.select(selectedOf(last));
    } catch (reason) {
      const text = app.explain(reason);
      if (text !== undefined) setError(text);
    }
  };
  useKeys({
    title: "Tree",
    keys: [
      { keys: ["*", "H"], text: "open the hottest path", run: () => void openHotPath() },
      {
        keys: ["b"],
        text: "bottom-up and back",
        run: () => app.update((s) => setShape(s, s.place.shape === "bottomUp" ? "topDown" : "bottomUp")),
      },
    ],
  });

  const whole = head?.viewTotal.value ?? 0;
  const values = diff
    ? changeColumns("total")
    : columnsOf(
        whole,
        metric,
        metrics.find((m) => m.name === metric),
      );
  const cell = (render: (row: TableRow) => preact.ComponentChildren) => (row: Row) =>
    row.kind === "node" ? render(row.node.row) : null;
  const columns: readonly Column<Row>[] = [
    ...values.map((column): Column<Row> => {
      const { sort: by, ...rest } = column;
      return {
        ...rest,
        ...(by === "total" ? { sort: by } : {}),
        ...(!diff && column.id.startsWith("self") ? { from: MIDDLE } : {}),
        render: cell(column.render),
      };
    }),
    // Levels have the largest first: rows of a tree are sorted by nothing else.
    ...derivedColumns(derived, 0, MIDDLE).map(({ id, title, width, from, render }): Column<Row> => ({
      id,
      title,
      width,
      from: from!,
      align: "right",
      render: cell(render),
    })),
    {
      id: "name",
      title: "Name",
      width: "minmax(10rem, 4fr)",
      sort: "name",
      render: (row) => (
        <span
          class="tree-name"
          style={{ paddingLeft: `min(${row.depth} * min(0.9rem, 4%), max(0px, 100% - ${NAME_ROOM}))` }}
        >
          {row.kind === "node" ? (
            <>
              <button
                type="button"
                class="twist"
                tabIndex={-1}
                aria-hidden="true"
                style={{ visibility: row.open === undefined ? "hidden" : "visible" }}
                onClick={(event) => {
                  event.stopPropagation();
                  toggle(rows.indexOf(row), row.open !== true);
                }}
              >
                <Icon name={row.open === true ? "down" : "right"} size={12} />
              </button>
              <FittedName text={row.node.row.name} label={row.node.row.label} cuts={row.node.row.cuts} />
            </>
          ) : row.kind === "more" ? (
            <span class="link">{row.text}: show more</span>
          ) : (
            <span class="muted">…</span>
          )}
        </span>
      ),
    },
    {
      id: "place",
      title: "Where",
      width: "minmax(6rem, 2fr)",
      from: diff ? WIDE : MIDDLE,
      render: cell((row) => <FittedPath text={row.place} />),
    },
  ];
  return (
    <div class="view">
      <SidesLine sides={head?.sides} widths />
      <Toolbar>
        <Segments
          label="Shape of the tree"
          value={shape}
          choices={[
            { id: "topDown", text: "Top-down" },
            { id: "bottomUp", text: "Bottom-up" },
            ...(place.focus.length > 0
              ? [
                  { id: "callers" as const, text: "Callers" },
                  { id: "callees" as const, text: "Callees" },
                ]
              : []),
          ]}
          onChange={(next: ViewShape) => app.update((state) => setShape(state, next))}
        />
        <GranularitySelect app={app} />
        <button type="button" class="button quiet" onClick={() => void openHotPath()} title="Open the hottest path (*)">
          <Icon name="hot" /> Hottest path
        </button>
        {diff && (
          <Select
            label="Order"
            value={sort}
            choices={[
              { id: "total", text: "by width" },
              { id: "name", text: "by name" },
            ]}
            onChange={(by) => app.update((state) => go(state, { sort: { by, descending: true } }), false)}
          />
        )}
        {head !== undefined && !diff && <span class="muted">{head.viewTotal.text}</span>}
      </Toolbar>
      <TableNotes answer={head} />
      {error !== undefined ? (
        <Empty title="The tree cannot be shown">
          <p>{error}</p>
        </Empty>
      ) : head === undefined ? (
        <Busy text="Computing the tree" />
      ) : head.rowCount === 0 ? (
        <Empty title="Nothing is left in this view">
          <p>
            {filtersOf(app.place.value).length > 0
              ? "No stack passes the filters."
              : `${head.metric} is 0 everywhere in this profile.`}
          </p>
        </Empty>
      ) : (
        <Table
          label="Calling tree"
          columns={columns}
          count={rows.length}
          row={(i) => rows[i]}
          level={(row) =>
            row.kind === "node"
              ? { depth: row.depth, open: row.open, setSize: row.size, position: row.position }
              : { depth: row.depth, open: undefined }
          }
          selected={at}
          sort={{ by: sort, descending }}
          onSort={(by) =>
            app.update(
              (state) =>
                go(state, {
                  sort: { by: by as "total" | "name", descending: sort === by ? !state.place.sort.descending : true },
                }),
              false,
            )
          }
          onSelect={choose}
          onToggle={toggle}
          onOpen={(row) => {
            const target = rows[row];
            if (target?.kind !== "node") return;
            app.update((state) => go(state, { view: "flame", zoom: target.node.names.map(nameHash) }));
          }}
          onMenu={(row, point) => {
            const target = rows[row];
            if (target?.kind === "node") menu.value = { box: selectedOf(target.node), at: point };
          }}
        />
      )}
      {menu.value !== undefined && <BoxMenu opened={menu.value} onClose={() => (menu.value = undefined)} />}
    </div>
  );
}
