// The hottest functions of the metric that is shown, under the filters that hold; of a diff those that changed most.
import { TableRequest } from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { diffMetricOf, isDiff } from "../../state/compared.js";
import { filtersOf, specOf } from "../../state/place.js";
import { specText } from "../../state/spec.js";
import { useAnswer, useApp, useProfile } from "../../ui/context.js";
import { rowOf, type TableRow } from "./rows.js";

export interface Hottest {
  readonly rows: readonly TableRow[];
  /** Self of the first. */
  readonly top: number;
  readonly title: string;
  /** What they are by. */
  readonly by: string;
}

export function useHottest(limit: number, panelId: string): Hottest {
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
          profile: profile.handle,
          spec,
          ...(diff ? { sort: "change", changedOnly: true } : { sort: "self" }),
          limit,
          panelId,
        },
  ).value;
  const rows = page === undefined ? [] : page.rows.name.flatMap((_, at) => rowOf(page, at) ?? []);
  const title = profile?.metrics.find((m) => m.name === metric)?.title ?? metric;
  return {
    rows,
    top: Math.max(1e-9, ...rows.map((row) => Math.abs(row.self))),
    title: diff ? "Changed most" : "Hottest functions",
    by: `by self ${shown(diff ? (diffMetricOf(profile?.metrics ?? [], metric)?.base ?? title) : title)}${filtersOf(place).length > 0 ? ", under the filters" : ""}`,
  };
}
