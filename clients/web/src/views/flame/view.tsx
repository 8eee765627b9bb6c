// The flame graph with everything around it.
import { GranularitySelect } from "../../ui/granularity.js";
import { useSignal } from "@preact/signals";
import { useMemo, useRef, useState } from "preact/hooks";
import { type Filter, type ViewShape, MatchRequest } from "../../../../shared/ts/psp.js";
import type { OpenProfile, Selected } from "../../app.js";
import type { GroupHues, LegendRow, Paints } from "../../draw/colors.js";
import { namesOf, type Layout } from "../../draw/layout.js";
import { shown } from "../../draw/shown.js";
import { diffMetricOf, isAggregate, isDiff, metricWith } from "../../state/compared.js";
import { nameHash, schemeOf, specOf, SPREAD_SCHEMES, spreadSchemeOf, type ColorScheme } from "../../state/place.js";
import { specText } from "../../state/spec.js";
import { addFilter, go, setProven, setShape } from "../../state/state.js";
import { choicesOf } from "../../state/statistics.js";
import { FittedPath, Missing, Name, Notes, Segments, Select } from "../../ui/bits.js";
import { BoxMenu, type Opened } from "../../ui/boxmenu.js";
import { metricNoteOf, missingOf, ratiosOf, useApp, useProfile } from "../../ui/context.js";
import { Fetch } from "../../ui/fetch.js";
import { Toolbar } from "../../ui/toolbar.js";
import { useExport } from "../../ui/export.js";
import { Icon } from "../../ui/icons.js";
import { useKeys } from "../../ui/keys.js";
import { FunctionPicker } from "../../ui/picker.js";
import { useSearch } from "../../ui/search.js";
import { FormulaButton } from "../../ui/formula.js";
import { SidesLine } from "../../ui/sides.js";
import { showInTree } from "../tree/view.js";
import { Minimap } from "./minimap.js";
import { exportPng, exportSvg } from "./picture.js";
import { Panes } from "./panes.js";
import { Stage, type FrameInfo, type StageHandle } from "./stage.js";
import type { Target } from "./controller.js";
import { useTheme } from "../../ui/theme.js";

const SHAPES: readonly { id: ViewShape; text: string; title: string }[] = [
  { id: "topDown", text: "Top-down", title: "What calls is above what is called" },
  { id: "bottomUp", text: "Bottom-up", title: "Where values were measured first, who called it below" },
  { id: "callers", text: "Callers", title: "Who leads to one function" },
  { id: "callees", text: "Callees", title: "Where one function leads" },
];

const SCHEMES: readonly { id: ColorScheme; text: string }[] = [
  { id: "module", text: "by package" },
  { id: "name", text: "warm" },
  { id: "kind", text: "by kind" },
  { id: "work", text: "by kind of work" },
  { id: "source", text: "by source" },
  { id: "metric", text: "by metric" },
];

function schemesOf(profile: string | undefined): readonly { id: ColorScheme; text: string }[] {
  if (isDiff(profile)) return [{ id: "change", text: "by change" }, ...SCHEMES];
  return isAggregate(profile) ? [...SCHEMES, ...choicesOf(SPREAD_SCHEMES)] : SCHEMES;
}

/** One by formula that is not there yet, or not any more, colours nothing. */
const colorMetricOf = ({ metrics, derived, metric }: OpenProfile, name: string) =>
  [...metrics, ...derived].some((one) => one.name === name) ? name : metric;

let kept: { of: string; hues: GroupHues } = { of: "", hues: new Map() };

/** Colours of packages, the same in all views of a profile. */
export function huesOf(profile: string): GroupHues {
  if (kept.of !== profile) kept = { of: profile, hues: new Map() };
  return kept.hues;
}

