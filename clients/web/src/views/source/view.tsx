// A file's text beside what its lines cost; without the text, its lines as a table.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  SourceAnnotationsRequest,
  TableRequest,
  type SourceAnnotationsResult,
  SourceOutsideRequest,
  SourceTextRequest,
} from "../../../../shared/ts/psp.js";
import { pathOfUri } from "../../app.js";
import { shown } from "../../draw/shown.js";
import { filtersOf, specOf } from "../../state/place.js";
import { specText } from "../../state/spec.js";
import { go } from "../../state/state.js";
import { Busy, Empty, FittedPath, Missing, Name, Share } from "../../ui/bits.js";
import { missingOf, useAnswer, useApp, useProfile } from "../../ui/context.js";
import { Toolbar } from "../../ui/toolbar.js";
import { literal } from "../../ui/picker.js";
import { rowsAt, scrollFor } from "../../ui/rows.js";
import { Table, type Column } from "../../ui/table.js";
import { rowOf, type TableRow } from "../flat/rows.js";
import { usePages } from "../flat/pages.js";
import { linesOf } from "./highlight.js";

const LINE = 19;

export function SourceView() {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const metric = place.metric || (profile?.metric ?? "");
  const [at, setAt] = useState(-1);
  /** Counts what the user said yes to: what was refused is asked for again. */
  const [answered, setAnswered] = useState(0);
  const files = usePages(
    TableRequest,
    profile === undefined
      ? undefined
      : {
          profile: profile.handle,
          spec: specText({ ...specOf(place, "flat"), granularity: "file", metric }),
          sort: "total",
          panelId: "source-files",
        },
    rowOf,
  );
  // A function without a file says where it is in its own row.
  const ofFunction = useAnswer(
    TableRequest,
    profile === undefined || place.fn === "" || place.file !== ""
      ? undefined
      : {
          profile: profile.handle,
          spec: specText({ ...specOf(place, "flat"), granularity: "function", metric }),
          search: `^${literal(place.fn)}$`,
          limit: 1,
          panelId: "source-function",
        },
  );
  const found = ofFunction.value === undefined ? undefined : rowOf(ofFunction.value, 0);
  const file = place.file || (place.fn !== "" ? (found?.file ?? "") : (files.row(0)?.name ?? ""));
  const line = place.line || (place.file === "" ? (found?.line ?? 0) : 0);
  const whole = files.first?.viewTotal.value ?? 0;
  const columns: readonly Column<TableRow>[] = [
    {
      id: "share",
      title: "Total",
      width: "5.5rem",
      align: "right",
      render: (row) => <Share text={row.totalShare} part={whole > 0 ? row.total / whole : 0} />,
    },
    { id: "name", title: "File", width: "minmax(8rem, 1fr)", render: (row) => <FittedPath class="" text={row.name} /> },
  ];
  return (
    <div class="view">
      <Toolbar />
      <Missing parts={missingOf(profile?.summary, "symbols", "lines")} />
      <div class="sandwich">
        <aside class="sandwich-list">
          {files.first !== undefined && files.first.rowCount > 0 && (
            <Table
              label="Files"
              columns={columns}
              count={files.first.rowCount}
              row={files.row}
              selected={at}
              onVisible={files.see}
              onSelect={(i) => {
                setAt(i);
                const row = files.row(i);
                if (row !== undefined) app.update((state) => go(state, { file: row.name, line: 0, fn: "" }));
              }}
            />
          )}
        </aside>
        <div class="sandwich-main">
          {file === "" ? (
            files.first === undefined || ofFunction.pending ? (
              <Busy text="Looking" />
            ) : (
              <Empty title={place.fn !== "" ? "The profile does not say where this function is" : "No files are known"}>
                <p>{place.fn !== "" ? <Name text={place.fn} /> : "This profile names no source files."}</p>
              </Empty>
            )
          ) : (
            <FileView
              key={`${file} ${answered}`}
              file={file}
              line={line}
              metric={metric}
              onAnswer={() => setAnswered(answered + 1)}
            />
          )}
        </div>
      </div>
    </div>
  );
}

