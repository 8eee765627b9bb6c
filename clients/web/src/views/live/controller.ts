// The picture of the city: one place for camera, easing, what is under the pointer and which names stand where. Draws only
// when something has changed.
import { css, changeTone, type Mode } from "../../draw/colors.js";
import { prepare, type Screen } from "../../draw/canvas.js";
import { boxSetOf, ease, lookAt, type BoxSet } from "./boxes.js";
import { shareText, shortName, standingRows, versionMark, type City, type Standing, type Versions } from "./city.js";
import { chosenLabels, MOST_LABELS, type Label } from "./labels.js";
import { drawMap, fromMap, mapHome, mapKept, mapScaled, toMap, type MapAt } from "./map.js";
import {
  above,
  between,
  groundAt,
  home,
  lensOf,
  moved,
  nearTo,
  project,
  rayAt,
  scaled,
  turned,
  type Lens,
  type Orbit,
} from "./orbit.js";
import { heatRamp, paintsOf, HEAT_STEPS } from "./paints.js";
import { hitInCity, hitOnMap, NOTHING, placesOf, type Hit, type Places } from "./pick.js";
import { extentOf, fullHeight, topOfBlock, topOfDistrict } from "./scale.js";
import type { CityScene } from "./scene.js";

export type Kind = "city" | "map";

export interface Shown {
  readonly city: City;
  readonly standing: Standing;
  /** Heights are compared: colours say what became of them. */
  readonly compared: boolean;
  /** Before and after beside each other. */
  readonly pair: boolean;
  readonly versions: Versions | undefined;
  readonly matches: ReadonlySet<number> | undefined;
}

/** From where the city is seen, and which part of the map. */
export interface SeenFrom {
  readonly orbit: Orbit | undefined;
  readonly mapAt: MapAt | undefined;
}

export interface Hooks {
  readonly onHover: (hit: Hit, at: { readonly x: number; readonly y: number }) => void;
  readonly onChoose: (row: number) => void;
  /** Pictures take too long here. */
  readonly onSlow: (renderer: string) => void;
}

const MOST_NAME = 24;

/** A name may be cut, what it stands at may not. */
function plotText({ city, standing, versions }: Shown, row: number): string {
  const name = shortName(city, row);
  const mark = versionMark(versions, row);
  const gone = versions?.gone[row] === 1;
  const share = gone ? `was ${shareText(standing.before[row]!)}` : shareText(standing.height[row]!);
  return `${mark}${name.length > MOST_NAME ? `${name.slice(0, MOST_NAME - 1)}…` : name} ${share}`;
}

const FLIGHT_MS = 450;
/** A picture that takes longer is slow; so many in a row are too many. */
const SLOW_MS = 220;
const HIDDEN_MS = 2000;
const SLOW_TIMES = 10;

export class CityStage {
  private scene: CityScene | undefined;
  private kind: Kind = "map";
  private shown: Shown | undefined;
  private places: Places | undefined;
  private set: BoxSet | undefined;
  private setBefore: BoxSet | undefined;
  private orbit: Orbit | undefined;
  private flight: { readonly from: Orbit; readonly to: Orbit; readonly start: number } | undefined;
  private mapAt: MapAt | undefined;
  private screen: Screen = { width: 1, height: 1, ratio: 1 };
  private mode: Mode = "light";
  private still = false;
  private asked = 0;
  private askedAt = 0;
  private last = 0;
  private slow = 0;
  private chosen = -1;
  private hovered = -1;
  private readonly spans: HTMLSpanElement[] = [];
  private readonly measure = document.createElement("canvas").getContext("2d");
  private readonly widths = new Map<string, number>();
  private font = "sans-serif";

  constructor(
    private readonly flat: HTMLCanvasElement,
    private readonly labels: HTMLElement,
    private readonly hooks: Hooks,
  ) {}

  /** For tests and for who wants to know: who draws, in how many calls. */
  get info() {
    return this.scene?.info;
  }

  get seenFrom(): SeenFrom {
    return { orbit: this.flight?.to ?? this.orbit, mapAt: this.mapAt };
  }

  lookFrom({ orbit, mapAt }: SeenFrom): void {
    this.flight = undefined;
    this.orbit = orbit;
    this.mapAt = mapAt;
  }