export function FlameView() {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const handle = useRef<StageHandle | undefined>(undefined);
  const menu = useSignal<Opened | undefined>(undefined);
  const frame = useSignal<FrameInfo | undefined>(undefined);
  const [picking, setPicking] = useState<"callers" | "callees" | undefined>(undefined);
  const [picture, setPicture] = useState<{ layout: Layout; paints: Paints } | undefined>(undefined);
  const search = useSearch();
  const hues = huesOf(profile?.uri ?? "");

  const scheme = schemeOf(place);
  const schemes = schemesOf(place.profile);
  const focused = place.shape === "callers" || place.shape === "callees";
  const target = useMemo((): Target | undefined => {
    if (profile === undefined || (focused && place.focus.length === 0)) return undefined;
    return {
      profile: profile.handle,
      revision: profile.revision,
      spec: specText({ ...specOf(place), metric: place.metric || profile.metric }),
      zoom: place.zoom,
      search: place.search,
      order: place.order,
      colorMetric: place.color === "metric" ? colorMetricOf(profile, place.colorMetric) : "",
      colorSpread: spreadSchemeOf(place),
      work: scheme === "work",
      highlights: search.sets,
      root: focused ? place.focus.join(" > ") : "",
    };
  }, [profile, place, search.sets]);
  const sides = diffMetricOf(profile?.metrics ?? [], place.metric || (profile?.metric ?? ""));
  const inPanes = place.panes && sides !== undefined && isDiff(place.profile) && target !== undefined;
  const togglePanes = () => {
    if (!isDiff(app.place.peek().profile)) {
      app.say("Panes are those of a comparison: D compares this profile with another one");
      return;
    }
    app.update((state) => go(state, { panes: !state.place.panes }), false);
  };

  const cycle = () => {
    const at = schemes.findIndex(({ id }) => id === scheme);
    const next = schemes[(at + 1) % schemes.length]!;
    app.update((state) => go(state, { color: next.id }), false);
    app.say(`Colours ${next.text}`);
  };
  const step = async (direction: "next" | "previous") => {
    if (profile === undefined || target === undefined || place.search === "") return;
    if (!app.can(MatchRequest.method)) {
      stepShown(handle.current, direction);
      return;
    }
    const selected = app.selected.peek();
    try {
      const { match } = await app.client.request(MatchRequest, {
        profile: profile.handle,
        spec: target.spec,
        pattern: place.search,
        revision: profile.revision,
        direction,
        order: place.order,
        panelId: "match",
        ...(selected?.path !== undefined && selected.spec === picture?.layout.answer.spec
          ? { from: [...selected.path] }
          : {}),
      });
      if (match === undefined) {
        app.say("Nothing matches");
        return;
      }
      if (match.wrapped) app.spoken.value = "from the beginning again";
      await showMatch(match.path, match.name, match.total.text);
    } catch (error) {
      const text = app.explain(error);
      if (text !== undefined) app.say(text, "error");
    }
  };
  // Zooms only as far as the match needs to be seen.
  const showMatch = async (path: readonly number[], name: string, text: string) => {
    const stage = handle.current;
    const layout = stage?.controller.layout;
    if (stage === undefined || layout === undefined) return;
    const reached = await stage.controller.reach(path);
    if (reached === undefined) {
      stage.select(path);
      return;
    }
    app.select({ name, frames: reached.frames, spec: layout.answer.spec, path: [...path], text });
    app.update((state) => go(state, { zoom: reached.zoom }));
  };

  useExport({
    svg: () => exportSvg(app, handle.current),
    png: () => exportPng(app, handle.current),
  });
  useKeys({
    title: "The view",
    keys: [
      {
        keys: ["b"],
        text: "bottom-up and back",
        run: () => app.update((s) => setShape(s, s.place.shape === "bottomUp" ? "topDown" : "bottomUp")),
      },
      { keys: ["n"], text: "next match", run: () => void step("next") },
      { keys: ["N"], text: "previous match", run: () => void step("previous") },
      { keys: ["s"], text: "next colour scheme", run: cycle },
      { keys: ["a"], text: "of a comparison: before, after and difference side by side", run: togglePanes },
      {
        keys: ["i"],
        text: "flames up, icicles down",
        run: () => app.update((s) => go(s, { upward: !s.place.upward }), false),
      },
      {
        keys: ["o"],
        text: "siblings by name or by weight",
        run: () => app.update((s) => go(s, { order: s.place.order === "name" ? "weight" : "name" }), false),
      },
    ],
  });
  search.steps.current = (direction) => void step(direction);

  const choose = (shape: ViewShape) => {
    if (shape === "callers" || shape === "callees") {
      const name = focused ? place.focus : app.selected.peek()?.name === undefined ? [] : [app.selected.peek()!.name];
      if (name.length === 0) setPicking(shape === "callers" ? "callers" : "callees");
      else app.update((state) => setShape(state, shape, name));
    } else app.update((state) => setShape(state, shape));
  };

  const metrics = profile?.metrics ?? [];
  const answer = picture?.layout.answer;
  return (
    <div class="view flame">
      <SidesLine sides={answer?.sides} widths={!inPanes} />
      <Toolbar>
        <Segments label="Shape of the view" value={place.shape} choices={SHAPES} onChange={choose} />
        <GranularitySelect app={app} />
        <Select
          label="Colours"
          value={scheme}
          choices={schemes}
          onChange={(color) => app.update((state) => go(state, { color }), false)}
        />
        {place.color === "metric" && (
          <>
            <Select
              label="of"
              value={place.colorMetric || (profile?.metric ?? "")}
              choices={[
                ...metrics.map((m) => ({ id: m.name, text: m.title ?? m.name })),
                ...ratiosOf(profile).map((m) => ({ id: m.name, text: m.name })),
              ]}
              onChange={(colorMetric) => app.update((state) => go(state, { colorMetric }), false)}
            />
            <FormulaButton small onAdded={(colorMetric) => app.update((state) => go(state, { colorMetric }), false)} />
          </>
        )}
        <Select
          label="Order"
          value={place.order}
          choices={[
            { id: "name", text: "by name" },
            { id: "weight", text: "by weight" },
          ]}
          onChange={(order) => app.update((state) => go(state, { order }), false)}
        />
        <button
          type="button"
          class="button quiet"
          aria-pressed={place.upward}
          title="Root at the bottom (i)"
          onClick={() => app.update((state) => go(state, { upward: !state.place.upward }), false)}
        >
          <Icon name="flip" /> {place.upward ? "Flames" : "Icicles"}
        </button>
        {isDiff(place.profile) && (
          <button
            type="button"
            class="button quiet"
            aria-pressed={place.panes}
            title="Before, after and the difference side by side (a)"
            onClick={togglePanes}
          >
            <Icon name="panes" /> Panes
          </button>
        )}
        {(place.proven || answer?.estimated !== undefined) && (
          <button
            type="button"
            class="button quiet"
            aria-pressed={place.proven}
            title="The file has calls, not stacks: show a function only where the calls prove that it ran"
            onClick={() => app.update((state) => setProven(state, !state.place.proven), false)}
          >
            Proven paths
          </button>
        )}
      </Toolbar>
      {focused && (
        <div class="focus-line">
          <span class="muted">{place.shape === "callers" ? "Who calls" : "What is called by"}</span>
          {place.focus.map((name, i) => (
            <span key={i} class="focus-name">
              {i > 0 && <Icon name="right" size={12} />}
              <Name text={name} />
            </span>
          ))}
          <button
            type="button"
            class="button quiet"
            onClick={() => setPicking(place.shape === "callers" ? "callers" : "callees")}
          >
            Choose another
          </button>
        </div>
      )}
      <Crumbs layout={picture?.layout} />
      <Notes
        texts={[
          metricNoteOf(profile, place.metric),
          ...(answer?.sides?.warnings ?? []),
          ...(answer?.warnings ?? []),
          answer?.estimated,
          answer?.excluded?.text,
          answer?.truncated?.text,
        ]}
      />
      <Missing parts={missingOf(profile?.summary, "symbols")} />
      <Fetch wanted={missingOf(profile?.summary, "symbols").length > 0} />
      {target === undefined ? (
        <div class="stage">
          <div class="stage-message">Choose a function to see who leads to it, or where it leads.</div>
        </div>
      ) : inPanes ? (
        <Panes
          targetOf={(width) => ({
            ...target,
            spec: specText({ ...specOf(place), metric: metricWith(sides, width) }),
          })}
          scheme={scheme}
          upward={place.upward}
          marks={search.marks}
          hues={hues}
          handle={handle}
          onZoom={(zoom, asStep) => app.update((state) => go(state, { zoom }), asStep)}
          onMenu={(box, at) => (menu.value = { box, at })}
          onList={(names) => showInTree(app, names)}
          onPicture={(layout, paints) => {
            setPicture({ layout, paints });
            search.hidden.value = layout.hidden;
          }}
        />
      ) : (
        <>
          <Minimap target={target} scheme={scheme} hues={hues} frame={frame} upward={place.upward} stage={handle} />
          <Stage
            id="flame"
            label={`Flame graph, ${target.spec}`}
            target={target}
            scheme={scheme}
            upward={place.upward}
            marks={search.marks}
            hues={hues}
            handle={handle}
            onZoom={(zoom, asStep) => app.update((state) => go(state, { zoom }), asStep)}
            onMenu={(box, at) => (menu.value = { box, at })}
            onList={(names) => showInTree(app, names)}
            onLayout={(layout, paints) => {
              setPicture({ layout, paints });
              search.hidden.value = layout.hidden;
            }}
            onCounted={(layout) => (search.hidden.value = layout.hidden)}
            onFrame={(next) => (frame.value = next)}
          />
        </>
      )}
      <Legend paints={picture?.paints} searching={place.search !== ""} />
      {menu.value !== undefined && (
        <BoxMenu
          opened={menu.value}
          extra={[
            { text: "Zoom to it", keys: "Enter", run: () => zoomToBox(menu.peek()?.box) },
            {
              text: "Colours",
              note: schemes.find(({ id }) => id === scheme)?.text ?? "",
              keys: "s",
              run: cycle,
            },
          ]}
          onClose={() => (menu.value = undefined)}
        />
      )}
      {picking !== undefined && (
        <FunctionPicker
          title={picking === "callers" ? "Callers of which function?" : "Callees of which function?"}
          onPick={(name) => {
            setPicking(undefined);
            app.update((state) => setShape(state, picking, [name]));
          }}
          onClose={() => setPicking(undefined)}
        />
      )}
    </div>
  );

  function zoomToBox(box: Selected | undefined): void {
    if (box === undefined) return;
    app.update((state) => go(state, { zoom: box.frames.map(nameHash) }));
  }
}

