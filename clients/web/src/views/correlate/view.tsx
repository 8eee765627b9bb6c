// Records of several contexts: a flame graph for each role. A box that is chosen in one keeps, in the others, what belongs
// to it; below stand the pairs of two roles and the function that calls both.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  CorrelateRequest,
  ProfileCloseRequest,
  ProfileOpenRequest,
  type CorrelatePair,
  type CorrelateResult,
  type CorrelateRole,
  type CorrelateSide,
  type Filter,
  type MetricInfo,
} from "../../../../shared/ts/psp.js";
import { namesOf, type Layout } from "../../draw/layout.js";
import { shown } from "../../draw/shown.js";
import { nameHash } from "../../state/place.js";
import { specText, type Spec } from "../../state/spec.js";
import { go } from "../../state/state.js";
import { Busy, Empty, Name, Select, Share } from "../../ui/bits.js";
import { useAnswer, useApp, useProfile } from "../../ui/context.js";
import { GranularitySelect } from "../../ui/granularity.js";
import { Icon } from "../../ui/icons.js";
import { Toolbar } from "../../ui/toolbar.js";
import { huesOf } from "../flame/view.js";
import { Stage } from "../flame/stage.js";

const MOST_PAIRS = 50;

interface OpenRole {
  readonly handle: string;
  readonly metrics: readonly MetricInfo[];
}

const sameNames = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((n, i) => n === b[i]);

/** The roles of the records as open profiles, by URI; they are closed with the view. */
function useRoles(roles: readonly CorrelateRole[] | undefined): ReadonlyMap<string, OpenRole> {
  const app = useApp();
  const epoch = app.epoch.value;
  const [open, setOpen] = useState<ReadonlyMap<string, OpenRole>>(new Map());
  const uris = (roles ?? []).map(({ uri }) => uri);
  useEffect(() => {
    const controller = new AbortController();
    const made: string[] = [];
    setOpen(new Map());
    for (const uri of uris)
      app.client
        .request(ProfileOpenRequest, { uri, options: { makeDefault: false, attach: false } }, controller.signal)
        .then(
          ({ profile, summary }) => {
            made.push(profile);
            setOpen((known) => new Map(known).set(uri, { handle: profile, metrics: summary.metrics }));
          },
          (error: unknown) => {
            const text = controller.signal.aborted ? undefined : app.explain(error);
            if (text !== undefined) app.say(text, "error");
          },
        );
    return () => {
      controller.abort();
      for (const profile of made) app.client.request(ProfileCloseRequest, { profile }).catch(() => undefined);
    };
  }, [uris.join("\n"), epoch]);
  return open;
}

