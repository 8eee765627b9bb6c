// Where within a function its self value is: its lines, instructions or bytecodes beside the source.
import { useEffect, useState } from "preact/hooks";
import { RangesRequest, RangeUnit, type RangesParams, type RangesResult } from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import type { Place, Within } from "../../state/place.js";
import { go } from "../../state/state.js";
import { Busy, Empty, Name, Notes, Segments, Share, type Choice } from "../../ui/bits.js";
import { useAnswer, useApp } from "../../ui/context.js";
import { Table, type Column } from "../../ui/table.js";

/** Part of a function. */
export interface RangeRow {
  readonly place: string;
  readonly file: string;
  /** From 1; 0: unknown. */
  readonly line: number;
  /** "app+0x4010", or "". */
  readonly code: string;
  readonly self: string;
  readonly total: string;
  readonly share: string;
  readonly part: number;
  readonly running: string;
  readonly source: string;
}

export function rangeRow(answer: RangesResult, at: number): RangeRow | undefined {
  const { rows, files, self } = answer;
  const place = rows.place[at];
  if (place === undefined) return undefined;
  return {
    place,
    file: files[rows.file[at] ?? -1] ?? "",
    line: rows.line[at] ?? 0,
    code: rows.code[at] ?? "",
    self: rows.selfText[at] ?? "",
    total: rows.totalText[at] ?? "",
    share: rows.share[at] ?? "",
    part: self.value === 0 ? 0 : (rows.self[at] ?? 0) / self.value,
    running: rows.runningShare[at] ?? "",
    source: (rows.source[at] ?? "").trim(),
  };
}

/** The function that is meant: that of the place, else the one of a line of the file. undefined: none is known. */
export function functionMeant(
  place: Pick<Place, "fn">,
  uri: string | undefined,
  line: number,
): Pick<RangesParams, "function" | "textDocument" | "position"> | undefined {
  // Code without a name is no function.
  if (place.fn !== "" && !/\+0x[0-9a-f]+$/i.test(place.fn)) return { function: place.fn };
  if (uri === undefined || line < 1) return undefined;
  return { textDocument: { uri }, position: { line: line - 1, character: 0 } };
}

const TEXTS: Readonly<Record<string, Choice<Within>>> = {
  line: { id: "line", text: "Line" },
  address: { id: "address", text: "Address", title: "By instruction" },
  bytecode: { id: "bytecode", text: "Bytecode" },
};

/** Where the reader is told to go by a row. */
export type Jump = (row: RangeRow, answer: RangesResult, opened: boolean) => void;

export function WithinPanel({
  meant,
  profile,
  spec,
  onJump,
}: {
  meant: ReturnType<typeof functionMeant>;
  profile: string;
  spec: string;
  onJump: Jump;
}) {
  const app = useApp();
  const { within } = app.place.value;
  const [at, setAt] = useState(-1);
  const found = useAnswer(
    RangesRequest,
    meant === undefined
      ? undefined
      : { profile, ...meant, spec, by: within === "" ? RangeUnit.auto : within, source: true, panelId: "within" },
  );
  const answer = found.value;
  const id = `${answer?.name ?? ""} ${answer?.key ?? ""} ${answer?.by ?? ""}`;
  useEffect(() => setAt(-1), [id]);
  if (meant === undefined)
    return (
      <Empty title="Which function?">
        <p>Choose a line of the source, or a function in another view.</p>
      </Empty>
    );
  if (answer === undefined)
    return found.error === undefined ? <Busy text="Dividing" /> : <Notes texts={[found.error]} />;
  const running: Column<RangeRow> = {
    id: "running",
    title: "Sum",
    width: "4.5rem",
    align: "right",
    render: (row) => row.running,
  };
  const columns: readonly Column<RangeRow>[] = [
    {
      id: "place",
      title: "Where",
      width: "minmax(7rem, 1.2fr)",
      // The line stays, whatever is left of the file's name.
      render: (row) => (
        <Name text={row.place} cuts={[Math.max(row.place.lastIndexOf(":"), row.place.lastIndexOf("+"), 0)]} />
      ),
    },
    {
      id: "share",
      title: "Self",
      width: "5.5rem",
      align: "right",
      render: (row) => <Share text={row.share} part={row.part} />,
    },
    ...(answer.self.value === 0 ? [] : [running]),
    { id: "self", title: answer.metric, width: "6rem", align: "right", from: 380, render: (row) => row.self },
    {
      id: "total",
      title: "Total",
      width: "6rem",
      align: "right",
      // Of a function that only calls others that is all there is.
      ...(answer.self.value === 0 ? {} : { from: 640 }),
      render: (row) => row.total,
    },
    {
      id: "source",
      title: "Line",
      width: "minmax(8rem, 3fr)",
      from: 520,
      render: (row) => <code class="within-source">{shown(row.source)}</code>,
    },
  ];
  const choose = (row: number, opened: boolean) => {
    setAt(row);
    const chosen = rangeRow(answer, row);
    if (chosen !== undefined) onJump(chosen, answer, opened);
  };
  const { available, remainder } = answer;
  return (
    <>
      <div class="within-head">
        <Name text={answer.label || answer.name} />
        <span class="muted">
          self {answer.self.shareText ?? answer.self.text} · {answer.self.text}
        </span>
        {available.length > 1 && (
          <Segments
            label="What a row is"
            value={answer.by as Within}
            choices={available.flatMap((unit) => TEXTS[unit] ?? [])}
            onChange={(unit) => app.update((state) => go(state, { within: unit }))}
          />
        )}
      </div>
      <Notes
        texts={[found.error, answer.note, remainder === undefined ? undefined : remainder.text, answer.excluded?.text]}
      />
      {answer.rowCount === 0 ? (
        <Empty title="It has nothing of its own in this view" />
      ) : (
        <Table
          label={`Within ${answer.name}`}
          columns={columns}
          count={answer.rows.place.length}
          row={(row) => rangeRow(answer, row)}
          selected={at}
          onSelect={(row) => choose(row, false)}
          onOpen={(row) => choose(row, true)}
        />
      )}
    </>
  );
}
