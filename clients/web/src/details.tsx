// What is chosen, beside the views or below them: its values, its place, what can be done. Without a choice the first
// glance at the profile.
import { TableRequest } from "../../shared/ts/psp.js";
import type { Selected } from "./app.js";
import { shown } from "./draw/shown.js";
import { SeriesPart } from "./seriespart.js";
import { isDiff } from "./state/compared.js";
import { specOf } from "./state/place.js";
import { specText } from "./state/spec.js";
import { show } from "./state/state.js";
import { IconButton, Name, Share } from "./ui/bits.js";
import { boxItems, goToSource } from "./ui/boxmenu.js";
import { useAnswer, ratiosOf, useApp, useProfile } from "./ui/context.js";
import { copyText } from "./ui/copy.js";
import { Icon } from "./ui/icons.js";
import { literal } from "./ui/picker.js";
import { Changes } from "./views/flat/changes.js";
import { useHottest } from "./views/flat/hottest.js";
import { ChangeMark, rowOf, type RowChange } from "./views/flat/rows.js";

/** What is chosen, in one line. */
export function DetailsLine({ open, onToggle }: { open: boolean; onToggle: () => void }) {
  const selected = useApp().selected.value;
  return (
    <button type="button" class="details-line" aria-expanded={open} title="Details (p)" onClick={onToggle}>
      <Icon name={open ? "down" : "up"} size={12} />
      {selected === undefined ? (
        <span class="muted">Nothing is chosen: at a glance</span>
      ) : (
        <Name text={selected.name} />
      )}
      {selected?.text !== undefined && <span class="muted">{selected.text}</span>}
    </button>
  );
}

/** Nothing is chosen: the first glance at the profile. */
export function Glance() {
  const app = useApp();
  const { summary } = useProfile()!;
  return (
    <aside class="details" aria-label="At a glance">
      {isDiff(summary.uri) ? (
        <>
          <h2>What changed</h2>
          <Changes panelId="glance" />
        </>
      ) : (
        <Hottest />
      )}
      <dl class="facts small">
        {[
          ["Program", summary.program],
          ["Profiler", summary.profiler],
          ["Recorded", summary.when?.text],
          ["Duration", summary.duration?.text],
          ["Records", isDiff(summary.uri) ? "" : summary.records.value > 0 ? summary.records.text : "not told"],
        ].map(([title, value]) =>
          value === undefined || value === "" || value === "?" ? null : (
            <div key={title}>
              <dt>{title}</dt>
              <dd>{shown(value)}</dd>
            </div>
          ),
        )}
      </dl>
      {summary.report.some((row) => row.severity !== "info") && (
        <button type="button" class="link" onClick={() => app.update((state) => show(state, "profile"))}>
          Something was lost or wrong in reading this file
        </button>
      )}
      <p class="muted hint">
        Click a box to zoom, right-click for what can be done with it. <kbd>?</kbd> lists the keys, <kbd>p</kbd> closes
        this panel.
      </p>
    </aside>
  );
}

function Hottest() {
  const app = useApp();
  const hottest = useHottest(8, "glance", "change", app.glanceOf.value);
  return (
    <>
      <h2>{hottest.title}</h2>
      <p class="muted">{hottest.by}</p>
      <ol class="glance">
        {hottest.rows.map((row) => (
          <li key={row.key}>
            <button
              type="button"
              title={shown(row.name)}
              onClick={() =>
                app.select({ name: row.name, frames: [], file: row.file, line: row.line, module: row.module })
              }
            >
              <Name text={row.label} cuts={row.cuts} />
              <Share text={row.selfShare || row.selfText} part={Math.abs(row.self) / hottest.top} />
            </button>
          </li>
        ))}
      </ol>
    </>
  );
}

function BothSides({ change }: { change: RowChange }) {
  return (
    <table class="both-sides">
      <thead>
        <tr>
          <th scope="col">
            <ChangeMark kind={change.kind} />
          </th>
          <th scope="col">before</th>
          <th scope="col">after</th>
          <th scope="col">change</th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">self</th>
          <td>{change.selfBefore}</td>
          <td>{change.selfAfter}</td>
          <td>{change.self}</td>
        </tr>
        <tr>
          <th scope="row">total</th>
          <td>{change.totalBefore}</td>
          <td>{change.totalAfter}</td>
          <td>{change.total}</td>
        </tr>
      </tbody>
    </table>
  );
}