export function CorrelateView() {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const [metric, setMetric] = useState("");
  const [sides, setSides] = useState<{ left?: string; right?: string }>({});
  const { links } = place;
  const spec = (filters: readonly Filter[], shape: Spec["shape"]): Spec => ({
    shape,
    granularity: place.granularity,
    filters: [...filters],
    metric,
    focus: [],
  });
  const known = app.can(CorrelateRequest.method);
  const answer = useAnswer(
    CorrelateRequest,
    profile === undefined || !known
      ? undefined
      : { profile: profile.handle, spec: specText(spec(links, "flat")), limit: MOST_PAIRS, ...sides, panelId: "pairs" },
  );
  const result = answer.value;
  const roles = useRoles(result?.roles);
  const [active, setActive] = useState("");
  const clear = () => app.update((state) => go(state, { links: [] }));
  // The hottest functions beside the panes are those of the pane that is worked in.
  const first = result?.roles.find(({ name }) => name === active) ?? result?.roles[0];
  const open = first && roles.get(first.uri);
  const title = open?.metrics.find(({ name }) => name === result?.metric)?.title ?? result?.metric ?? "";
  const others = links.filter((filter) => filter.linked !== first?.name);
  const glance =
    open === undefined || first === undefined
      ? undefined
      : {
          profile: open.handle,
          metric: result?.metric ?? "",
          metrics: open.metrics,
          spec: specText({ ...spec(others, "flat"), granularity: "function" }),
          by: `by self ${shown(title)} of ${shown(first.name)}${others.length > 0 ? ", of what belongs to the choice" : ""}`,
        };
  useEffect(() => {
    app.glanceOf.value = glance;
  }, [glance?.profile, glance?.spec, glance?.by]);
  useEffect(() => () => void (app.glanceOf.value = undefined), []);
  if (!known)
    return (
      <Empty title="Not known here">
        <p>This daemon is older than the page and does not tell what goes with what.</p>
      </Empty>
    );
  if (result === undefined)
    return answer.error === undefined ? (
      <Busy text="Reading the records" />
    ) : (
      <Empty title="No records of several contexts">
        <p>{answer.error}</p>
      </Empty>
    );
  const link = (role: string, frames: readonly string[]) => {
    const others = links.filter((filter) => filter.linked !== role);
    const before = links.find((filter) => filter.linked === role)?.frames ?? [];
    if (sameNames(before, frames)) return;
    const next: Filter[] =
      frames.length === 0 ? others : [...others, { op: "keep", by: "path", frames: [...frames], linked: role }];
    app.update((state) => go(state, { links: next }));
  };
  const metrics = [...roles.values()][0]?.metrics ?? [];
  return (
    <div class="view correlate">
      <Toolbar>
        <GranularitySelect app={app} />
        {metrics.length > 1 && (
          <Select
            label="Metric"
            value={metric || result.metric}
            choices={metrics.map((m) => ({ id: m.name, text: m.title ?? m.name }))}
            onChange={setMetric}
          />
        )}
        {links.length > 0 && (
          <button type="button" class="button quiet" title="Show all records again" onClick={clear}>
            Let go of {links.length === 1 ? "the choice" : "all choices"}
          </button>
        )}
      </Toolbar>
      <p class="correlate-head">
        <b>
          {result.viewTotal.value === result.total.value
            ? result.total.text
            : `${result.viewTotal.text} of ${result.total.text}`}{" "}
          {shown(result.metric)}.
        </b>{" "}
        {shown(result.verdict)}
      </p>
      <div class="panes" style={{ gridTemplateColumns: `repeat(${result.roles.length}, minmax(0, 1fr))` }}>
        {result.roles.map((role) => (
          <RolePane
            key={role.name}
            role={role}
            open={roles.get(role.uri)}
            text={specText(
              spec(
                links.filter((filter) => filter.linked !== role.name),
                "topDown",
              ),
            )}
            active={role.name === active}
            onUse={() => setActive(role.name)}
            chosen={links.find((filter) => filter.linked === role.name)?.frames ?? []}
            onChoose={(frames) => link(role.name, frames)}
          />
        ))}
      </div>
      <Pairs result={result} left={sides.left ?? result.left} right={sides.right ?? result.right} onSides={setSides} />
    </div>
  );
}

function RolePane(props: {
  readonly role: CorrelateRole;
  readonly open: OpenRole | undefined;
  readonly text: string;
  readonly active: boolean;
  readonly onUse: () => void;
  /** Names from below the root. */
  readonly chosen: readonly string[];
  readonly onChoose: (frames: readonly string[]) => void;
}) {
  const app = useApp();
  const { role, open } = props;
  const place = app.place.value;
  const title = shown(role.name);
  // The choice is what the pane is zoomed to: names come with the picture of it.
  const [zoom, setZoom] = useState<readonly string[]>(props.chosen.map(nameHash));
  const wanted = useRef(zoom);
  useEffect(() => {
    const hashes = props.chosen.map(nameHash);
    if (!sameNames(hashes, wanted.current)) setZoom((wanted.current = hashes));
  }, [props.chosen.join("\n")]);
  const revision = app.listed.value.find((one) => one.profile === open?.handle)?.revision ?? 1;
  const target = useMemo(
    () =>
      open === undefined
        ? undefined
        : {
            profile: open.handle,
            revision,
            spec: props.text,
            zoom,
            search: place.search,
            order: place.order,
            colorMetric: "",
            colorSpread: undefined,
            root: title,
          },
    [open, revision, props.text, zoom, place.search, place.order],
  );
  const arrived = (next: Layout) => {
    const names = namesOf(next, next.zoomed);
    if (sameNames(names.map(nameHash), wanted.current)) props.onChoose(names);
  };
  return (
    <section
      class={props.active ? "pane active" : "pane"}
      aria-label={title}
      onPointerDown={props.onUse}
      onFocusIn={props.onUse}
    >
      <h3 class="pane-title">
        {title}{" "}
        <span class="muted">
          {role.records.toLocaleString("en")} records in {role.contexts.toLocaleString("en")} places
          {props.chosen.length > 0 && (
            <>
              {" "}
              · <Name text={props.chosen.at(-1)!} /> is chosen
            </>
          )}
        </span>
      </h3>
      {target === undefined ? (
        <div class="stage">
          <div class="stage-message bones">Opening</div>
        </div>
      ) : (
        <Stage
          id={`role-${role.name}`}
          label={`${title}, ${target.spec}`}
          target={target}
          scheme={place.color === "name" ? "name" : "module"}
          upward={place.upward}
          hues={huesOf(app.profile.value?.uri ?? "")}
          keys={props.active}
          follows
          onZoom={(next) => {
            setZoom((wanted.current = next));
            if (next.length === 0) props.onChoose([]);
          }}
          onMenu={() => undefined}
          onLayout={arrived}
        />
      )}
    </section>
  );
}

