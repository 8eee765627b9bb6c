// A file's text beside what its lines cost.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { SourceAnnotationsResult } from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { rowsAt, scrollFor } from "../../ui/rows.js";
import { rowOfKey } from "../../ui/steps.js";
import { linesOf } from "./highlight.js";
import { useReveal, type Marks } from "./links.js";

export const LINE = 19;

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

export interface TextViewProps {
  readonly text: string;
  readonly path: string;
  /** From 1; 0: where it is hottest. */
  readonly line: number;
  readonly costs: SourceAnnotationsResult | undefined;
  /** There is little room: of a line's cost only the total. */
  readonly brief: boolean;
  /** What goes with the instructions beside it. */
  readonly marks: Marks;
  /** All lines from 1. */
  readonly onPoint: (line: number | undefined) => void;
  readonly onChoose: (line: number) => void;
  /** Chosen with the pointer. */
  readonly onClick: (line: number) => void;
  /** Entered. */
  readonly onOpen: (line: number) => void;
}

export function TextView({ text, path, line, costs, brief, marks, onPoint, onChoose, onClick, onOpen }: TextViewProps) {
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
  // Less room hides no chosen line that was in sight.
  const height = useRef(view.height);
  useLayoutEffect(() => {
    const before = height.current;
    height.current = view.height;
    const element = scroller.current;
    const bottom = (at + 1) * LINE;
    if (element === null || at < 0 || bottom > view.top + before || at * LINE < view.top) return;
    if (bottom > view.top + view.height) element.scrollTop = bottom - view.height;
  }, [view.height]);
  useReveal(scroller, marks, LINE, (mark) => (mark - 1) * LINE);
  const rows = rowsAt(lines.length, LINE, view.top, view.height);
  const move = (to: number) => {
    const next = Math.max(0, Math.min(lines.length - 1, to));
    setAt(next);
    onChoose(next + 1);
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
        onPointerLeave={() => onPoint(undefined)}
        onScroll={(event) => setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}
        onKeyDown={(event) => {
          const page = Math.floor(view.height / LINE) - 1;
          if (event.key === "Enter" && at >= 0) {
            event.preventDefault();
            event.stopPropagation();
            onOpen(at + 1);
            return;
          }
          const to =
            event.key === "n"
              ? (hot.filter((l) => l > at).sort((a, b) => a - b)[0] ?? Math.min(...hot))
              : rowOfKey(event.key, at, page, lines.length);
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
                class={`source-line${i === at ? " selected" : ""}${stale ? " stale" : ""}${marks.has(i + 1) ? " linked" : ""}`}
                style={{ transform: `translateY(${rows.offset + (i - rows.first) * LINE}px)` }}
                onPointerEnter={() => onPoint(i + 1)}
                onClick={() => {
                  setAt(i);
                  onChoose(i + 1);
                  onClick(i + 1);
                }}
                onDblClick={() => onOpen(i + 1)}
              >
                {costs?.changes !== undefined ? (
                  <LineChange costs={costs} at={cost} />
                ) : (
                  <LineCost
                    text={cost === undefined ? "" : (costs?.lines.text[cost] ?? "")}
                    heat={heat}
                    brief={brief}
                  />
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

function LineCost({ text, heat, brief }: { text: string; heat: number; brief: boolean }) {
  const whole = text.trim();
  const short = brief ? (whole.split(" · ")[0] ?? "") : whole;
  return (
    <span class="source-cost" role="gridcell" title={short === whole ? undefined : whole}>
      <i style={{ opacity: heat }} />
      <span>{short}</span>
    </span>
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
