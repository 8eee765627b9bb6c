// What the source noted, in a table: searched, sorted, summed up by name; each leads to its place in time, and to the
// samples while it runs.
import { useEffect, useState } from "preact/hooks";
import {
  MarkersRequest,
  TimelineRequest,
  type MarkerField,
  type MarkersResult,
  type MarkerSort,
} from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { specOf } from "../../state/place.js";
import { specText } from "../../state/spec.js";
import { addFilter, go } from "../../state/state.js";
import { keepWindow, type Span } from "../../state/windows.js";
import { Busy, Empty, Name, Notes, Segments } from "../../ui/bits.js";
import { useApp, useProfile } from "../../ui/context.js";
import { Table, type Column } from "../../ui/table.js";
import { Toolbar } from "../../ui/toolbar.js";
import { usePages } from "../flat/pages.js";

interface Row {
  readonly name: string;
  readonly category: string;
  readonly thread: string;
  readonly beginText: string;
  readonly lengthText: string;
  readonly countText: string;
  readonly meanText: string;
  readonly mostText: string;
  readonly fields: readonly MarkerField[];
  readonly span: Span;
  /** It takes time: something can run meanwhile. */
  readonly lasts: boolean;
}

const NOTHING = { thread: "", beginText: "", countText: "", meanText: "", mostText: "", fields: [] };

function rowOf(page: MarkersResult, at: number): Row | undefined {
  const { rows, groups } = page;
  if (groups !== undefined) {
    if (at >= groups.name.length) return undefined;
    return {
      ...NOTHING,
      name: groups.name[at]!,
      category: groups.category[at]!,
      countText: groups.countText[at]!,
      lengthText: groups.lengthText[at]!,
      meanText: groups.meanText[at]!,
      mostText: groups.mostText[at]!,
      span: { from: groups.first[at]!, to: groups.first[at]! + 1 },
      lasts: groups.length[at]! > 0,
    };
  }
  if (rows === undefined || at >= rows.name.length) return undefined;
  return {
    ...NOTHING,
    name: rows.name[at]!,
    category: rows.category[at]!,
    thread: rows.thread[at]!,
    beginText: rows.beginText[at]!,
    lengthText: rows.lengthText[at]!,
    fields: rows.fields[at]!,
    span: { from: rows.begin[at]!, to: Math.max(rows.begin[at]! + 1, rows.end[at]!) },
    lasts: rows.end[at]! > rows.begin[at]!,
  };
}

const fieldsText = (fields: readonly MarkerField[]) => fields.map(({ key, text }) => `${key}: ${text}`).join(", ");

/** The columns that are shown as they are. */
type TextId = { [K in keyof Row]: Row[K] extends string ? K : never }[keyof Row];

const text = (id: TextId & MarkerSort, title: string, width: string): Column<Row> => ({
  id,
  title,
  width,
  sort: id,
  render: (row) => <Name text={row[id]} />,
});
const amount = (id: TextId, title: string, sort: MarkerSort, from = 0): Column<Row> => ({
  id,
  title,
  width: "7.5rem",
  align: "right",
  sort,
  from,
  render: (row) => shown(row[id]),
});

const MARKER_COLUMNS: readonly Column<Row>[] = [
  amount("beginText", "Begin", "begin"),
  amount("lengthText", "Length", "length"),
  text("name", "Name", "minmax(8rem, 2fr)"),
  { ...text("category", "Category", "minmax(6rem, 1fr)"), from: 760 },
  { ...text("thread", "Thread", "minmax(6rem, 1fr)"), from: 620 },
  {
    id: "fields",
    title: "Fields",
    width: "minmax(8rem, 4fr)",
    from: 900,
    render: (row) => <Name class="muted" text={fieldsText(row.fields)} />,
  },
];
const NAME_COLUMNS: readonly Column<Row>[] = [
  amount("countText", "Count", "count"),
  amount("lengthText", "Total", "length"),
  amount("meanText", "Mean", "mean", 560),
  amount("mostText", "Longest", "most", 660),
  text("name", "Name", "minmax(8rem, 3fr)"),
  { ...text("category", "Category", "minmax(6rem, 1fr)"), from: 760 },
];

/** What is typed is asked for when the hand rests. */
const REST = 200;

