// What the profile is: facts, metrics, the hottest, the heaviest, what is missing, what was lost in reading.
import type { ComponentChildren } from "preact";
import { type Measure, ProfileSummaryRequest } from "../../../../shared/ts/psp.js";
import { pathOfUri } from "../../app.js";
import { shown } from "../../draw/shown.js";
import { inputsOf, isAggregate, isDiff, sidesOf } from "../../state/compared.js";
import { filtersOf, nameHash, startOf } from "../../state/place.js";
import { go } from "../../state/state.js";
import { Busy, FittedPath, Name, Share } from "../../ui/bits.js";
import { useAnswer, useApp, useProfile } from "../../ui/context.js";
import { Icon } from "../../ui/icons.js";
import { Toolbar } from "../../ui/toolbar.js";
import { CorrelateCard } from "../correlate/view.js";
import { StatesCard } from "../threads/states.js";
import { Changes } from "../flat/changes.js";
import { KindsCard, TipsCard } from "./insights.js";
import { useHottest } from "../flat/hottest.js";
import type { TableRow } from "../flat/rows.js";

/** Of what an aggregate is made of. */
const MOST_INPUTS = 12;

const SEVERITIES: Readonly<Record<string, string>> = { info: "worth knowing", loss: "lost", error: "wrong" };

