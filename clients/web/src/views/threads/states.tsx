// How long threads were on a processor, blocked, and ready; and the way to the wall tree and the chains.
import { StatesRequest, type Amount, type Filter, type ThreadStates } from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { filtersOf, specOf } from "../../state/place.js";
import { parseClause, specText } from "../../state/spec.js";
import { addFilter, go } from "../../state/state.js";
import { Name } from "../../ui/bits.js";
import { useAnswer, useApp, useProfile } from "../../ui/context.js";
import { Icon } from "../../ui/icons.js";

const STATES = [
  ["onCpu", "on CPU"],
  ["blocked", "blocked"],
  ["runnable", "runnable"],
  ["unknown", "unknown"],
] as const satisfies readonly (readonly [keyof ThreadStates, string])[];

/** The metrics of the views, which a spec names last. */
const LOOKS = [
  ["wall", "Wall tree"],
  ["blocked", "Blocked"],
  ["chains", "Chains"],
] as const;

const MOST_THREADS = 8;

/** States know threads, labels and times, no frames. */
const isOfSamples = ({ by, linked }: Filter) =>
  (linked ?? "") === "" && (by === "thread" || by === "label" || by === "time" || by === "marker");

/** Of a profile that has the events of a scheduler. */
export function StatesCard() {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const filters = filtersOf(place).filter(isOfSamples);
  const has = profile?.metrics.some((metric) => metric.name === "chains") === true;
  const { value } = useAnswer(
    StatesRequest,
    profile === undefined || !has || !app.can(StatesRequest.method)
      ? undefined
      : {
          profile: profile.handle,
          spec: specText({ ...specOf(place, "topDown"), filters }),
          limit: MOST_THREADS,
          panelId: "states",
        },
  );
  if (value === undefined || value.profile !== profile?.handle) return null;
  const keep = (filter: string | undefined) => {
    const clause = filter === undefined ? undefined : parseClause(filter);
    if (clause !== undefined && "filter" in clause)
      app.update((state) => go(addFilter(state, clause.filter), { view: "flame", metric: "wall" }));
  };
  return (
    <section class="card wide">
      <h2>
        On and off the processor{" "}
        {filters.length > 0 && <span class="muted">of the threads and times that the filters leave</span>}
      </h2>
      <p>{shown(value.verdict)}</p>
      <table class="plain states">
        <thead>
          <tr>
            <th>Thread</th>
            <th class="number">wall</th>
            {STATES.map(([key, title]) => (
              <th key={key} class="number">
                <i class={`state-${key}`} /> {title}
              </th>
            ))}
            <th aria-hidden="true" class="states-bar" />
          </tr>
        </thead>
        <tbody>
          {value.threads.map((row) => (
            <tr key={row.filter ?? row.name}>
              <td>
                <button type="button" class="link" title="Its wall tree" onClick={() => keep(row.filter)}>
                  <Name text={row.name} />
                </button>
              </td>
              <States row={row} />
            </tr>
          ))}
          {value.threadCount > 1 && (
            <tr>
              <th>{value.threadCount > value.threads.length ? `all ${value.threadCount} threads` : "all threads"}</th>
              <States row={value.all} />
            </tr>
          )}
        </tbody>
      </table>
      <p class="states-looks">
        {LOOKS.map(([metric, title]) => (
          <button
            key={metric}
            type="button"
            class="button"
            onClick={() => app.update((state) => go(state, { view: "flame", metric, zoom: [] }))}
          >
            <Icon name="flame" /> {title}
          </button>
        ))}
      </p>
    </section>
  );
}

function States({ row }: { row: ThreadStates }) {
  const part = (amount: Amount) => `${100 * (amount.share ?? 0)}%`;
  return (
    <>
      <td class="number">{row.wall.text}</td>
      {STATES.map(([key]) => (
        <td key={key} class="number">
          {row[key].text} <span class="muted">{row[key].shareText}</span>
        </td>
      ))}
      <td aria-hidden="true" class="states-bar">
        <span>
          {STATES.map(([key]) => (
            <i key={key} class={`state-${key}`} style={{ width: part(row[key]) }} />
          ))}
        </span>
      </td>
    </>
  );
}