function FileView({
  file,
  line,
  metric,
  onAnswer,
}: {
  file: string;
  line: number;
  metric: string;
  onAnswer: () => void;
}) {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const canRead = app.can(SourceTextRequest.method);
  const text = useAnswer(
    SourceTextRequest,
    canRead && profile !== undefined ? { profile: profile.handle, path: file } : undefined,
  );
  const uri = text.value?.uri;
  const costs = useAnswer(
    SourceAnnotationsRequest,
    uri === undefined || profile === undefined
      ? undefined
      : {
          profile: profile.handle,
          textDocument: { uri },
          metrics: [metric],
          filters: filtersOf(place),
          threshold: 0,
        },
  );
  if (canRead && text.value === undefined && text.error === undefined) return <Busy text="Reading the file" />;
  return (
    <>
      <div class="source-head">
        <Name text={uri === undefined ? file : pathOfUri(uri)} />
        {costs.value !== undefined && (
          <span class="muted">
            {costs.value.fileTotal.text} · {costs.value.fileTotal.shareText}
          </span>
        )}
        {costs.value?.changes !== undefined && <span class="muted">before, after and change of the totals</span>}
        {costs.value?.evidence !== undefined && costs.value.evidence.text !== "" && (
          <span class="note">{costs.value.evidence.text}</span>
        )}
      </div>
      {text.value !== undefined ? (
        <TextView key={uri} text={text.value.text} path={file} line={line} costs={costs.value} />
      ) : (
        <>
          <Outside
            file={file}
            why={text.error ?? "This daemon does not give source texts; these are the lines that the profile knows."}
            onAnswer={onAnswer}
          />
          <LineTable file={file} metric={metric} />
        </>
      )}
    </>
  );
}

/**
 * Why there is no text, or a question where the file is here and outside of the workspace: a profile names it, and
 * nobody else. Only the user's own hand answers, and no address and no profile can.
 */
function Outside({ file, why, onAnswer }: { file: string; why: string; onAnswer: () => void }) {
  const app = useApp();
  const profile = useProfile();
  const can = app.can(SourceOutsideRequest.method) && app.can(SourceTextRequest.method);
  const outside = useAnswer(
    SourceOutsideRequest,
    can && profile !== undefined ? { profile: profile.handle, path: file } : undefined,
  );
  const asked = outside.error === undefined ? outside.value : undefined;
  if (asked === undefined || profile === undefined || asked.allowed) return <p class="note">{outside.error ?? why}</p>;
  const allow = async () => {
    try {
      await app.client.request(SourceOutsideRequest, { profile: profile.handle, path: file, allow: asked.root });
      onAnswer();
    } catch (error) {
      const text = app.explain(error);
      if (text !== undefined) app.say(text, "error");
    }
  };
  return (
    <div class="question" role="group" aria-label="A file outside of the workspace">
      <p>{shown(asked.text)}</p>
      <button
        type="button"
        class="button primary"
        onClick={(event) => {
          if (event.isTrusted) void allow();
        }}
      >
        Show these sources
      </button>
      <span class="muted">As long as this page is open. They go to this page and to nobody else.</span>
    </div>
  );
}

/** The hottest line of the function that begins at a line; that line where it has none. */
export function hottestOf(costs: Pick<SourceAnnotationsResult, "functions" | "lines">, begin: number): number {
  const end = Math.min(...costs.functions.map(({ line }) => line).filter((line) => line > begin));
  let best = begin;
  let heat = 0;
  costs.lines.line.forEach((line, i) => {
    const here = costs.lines.heat[i] ?? 0;
    if (line < begin || line >= end || here <= heat) return;
    best = line;
    heat = here;
  });
  return best;
}