/** What is chosen, in a fixed place: all metrics, where it is, what can be done. */
export function Details({ selected }: { selected: Selected }) {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const of = app.glanceOf.value;
  const metric = of?.metric ?? (place.metric || (profile?.metric ?? ""));
  const metrics = of?.metrics ?? profile?.metrics ?? [];
  // Of a diff the other metrics are its sides, which are told by themselves.
  const others = (isDiff(place.profile) ? [] : metrics)
    .map((m) => m.name)
    .filter((name) => name !== metric)
    .slice(0, 8)
    .concat(of === undefined ? ratiosOf(profile).map(({ name }) => name) : []);
  const answer = useAnswer(
    TableRequest,
    profile === undefined
      ? undefined
      : {
          profile: of?.profile ?? profile.handle,
          spec: of?.spec ?? specText({ ...specOf(place, "flat"), metric }),
          search: `^${literal(selected.name)}$`,
          metrics: others,
          limit: 3,
          panelId: "details",
        },
  );
  const page = answer.value;
  const index = page === undefined ? -1 : page.rows.name.findIndex((row) => page.names[row] === selected.name);
  const row = page === undefined || index < 0 ? undefined : rowOf(page, index);
  const title = (name: string) => metrics.find((m) => m.name === name)?.title ?? name;
  return (
    <aside class="details" aria-label="What is chosen">
      <header>
        <h2>
          <Name text={selected.name} />
        </h2>
        <IconButton icon="copy" label="Copy name" keys="y" onClick={() => copyText(app, selected.name, "The name")} />
        <IconButton icon="close" label="Choose nothing" keys="Escape" onClick={() => app.select(undefined)} />
      </header>
      {selected.by !== undefined && <p class="note">chosen in {shown(selected.by)}</p>}
      {(row?.place ?? selected.file ?? "") !== "" && (
        <button
          type="button"
          class="link details-place"
          onClick={() =>
            goToSource(app, { ...selected, file: row?.file ?? selected.file, line: row?.line ?? selected.line })
          }
        >
          <Name text={row?.place ?? selected.file ?? ""} />
        </button>
      )}
      {row?.module !== undefined && row.module !== row.place && (
        <p class="muted">
          <Name text={row.module} />
        </p>
      )}
      {selected.text !== undefined && selected.frames.length > 0 && (
        <div class="details-part">
          <h3>This box</h3>
          <p class="big">{selected.text}</p>
          {selected.change !== undefined && <p>{selected.change}</p>}
          {selected.self !== undefined && <p class="muted">self {selected.self}</p>}
        </div>
      )}
      {row !== undefined && page !== undefined && (
        <div class="details-part">
          <h3>In the whole view</h3>
          {row.change !== undefined ? (
            <BothSides change={row.change} />
          ) : (
            <table>
              <thead>
                <tr>
                  <th scope="col">metric</th>
                  <th scope="col">self</th>
                  <th scope="col">total</th>
                </tr>
              </thead>
              <tbody>
                <tr>
                  <th scope="row">{shown(title(metric))}</th>
                  <td>
                    {row.selfText}
                    <span class="muted">{row.selfShare}</span>
                  </td>
                  <td>
                    {row.totalText}
                    <span class="muted">{row.totalShare}</span>
                  </td>
                </tr>
                {(page.columns ?? []).map((column) => (
                  <tr key={column.metric}>
                    <th scope="row">{shown(title(column.metric))}</th>
                    <td>{column.selfText[index]}</td>
                    <td>{column.totalText[index]}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </div>
      )}
      <SeriesPart selected={selected} />
      <div class="details-part">
        <h3>Do</h3>
        <ul class="deeds">
          {boxItems(app, selected)
            .filter((item) => item.heading !== true && !item.text.startsWith("Copy"))
            .map((item) => (
              <li key={item.text}>
                <button type="button" class="link" onClick={item.run}>
                  {item.text}
                </button>
                {item.keys !== undefined && <kbd>{item.keys}</kbd>}
              </li>
            ))}
        </ul>
      </div>
      {selected.frames.length > 1 && (
        <div class="details-part">
          <h3>
            Stack <span class="muted">{selected.frames.length}</span>
            <IconButton
              icon="copy"
              label="Copy stack"
              onClick={() => copyText(app, [...selected.frames].reverse().join("\n"), "The stack")}
            />
          </h3>
          <ol class="stack">
            {[...selected.frames]
              .reverse()
              .slice(0, 200)
              .map((name, i) => (
                <li key={i}>
                  <Name text={name} />
                </li>
              ))}
          </ol>
        </div>
      )}
    </aside>
  );
}
