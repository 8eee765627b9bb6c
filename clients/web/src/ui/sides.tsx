// The line above the views of a diff: both wholes, what became of them, which side is wide, and the way round.
import type { SideTotals } from "../../../shared/ts/psp.js";
import type { App } from "../app.js";
import { shown } from "../draw/shown.js";
import {
  diffMetricOf,
  isDiff,
  matchedBy,
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

/** Another diff in the place of this one: where one is in it stays. */
function replaceDiff(app: App, other: (uri: string) => string): void {
  const { profile } = app.place.peek();
  if (profile === undefined || !isDiff(profile)) return;
  const uri = other(profile);
  app.home.files?.add(uri);
  app.update((state) => go(state, { profile: uri }));
}

/** The same view the other way round. */
export function swapSides(app: App): void {
  replaceDiff(app, swapped);
}

const runs = (count: number) => (count > 1 ? ` (mean of ${count} runs)` : "");

/** Names that moved and costs that moved, and what can be done about the former. */
function Moved({ app, sides }: { app: App; sides: SideTotals }) {
  const suggested = sides.suggestedApplied === true ? [] : (sides.suggested ?? []);
  const texts = [...(sides.shifts ?? []).map(({ text }) => text), ...(sides.matched ?? [])];
  if (texts.length === 0 && suggested.length === 0) return null;
  return (
    <ul class="sides-moved" aria-label="What moved">
      {texts.map((text) => (
        <li key={text}>{shown(text)}</li>
      ))}
      {suggested.map(({ before, after, why, rename }) => (
        <li key={rename}>
          perhaps renamed: {shown(before)} → {shown(after)} <span class="muted">({why})</span>{" "}
          <button type="button" class="button" onClick={() => replaceDiff(app, (uri) => matchedBy(uri, { rename }))}>
            Take for one
          </button>
        </li>
      ))}
      {(sides.suggestedCount ?? 0) > 1 && suggested.length > 0 && (
        <li>
          <button
            type="button"
            class="button"
            onClick={() => replaceDiff(app, (uri) => matchedBy(uri, { match: "suggested" }))}
          >
            Take all {sides.suggestedCount} for one
          </button>
        </li>
      )}
    </ul>
  );
}

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
      {verdict && sides !== undefined && <Moved app={app} sides={sides} />}
    </section>
  );
}