function TextView({
  text,
  path,
  line,
  costs,
}: {
  text: string;
  path: string;
  line: number;
  costs: SourceAnnotationsResult | undefined;
}) {
  const lines = useMemo(() => linesOf(text, path), [text, path]);
  const byLine = useMemo(() => {
    const out = new Map<number, number>();
    costs?.lines.line.forEach((number, i) => out.set(number, i));
    return out;
  }, [costs]);
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 400 });
  const goal = line > 0 ? line - 1 : (costs?.hottest[0] ?? -1);
  const [at, setAt] = useState(-1);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const tell = () => setView({ top: element.scrollTop, height: element.clientHeight });
    tell();
    const observer = new ResizeObserver(tell);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  // Once, when it is known: other numbers of the same lines move nothing.
  useEffect(() => {
    if (goal < 0 || scroller.current === null) return;
    const height = scroller.current.clientHeight;
    const hot = costs === undefined ? goal : hottestOf(costs, goal);
    // A function is looked at where it begins, as long as its hottest line can be seen from there.
    const seen = (hot - goal + 2) * LINE <= (height * 2) / 3;
    setAt(seen ? goal : hot);
    scroller.current.scrollTop = Math.max(0, (seen ? goal : hot) * LINE - height / (seen ? 3 : 2));
  }, [goal, costs !== undefined]);
  const rows = rowsAt(lines.length, LINE, view.top, view.height);
  const move = (to: number) => {
    const next = Math.max(0, Math.min(lines.length - 1, to));
    setAt(next);
    const element = scroller.current;
    if (element === null) return;
    const scroll = scrollFor(lines.length, LINE, element.scrollTop, element.clientHeight, next);
    if (scroll !== undefined) element.scrollTop = scroll;
  };
  const hot = [...(costs?.hottest ?? [])];
  const drawn: number[] = [];
  for (let i = rows.first; i < rows.last; ++i) drawn.push(i);
  return (
    <div class="source-frame">
      <div
        class="source"
        ref={scroller}
        tabIndex={0}
        role="grid"
        aria-label={`Source of ${path}`}
        aria-rowcount={lines.length}
        aria-activedescendant={at >= rows.first && at < rows.last ? `line-${at}` : undefined}
        onScroll={(event) => setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}
        onKeyDown={(event) => {
          const page = Math.floor(view.height / LINE) - 1;
          const to = {
            ArrowDown: at + 1,
            j: at + 1,
            ArrowUp: at - 1,
            k: at - 1,
            PageDown: at + page,
            PageUp: at - page,
            Home: 0,
            End: lines.length - 1,
            n: hot.filter((l) => l > at).sort((a, b) => a - b)[0] ?? Math.min(...hot),
          }[event.key];
          if (to === undefined || !Number.isFinite(to)) return;
          event.preventDefault();
          event.stopPropagation();
          move(to);
        }}
      >
        <div class="source-body" role="presentation" style={{ height: `${rows.height}px` }}>
          {drawn.map((i) => {
            const cost = byLine.get(i);
            const heat = cost === undefined ? 0 : (costs?.lines.heat[cost] ?? 0);
            const stale = cost !== undefined && costs?.lines.stale[cost] === true;
            return (
              <div
                key={i}
                id={`line-${i}`}
                role="row"
                aria-rowindex={i + 1}
                aria-selected={i === at}
                class={`source-line${i === at ? " selected" : ""}${stale ? " stale" : ""}`}
                style={{ transform: `translateY(${rows.offset + (i - rows.first) * LINE}px)` }}
                onClick={() => setAt(i)}
              >
                {costs?.changes !== undefined ? (
                  <LineChange costs={costs} at={cost} />
                ) : (
                  <span class="source-cost" role="gridcell">
                    <i style={{ opacity: heat }} />
                    <span>{cost === undefined ? "" : (costs?.lines.text[cost] ?? "").trim()}</span>
                  </span>
                )}
                <span class="source-number" role="rowheader">
                  {i + 1}
                </span>
                <code role="gridcell" dangerouslySetInnerHTML={{ __html: lines[i] ?? "" }} />
              </div>
            );
          })}
        </div>
      </div>
      <div class="source-ruler" aria-hidden="true">
        {[...byLine].map(([number, i]) => (
          <i
            key={number}
            class={(costs?.lines.strength?.[i] ?? 0) < 0 ? "less" : undefined}
            style={{
              top: `${(number / Math.max(1, lines.length)) * 100}%`,
              opacity: 0.15 + 0.85 * (costs?.lines.heat[i] ?? 0),
            }}
            onClick={() => move(number)}
          />
        ))}
      </div>
    </div>
  );
}