  useScene(scene: CityScene | undefined): void {
    this.scene = scene;
    if (scene !== undefined) {
      this.paint();
      scene.setSize(this.screen.width, this.screen.height, this.screen.ratio);
      if (this.shown !== undefined) scene.setCity(this.shown.city);
    }
    this.draw();
  }

  setKind(kind: Kind): void {
    this.kind = kind;
    this.slow = 0;
    this.draw();
  }

  setTheme(mode: Mode, font: string, still: boolean): void {
    this.mode = mode;
    this.font = font;
    this.still = still;
    this.widths.clear();
    this.paint();
    this.draw();
  }

  private ramp() {
    if (this.shown?.compared !== true) return heatRamp(this.mode);
    return Array.from({ length: HEAT_STEPS + 1 }, (_, i) => changeTone(this.mode, (i / HEAT_STEPS) * 2 - 1));
  }

  private paint(): void {
    this.scene?.setColors({ paints: paintsOf(this.mode), ramp: this.ramp(), dark: this.mode === "dark" });
  }

  setScreen(screen: Screen): void {
    this.screen = screen;
    this.scene?.setSize(screen.width, screen.height, screen.ratio);
    this.draw();
  }

  show(shown: Shown): void {
    const old = this.shown;
    this.shown = shown;
    if (old?.city !== shown.city) {
      this.places = placesOf(shown.city);
      this.scene?.setCity(shown.city);
      if (old !== undefined && (shown.city.width > 1.6 * old.city.width || shown.city.depth > 1.6 * old.city.depth))
        this.orbit = this.mapAt = undefined;
      this.set = this.setBefore = undefined;
      if (this.hovered >= shown.city.plots.count) this.hovered = -1;
    }
    if (old?.compared !== shown.compared) this.paint();
    // Half the width is another picture.
    if (old?.pair !== shown.pair) this.orbit = undefined;
    this.refresh();
  }

  choose(row: number): void {
    this.chosen = row;
    this.refresh();
  }

  private refresh(): void {
    const { shown } = this;
    if (shown === undefined) return;
    const { city, standing } = shown;
    const rows = standingRows(
      city,
      standing,
      [this.chosen, this.hovered].filter((row) => row >= 0),
      shown.versions,
    );
    const renew = (set: BoxSet | undefined) =>
      set?.rows.length === rows.length && rows.every((row, i) => row === set.rows[i]) ? set : boxSetOf(city, rows, set);
    this.set = renew(this.set);
    const look = {
      chosen: this.chosen,
      hovered: this.hovered,
      matches: shown.matches,
      colorBy: shown.compared ? ("change" as const) : ("heat" as const),
      versions: shown.versions,
    };
    lookAt(city, standing, this.set, { ...look, ofBefore: false });
    if (shown.pair) {
      this.setBefore = renew(this.setBefore);
      lookAt(city, standing, this.setBefore, { ...look, ofBefore: true });
    } else this.setBefore = undefined;
    this.draw();
  }

  /** At the next frame of the browser. */
  draw(): void {
    if (this.asked !== 0) return;
    this.askedAt = performance.now();
    this.asked = requestAnimationFrame((now) => this.frame(now));
  }

  stop(): void {
    cancelAnimationFrame(this.asked);
    this.asked = 0;
    this.scene?.dispose();
    this.scene = undefined;
  }

  private get aspect(): number {
    const panes = this.setBefore === undefined ? 1 : 2;
    return Math.max(0.1, this.screen.width / panes / Math.max(1, this.screen.height));
  }

  private frame(now: number): void {
    this.asked = 0;
    const { shown, set } = this;
    if (shown === undefined || set === undefined) return;
    const since = this.last === 0 ? 16 : now - this.last;
    this.last = now;
    const inCity = this.kind === "city" && this.scene !== undefined;
    // Where the processor draws, what would ease would only come later.
    const jump = this.still || !inCity || this.scene?.info.software === true;
    let more = ease(set, jump ? Infinity : Math.min(50, since));
    if (this.setBefore !== undefined) more = ease(this.setBefore, jump ? Infinity : Math.min(50, since)) || more;
    if (inCity) {
      const lens = this.lens(now);
      if (this.flight !== undefined) more = true;
      this.watch(performance.now() - this.askedAt);
      this.scene?.draw(lens, this.setBefore === undefined ? [set] : [this.setBefore, set]);
      this.placeLabels(this.labelsOfCity(shown, lens));
    } else {
      const context = prepare(this.flat, this.screen, { alpha: false });
      if (context === undefined) return;
      const at = (this.mapAt ??= mapHome(shown.city, this.screen));
      const colors = {
        paints: paintsOf(this.mode),
        ramp: this.ramp(),
        mark: this.mode === "dark" ? "#eef0f6" : "#1d1f28",
      };
      drawMap(context, shown.city, set, set.rows, at, this.screen, colors);
      this.placeLabels(this.labelsOfMap(shown, at));
    }
    if (more) this.draw();
    else this.last = 0;
  }

