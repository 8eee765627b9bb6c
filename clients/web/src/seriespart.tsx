// Of an aggregate: what each of its profiles has of what is chosen, as plots and in words.
import { useMemo, useState } from "preact/hooks";
import { SeriesRequest, type SeriesParams } from "../../shared/ts/psp.js";
import type { Selected } from "./app.js";
import { histogramPlot, seriesPlot } from "./draw/plot.js";
import { shown } from "./draw/shown.js";
import { isAggregate } from "./state/compared.js";
import { specOf } from "./state/place.js";
import { parseSpec, specText } from "./state/spec.js";
import { Segments } from "./ui/bits.js";
import { useAnswer, useApp, useProfile } from "./ui/context.js";
import { Plot } from "./ui/plot.js";

const OF = [
  { id: "total", text: "Total" },
  { id: "self", text: "Self" },
] as const;

/** The spec of a chosen box under another metric: boxes stay what they are. */
function withMetric(spec: string, metric: string): string | undefined {
  try {
    return specText({ ...parseSpec(spec), metric });
  } catch {
    return undefined;
  }
}

export function SeriesPart({ selected }: { selected: Selected }) {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const [of, setOf] = useState<"total" | "self">("total");
  const there = profile !== undefined && isAggregate(profile.uri) && app.can(SeriesRequest.method);
  const metric = place.metric || (profile?.metric ?? "");
  const asked = (): SeriesParams | undefined => {
    if (!there) return undefined;
    const more = { profile: profile.handle, totals: of === "total", panelId: "series" };
    const boxes = selected.spec === undefined ? undefined : withMetric(selected.spec, metric);
    // A box by its keys; what was chosen in a list is a row.
    if (boxes !== undefined && selected.path !== undefined && selected.path.length > 0)
      return { ...more, spec: boxes, at: [...selected.path], revision: profile.revision };
    return { ...more, spec: specText({ ...specOf(place, "flat"), metric }), at: { names: [selected.name] } };
  };
  const { value: answer, error } = useAnswer(SeriesRequest, asked());
  const series = useMemo(() => (answer === undefined ? undefined : seriesPlot(answer)), [answer]);
  const histogram = useMemo(() => (answer === undefined ? undefined : histogramPlot(answer)), [answer]);
  if (!there) return null;
  const spread = answer?.spread;
  const texts = answer?.histogram?.edgeTexts;
  return (
    <section class="details-part series" aria-label="By profile">
      <div class="series-head">
        <h3>By profile</h3>
        <Segments label="Values of the profiles" value={of} choices={OF} onChange={setOf} />
      </div>
      {error !== undefined && <p class="muted">{shown(error)}</p>}
      {answer !== undefined && <p>{shown(answer.text)}</p>}
      {answer !== undefined && series !== undefined && (
        <Plot
          data={series}
          label={`${answer.metric} by profile. ${answer.text}`}
          from={answer.points.name[0] ?? ""}
          to={answer.points.name.at(-1) ?? ""}
        />
      )}
      {answer?.thinned !== undefined && <p class="muted">{answer.thinned}</p>}
      {answer !== undefined && histogram !== undefined && texts !== undefined && histogram.x.length > 1 && (
        <Plot
          data={histogram}
          bars
          label={`How many profiles have how much ${answer.metric}: ${histogram.x.map((_, at) => histogram.says(at)).join("; ")}`}
          from={texts[0] ?? ""}
          to={texts.at(-1) ?? ""}
        />
      )}
      {spread !== undefined && (
        <dl class="facts small">
          {[
            ["Sum", spread.sumText],
            ["Mean", spread.meanText],
            ["Median", spread.medianText],
            ["Least, most", `${spread.minText}, ${spread.maxText}`],
            ["Nine in ten below", spread.p90Text],
            ["Standard deviation", spread.deviationText],
            ["Most above the mean", spread.imbalanceText],
            ["Lost to the largest", spread.lostText],
          ].map(([title, value]) =>
            value === "" ? null : (
              <div key={title}>
                <dt>{title}</dt>
                <dd>{value}</dd>
              </div>
            ),
          )}
        </dl>
      )}
    </section>
  );
}
