// Functions (or lines, files, modules) as a list: self and total, each counted once.
import { useSignal } from "@preact/signals";
import { useState } from "preact/hooks";
import { SpreadRequest, TableRequest, type Granularity, type TableResult } from "../../../../shared/ts/psp.js";
import { isAggregate, isDiff } from "../../state/compared.js";
import { isByChange, sortOf, specOf, type SortBy } from "../../state/place.js";
import { specText } from "../../state/spec.js";
import { go } from "../../state/state.js";
import { Busy, Empty, FittedName, FittedPath, Notes, Select } from "../../ui/bits.js";
import { BoxMenu, type Opened } from "../../ui/boxmenu.js";
import { metricNoteOf, ratiosOf, useApp, useProfile } from "../../ui/context.js";
import { FormulaButton } from "../../ui/formula.js";
import { Icon } from "../../ui/icons.js";
import { Toolbar } from "../../ui/toolbar.js";
import { Table, type Column } from "../../ui/table.js";
import { SidesLine } from "../../ui/sides.js";
import {
  changeColumns,
  columnsOf,
  derivedColumns,
  furtherColumns,
  rowOf,
  rowsText,
  selectedOf,
  type TableRow,
} from "./rows.js";
import { usePages, whyNoRows } from "./pages.js";
import { SpreadView } from "./spread.js";

/** Widths from which there is room for values beside shares, for what is not sorted by, and for what is beside the values. */
const TINY = 300;
const SMALL = 560;
const MIDDLE = 760;
/** What each further metric takes: none pushes the place beyond the edge. */
const FURTHER = 152;
/** The same beside both sides of a diff. */
const WIDE = 964;

/** What became most of it, either way, grew most, shrank most, and again. */
const NEXT_BY_CHANGE = { change: "worse", worse: "better", better: "change" } as const;

const ORDERS: readonly { id: SortBy["by"]; text: string }[] = [
  { id: "change", text: "by change" },
  { id: "worse", text: "by growth" },
  { id: "better", text: "by decline" },
  { id: "self", text: "by self" },
  { id: "total", text: "by total" },
  { id: "name", text: "by name" },
];

/** Of an aggregate rows say how its profiles differ. */
export function FlatView() {
  const app = useApp();
  return isAggregate(app.place.value.profile) && app.can(SpreadRequest.method) ? <SpreadView /> : <RowsView />;
}