  /** Pictures that come late, as the one before is still being drawn. What is later still was not looked at. */
  private watch(late: number): void {
    if (late < SLOW_MS || late > HIDDEN_MS) this.slow = 0;
    else if (++this.slow === SLOW_TIMES) this.hooks.onSlow(this.scene?.info.renderer ?? "");
  }

  private lens(now: number): Lens {
    const city = this.shown!.city;
    this.orbit ??= home(extentOf(city), this.aspect);
    if (this.flight !== undefined) {
      const t = (now - this.flight.start) / FLIGHT_MS;
      this.orbit = between(this.flight.from, this.flight.to, t);
      if (t >= 1) this.flight = undefined;
    }
    return lensOf(this.orbit, this.aspect);
  }

  private fly(to: Orbit): void {
    const from = this.orbit;
    if (this.still || from === undefined || this.scene?.info.software === true) {
      this.flight = undefined;
      this.orbit = to;
    } else this.flight = { from, to, start: performance.now() };
    this.draw();
  }

  private get extent() {
    return extentOf(this.shown!.city);
  }

  private get target(): Orbit {
    return this.flight?.to ?? this.orbit ?? home(this.extent, this.aspect);
  }

  // Moves; all of them work on the map as well.

  home(): void {
    if (this.shown === undefined) return;
    this.mapAt = undefined;
    this.fly(home(this.extent, this.aspect));
  }

  fromAbove(): void {
    if (this.shown !== undefined) this.fly(above(this.extent, this.aspect));
  }

  turn(yaw: number, tilt: number): void {
    if (this.shown === undefined || this.kind !== "city") return;
    this.flight = undefined;
    this.orbit = turned(this.target, yaw, tilt, this.extent);
    this.draw();
  }

  /** By parts of the picture's height. */
  move(right: number, up: number): void {
    if (this.shown === undefined) return;
    const { city } = this.shown;
    const at = this.mapAt ?? mapHome(city, this.screen);
    const step = this.screen.height / at.scale;
    if (this.kind === "map")
      this.mapAt = mapKept({ ...at, x: at.x + right * step, y: at.y + up * step }, city, this.screen);
    else {
      const orbit = this.target;
      this.flight = undefined;
      this.orbit = moved(orbit, right, up, this.extent);
    }
    this.draw();
  }

  /** Closer or farther, in the middle or at a point of the picture. */
  scale(factor: number, at?: { readonly x: number; readonly y: number }): void {
    if (this.shown === undefined) return;
    const { city } = this.shown;
    if (this.kind === "map") {
      const { x, y } = at ?? { x: this.screen.width / 2, y: this.screen.height / 2 };
      this.mapAt = mapScaled(this.mapAt ?? mapHome(city, this.screen), 1 / factor, city, this.screen, x, y);
    } else {
      const orbit = this.target;
      this.flight = undefined;
      const ground = at === undefined ? undefined : groundAt(this.rayOf(at, orbit));
      this.orbit = scaled(orbit, factor, this.extent, ground);
    }
    this.draw();
  }

  goTo(row: number): void {
    if (this.shown === undefined || row < 0) return;
    const { city } = this.shown;
    const [x, y] = [city.plots.x[row]! + city.side / 2, city.plots.y[row]! + city.side / 2];
    // Never farther away than it was.
    const { scale } = this.mapAt ?? mapHome(city, this.screen);
    this.mapAt = mapKept({ x, y, scale: Math.max(14, scale) }, city, this.screen);
    this.fly(nearTo(this.target, x, y, Math.min(this.target.distance, 26 + fullHeight(city) * 1.4), this.extent));
  }

