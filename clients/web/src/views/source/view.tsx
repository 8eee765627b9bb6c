// A file's text beside what its lines cost; without the text, its lines as a table.
import { useMemo, useState } from "preact/hooks";
import {
  CodeSyntax,
  RangesRequest,
  SourceAnnotationsRequest,
  SourceDisassemblyRequest,
  TableRequest,
  SourceOutsideRequest,
  SourceTextRequest,
} from "../../../../shared/ts/psp.js";
import { pathOfUri, type App } from "../../app.js";
import { shown } from "../../draw/shown.js";
import { filtersOf, specOf } from "../../state/place.js";
import { specText } from "../../state/spec.js";
import { go } from "../../state/state.js";
import { Busy, Empty, FittedPath, Missing, Name, Segments, Share } from "../../ui/bits.js";
import { missingOf, useAnswer, useApp, useProfile } from "../../ui/context.js";
import { Fetch } from "../../ui/fetch.js";
import { useKeys } from "../../ui/keys.js";
import { Toolbar } from "../../ui/toolbar.js";
import { literal } from "../../ui/picker.js";
import { Table, type Column } from "../../ui/table.js";
import { rowOf, type TableRow } from "../flat/rows.js";
import { usePages } from "../flat/pages.js";
import { Assembly, MODES, stepMode } from "./assembly.js";
import { codeParams } from "./code.js";
import { useLinks } from "./links.js";
import { TextView } from "./text.js";
import { useCode } from "./usecode.js";
import { isSource } from "./highlight.js";
import { functionMeant, WithinPanel, type Jump } from "./within.js";

/** Further metrics that are told of an instruction. */
const MOST_METRICS = 4;