export function MarkersView() {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const known = app.can(MarkersRequest.method);
  const typed = app.markerSearch.value;
  const [search, setSearch] = useState(typed);
  const [by, setBy] = useState<"marker" | "name">("marker");
  const [sort, setSort] = useState<{ by: MarkerSort; descending: boolean } | undefined>(undefined);
  const [at, setAt] = useState(-1);
  useEffect(() => {
    const timer = setTimeout(() => setSearch(typed), REST);
    return () => clearTimeout(timer);
  }, [typed]);
  const pages = usePages(
    MarkersRequest,
    profile === undefined || !known
      ? undefined
      : {
          profile: profile.handle,
          spec: specText({ ...specOf(place, "topDown"), metric: place.metric || profile.metric }),
          by,
          ...(search === "" ? {} : { search }),
          ...(sort === undefined ? {} : { sort: sort.by, descending: sort.descending }),
          panelId: "markers",
        },
    rowOf,
  );
  const { first, error } = pages;
  const chosen = at < 0 ? undefined : pages.row(at);
  const toTime = (row: Row) => {
    const room = 2 * (row.span.to - row.span.from);
    app.lookAt.value = { from: row.span.from - room, to: row.span.to + room };
    app.update((state) => go(state, { view: "timeline" }));
  };
  const orderBy = (id: string) => {
    const amounts = ["length", "count", "mean", "most"].includes(id);
    setSort((old) => ({
      by: id,
      descending: old?.by === id ? !old.descending : amounts,
    }));
    setAt(-1);
  };
  const usual = { by: by === "name" ? "length" : "begin", descending: by === "name" };
  return (
    <div class="view markers">
      <Toolbar>
        <input
          type="search"
          class="markers-search"
          aria-label="Search markers"
          placeholder="click  name:GC  thread:main  type:load  -minor  /ex.*/"
          title="Words that must all be there: in name, category or fields; with a key in that alone; behind a - must not be there"
          spellcheck={false}
          value={typed}
          onInput={(event) => {
            app.markerSearch.value = event.currentTarget.value;
            setAt(-1);
          }}
        />
        <Segments
          label="Rows"
          value={by}
          choices={[
            { id: "marker", text: "markers", title: "Every marker" },
            { id: "name", text: "names", title: "How many there are of each name, and how long they took" },
          ]}
          onChange={(next) => {
            setBy(next);
            setSort(undefined);
            setAt(-1);
          }}
        />
        {first !== undefined && (
          <span class="muted" role="status">
            {first.text}
          </span>
        )}
      </Toolbar>
      {!known ? (
        <Empty title="Not known here">
          <p>This daemon is older than the page and tells of no markers.</p>
        </Empty>
      ) : error !== undefined ? (
        <Empty title="No markers can be shown">
          <p>{shown(error)}</p>
        </Empty>
      ) : first === undefined ? (
        <Busy text="Counting" />
      ) : first.markerCount === 0 ? (
        <Empty title="No markers">
          <p>The source of this profile noted nothing beside its samples.</p>
        </Empty>
      ) : first.rowCount === 0 ? (
        <Empty title="No marker is meant">
          <p>{search === "" ? "None passes the filters." : "None passes the search and the filters."}</p>
        </Empty>
      ) : (
        <>
          <Table
            label={by === "name" ? "Names of markers" : "Markers"}
            columns={first.groups === undefined ? MARKER_COLUMNS : NAME_COLUMNS}
            count={first.rowCount}
            row={pages.row}
            sort={sort ?? usual}
            onSort={orderBy}
            onVisible={pages.see}
            selected={at}
            onSelect={setAt}
            onOpen={(row) => {
              const value = pages.row(row);
              if (value === undefined) return;
              if (by === "name") {
                app.markerSearch.value = `name:"${value.name.replaceAll('"', "")}"`;
                setBy("marker");
                setSort(undefined);
                setAt(-1);
              } else toTime(value);
            }}
          />
          <Notes texts={first.warnings ?? []} />
        </>
      )}
      {chosen !== undefined && (
        <section class="marker-details" aria-label="The marker that is chosen">
          <h2>
            <Name text={chosen.name} />
          </h2>
          <span class="marker-deeds">
            {app.can(TimelineRequest.method) && (
              <button type="button" class="button" onClick={() => toTime(chosen)}>
                {by === "name" ? "To the first in time" : "To its place in time"}
              </button>
            )}
            <button
              type="button"
              class="button"
              disabled={!chosen.lasts}
              title={
                chosen.lasts
                  ? "Every view has the samples while a marker of this name runs"
                  : "It takes no time: nothing runs meanwhile"
              }
              onClick={() =>
                app.update((state) => addFilter(state, { op: "keep", by: "marker", pattern: chosen.name }))
              }
            >
              Only while {by === "name" ? "these run" : "such run"}
            </button>
            {by === "marker" && chosen.lasts && (
              <button
                type="button"
                class="button"
                title="Every view has what is in this stretch of time"
                onClick={() => app.update((state) => keepWindow(state, chosen.span))}
              >
                Only this window
              </button>
            )}
          </span>
          {chosen.fields.length > 0 && (
            <dl>
              {chosen.fields.map(({ key, text: value }, i) => (
                <div key={i}>
                  <dt>{shown(key)}</dt>
                  <dd>
                    <Name text={value} />
                  </dd>
                </div>
              ))}
            </dl>
          )}
        </section>
      )}
    </div>
  );
}