function RowsView() {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const menu = useSignal<Opened | undefined>(undefined);
  const [at, setAt] = useState(-1);
  const metrics = profile?.metrics ?? [];
  const metric = place.metric || (profile?.metric ?? "");
  const diff = isDiff(place.profile);
  const sort = sortOf(place);
  const derived = ratiosOf(profile);
  // Of a diff the other metrics are its sides, which have columns of their own.
  const others = diff
    ? []
    : metrics
        .map((m) => m.name)
        .filter((name) => name !== metric)
        .slice(0, Math.max(0, 4 - 2 * derived.length));
  const sortMetric = derived.find(({ name }) => name === sort.metric)?.name;
  const onlyChanges = diff && place.changedOnly && isByChange(sort);
  const pages = usePages(
    TableRequest,
    profile === undefined
      ? undefined
      : {
          profile: profile.handle,
          spec: specText({ ...specOf(place, "flat"), metric }),
          sort: sort.by,
          descending: sort.by === "name" ? !sort.descending : sort.descending,
          ...(onlyChanges ? { changedOnly: true } : {}),
          metrics: [...others, ...derived.map(({ name }) => name)],
          ...(sortMetric === undefined ? {} : { sortMetric }),
          ...(place.search === "" ? {} : { search: place.search }),
          panelId: "flat",
        },
    rowOf,
  );
  const { first } = pages;
  const choose = (row: number) => {
    setAt(row);
    const value = pages.row(row);
    if (value !== undefined) app.select(selectedOf(value));
  };
  const kept = sort.by === "self" ? "self" : "total";
  const values = () =>
    columnsOf(
      first?.viewTotal.value ?? 0,
      metric,
      metrics.find((m) => m.name === metric),
    ).map((column) => ({ ...column, from: column.id === `${kept}-share` ? 0 : column.id === kept ? TINY : SMALL }));
  const columns: readonly Column<TableRow>[] = [
    ...(diff ? changeColumns("self") : values()),
    ...furtherColumns(others, metrics).map((column, i) => ({ ...column, from: MIDDLE + FURTHER * (i + 1) })),
    ...derivedColumns(derived, others.length, SMALL),
    {
      id: "name",
      title: "Name",
      width: "minmax(10rem, 3fr)",
      sort: "name",
      render: (row) => <FittedName text={row.name} label={row.label} cuts={row.cuts} />,
    },
    {
      id: "place",
      title: "Where",
      width: "minmax(6rem, 2fr)",
      from: diff ? WIDE : MIDDLE,
      render: (row) => <FittedPath text={row.place} />,
    },
  ];
  const orderBy = (by: SortBy["by"]) =>
    app.update((state) => go(state, { sort: { by, descending: by !== "better" } }), false);
  return (
    <div class="view">
      <SidesLine sides={first?.sides} verdict />
      <Toolbar>
        <Select
          label="List"
          value={place.granularity}
          choices={[
            { id: "function", text: "functions" },
            { id: "line", text: "lines" },
            { id: "file", text: "files" },
            { id: "module", text: "modules" },
            { id: "address", text: "addresses" },
          ]}
          onChange={(granularity: Granularity) => app.update((state) => go(state, { granularity, zoom: [] }))}
        />
        {diff && (
          <>
            <Select label="Order" value={sort.by} choices={ORDERS} onChange={orderBy} />
            <button
              type="button"
              class="button quiet"
              aria-pressed={onlyChanges}
              title="Leave out what nothing became of; rows are ordered by change then"
              onClick={() =>
                app.update(
                  (state) =>
                    go(state, {
                      changedOnly: !onlyChanges,
                      ...(isByChange(sort) ? {} : { sort: { by: "change", descending: true } }),
                    }),
                  false,
                )
              }
            >
              <Icon name={onlyChanges ? "check" : "filter"} /> Only changes
            </button>
          </>
        )}
        <FormulaButton />
        {first?.unchanged !== undefined && (
          <span class="muted">
            {first.unchanged.count.toLocaleString("en")} unchanged left out · {first.unchanged.amount.text}
          </span>
        )}
        {first !== undefined && !diff && (
          <span class="muted">
            {rowsText(first.rowCount)} · {first.viewTotal.text}
            {first.viewTotal.value !== first.total.value && ` of ${first.total.text}`}
            {first.own !== undefined && ` · ${first.own.text} without a frame`}
          </span>
        )}
      </Toolbar>
      <TableNotes answer={first} />
      {pages.error !== undefined ? (
        <Empty title="The table cannot be shown">
          <p>{pages.error}</p>
        </Empty>
      ) : first === undefined ? (
        <Busy text="Counting" />
      ) : first.rowCount === 0 ? (
        <Empty title="No rows">
          <p>
            {place.search === "" && onlyChanges
              ? "Nothing became of any row."
              : whyNoRows(place, `${first.metric} is 0 everywhere in this profile.`)}
          </p>
        </Empty>
      ) : (
        <Table
          label="Table of functions"
          columns={columns}
          count={first.rowCount}
          row={pages.row}
          selected={at}
          sort={{
            by: isByChange(sort) ? "change" : sortMetric === undefined ? sort.by : `${sort.by} ${sortMetric}`,
            descending: sort.descending,
          }}
          onSort={(by) => {
            if (by === "change") {
              orderBy(isByChange(sort) ? NEXT_BY_CHANGE[sort.by as keyof typeof NEXT_BY_CHANGE] : "change");
              return;
            }
            const [which, ...of] = by.split(" ");
            const ofMetric = of.length === 0 ? undefined : of.join(" ");
            app.update(
              (state) =>
                go(state, {
                  sort: {
                    by: which as "self" | "total" | "name",
                    descending: sort.by === which && sortMetric === ofMetric ? !sort.descending : true,
                    ...(ofMetric === undefined ? {} : { metric: ofMetric }),
                  },
                }),
              false,
            );
          }}
          onVisible={pages.see}
          onSelect={choose}
          onOpen={(row) => {
            const value = pages.row(row);
            if (value === undefined) return;
            const { name: fn, file = "", line } = value;
            app.update((state) => go(state, { view: "sandwich", fn, file, line }));
          }}
          onMenu={(row, point) => {
            const value = pages.row(row);
            if (value !== undefined) menu.value = { box: selectedOf(value), at: point };
          }}
        />
      )}
      {menu.value !== undefined && <BoxMenu opened={menu.value} onClose={() => (menu.value = undefined)} />}
    </div>
  );
}

export function TableNotes({ answer }: { answer: TableResult | undefined }) {
  const metric = metricNoteOf(useProfile(), useApp().place.value.metric);
  return (
    <Notes
      texts={[
        metric,
        ...(answer?.sides?.warnings ?? []),
        ...(answer?.warnings ?? []),
        answer?.note,
        answer?.estimated,
        answer?.excluded?.text,
      ]}
    />
  );
}
