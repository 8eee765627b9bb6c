// The hottest functions of the metric that is shown, under the filters that hold; of a diff those that changed most.
import { TableRequest, type SideTotals } from "../../../../shared/ts/psp.js";
import type { GlanceOf } from "../../app.js";
import { shown } from "../../draw/shown.js";
import { diffMetricOf, isDiff } from "../../state/compared.js";
import { filtersOf, specOf } from "../../state/place.js";
import { specText } from "../../state/spec.js";
import { useAnswer, useApp, useProfile } from "../../ui/context.js";
import { rowOf, type TableRow } from "./rows.js";

/** Of a diff: what changed most either way, grew most, or shrank most. */
export type Ways = "change" | "worse" | "better";

const TITLES: Readonly<Record<Ways, string>> = { change: "Changed most", worse: "Grew most", better: "Shrank most" };

export interface Hottest {
  readonly rows: readonly TableRow[];
  /** Self of the first. */
  readonly top: number;
  readonly title: string;
  /** What they are by. */
  readonly by: string;
  /** Of a diff: both wholes, with a verdict. */
  readonly sides: SideTotals | undefined;
  /** The rows are there, if there are any. */
  readonly known: boolean;
}

/** `of`: of another profile and view than those that are shown. */
export function useHottest(limit: number, panelId: string, way: Ways = "change", of?: GlanceOf): Hottest {
  const profile = useProfile();
  const place = useApp().place.value;
  const metric = place.metric || (profile?.metric ?? "");
  const diff = isDiff(place.profile);
  const spec = specText({ ...specOf({ ...place, granularity: "function" }, "flat"), metric });
  const page = useAnswer(
    TableRequest,
    profile === undefined
      ? undefined
      : {
          profile: of?.profile ?? profile.handle,
          spec: of?.spec ?? spec,
          ...(diff ? { sort: way, changedOnly: true } : { sort: "self" }),
          limit,
          panelId,
        },
  ).value;
  const all = page === undefined ? [] : page.rows.name.flatMap((_, at) => rowOf(page, at) ?? []);
  // What has nothing itself is not hot.
  const rows = all.filter((row) => isOfWay(row, way) && (diff || row.self !== 0));
  const title = profile?.metrics.find((m) => m.name === metric)?.title ?? metric;
  return {
    rows,
    top: Math.max(1e-9, ...rows.map((row) => Math.abs(row.self))),
    title: diff ? TITLES[way] : "Hottest functions",
    by:
      of?.by ??
      `by self ${shown(diff ? (diffMetricOf(profile?.metrics ?? [], metric)?.base ?? title) : title)}${filtersOf(place).length > 0 ? ", under the filters" : ""}`,
    sides: page?.sides,
    known: page !== undefined,
  };
}

/** Behind those that grew come those that shrank, where the list has room for them. */
export function isOfWay({ change }: TableRow, way: Ways): boolean {
  if (change === undefined || way === "change") return true;
  return way === "worse" ? change.by > 0 : change.by < 0;
}