function Side({ side }: { side: CorrelateSide }) {
  const app = useApp();
  const { uri, line, file } = side;
  const title = file === undefined ? undefined : `${shown(file)}${line === undefined ? "" : `:${line}`}`;
  if (uri === undefined)
    return (
      <span title={title}>
        <Name text={side.name} />
      </span>
    );
  const toSource = () => {
    if (app.home.showLine !== undefined) app.home.showLine(uri, line ?? 1);
    else app.update((state) => go(state, { view: "source", file: file ?? "", line: line ?? 0 }));
  };
  return (
    <button type="button" class="link" title={title} onClick={toSource}>
      <Name text={side.name} />
    </button>
  );
}

function Pairs(props: {
  readonly result: CorrelateResult;
  /** What is asked for: the answer is still that of others for a moment. */
  readonly left: string;
  readonly right: string;
  readonly onSides: (sides: { left: string; right: string }) => void;
}) {
  const { result } = props;
  const names = result.roles.map(({ name }) => ({ id: name, text: shown(name) }));
  const top = Math.max(1e-12, ...result.pairs.map((pair: CorrelatePair) => Math.abs(pair.amount.share ?? 0)));
  return (
    <section class="correlate-pairs">
      <div class="correlate-sides">
        <Select
          label="Pairs of"
          value={props.left}
          choices={names}
          onChange={(left) => props.onSides({ left, right: props.right })}
        />
        <Select
          label="and"
          value={props.right}
          choices={names}
          onChange={(right) => props.onSides({ left: props.left, right })}
        />
        <span class="muted">
          {result.pairCount.toLocaleString("en")} {result.pairCount === 1 ? "pair" : "pairs"}
          {result.pairCount > result.pairs.length && `, the first ${result.pairs.length} are listed`}
        </span>
      </div>
      <table class="plain correlate-table">
        <thead>
          <tr>
            <th class="number">{shown(result.metric)}</th>
            <th />
            <th>{shown(result.left)}</th>
            <th>{shown(result.right)}</th>
            <th>both called by</th>
          </tr>
        </thead>
        <tbody>
          {result.pairs.map((pair, i) => (
            <tr key={i}>
              <td class="number">{pair.amount.text}</td>
              <td class="number">
                <Share part={Math.abs(pair.amount.share ?? 0) / top} text={pair.amount.shareText ?? ""} />
              </td>
              <td>
                <Side side={pair.left} />
              </td>
              <td>
                <Side side={pair.right} />
              </td>
              <td>{pair.meet === undefined ? <span class="muted">nothing</span> : <Name text={pair.meet} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Of a profile that has such records: what they are, and the way to them. */
export function CorrelateCard() {
  const app = useApp();
  const profile = useProfile();
  const { value } = useAnswer(
    CorrelateRequest,
    profile === undefined || !app.can(CorrelateRequest.method)
      ? undefined
      : { profile: profile.handle, spec: "flat", limit: 0, panelId: "records" },
  );
  if (value === undefined || value.profile !== profile?.handle) return null;
  return (
    <section class="card">
      <h2>Records of several contexts</h2>
      <p>{shown(value.verdict)}</p>
      <ul class="metric-list">
        {value.roles.map((role) => (
          <li key={role.name}>
            <span>{shown(role.name)}</span> <b>{role.contexts.toLocaleString("en")} places</b>
          </li>
        ))}
      </ul>
      <button type="button" class="button" onClick={() => app.update((state) => go(state, { view: "correlate" }))}>
        <Icon name="panes" /> Show them side by side
      </button>
    </section>
  );
}