function toggleWithin(app: App): void {
  if (!app.can(RangesRequest.method)) app.say("This daemon is older than the page and does not divide functions");
  else app.update((state) => go(state, { within: state.place.within === "" ? "auto" : "" }));
}

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
  // Code of no file is a row like others, by its module; there is nothing of it to be read.
  const firstFile = [0, 1, 2, 3].map((i) => files.row(i)?.name ?? "").find(isSource);
  const file = place.file || (place.fn !== "" ? (found?.file ?? "") : (firstFile ?? files.row(0)?.name ?? ""));
  const line = place.line || (place.file === "" ? (found?.line ?? 0) : 0);
  const whole = files.first?.viewTotal.value ?? 0;
  useKeys({
    title: "Source",
    keys: [
      { keys: ["A"], text: "assembly beside the source, and without it", run: () => stepMode(app) },
      { keys: ["w"], text: "where within the function its cost is", run: () => toggleWithin(app) },
    ],
  });
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
      {place.asm === "" && <Missing parts={missingOf(profile?.summary, "symbols", "lines")} />}
      {place.asm === "" && <Fetch wanted={missingOf(profile?.summary, "symbols", "lines").length > 0} />}
      <div class="sandwich">
        {place.asm === "" && (
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
        )}
        <div class="sandwich-main">
          {file === "" && (files.first === undefined || ofFunction.pending) ? (
            <Busy text="Looking" />
          ) : file === "" && place.asm === "" && (place.within === "" || place.fn === "") ? (
            <Empty title={place.fn !== "" ? "The profile does not say where this function is" : "No files are known"}>
              <p>{place.fn !== "" ? <Name text={place.fn} /> : "This profile names no source files."}</p>
              {app.can(SourceDisassemblyRequest.method) && (
                <p>
                  <button type="button" class="button" onClick={() => stepMode(app)}>
                    {place.fn !== "" ? "Show its assembly" : "Show the hottest assembly"}
                  </button>
                </p>
              )}
            </Empty>
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
  /** "": not known. */
  file: string;
  line: number;
  metric: string;
  onAnswer: () => void;
}) {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const canRead = app.can(SourceTextRequest.method) && file !== "";
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
  const reading = canRead && text.value === undefined && text.error === undefined;
  const isOn = place.asm !== "";
  const hottest = (costs.value?.hottest[0] ?? -1) + 1;
  const meant =
    file === "" && place.fn === "" ? { piece: place.piece } : codeParams(place, uri, line > 0 ? line : hottest);
  const code = useCode(
    !isOn || meant === undefined || profile === undefined || !app.can(SourceDisassemblyRequest.method)
      ? undefined
      : {
          profile: profile.handle,
          ...meant,
          spec: specText({ ...specOf(place, "flat"), granularity: "function", metric }),
          metrics: profile.metrics
            .map(({ name }) => name)
            .filter((name) => name !== metric)
            .slice(0, MOST_METRICS),
          syntax: app.settings.value.att ? CodeSyntax.att : CodeSyntax.intel,
        },
    place.asm === "only" || file === "",
  );
  const links = useLinks(code.listing, uri, file);
  /** The line that the reader is at, from 1; 0: none yet. */
  const [chosen, setChosen] = useState(0);
  const isWithin = place.within !== "" && app.can(RangesRequest.method);
  const jump: Jump = (row, answer, opened) => {
    const { code: at } = row;
    if (at !== "" && isOn) links.choose({ side: "within", address: at.slice(at.lastIndexOf("+") + 1) });
    const asm = opened && at !== "" && place.asm === "" ? { asm: "beside" as const } : {};
    // The function stays the one that is divided, whichever file its line is in.
    const to = row.file !== "" && row.line > 0 ? { file: row.file, line: row.line } : {};
    if (row.file === "" && at === "") app.say("Where this is, the profile does not say");
    app.update((state) => go(state, { ...(place.fn === answer.name ? {} : { fn: answer.name }), ...to, ...asm }));
  };
  if (reading && !isOn) return <Busy text="Reading the file" />;
  const source =
    file === "" ? (
      <Empty title="The profile does not say where this function is" />
    ) : text.value !== undefined && uri !== undefined ? (
      <TextView
        key={uri}
        text={text.value.text}
        path={file}
        line={line}
        costs={costs.value}
        brief={isOn}
        marks={links.lines}
        onPoint={(at) => links.point(at === undefined || !isOn ? undefined : { side: "source", line: at })}
        onChoose={(at) => {
          setChosen(at);
          links.choose(isOn ? { side: "source", line: at } : undefined);
        }}
        onClick={(at) => app.home.showLine?.(uri, at)}
        onOpen={(at) => {
          if (isOn) app.update((state) => go(state, { fn: "", file, line: at }));
        }}
      />
    ) : reading ? (
      <Busy text="Reading the file" />
    ) : (
      <>
        <Outside
          file={file}
          why={text.error ?? "This daemon does not give source texts; these are the lines that the profile knows."}
          onAnswer={onAnswer}
        />
        <LineTable file={file} metric={metric} />
      </>
    );
  return (
    <>
      <div class="source-head">
        {file !== "" && <Name text={uri === undefined ? file : pathOfUri(uri)} />}
        {costs.value !== undefined && (
          <span class="muted">
            {costs.value.fileTotal.text} · {costs.value.fileTotal.shareText}
          </span>
        )}
        {costs.value?.changes !== undefined && <span class="muted">before, after and change of the totals</span>}
        {costs.value?.evidence !== undefined && costs.value.evidence.text !== "" && (
          <span class="note">{costs.value.evidence.text}</span>
        )}
        {app.can(SourceDisassemblyRequest.method) && (
          <span class="source-modes">
            {app.can(RangesRequest.method) && (
              <button
                type="button"
                class="button quiet"
                aria-pressed={isWithin}
                title="Where within the function its cost is (w)"
                onClick={() => toggleWithin(app)}
              >
                Within
              </button>
            )}
            <Segments
              label="What is shown"
              value={place.asm}
              choices={MODES}
              onChange={(asm) => app.update((state) => go(state, { asm }))}
            />
          </span>
        )}
      </div>
      <div class="within-room">
        <div class={`within-split${isOn ? " below" : ""}`}>
          <div class="within-main">
            {!isOn ? (
              source
            ) : (
              <div class={`code-panes${place.asm === "only" || file === "" ? " alone" : ""}`}>
                {place.asm === "beside" && file !== "" && <section class="code-pane">{source}</section>}
                <section class="code-pane" aria-label="Assembly">
                  <Assembly code={code} asked={meant !== undefined} links={links} line={line} uri={uri} file={file} />
                </section>
              </div>
            )}
          </div>
          {isWithin && profile !== undefined && (
            <aside class="within" aria-label="Within the function">
              <WithinPanel
                profile={profile.handle}
                meant={functionMeant(place, uri, chosen || line || hottest)}
                spec={specText({ ...specOf(place, "flat"), granularity: "function", metric })}
                onJump={jump}
              />
            </aside>
          )}
        </div>
      </div>
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