export function ProfileView() {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const metric = place.metric || (profile?.metric ?? "");
  const byMetric = useAnswer(
    ProfileSummaryRequest,
    profile === undefined ? undefined : { profile: profile.handle, metric },
  ).value;
  if (profile === undefined) return <Busy text="Reading" />;
  const { summary } = profile;
  const diff = isDiff(summary.uri);
  const toNeighbours = ({ name, file, line }: TableRow) =>
    app.update((state) => go(state, { view: "sandwich", fn: name, file: file ?? "", line }));
  const facts: [string, ComponentChildren][] = [];
  if (diff) {
    const { before, after } = sidesOf(summary.uri);
    for (const [title, side] of [
      ["Before", before],
      ["After", after],
    ] as const)
      for (const uri of side) facts.push([title, <Name key={uri} text={pathOfUri(uri)} />]);
  } else if (isAggregate(summary.uri)) {
    const inputs = inputsOf(summary.uri);
    for (const uri of inputs.slice(0, MOST_INPUTS)) facts.push(["Of", <Name key={uri} text={pathOfUri(uri)} />]);
    if (inputs.length > MOST_INPUTS) facts.push(["", `and ${(inputs.length - MOST_INPUTS).toLocaleString("en")} more`]);
  } else facts.push(["File", <Name key="f" text={pathOfUri(summary.uri)} />]);
  const fact = (title: string, value: string | undefined) => {
    if (value !== undefined && value !== "" && value !== "?") facts.push([title, shown(value)]);
  };
  fact("Format", summary.format.text);
  fact("Program", summary.program);
  fact("Profiler", summary.profiler);
  fact("Recorded", summary.when?.text);
  fact("Duration", summary.duration?.text);
  // Those of a diff are its sides'.
  if (!diff) {
    fact("Threads", summary.threads.value > 0 ? summary.threads.text : "not recorded");
    fact("Records", summary.records.value > 0 ? summary.records.text : "not told");
  }
  fact("Call paths", summary.contexts.text);
  fact("Functions", summary.functions.text);
  const { timeline } = summary;
  if (timeline !== undefined) {
    const some = (count: Measure) => (count.value > 0 ? count.text : undefined);
    fact("Spans", some(timeline.spans));
    fact("Markers", some(timeline.markers));
    fact("Counters", some(timeline.counters));
    fact("Tasks", some(timeline.tasks));
  }
  fact("Memory", summary.memory?.text);
  for (const comment of summary.comments ?? []) fact("Comment", comment);
  return (
    <div class="view page">
      {place.chips.length > 0 && <Toolbar />}
      <div class="page-body">
        <h1>
          <Name text={profile.name} />
          {summary.member !== undefined && (
            <span class="muted">
              {" "}
              {summary.member.number} of {summary.member.count}
            </span>
          )}
        </h1>
        {summary.estimated !== undefined && (
          <p class="note">
            <Icon name="warning" size={14} /> {summary.estimated}
          </p>
        )}
        <div class="cards">
          <section class="card">
            <h2>Facts</h2>
            <dl class="facts">
              {facts.map(([title, value], i) => (
                <div key={i}>
                  <dt>{title}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          </section>
          <CorrelateCard />
          <section class="card">
            <h2>Metrics</h2>
            <ul class="metric-list">
              {summary.metrics.map((m) => (
                <li key={m.name}>
                  <button
                    type="button"
                    aria-pressed={m.name === metric}
                    title={m.description}
                    onClick={() => app.update((state) => go(state, { metric: m.name }))}
                  >
                    <span>{shown(m.title ?? m.name)}</span>
                    <b>
                      {m.saturated === true ? "at least " : ""}
                      {m.text}
                    </b>
                  </button>
                </li>
              ))}
            </ul>
          </section>
          {!diff && <StatesCard />}
          {!diff && <KindsCard />}
          {!diff && <TipsCard />}
          {diff ? (
            <section class="card wide">
              <h2>What changed</h2>
              <Changes panelId="page" chosen={toNeighbours} />
            </section>
          ) : (
            <HottestCard onChoose={toNeighbours} />
          )}
          <section class="card wide">
            <h2>
              Heaviest paths{" "}
              {filtersOf(place).length > 0 && <span class="muted">of the whole profile, without filters</span>}
            </h2>
            <ol class="path-list">
              {(byMetric ?? summary).heaviest.map((path, i) => (
                <li key={i}>
                  <span class="path-value">
                    {path.amount.text} <span class="muted">{path.amount.shareText}</span>
                  </span>
                  <button
                    type="button"
                    title={path.frames.map(shown).join("\n")}
                    onClick={() =>
                      app.update((state) =>
                        go(state, {
                          ...startOf(state.place.profile, state.place.member),
                          zoom: path.frames.includes("...") ? [] : path.frames.map(nameHash),
                        }),
                      )
                    }
                  >
                    {(path.labels ?? path.frames).slice(-8).map((frame, j) => (
                      <span key={j} class="path-frame">
                        <Icon name="right" size={12} />
                        <Name text={frame} />
                      </span>
                    ))}
                  </button>
                </li>
              ))}
            </ol>
          </section>
          {(summary.missing ?? []).length > 0 && (
            <section class="card wide">
              <h2>What is not known</h2>
              <ul class="report">
                {(summary.missing ?? []).map((part) => (
                  <li key={part.kind}>
                    <p>{shown(part.text)}</p>
                    <p class="muted">{shown(part.advice)}</p>
                  </li>
                ))}
              </ul>
            </section>
          )}
          <section class="card wide">
            <h2>Import report</h2>
            {summary.report.length === 0 ? (
              <p class="muted">Nothing was odd, lost or guessed in reading.</p>
            ) : (
              <ul class="report">
                {summary.report.map((row) => (
                  <li key={row.kind + row.message} class={`severity-${row.severity}`}>
                    <span class="tag">{SEVERITIES[row.severity] ?? row.severity}</span> {shown(row.message)}
                  </li>
                ))}
              </ul>
            )}
          </section>
          {profile.members.length > 1 && (
            <section class="card wide">
              <h2>Profiles of this file</h2>
              <ul class="metric-list">
                {profile.members.map((member) => (
                  <li key={member.profile}>
                    <button
                      type="button"
                      aria-pressed={member.profile === profile.handle}
                      onClick={() => app.open(profile.uri, member.number)}
                    >
                      <span>
                        {member.number} <Name text={member.name} />
                      </span>
                      <b>
                        {member.records.text} {member.records.value === 1 ? "record" : "records"}
                      </b>
                    </button>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
      </div>
    </div>
  );
}

function HottestCard({ onChoose }: { onChoose: (row: TableRow) => void }) {
  const app = useApp();
  const hottest = useHottest(10, "hottest");
  return (
    <section class="card wide">
      <h2>
        {hottest.title} <span class="muted">{hottest.by}</span>
      </h2>
      {hottest.known && hottest.rows.length === 0 && <p class="muted">Nothing is left to be shown.</p>}
      <ol class="hot-list">
        {hottest.rows.map((row) => (
          <li key={row.key}>
            <button
              type="button"
              title={shown(row.name)}
              onClick={() => {
                const { name, file, line, module } = row;
                app.select({ name, frames: [], file, line, module });
                onChoose(row);
              }}
            >
              <Share text={row.selfShare} part={Math.abs(row.self) / hottest.top} />
              <span class="hot-value">{row.selfText}</span>
              <Name text={row.label} cuts={row.cuts} />
              <FittedPath text={row.file ?? row.module ?? ""} />
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