  private rayOf({ x, y }: { readonly x: number; readonly y: number }, orbit: Orbit) {
    const pane = this.setBefore === undefined ? this.screen.width : this.screen.width / 2;
    const inPane = x % Math.max(1, pane);
    return rayAt(lensOf(orbit, this.aspect), (inPane / pane) * 2 - 1, 1 - (y / this.screen.height) * 2);
  }

  hitAt(at: { readonly x: number; readonly y: number }): Hit {
    const { shown, places, set } = this;
    if (shown === undefined || places === undefined || set === undefined) return NOTHING;
    if (this.kind === "map" || this.scene === undefined) {
      const [x, y] = fromMap(this.mapAt ?? mapHome(shown.city, this.screen), this.screen, at.x, at.y);
      return hitOnMap(shown.city, places, x, y);
    }
    return hitInCity(shown.city, places, set.rows, set.height, this.rayOf(at, this.orbit ?? this.target));
  }

  hover(at: { readonly x: number; readonly y: number } | undefined): void {
    const hit = at === undefined ? NOTHING : this.hitAt(at);
    if (hit.plot !== this.hovered) {
      this.hovered = hit.plot;
      this.refresh();
    }
    this.hooks.onHover(hit, at ?? { x: 0, y: 0 });
  }

  click(at: { readonly x: number; readonly y: number }): void {
    this.hooks.onChoose(this.hitAt(at).plot);
  }

  /** Where a plot is on the picture now; nothing where it cannot be seen. */
  whereIs(row: number): { readonly x: number; readonly y: number } | undefined {
    const { shown, set } = this;
    if (shown === undefined || set === undefined) return undefined;
    const { city } = shown;
    const [x, y] = [city.plots.x[row]! + city.side / 2, city.plots.y[row]! + city.side / 2];
    if (this.kind === "map") {
      const [px, py] = toMap(this.mapAt ?? mapHome(city, this.screen), this.screen, x, y);
      return { x: px, y: py };
    }
    const at = set.rows.indexOf(row);
    const z = topOfBlock(city.blocks.level[city.plots.block[row]!]!) + (at < 0 ? 0 : set.height[at]! * 0.9);
    const [sx, sy, depth] = project(lensOf(this.orbit ?? this.target, this.aspect), [x, y, z]);
    if (depth <= 0) return undefined;
    return { x: ((sx + 1) / 2) * this.screen.width, y: ((1 - sy) / 2) * this.screen.height };
  }

  // Names

