// Rows of an aggregate: how the values of its profiles lie, the most uneven or the most costly first.
import { useSignal } from "@preact/signals";
import { useState } from "preact/hooks";
import { SpreadRequest, type SpreadResult } from "../../../../shared/ts/psp.js";
import { specOf, SPREAD_SORTS, spreadSortOf, type SpreadSortBy } from "../../state/place.js";
import { specText } from "../../state/spec.js";
import { go } from "../../state/state.js";
import { choicesOf } from "../../state/statistics.js";
import { Busy, Empty, FittedName, FittedPath, Notes, Segments, Select } from "../../ui/bits.js";
import { BoxMenu, type Opened } from "../../ui/boxmenu.js";
import { metricNoteOf, useApp, useProfile } from "../../ui/context.js";
import { GranularitySelect } from "../../ui/granularity.js";
import { Sparkline } from "../../ui/sparkline.js";
import { Table, type Column } from "../../ui/table.js";
import { Toolbar } from "../../ui/toolbar.js";
import { usePages, whyNoRows } from "./pages.js";
import { rowOf, selectedOf, type TableRow } from "./rows.js";

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
  /** What is sorted by, where that is none of the others. */
  readonly more: string;
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
    more: columns.more?.[0]?.text[at] ?? "",
  };
}

/** Those that have no column unless rows are sorted by them. */
const TITLES: Partial<Record<SpreadSortBy, string>> = {
  p90: "90th pct.",
  p95: "95th pct.",
  p99: "99th pct.",
  variation: "Variation",
};

const ORDERS = choicesOf(SPREAD_SORTS);

export function SpreadView() {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const menu = useSignal<Opened | undefined>(undefined);
  const [at, setAt] = useState(-1);
  const metric = place.metric || (profile?.metric ?? "");
  const sort = spreadSortOf(place);
  const more = TITLES[sort];
  const pages = usePages(
    SpreadRequest,
    profile === undefined
      ? undefined
      : {
          profile: profile.handle,
          spec: specText({ ...specOf(place, "flat"), metric }),
          sort,
          totals: place.ofTotals,
          points: POINTS,
          ...(more === undefined ? {} : { columns: [sort] }),
          ...(place.where.trim() === "" ? {} : { where: place.where.split(",") }),
          ...(place.search === "" ? {} : { search: place.search }),
          panelId: "flat",
        },
    spreadRowOf,
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
    ...(more === undefined ? [] : [number(sort, more, 0, (row) => row.more, sort)]),
    number("mean", "Mean", 900, (row) => row.mean, "mean"),
    number("median", "Median", 1240, (row) => row.median, "median"),
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
        <input
          class="where"
          type="text"
          aria-label="Only rows that hold"
          placeholder="Only rows with, such as lost >= 5ms"
          title="A statistic (sum, mean, min, max, median, p95, deviation, variation, imbalance, lost), >= or <=, a number and its unit. Several with commas."
          spellcheck={false}
          value={place.where}
          onChange={(event) => {
            const where = event.currentTarget.value.trim();
            app.update((state) => go(state, { where }), false);
          }}
        />
        {first !== undefined && (
          <span class="muted">
            {first.rowCount.toLocaleString("en")} rows · {first.viewTotal.text} in{" "}
            {first.inputs.length.toLocaleString("en")} profiles
            {first.leftOut !== undefined && ` · ${first.leftOut.toLocaleString("en")} left out`}
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
          <p>{whyNoRows(place, `${first.metric} is 0 everywhere in these profiles.`)}</p>
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
