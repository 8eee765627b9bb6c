// One function between those who call it and those it calls: flames above, icicles below.
import { useSignal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { TableRequest, type NamedSet } from "../../../../shared/ts/psp.js";
import type { GroupHues } from "../../draw/colors.js";
import { isDiff } from "../../state/compared.js";
import { schemeOf, sortOf, specOf } from "../../state/place.js";
import { specText } from "../../state/spec.js";
import { go } from "../../state/state.js";
import { Empty, Name, Share } from "../../ui/bits.js";
import { BoxMenu, type Opened } from "../../ui/boxmenu.js";
import { useAnswer, useApp, useProfile } from "../../ui/context.js";
import { Toolbar } from "../../ui/toolbar.js";
import { FunctionPicker, literal } from "../../ui/picker.js";
import { useSearch } from "../../ui/search.js";
import { SidesLine } from "../../ui/sides.js";
import { Table, type Column } from "../../ui/table.js";
import type { Target } from "../flame/controller.js";
import { Stage } from "../flame/stage.js";
import { huesOf } from "../flame/view.js";
import { Change, rowOf, SELF_CHANGE_WIDTH, type TableRow } from "../flat/rows.js";
import { usePages } from "../flat/pages.js";

const SAME_NAMES = 200;

export function SandwichView() {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const search = useSearch();
  const menu = useSignal<Opened | undefined>(undefined);
  const [picking, setPicking] = useState(false);
  const [at, setAt] = useState(-1);
  const metric = place.metric || (profile?.metric ?? "");
  const hues = huesOf(profile?.uri ?? "");
  const list = usePages(
    TableRequest,
    profile === undefined
      ? undefined
      : {
          profile: profile.handle,
          spec: specText({ ...specOf(place, "flat"), metric }),
          sort: sortOf(place).by,
          descending: true,
          ...(place.search === "" ? {} : { search: place.search }),
          panelId: "sandwich-list",
        },
    rowOf,
  );
  const fn = place.fn || (list.row(0)?.name ?? "");
  const facts = useAnswer(
    TableRequest,
    profile === undefined || fn === ""
      ? undefined
      : {
          profile: profile.handle,
          spec: specText({ ...specOf(place, "flat"), metric }),
          search: `^${literal(fn)}$`,
          limit: SAME_NAMES,
          panelId: "sandwich-facts",
        },
  );
  // Of several functions of this name the one that was chosen; callers and callees are asked for by the name that
  // means it alone.
  const same = (facts.value?.rows.name ?? []).flatMap((_, i) => rowOf(facts.value!, i) ?? []);
  const row = same.find(({ file }) => place.file !== "" && file === place.file) ?? same[0];
  const focus = same.length > 1 && row?.file !== undefined ? `${fn} (${row.file})` : fn;
  const whole = list.first?.viewTotal.value ?? 0;
  const diff = isDiff(place.profile);
  const columns: readonly Column<TableRow>[] = [
    diff
      ? {
          id: "change",
          title: "Self change",
          width: SELF_CHANGE_WIDTH,
          align: "right",
          render: ({ change }) =>
            change === undefined ? "" : <Change text={change.self} standing={change.selfStanding} />,
        }
      : {
          id: "share",
          title: place.sort.by === "total" ? "Total" : "Self",
          width: "5.5rem",
          align: "right",
          sort: place.sort.by === "total" ? "total" : "self",
          render: (r) =>
            place.sort.by === "total" ? (
              <Share text={r.totalShare} part={whole > 0 ? r.total / whole : 0} />
            ) : (
              <Share text={r.selfShare} part={whole > 0 ? r.self / whole : 0} />
            ),
        },
    {
      id: "name",
      title: "Function",
      width: "minmax(8rem, 1fr)",
      render: (r) => <Name text={r.label || r.name} cuts={r.cuts} />,
    },
  ];
  const choose = (i: number) => {
    setAt(i);
    const value = list.row(i);
    if (value === undefined) return;
    app.select({ name: value.name, frames: [], file: value.file, line: value.line, module: value.module });
    app.update((state) => go(state, { fn: value.name, file: value.file ?? "", line: value.line }), false);
  };
  return (
    <div class="view">
      <SidesLine sides={list.first?.sides} widths />
      <Toolbar />
      <div class="sandwich">
        <aside class="sandwich-list">
          {list.first !== undefined && (
            <Table
              label="Functions"
              columns={columns}
              count={list.first.rowCount}
              row={list.row}
              selected={at}
              sort={{ by: place.sort.by === "total" ? "total" : "self", descending: true }}
              onSort={() =>
                app.update(
                  (state) =>
                    go(state, { sort: { by: state.place.sort.by === "total" ? "self" : "total", descending: true } }),
                  false,
                )
              }
              onVisible={list.see}
              onSelect={choose}
            />
          )}
        </aside>
        <div class="sandwich-main">
          {fn === "" ? (
            <Empty title="Choose a function">
              <p>Choose one in the list, or in any other view.</p>
            </Empty>
          ) : (
            <>
              <Half
                kind="callers"
                fn={focus}
                asked={facts.value !== undefined}
                hues={hues}
                marks={search.marks}
                sets={search.sets}
                onMenu={(opened) => (menu.value = opened)}
              />
              <div class="sandwich-middle">
                <button
                  type="button"
                  class="button quiet"
                  onClick={() => setPicking(true)}
                  title="Choose another function"
                >
                  <Name text={fn} />
                </button>
                {row !== undefined && (
                  <span class="sandwich-facts">
                    {row.change !== undefined ? (
                      <>
                        total {row.change.totalBefore} → {row.change.totalAfter} <b>{row.change.total}</b> · self{" "}
                        {row.change.selfBefore} → {row.change.selfAfter} <b>{row.change.self}</b>
                      </>
                    ) : (
                      <>
                        <b>{row.totalText}</b> {row.totalShare} total · <b>{row.selfText}</b> {row.selfShare} self
                      </>
                    )}
                    {row.place !== "" && (
                      <>
                        {" · "}
                        <Name class="muted" text={row.place} />
                      </>
                    )}
                  </span>
                )}
              </div>
              <Half
                kind="callees"
                fn={focus}
                asked={facts.value !== undefined}
                hues={hues}
                marks={search.marks}
                sets={search.sets}
                onMenu={(opened) => (menu.value = opened)}
              />
            </>
          )}
        </div>
        {menu.value !== undefined && (
          <BoxMenu
            opened={menu.value}
            extra={[{ text: "Put it in the middle", run: () => putInTheMiddle() }]}
            onClose={() => (menu.value = undefined)}
          />
        )}
        {picking && (
          <FunctionPicker
            title="Which function?"
            onPick={(name) => {
              setPicking(false);
              app.select({ name, frames: [] });
              app.update((state) => go(state, { fn: name }));
            }}
            onClose={() => setPicking(false)}
          />
        )}
      </div>
    </div>
  );

  function putInTheMiddle(): void {
    const box = menu.peek()?.box ?? app.selected.peek();
    if (box !== undefined)
      app.update((state) => go(state, { fn: box.name, file: box.file ?? "", line: box.line ?? 0 }));
  }
}

function Half(props: {
  kind: "callers" | "callees";
  fn: string;
  /** Whether it is known which function that is. */
  asked: boolean;
  hues: GroupHues;
  marks: readonly string[];
  sets: readonly NamedSet[];
  onMenu: (opened: Opened) => void;
}) {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const [zoom, setZoom] = useState<{ fn: string; zoom: readonly string[] }>({ fn: props.fn, zoom: [] });
  const shown = zoom.fn === props.fn ? zoom.zoom : [];
  const target = useMemo((): Target | undefined => {
    if (profile === undefined || !props.asked) return undefined;
    return {
      profile: profile.handle,
      revision: profile.revision,
      spec: specText({
        ...specOf(place),
        shape: props.kind,
        focus: [props.fn],
        metric: place.metric || profile.metric,
      }),
      zoom: shown,
      search: place.search,
      order: "weight",
      colorMetric: "",
      work: place.color === "work",
      highlights: props.sets,
      root: props.fn,
    };
  }, [profile, place, props.fn, props.asked, shown, props.sets]);
  if (target === undefined) return null;
  const title = props.kind === "callers" ? "Callers" : "Callees";
  return (
    <section class={`sandwich-half ${props.kind}`} aria-label={title}>
      <h3>
        {title}
        {shown.length > 0 && (
          <button type="button" class="button quiet" onClick={() => setZoom({ fn: props.fn, zoom: [] })}>
            all of them
          </button>
        )}
      </h3>
      <Stage
        id={props.kind}
        label={`${title} of ${props.fn}`}
        target={target}
        scheme={place.color === "metric" ? "module" : schemeOf(place)}
        upward={props.kind === "callers"}
        marks={props.marks}
        hues={props.hues}
        keys={props.kind === "callees"}
        onZoom={(next) => setZoom({ fn: props.fn, zoom: next })}
        onMenu={(box, at) => props.onMenu({ box, at })}
      />
    </section>
  );
}
