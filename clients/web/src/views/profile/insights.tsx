// What stands out of a profile: tips by rules, and how much of it is which kind of work.
import { SetsRequest, TipsRequest, type SetShare, type Tip } from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { filtersOf, specOf } from "../../state/place.js";
import { parseClause, specText } from "../../state/spec.js";
import { addFilter, go } from "../../state/state.js";
import { Name } from "../../ui/bits.js";
import { useAnswer, useApp, useProfile } from "../../ui/context.js";
import { useTheme } from "../../ui/theme.js";
import { css, tone } from "../../draw/colors.js";

export function TipsCard() {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const { value } = useAnswer(
    TipsRequest,
    profile === undefined || !app.can(TipsRequest.method)
      ? undefined
      : {
          profile: profile.handle,
          spec: specText({ ...specOf(place, "topDown"), metric: place.metric || profile.metric }),
        },
  );
  // What was said of another profile is nothing about this one.
  if (value === undefined || value.profile !== profile?.handle || value.tips.length === 0) return null;
  const show = ({ filter }: Tip) => {
    if (filter === undefined) return;
    const clause = parseClause(filter);
    if ("filter" in clause) app.update((state) => go(addFilter(state, clause.filter), { view: "flame" }));
  };
  return (
    <section class="card wide">
      <h2>Tips {filtersOf(place).length > 0 && <span class="muted">of what the filters leave</span>}</h2>
      <ul class="tips">
        {value.tips.map((tip) => (
          <li key={tip.id}>
            <p>
              {shown(tip.text)} {tip.boundText}
            </p>
            {tip.advice !== "" && <p class="muted">{shown(tip.advice)}</p>}
            <p class="tip-links">
              {tip.filter !== undefined && (
                <button type="button" class="button quiet" title={tip.filter} onClick={() => show(tip)}>
                  Show these stacks
                </button>
              )}
              {tip.place !== undefined && (
                <button
                  type="button"
                  class="button quiet"
                  onClick={() =>
                    app.update((state) =>
                      go(state, {
                        view: "sandwich",
                        fn: tip.place!.name,
                        file: tip.place!.file ?? "",
                        line: tip.place!.line ?? 0,
                      }),
                    )
                  }
                >
                  <Name text={tip.place.shortName ?? tip.place.name} />
                </button>
              )}
              <span class="muted">{tip.id}</span>
            </p>
          </li>
        ))}
      </ul>
      {value.more > 0 && (
        <p class="muted">{value.more === 1 ? "1 weaker one is" : `${value.more} weaker ones are`} left out.</p>
      )}
    </section>
  );
}

export function KindsCard() {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const { mode } = useTheme();
  const palette = app.settings.value.palette;
  const { value } = useAnswer(
    SetsRequest,
    profile === undefined || !app.can(SetsRequest.method)
      ? undefined
      : {
          profile: profile.handle,
          spec: specText({ ...specOf(place, "flat"), metric: place.metric || profile.metric }),
          panelId: "kinds",
        },
  );
  if (value === undefined || value.profile !== profile?.handle || value.sets.length === 0) return null;
  const keep = ({ name }: SetShare) =>
    app.update((state) => go(addFilter(state, { op: "keep", by: "kind", pattern: name }), { view: "flame" }));
  return (
    <section class="card">
      <h2>Kinds of work {filtersOf(place).length > 0 && <span class="muted">of what the filters leave</span>}</h2>
      <table class="kinds">
        <thead>
          <tr>
            <th />
            <th title="Stacks through a frame of it, each once">through it</th>
            <th title="Stacks that have its colour: those of all kinds make the whole">its colour</th>
          </tr>
        </thead>
        <tbody>
          {value.sets.map((set) => (
            <tr key={set.name}>
              <th scope="row">
                <button
                  type="button"
                  class="legend-pick"
                  title={`Keep only stacks through it: keep kind ${set.name}`}
                  onClick={() => keep(set)}
                >
                  <i style={{ background: css(tone(mode, set.hue ?? 0, 1, palette)) }} /> {shown(set.title)}
                </button>
              </th>
              <td>{set.amount.shareText}</td>
              <td class="muted">{set.first?.shareText}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        <button
          type="button"
          class="button quiet"
          onClick={() => app.update((state) => go(state, { view: "flame", color: "work" }))}
        >
          Colour the flame graph by them
        </button>
      </p>
    </section>
  );
}