  private widthOf = (label: Label): number => {
    const font = `${label.kind === "district" ? "600 12px" : label.kind === "block" ? "11px" : "600 11px"} ${this.font}`;
    const key = `${font} ${label.text}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      if (this.measure !== null) this.measure.font = font;
      width = this.measure?.measureText(label.text).width ?? label.text.length * 7;
      if (this.widths.size > 5000) this.widths.clear();
      this.widths.set(key, width);
    }
    return width;
  };

  /** The highest, by row, as many as names can be of. */
  private highest(
    { standing, versions }: Shown,
    set: BoxSet,
    most: number,
  ): { readonly row: number; readonly i: number }[] {
    const all: { row: number; i: number; height: number }[] = [];
    for (let i = 0; i < set.count; ++i) {
      const row = set.rows[i]!;
      const stands = versions?.gone[row] === 1 ? standing.before[row]! : standing.height[row]!;
      const height = Math.max(stands, row === this.chosen ? 65536 : 0);
      // Less than a hundredth of the window is not what one looks for.
      if (height > 655) all.push({ row, i, height });
    }
    return all.sort((a, b) => b.height - a.height || a.row - b.row).slice(0, most);
  }

  private labelsOfCity(shown: Shown, lens: Lens): Label[] {
    const { city } = shown;
    const set = this.set!;
    const { width, height } = this.screen;
    const pane = this.setBefore === undefined ? width : width / 2;
    const shift = width - pane;
    const out: Label[] = [];
    const at = (x: number, y: number, z: number) => {
      const [sx, sy, depth] = project(lens, [x, y, z]);
      return depth <= 0 ? undefined : { x: shift + ((sx + 1) / 2) * pane, y: ((1 - sy) / 2) * height, depth };
    };
    const pixels = (depth: number) => height / (2 * lens.tangent * depth);
    for (const { row, i } of this.highest(shown, set, 16)) {
      const block = city.plots.block[row]!;
      const base = block < 0 ? 0 : topOfBlock(city.blocks.level[block]!);
      const point = at(city.plots.x[row]! + city.side / 2, city.plots.y[row]! + city.side / 2, base + set.height[i]!);
      if (point !== undefined)
        out.push({
          key: `p${row}`,
          text: plotText(shown, row),
          x: point.x,
          y: point.y - 4,
          kind: "plot",
          weight: (row === this.chosen ? 1e9 : 1e6) + shown.standing.height[row]!,
        });
    }
    const { districts, blocks } = city;
    for (let row = 0; row < districts.count; ++row) {
      if (districts.label[row] === "") continue;
      const z = topOfDistrict(districts.level[row]!);
      // At the edge that is nearest to the eye, where nothing stands before it.
      const point = at(districts.x[row]! + districts.w[row]! / 2, districts.y[row]!, z);
      if (point === undefined) continue;
      const wide = districts.w[row]! * pixels(point.depth);
      if (wide > 56)
        out.push({
          key: `d${row}`,
          text: districts.label[row]!,
          x: point.x,
          y: point.y + 6,
          kind: "district",
          weight: wide - 12 * districts.level[row]!,
        });
    }
    for (let row = 0; row < blocks.count; ++row) {
      if (blocks.label[row] === "") continue;
      const point = at(
        blocks.x[row]! + blocks.w[row]! / 2,
        blocks.y[row]! + blocks.h[row]! / 2,
        topOfBlock(blocks.level[row]!),
      );
      if (point === undefined) continue;
      const wide = blocks.w[row]! * pixels(point.depth);
      if (wide > 74)
        out.push({
          key: `b${row}`,
          text: blocks.label[row]!,
          x: point.x,
          y: point.y + 8,
          kind: "block",
          weight: wide / 4,
        });
    }
    return out;
  }

  private labelsOfMap(shown: Shown, at: MapAt): Label[] {
    const { city } = shown;
    const out: Label[] = [];
    for (const { row } of this.highest(shown, this.set!, 16)) {
      const [x, y] = toMap(at, this.screen, city.plots.x[row]! + city.side / 2, city.plots.y[row]! + city.side);
      out.push({
        key: `p${row}`,
        text: plotText(shown, row),
        x,
        y: y - 3,
        kind: "plot",
        weight: (row === this.chosen ? 1e9 : 1e6) + shown.standing.height[row]!,
      });
    }
    const { districts, blocks } = city;
    const name = (rects: typeof districts | typeof blocks, row: number, kind: "district" | "block") => {
      const wide = rects.w[row]! * at.scale;
      if (rects.label[row] === "" || wide < 60) return;
      const [x, y] = toMap(at, this.screen, rects.x[row]! + rects.w[row]! / 2, rects.y[row]! + rects.h[row]!);
      // Inside, along its far edge; a block's name lies on its plots, so only where they are large.
      const label: Label = {
        key: `${kind[0]!}${row}`,
        text: rects.label[row]!,
        x,
        y: y + (kind === "district" ? 15 : 18),
        kind,
        weight: kind === "district" ? wide : wide / 4,
      };
      if (this.widthOf(label) + 16 < wide) out.push(label);
    };
    for (let row = 0; row < districts.count; ++row) name(districts, row, "district");
    for (let row = 0; row < blocks.count; ++row) name(blocks, row, "block");
    return out;
  }

  private placeLabels(all: readonly Label[]): void {
    const { width, height } = this.screen;
    const chosen = chosenLabels(all, this.widthOf, width, height, MOST_LABELS);
    while (this.spans.length < chosen.length) {
      const span = document.createElement("span");
      this.labels.append(span);
      this.spans.push(span);
    }
    this.spans.forEach((span, i) => {
      const label = chosen[i];
      span.hidden = label === undefined;
      if (label === undefined) return;
      if (span.textContent !== label.text) span.textContent = label.text;
      const kind = `city-label ${label.kind}`;
      if (span.className !== kind) span.className = kind;
      span.style.transform = `translate(${Math.round(label.x)}px, ${Math.round(label.y)}px) translate(-50%, -100%)`;
    });
  }

  /** Colours for what is beside the picture. */
  heat(part: number): string {
    return css(this.ramp()[Math.round(Math.min(1, Math.max(0, part)) * HEAT_STEPS)]!);
  }
}