// Without view/match: the matches that are on the screen, from left to right, row by row.
function stepShown(stage: StageHandle | undefined, direction: "next" | "previous"): void {
  const layout = stage?.controller.layout;
  if (stage === undefined || layout === undefined) return;
  stage.stepMatch(direction);
}

function Crumbs({ layout }: { layout: Layout | undefined }) {
  const app = useApp();
  const { zoom } = app.place.value;
  // Always there: a click must not move the picture.
  const names = layout === undefined || zoom.length === 0 ? [] : namesOf(layout, layout.zoomed);
  // Far from the root the first and the last few say where one is.
  const hidden = names.length > 6 ? names.length - 5 : 0;
  const to = (length: number) => app.update((state) => go(state, { zoom: names.slice(0, length).map(nameHash) }));
  return (
    <nav class="crumbs" aria-label="Zoomed to">
      <button
        type="button"
        aria-current={names.length === 0 ? "location" : undefined}
        onClick={() => to(0)}
        title="The whole graph (0)"
      >
        all
      </button>
      {names.map((name, i) => {
        if (hidden > 0 && i > 0 && i <= hidden)
          return i === 1 ? (
            <span
              key={i}
              class="muted"
              title={names
                .slice(1, hidden + 1)
                .map(shown)
                .join("\n")}
            >
              … {hidden} …
            </span>
          ) : null;
        const last = i === names.length - 1;
        return (
          <span key={i} class="crumb">
            <Icon name="right" size={12} />
            <button
              type="button"
              aria-current={last ? "location" : undefined}
              title={shown(name)}
              onClick={() => to(i + 1)}
            >
              <Name text={layout!.labels[layout!.name[i + 1]!] ?? name} />
            </button>
          </span>
        );
      })}
      <span class="muted crumb-total">{layout?.text[layout.zoomed]}</span>
    </nav>
  );
}

