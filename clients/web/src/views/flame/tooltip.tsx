// What a box is, at once, beside the pointer.
import { useLayoutEffect, useRef } from "preact/hooks";
import { BoxFlag, FrameKind } from "../../../../shared/ts/psp.js";
import { groupOf } from "../../draw/colors.js";
import { CHANGE_MARKS, changeOf, isRemainder, nameOf, type Layout } from "../../draw/layout.js";
import { shown } from "../../draw/shown.js";
import { Name } from "../../ui/bits.js";
import { placeAt, type Point } from "../../ui/menu.js";

export interface Hovered {
  readonly item: number;
  readonly at: Point;
  readonly layout: Layout;
  /** A click shows the boxes of this remainder; else they are listed. */
  readonly opens: boolean;
}

const KINDS: Readonly<Record<number, string>> = {
  [FrameKind.jit]: "compiled at run time",
  [FrameKind.interpreted]: "interpreted",
  [FrameKind.kernel]: "kernel",
  [FrameKind.gc]: "garbage collection",
  [FrameKind.waker]: "waker",
  [FrameKind.data]: "data object",
};

export function marksOf(layout: Layout, item: number): string[] {
  const flags = layout.flags[item]!;
  const out: string[] = [];
  const kind = KINDS[layout.kind[item] ?? 0];
  if (kind !== undefined) out.push(kind);
  if ((flags & BoxFlag.inlined) !== 0) out.push("inlined");
  if ((flags & BoxFlag.recursive) !== 0) out.push("recursive");
  if ((flags & BoxFlag.collapsed) !== 0) out.push("collapsed");
  if ((flags & BoxFlag.totalEstimated) !== 0) out.push("total is an estimate");
  if ((flags & BoxFlag.selfEstimated) !== 0) out.push("self is an estimate");
  return out;
}

export function placeText(layout: Layout, item: number): string {
  const { named, files } = layout.answer;
  const row = layout.name[item]!;
  const file = files?.[named?.file?.[row] ?? -1];
  const line = named?.line?.[row] ?? 0;
  return file === undefined ? "" : line > 0 ? `${file}:${line}` : file;
}

export function FlameTooltip({ hovered, metricNames }: { hovered: Hovered; metricNames: number }) {
  const box = useRef<HTMLDivElement>(null);
  const { layout, item, at } = hovered;
  useLayoutEffect(() => {
    if (box.current !== null) placeAt(box.current, { x: at.x + 14, y: at.y + 18 }, at.y - 10);
  }, [at.x, at.y, item]);
  return (
    <div class="tooltip" ref={box} aria-hidden="true">
      <BoxFacts layout={layout} item={item} metric={metricNames > 1} opens={hovered.opens} />
    </div>
  );
}

export function BoxFacts({
  layout,
  item,
  metric,
  opens,
}: {
  layout: Layout;
  item: number;
  metric: boolean;
  opens: boolean;
}) {
  const answer = layout.answer;
  if (isRemainder(layout, item)) {
    const matched = layout.hidden?.matchedText[item - layout.boxes] ?? "";
    return (
      <>
        <div class="tooltip-name">{layout.text[item]}</div>
        {matched !== "" && <div class="tooltip-match">{matched}</div>}
        <div class="tooltip-note">Too narrow to be drawn alone. Click to {opens ? "open" : "list them"}.</div>
      </>
    );
  }
  const place = placeText(layout, item);
  const group = groupOf(layout, item);
  const self = answer.boxes.selfText?.[item];
  const parent = answer.boxes.parentShare?.[item];
  const color = answer.boxes.colorText?.[item];
  const marks = marksOf(layout, item);
  const change = changeOf(layout, item);
  return (
    <>
      <div class="tooltip-name">
        <Name text={nameOf(layout, item)} />
      </div>
      {(place !== "" || group !== "") && (
        <div class="tooltip-place">
          <Name text={place !== "" ? place : group} />
        </div>
      )}
      {change !== undefined && (
        <div class="tooltip-change">
          <span class="change-mark">{CHANGE_MARKS[change]}</span> {answer.changes?.text[item]}
        </div>
      )}
      <dl class="tooltip-values">
        <dt>{metric ? `total ${answer.metric}` : "total"}</dt>
        <dd>{layout.text[item]}</dd>
        {self !== undefined && (
          <>
            <dt>self</dt>
            <dd>{self}</dd>
          </>
        )}
        {parent !== undefined && parent !== "" && (
          <>
            <dt>of parent</dt>
            <dd>{parent}</dd>
          </>
        )}
        {color !== undefined && (
          <>
            <dt>{shown(answer.colorScale?.metric ?? "colour")}</dt>
            <dd>{color}</dd>
          </>
        )}
      </dl>
      {marks.length > 0 && <div class="tooltip-note">{marks.join(" · ")}</div>}
    </>
  );
}