/** Both sides of a line of a diff, and what became of it: blue where it is less, grey within noise. */
function LineChange({ costs, at }: { costs: SourceAnnotationsResult; at: number | undefined }) {
  const { changes, lines } = costs;
  const strength = at === undefined ? 0 : (lines.strength?.[at] ?? 0);
  const side = (texts: readonly string[] | undefined) => (at === undefined ? "" : (texts?.[at] ?? ""));
  const stale = at !== undefined && lines.stale[at] === true;
  return (
    <span
      class={`source-cost source-change${strength < 0 ? " less" : ""}`}
      role="gridcell"
      title={at === undefined ? undefined : shown(`self ${changes?.selfChange[at] ?? ""}`)}
    >
      <i style={{ opacity: Math.abs(strength) }} />
      <span>{side(changes?.totalBeforeText)}</span>
      <span>{side(changes?.totalAfterText)}</span>
      <span class={strength === 0 ? "muted" : undefined}>
        {stale ? "~" : ""}
        {side(changes?.totalChange)}
      </span>
    </span>
  );
}

function LineTable({ file, metric }: { file: string; metric: string }) {
  const profile = useProfile();
  const app = useApp();
  const place = app.place.value;
  const lines = useAnswer(
    TableRequest,
    profile === undefined
      ? undefined
      : {
          profile: profile.handle,
          spec: specText({
            shape: "flat",
            granularity: "line",
            filters: filtersOf(place),
            metric,
            focus: [],
          }),
          file,
          sort: "total",
          limit: 1000,
          panelId: "source-lines",
        },
  );
  const page = lines.value;
  const rows = useMemo(() => {
    const out: TableRow[] = [];
    for (let i = 0; page !== undefined && i < page.rows.name.length; ++i) {
      const row = rowOf(page, i);
      if (row?.file === file) out.push(row);
    }
    return out.sort((a, b) => a.line - b.line);
  }, [page, file]);
  const [at, setAt] = useState(-1);
  const whole = page?.viewTotal.value ?? 0;
  if (page === undefined) return <Busy text="Counting" />;
  const columns: readonly Column<TableRow>[] = [
    {
      id: "line",
      title: "Line",
      width: "5rem",
      align: "right",
      render: (row) => (row.line > 0 ? String(row.line) : "?"),
    },
    { id: "self", title: "Self", width: "7rem", align: "right", from: 560, render: (row) => row.selfText },
    { id: "total", title: "Total", width: "7rem", align: "right", render: (row) => row.totalText },
    {
      id: "share",
      title: "",
      width: "5.5rem",
      align: "right",
      render: (row) => <Share text={row.totalShare} part={whole > 0 ? row.total / whole : 0} />,
    },
    {
      id: "name",
      title: "Function",
      width: "minmax(8rem, 1fr)",
      render: (row) => <Name text={row.label || row.name} cuts={row.cuts} />,
    },
  ];
  return (
    <Table
      label={`Lines of ${file}`}
      columns={columns}
      count={rows.length}
      row={(i) => rows[i]}
      selected={at}
      onSelect={setAt}
    />
  );
}
