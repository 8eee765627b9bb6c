// The line above the views of a diff: both wholes, what became of them, which side is wide, and the way round.
import type { SideTotals } from "../../../shared/ts/psp.js";
import type { App } from "../app.js";
import { shown } from "../draw/shown.js";
import {
  diffMetricOf,
  isDiff,
  metricWith,
  nextWidth,
  swapped,
  type DiffMetric,
  type Width,
} from "../state/compared.js";
import { go } from "../state/state.js";
import { IconButton, Segments } from "./bits.js";
import { useApp, useProfile } from "./context.js";

const WIDTH_CHOICES: readonly { id: Width; text: string; title: string }[] = [
  { id: "after", text: "After", title: "Widths are values after" },
  { id: "before", text: "Before", title: "Widths are values before" },
  { id: "larger", text: "Larger", title: "Widths are the larger side of each path: what is gone keeps its place" },
  { id: "difference", text: "Difference", title: "Widths are the change of each path, without its sign" },
];

/** The metric that a diff shows, and what it is of. */
function shownDiffMetric(app: App): DiffMetric | undefined {
  const profile = app.profile.peek();
  const { metric } = app.place.peek();
  return profile === undefined ? undefined : diffMetricOf(profile.metrics, metric || profile.metric);
}

export function stepWidth(app: App): void {
  const metric = shownDiffMetric(app);
  if (metric === undefined) {
    app.say("Widths are chosen in a comparison: D compares this profile with another one");
    return;
  }
  const { name, width } = nextWidth(metric);
  app.update((state) => go(state, { metric: name }));
  app.say(WIDTH_CHOICES.find(({ id }) => id === width)!.title);
}

/** The same view the other way round: where one is in it stays. */
export function swapSides(app: App): void {
  const { profile } = app.place.peek();
  if (profile === undefined || !isDiff(profile)) return;
  const other = swapped(profile);
  app.home.files?.add(other);
  app.update((state) => go(state, { profile: other }));
}

const runs = (count: number) => (count > 1 ? ` (mean of ${count} runs)` : "");

/** `sides`: as the view's last answer has them; the line has its place before that is there. */
export function SidesLine({
  sides,
  widths = false,
  verdict = false,
}: {
  sides: SideTotals | undefined;
  widths?: boolean;
  /** With what stands out from noise. */
  verdict?: boolean;
}) {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  if (!isDiff(place.profile)) return null;
  const metric = diffMetricOf(profile?.metrics ?? [], place.metric || (profile?.metric ?? ""));
  return (
    <section class="sides" aria-label="Both sides">
      {sides !== undefined && (
        <p class="sides-totals">
          <span>
            <span class="muted">before</span> {sides.before.text}
            <span class="muted">{runs(sides.runsBefore)}</span>
          </span>
          <span aria-hidden="true">→</span>
          <span>
            <span class="muted">after</span> {sides.after.text}
            <span class="muted">{runs(sides.runsAfter)}</span>
          </span>
          <b>{sides.change}</b>
        </p>
      )}
      <IconButton icon="swap" label="Swap before and after" onClick={() => swapSides(app)} />
      <span class="sides-scale muted">{sides === undefined ? "" : shown(sides.scale)}</span>
      {widths && metric !== undefined && (
        <Segments
          label="What makes boxes wide (d)"
          value={metric.width}
          choices={WIDTH_CHOICES}
          onChange={(width) =>
            width !== "change" && app.update((state) => go(state, { metric: metricWith(metric, width) }))
          }
        />
      )}
      {verdict && sides?.verdict !== undefined && <p class="sides-verdict">{shown(sides.verdict)}</p>}
    </section>
  );
}
