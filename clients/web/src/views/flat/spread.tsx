// Rows of an aggregate: how the values of its profiles lie, the most uneven or the most costly first.
import { useSignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { SpreadRequest, type SpreadParams, type SpreadResult } from "../../../../shared/ts/psp.js";
import { filtersOf, specOf, spreadSortOf, type SpreadSortBy } from "../../state/place.js";
import { specText } from "../../state/spec.js";
import { go } from "../../state/state.js";
import { Busy, Empty, FittedName, FittedPath, Notes, Segments, Select } from "../../ui/bits.js";
import { BoxMenu, type Opened } from "../../ui/boxmenu.js";
import { metricNoteOf, useApp, useProfile } from "../../ui/context.js";
import { GranularitySelect } from "../../ui/granularity.js";
import { Sparkline } from "../../ui/sparkline.js";
import { Table, type Column } from "../../ui/table.js";
import { Toolbar } from "../../ui/toolbar.js";
import { rowOf, selectedOf, type TableRow } from "./rows.js";

const PAGE = 200;
/** Values of a series: more would be narrower than a pixel. */
const POINTS = 32;

export interface SpreadRow extends TableRow {
  readonly mean: string;
  readonly median: string;
  readonly min: string;
  readonly max: string;
  readonly deviation: string;
  readonly imbalance: string;
  readonly lost: string;
  readonly series: readonly number[];
}

export function spreadRowOf(page: SpreadResult, at: number): SpreadRow | undefined {
  const { columns, ...rows } = page;
  const row = rowOf(rows, at);
  if (row === undefined) return undefined;
  return {
    ...row,
    mean: columns.meanText[at]!,
    median: columns.medianText[at]!,
    min: columns.minText[at]!,
    max: columns.maxText[at]!,
    deviation: columns.deviationText[at]!,
    imbalance: columns.imbalanceText[at]!,
    lost: columns.lostText[at]!,
    series: columns.series[at]!,
  };
}

const ORDERS: readonly { id: SpreadSortBy; text: string }[] = [
  { id: "sum", text: "by sum" },
  { id: "lost", text: "by what is lost" },
  { id: "max", text: "by the largest" },
  { id: "deviation", text: "by deviation" },
  { id: "imbalance", text: "by imbalance" },
];

function usePages(params: SpreadParams | undefined) {
  const app = useApp();
  const [, redraw] = useState(0);
  const [error, setError] = useState<string | undefined>(undefined);
  const pages = useRef(new Map<number, SpreadResult | AbortController>());
  const first = useRef<SpreadResult | undefined>(undefined);
  const key =
    params === undefined ? "" : `${JSON.stringify(params)} ${app.epoch.value} ${app.profile.value?.revision ?? 0}`;
  const fetchPage = (page: number) => {
    const own = pages.current;
    if (params === undefined || own.has(page)) return;
    const controller = new AbortController();
    own.set(page, controller);
    app.ask(SpreadRequest, { ...params, offset: page * PAGE, limit: PAGE }, controller.signal).then(
      (answer) => {
        if (pages.current !== own) return;
        own.set(page, answer);
        if (page === 0) first.current = answer;
        setError(undefined);
        redraw((n) => n + 1);
      },
      (reason: unknown) => {
        own.delete(page);
        const text = app.explain(reason);
        if (text !== undefined && pages.current === own) setError(text);
      },
    );
  };
  useEffect(() => {
    for (const page of pages.current.values()) if (page instanceof AbortController) page.abort();
    pages.current = new Map();
    fetchPage(0);
  }, [key]);
  return {
    first: first.current,
    error,
    row: (at: number) => {
      const page = pages.current.get(Math.floor(at / PAGE));
      const there = page === undefined || page instanceof AbortController ? undefined : page;
      const shown = there ?? (at < PAGE ? first.current : undefined);
      return shown === undefined ? undefined : spreadRowOf(shown, at % PAGE);
    },
    see: (from: number, to: number) => {
      for (let page = Math.floor(from / PAGE); page <= Math.floor(Math.max(from, to - 1) / PAGE); ++page)
        fetchPage(page);
    },
  };
}

export function SpreadView() {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const menu = useSignal<Opened | undefined>(undefined);
  const [at, setAt] = useState(-1);
  const metric = place.metric || (profile?.metric ?? "");
  const sort = spreadSortOf(place);
  const pages = usePages(
    profile === undefined
      ? undefined
      : {
          profile: profile.handle,
          spec: specText({ ...specOf(place, "flat"), metric }),
          sort,
          totals: place.ofTotals,
          points: POINTS,
          ...(place.search === "" ? {} : { search: place.search }),
          panelId: "flat",
        },
  );
  const { first } = pages;
  const orderBy = (by: string) =>
    app.update((state) => go(state, { sort: { by: by as SpreadSortBy, descending: true } }), false);
  const number = (
    id: string,
    title: string,
    from: number,
    render: (row: SpreadRow) => string,
    by?: SpreadSortBy,
  ): Column<SpreadRow> => ({
    id,
    title,
    width: "6.4rem",
    align: "right",
    from,
    render,
    ...(by === undefined ? {} : { sort: by }),
  });
  const columns: readonly Column<SpreadRow>[] = [
    number("sum", "Sum", 0, (row) => (place.ofTotals ? row.totalText : row.selfText), "sum"),
    number("mean", "Mean", 900, (row) => row.mean, "sum"),
    number("median", "Median", 1240, (row) => row.median),
    number("min", "Least", 1340, (row) => row.min),
    number("max", "Most", 620, (row) => row.max, "max"),
    number("deviation", "Deviation", 1000, (row) => row.deviation, "deviation"),
    number("imbalance", "Imbalance", 520, (row) => row.imbalance, "imbalance"),
    number("lost", "Lost", 420, (row) => row.lost, "lost"),
    {
      id: "series",
      title: "By profile",
      width: "8rem",
      from: 720,
      render: (row) => <Sparkline values={row.series} />,
    },
    {
      id: "name",
      title: "Name",
      width: "minmax(10rem, 3fr)",
      render: (row) => <FittedName text={row.name} label={row.label} cuts={row.cuts} />,
    },
    {
      id: "place",
      title: "Where",
      width: "minmax(6rem, 2fr)",
      from: 1160,
      render: (row) => <FittedPath text={row.place} />,
    },
  ];
  const selected = (row: number) => {
    const value = pages.row(row);
    return value === undefined ? undefined : { value, box: selectedOf(value) };
  };
  return (
    <div class="view">
      <Toolbar>
        <GranularitySelect app={app} />
        <Segments
          label="Values"
          value={place.ofTotals ? "total" : "self"}
          choices={[
            { id: "self", text: "Self" },
            { id: "total", text: "Total" },
          ]}
          onChange={(of) => app.update((state) => go(state, { ofTotals: of === "total" }), false)}
        />
        <Select label="Order" value={sort} choices={ORDERS} onChange={orderBy} />
        {first !== undefined && (
          <span class="muted">
            {first.rowCount.toLocaleString("en")} rows · {first.viewTotal.text} in{" "}
            {first.inputs.length.toLocaleString("en")} profiles
          </span>
        )}
      </Toolbar>
      <Notes
        texts={[
          metricNoteOf(profile, place.metric),
          ...(first?.warnings ?? []),
          first?.thinned,
          first?.estimated,
          first?.excluded?.text,
        ]}
      />
      {pages.error !== undefined ? (
        <Empty title="The table cannot be shown">
          <p>{pages.error}</p>
        </Empty>
      ) : first === undefined ? (
        <Busy text="Counting" />
      ) : first.rowCount === 0 ? (
        <Empty title="No rows">
          <p>
            {place.search !== ""
              ? "No name matches the search."
              : filtersOf(place).length > 0
                ? "No stack passes the filters."
                : `${first.metric} is 0 everywhere in these profiles.`}
          </p>
        </Empty>
      ) : (
        <Table
          label="Table of functions over all profiles"
          columns={columns}
          count={first.rowCount}
          row={pages.row}
          selected={at}
          sort={{ by: sort, descending: true }}
          onSort={orderBy}
          onVisible={pages.see}
          onSelect={(row) => {
            setAt(row);
            app.select(selected(row)?.box ?? app.selected.peek());
          }}
          onOpen={(row) => {
            const { name: fn, file = "", line } = selected(row)?.value ?? {};
            if (fn !== undefined) app.update((state) => go(state, { view: "sandwich", fn, file, line: line ?? 0 }));
          }}
          onMenu={(row, point) => {
            const box = selected(row)?.box;
            if (box !== undefined) menu.value = { box, at: point };
          }}
        />
      )}
      {menu.value !== undefined && <BoxMenu opened={menu.value} onClose={() => (menu.value = undefined)} />}
    </div>
  );
}