const LEGEND_ROWS = 12;

function Legend({ paints, searching }: { paints: Paints | undefined; searching: boolean }) {
  const app = useApp();
  const place = app.place.value;
  const { forced } = useTheme();
  if (paints === undefined || paints.legend.length === 0 || searching || forced) return null;
  const ofPackages = place.color === "module" && place.granularity === "function";
  const keeps = (row: LegendRow): Filter | undefined =>
    row.keeps ?? (ofPackages ? { op: "keep", by: "package", pattern: row.text } : undefined);
  return (
    <div class="legend" aria-label="What the colours mean" role="group">
      {paints.legend.slice(0, LEGEND_ROWS).map((row) => (
        <span key={row.text} class="legend-row">
          <i
            class={row.edged === true ? "edged" : row.bar === true ? "bar" : undefined}
            style={{ background: row.color }}
          />
          {keeps(row) !== undefined ? (
            <button
              type="button"
              class="legend-pick"
              title={`Keep only stacks with ${row.text}`}
              onClick={() => app.update((state) => addFilter(state, keeps(row)!))}
            >
              <FittedPath class="" text={row.text} />
            </button>
          ) : (
            <FittedPath class="" text={row.text} />
          )}
        </span>
      ))}
      {paints.legend.length > LEGEND_ROWS && <span>{paints.legend.length - LEGEND_ROWS} more</span>}
    </div>
  );
}
