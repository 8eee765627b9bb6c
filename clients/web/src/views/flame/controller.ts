// What a flame graph shows and how it moves, without a page: asks for layouts, keeps the camera, joins pictures.
import type {
  BoxNames,
  BoxOrder,
  FlameGraphParams,
  FlameGraphResult,
  HiddenMatchesResult,
  NamedSet,
  SpreadColor,
} from "../../../../shared/ts/psp.js";
import { between, easeOut, held, isWhole, panBy, toUnit, whole, zoomAt, type Camera } from "../../draw/camera.js";
import { childrenOf, findPath, isRemainder, layoutOf, namesOf, pathOf, type Layout } from "../../draw/layout.js";
import { along, motionBetween, type Motion, type Placed } from "../../draw/motion.js";
import { nameHash } from "../../state/place.js";

/** What is to be seen. */
export interface Target {
  readonly profile: string;
  readonly revision: number;
  readonly spec: string;
  /** Hashes of names, root first. */
  readonly zoom: readonly string[];
  readonly search: string;
  readonly order: BoxOrder;
  readonly colorMetric: string;
  /** Of an aggregate: boxes are coloured by how uneven its profiles are. */
  readonly colorSpread?: SpreadColor | undefined;
  /** Boxes say which kind of work they are. */
  readonly work?: boolean;
  /** Boxes say which of these sets they are of. */
  readonly highlights?: readonly NamedSet[];
  /** What the first box stands for: "" is all. */
  readonly root: string;
}

export interface Host {
  ask(params: FlameGraphParams, signal: AbortSignal): Promise<FlameGraphResult>;
  /** What matches beyond the boxes of a picture with these parameters. Never fails: undefined is not known. */
  count(params: FlameGraphParams, signal: AbortSignal): Promise<HiddenMatchesResult | undefined>;
  now(): number;
  /** A frame is to be drawn. */
  invalidate(): void;
  /** The picture is another one. */
  arrived(layout: Layout): void;
  /** What the picture hides of the search is known by now. */
  counted(layout: Layout): void;
  failed(error: unknown): void;
  /** The zoomed box is not there any more; its nearest ancestor is shown. */
  fellBack(zoom: readonly string[], name: string): void;
  /** The zoom changed without a step: by wheel or pinch. */
  rezoomed(zoom: readonly string[]): void;
  readonly panel: string;
  motion(): boolean;
}

export interface Reached {
  readonly zoom: readonly string[];
  readonly frames: readonly string[];
}

const ZOOM_MS = 160;
const REST_MS = 70;
/** So long an answer that is on its way is waited for before the next question: two at once take each other's time. */
const TURN_MS = 80;
const MAX_BOXES = 4000;
/** A match narrower than this is zoomed to. */
const SEEN_PIXELS = 30;
const MAX_WIDTH = 1_000_000;
/** Boxes that a remainder opens into are at least so wide on the average, and no more than so many fit a picture. */
const OPENED_PIXELS = 24;
const MAX_OPENED = 1500;

/** A picture for the camera: `anchor` is the box in the middle, which stays where it is. */
interface Closer {
  readonly anchor: number;
  readonly scale: number;
}

const empty = (): Placed => ({ x: new Float64Array(0), w: new Float64Array(0) });

export class FlameController {
  layout: Layout | undefined;
  /** Where things are on the screen now; valid after `frame`. */
  placed: Placed = empty();
  fade = 1;
  known: Uint8Array | undefined;
  camera: Camera = whole(1);
  target: Target | undefined;
  loading = false;
  width = 0;

  private goal: Placed = empty();
  private motion: Motion | undefined;
  private flight: { from: Camera; to: Camera; start: number } | undefined;
  private request: { readonly controller: AbortController; readonly since: number } | undefined;
  private counting: AbortController | undefined;
  /** What is asked once the answer on its way is there, or has had its time. */
  private next: Target | undefined;
  private turnTimer: ReturnType<typeof setTimeout> | undefined;
  private refineTimer: ReturnType<typeof setTimeout> | undefined;
  private prefetchTimer: ReturnType<typeof setTimeout> | undefined;
  /** Keys of zoomed boxes, by revision, spec and hashes: no names need to be looked up again. */
  private readonly paths = new Map<string, readonly number[]>();
  private scale = 1;

  constructor(private readonly host: Host) {}

  dispose(): void {
    this.request?.controller.abort();
    this.counting?.abort();
    clearTimeout(this.turnTimer);
    clearTimeout(this.refineTimer);
    clearTimeout(this.prefetchTimer);
  }

  setWidth(width: number): void {
    if (width === this.width || width <= 0) return;
    const first = this.width === 0;
    const wider = width > this.width;
    this.width = width;
    this.settle();
    this.host.invalidate();
    if (first) {
      if (this.target !== undefined) this.load(this.target);
    } else if (wider) this.refineSoon();
  }

  show(target: Target): void {
    const before = this.target;
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(target)) return;
    this.target = target;
    clearTimeout(this.refineTimer);
    if (this.width > 0) this.load(target);
  }

  /** Asked again after the connection came back. */
  again(): void {
    if (this.target !== undefined && this.width > 0) this.load(this.target);
  }

  /** Starts to move towards a box before its picture is there; gives the zoom to be shown next. */
  zoomTo(item: number): readonly string[] | undefined {
    const { layout, target } = this;
    if (layout === undefined || target === undefined) return undefined;
    if (isRemainder(layout, item)) {
      const parent = layout.parent[item]!;
      if (parent !== layout.zoomed) return this.zoomTo(Math.max(0, parent));
      // The picture is as wide as the parent already: closer by the camera, which opens it.
      const closer = this.openedBy(item);
      if (closer === undefined) return undefined;
      this.fly(closer);
      this.refineSoon(ZOOM_MS);
      return undefined;
    }
    const zoom = namesOf(layout, item).map(nameHash);
    this.paths.set(this.pathKey(target, zoom), pathOf(layout, item));
    if (item === layout.zoomed && isWhole(this.camera, layout.span)) return undefined;
    this.fly({ x0: layout.x[item]!, x1: layout.x[item]! + layout.w[item]! });
    return zoom;
  }

  /** The keys that a zoom by names means from now on: siblings may have one name. */
  knows(zoom: readonly string[], path: readonly number[]): void {
    if (this.target !== undefined) this.paths.set(this.pathKey(this.target, zoom), path);
  }

  /** Whether a click on a remainder shows its boxes; else they are too many for a picture, whatever its scale. */
  opens(item: number): boolean {
    const { layout } = this;
    if (layout === undefined || !isRemainder(layout, item)) return false;
    return layout.parent[item] !== layout.zoomed || this.openedBy(item) !== undefined;
  }

  /** What the camera is to show of a remainder below the zoomed box. */
  private openedBy(item: number): Camera | undefined {
    const layout = this.layout!;
    const count = layout.answer.remainder.count[item - layout.boxes]!;
    const x0 = layout.x[item]!;
    const w = layout.w[item]!;
    const size = this.camera.x1 - this.camera.x0;
    // All of it, where that is closer by enough to tell some apart; else the part of it where it begins.
    if (w <= size / 2) return { x0, x1: x0 + w };
    const part = (w * this.width) / (count * OPENED_PIXELS);
    if (count > MAX_OPENED || this.width * (layout.span / part) > MAX_WIDTH) return undefined;
    return { x0, x1: x0 + Math.min(part, size / 2) };
  }

  /** Wheel or pinch: below 1 is closer. */
  zoomBy(factor: number, pixel: number): void {
    const { layout } = this;
    if (layout === undefined) return;
    this.stopFlight();
    if (factor > 1 && isWhole(this.camera, layout.span)) {
      if (layout.zoomed > 0) this.zoomOut();
      return;
    }
    this.camera = held(zoomAt(this.camera, this.width, pixel, factor, layout.span / 1e9), layout.span);
    this.settle();
    this.host.invalidate();
    this.refineSoon();
  }

  pan(pixels: number): void {
    if (this.layout === undefined) return;
    this.stopFlight();
    const camera = held(panBy(this.camera, this.width, pixels), this.layout.span);
    if (camera.x0 === this.camera.x0) return;
    this.camera = camera;
    this.settle();
    this.host.invalidate();
    this.refineSoon();
  }

  /** The zoom in which the box at `path` can be seen, and the names that lead to it; undefined: it can be already. */
  async reach(path: readonly number[]): Promise<Reached | undefined> {
    const { layout, target } = this;
    if (layout === undefined || target === undefined) return undefined;
    const here = findPath(layout, path);
    if (here.whole && here.item >= layout.zoomed && this.onScreen(here.item)) return undefined;
    const answer = await this.host.ask(
      this.params(
        { ...target, search: "", colorMetric: "", colorSpread: undefined, work: false, highlights: [] },
        path,
        1,
      ),
      new AbortController().signal,
    );
    const picture = layoutOf(answer, path.length);
    // As little as is needed: the highest box in which it is wide enough to be read.
    const totals = answer.boxes.total;
    const own = Math.abs(totals[picture.zoomed] ?? 0);
    let at = picture.zoomed;
    while (at > 0 && (own / Math.abs(totals[picture.parent[at]!] ?? Infinity)) * this.width >= SEEN_PIXELS)
      at = picture.parent[at]!;
    const zoom = namesOf(picture, at).map(nameHash);
    this.paths.set(this.pathKey(target, zoom), pathOf(picture, at));
    return { zoom, frames: namesOf(picture, picture.zoomed) };
  }

  private onScreen(item: number): boolean {
    const x = this.goal.x[item]!;
    const w = this.goal.w[item]!;
    return w >= 3 && x + w > 0 && x < this.width;
  }

  /** To the whole of what is zoomed. */
  resetCamera(): void {
    if (this.layout === undefined || isWhole(this.camera, this.layout.span)) return;
    this.fly(whole(this.layout.span));
    this.refineSoon(ZOOM_MS);
  }

  get closer(): boolean {
    return this.layout !== undefined && !isWhole(this.camera, this.layout.span);
  }

  /** Places everything for a moment; true: another frame is needed. */
  frame(now: number): boolean {
    const { layout } = this;
    if (layout === undefined) return false;
    let moving = false;
    if (this.flight !== undefined) {
      const t = Math.min(1, (now - this.flight.start) / ZOOM_MS);
      this.camera = between(this.flight.from, this.flight.to, easeOut(t));
      if (t >= 1) this.flight = undefined;
      else moving = true;
      this.place(this.camera, this.goal);
    }
    if (this.motion === undefined) {
      this.copyGoal();
      return moving;
    }
    const t = this.motion.duration > 0 ? Math.min(1, (now - this.motion.start) / this.motion.duration) : 1;
    if (t >= 1) {
      this.motion = undefined;
      this.known = undefined;
      this.fade = 1;
      this.copyGoal();
      return moving;
    }
    along(this.motion, this.goal, easeOut(t), this.placed);
    this.fade = t;
    this.known = this.motion.known;
    return true;
  }

  /** The path of a shown box that a name hash chain leads to. */
  private pathKey(target: Target, zoom: readonly string[]): string {
    return `${target.profile} ${target.revision} ${target.spec} ${zoom.join(".")}`;
  }

  private fly(to: Camera): void {
    if (!this.host.motion()) {
      this.camera = to;
      this.settle();
    } else this.flight = { from: this.camera, to, start: this.host.now() };
    this.host.invalidate();
  }

  private stopFlight(): void {
    if (this.flight === undefined) return;
    this.camera = this.flight.to;
    this.flight = undefined;
  }

  private settle(): void {
    if (this.layout === undefined) return;
    this.place(this.camera, this.goal);
  }

  private place(camera: Camera, out: Placed): void {
    const { layout, width } = this;
    if (layout === undefined) return;
    const perUnit = width / (camera.x1 - camera.x0);
    for (let i = 0; i < layout.size; ++i) {
      out.x[i] = (layout.x[i]! - camera.x0) * perUnit;
      out.w[i] = layout.w[i]! * perUnit;
    }
  }

  private copyGoal(): void {
    this.placed.x.set(this.goal.x);
    this.placed.w.set(this.goal.w);
    this.fade = 1;
  }

  private load(target: Target): void {
    clearTimeout(this.turnTimer);
    const waited = this.request === undefined ? TURN_MS : this.host.now() - this.request.since;
    if (waited >= TURN_MS) {
      void this.fetch(target, undefined);
      return;
    }
    this.next = target;
    this.turnTimer = setTimeout(() => this.fetchNext(), TURN_MS - waited);
  }

  private fetchNext(): void {
    clearTimeout(this.turnTimer);
    if (this.next !== undefined) void this.fetch(this.next, undefined);
  }

  private async fetch(target: Target, closer: Closer | undefined): Promise<void> {
    this.request?.controller.abort();
    this.counting?.abort();
    const controller = new AbortController();
    const request = { controller, since: this.host.now() };
    this.request = request;
    this.next = undefined;
    this.loading = true;
    try {
      const known = target.zoom.length === 0 ? [] : this.paths.get(this.pathKey(target, target.zoom));
      const scale = Math.max(1, Math.min(MAX_WIDTH / this.width, closer?.scale ?? 1));
      const params = this.params(target, known ?? { names: [...target.zoom], hashed: true }, scale);
      const answer = await this.host.ask(params, controller.signal);
      if (controller.signal.aborted || !this.stillOnTheWay(target)) return;
      const path = answer.zoomPath ?? known ?? [];
      const layout = layoutOf(answer, path.length, target.root);
      this.apply(layout, target, closer, scale);
      if (this.isOutrun()) return;
      if (target.search !== "") void this.count(layout, params);
      if (path.length < target.zoom.length)
        this.host.fellBack(
          target.zoom.slice(0, path.length),
          namesOf(layout, layout.zoomed).at(-1) ?? "the whole view",
        );
      else this.prefetchParent(target, path);
    } catch (error) {
      if (!controller.signal.aborted && !this.isOutrun()) this.host.failed(error);
    } finally {
      if (this.request === request) {
        this.request = undefined;
        this.loading = false;
        this.host.invalidate();
        this.fetchNext();
      }
    }
  }

  /** No box waits for what it hides. */
  private async count(layout: Layout, params: FlameGraphParams): Promise<void> {
    const controller = new AbortController();
    this.counting = controller;
    const hidden = await this.host.count({ ...params, panelId: `${this.host.panel} matches` }, controller.signal);
    if (hidden === undefined || controller.signal.aborted || this.layout !== layout) return;
    layout.hidden = hidden;
    this.host.counted(layout);
  }

  /** Something else is wanted by now. */
  private isOutrun(): boolean {
    return this.next !== undefined;
  }

  /** Worth a picture: what is wanted, or a step towards it that no motion is ahead of. */
  private stillOnTheWay(target: Target): boolean {
    const { next } = this;
    if (next === undefined) return true;
    return next.profile === target.profile && next.spec === target.spec && this.flight === undefined;
  }

  /** `at`: the zoomed box, by keys of the target's revision or by the names of a link. */
  private params(target: Target, at: readonly number[] | BoxNames, scale: number): FlameGraphParams {
    const zoom =
      "names" in at ? { zoom: at } : at.length > 0 ? { zoom: [...at], revision: target.revision } : undefined;
    return {
      profile: target.profile,
      spec: target.spec,
      viewport: { width: Math.min(MAX_WIDTH, Math.round(this.width * scale)), minWidth: 0.5, maxBoxes: MAX_BOXES },
      ...zoom,
      order: target.order,
      ...(target.search === "" ? {} : { search: target.search }),
      ...(target.colorMetric === "" ? {} : { colorMetric: target.colorMetric }),
      ...(target.colorSpread === undefined ? {} : { colorSpread: target.colorSpread }),
      ...(target.work === true ? { work: true } : {}),
      ...((target.highlights ?? []).length === 0 ? {} : { highlights: [...(target.highlights ?? [])] }),
      panelId: this.host.panel,
    };
  }

  private apply(layout: Layout, target: Target, closer: Closer | undefined, scale: number): void {
    const before = this.layout;
    const seen: Placed = { x: this.placed.x.slice(), w: this.placed.w.slice() };
    const now = this.host.now();
    const sameTree = before !== undefined && shapeOf(before.answer.spec) === shapeOf(layout.answer.spec);
    let camera = whole(layout.span);
    if (closer !== undefined && before !== undefined) camera = this.anchored(before, layout, closer);
    this.layout = layout;
    this.scale = scale;
    this.camera = camera;
    this.flight = undefined;
    this.goal = { x: new Float64Array(layout.size), w: new Float64Array(layout.size) };
    this.placed = { x: new Float64Array(layout.size), w: new Float64Array(layout.size) };
    this.place(camera, this.goal);
    this.motion = undefined;
    this.known = undefined;
    if (sameTree && this.host.motion() && before.size > 0) {
      // By wheel the picture is where the hand wants it: only what opens fades in.
      this.motion = motionBetween(before, seen, layout, this.goal, now, ZOOM_MS);
    }
    this.copyGoal();
    if (this.motion !== undefined) this.fade = 0;
    const zoom = namesOf(layout, layout.zoomed).map(nameHash);
    if (this.paths.size > 500) this.paths.clear();
    this.paths.set(this.pathKey(target, zoom), pathOf(layout, layout.zoomed));
    this.host.arrived(layout);
    this.host.invalidate();
  }

  /** The camera of the new layout that leaves the anchor's box where it is on the screen. */
  private anchored(before: Layout, after: Layout, closer: Closer): Camera {
    // What the hand did while the picture was on its way counts.
    const { x0: left, x1 } = this.camera;
    const size = x1 - left;
    for (let at = closer.anchor; at >= 0; at = before.parent[at]!) {
      const found = findPath(after, pathOf(before, at));
      // Ancestors of the zoomed box are cut to the picture: their left edge says nothing.
      if (!found.whole || found.item < after.zoomed) continue;
      const x0 = after.x[found.item]! - (before.x[at]! - left);
      return held({ x0, x1: x0 + size }, after.span);
    }
    return whole(after.span);
  }

  private zoomOut(): void {
    const { target } = this;
    if (target === undefined || target.zoom.length === 0) return;
    this.host.rezoomed(target.zoom.slice(0, -1));
  }

  private refineSoon(delay = REST_MS): void {
    clearTimeout(this.refineTimer);
    this.refineTimer = setTimeout(() => this.refine(), delay);
  }

  /** A picture that is as fine as the camera is close, zoomed to the deepest box that covers what is seen. */
  private refine(): void {
    const { layout, target } = this;
    if (layout === undefined || target === undefined || this.width === 0) return;
    if (this.flight !== undefined || this.request !== undefined) {
      this.refineSoon();
      return;
    }
    const camera = this.camera;
    let cover = layout.zoomed;
    for (;;) {
      const next = childrenOf(layout, cover).find(
        (i) => !isRemainder(layout, i) && layout.x[i]! <= camera.x0 && layout.x[i]! + layout.w[i]! >= camera.x1,
      );
      if (next === undefined) break;
      cover = next;
    }
    // Only once little is left of the box that is zoomed: a step back by wheel must not need a picture each.
    const size = camera.x1 - camera.x0;
    if (layout.span / size < 8) cover = layout.zoomed;
    const scale = layout.w[cover]! / size;
    if (cover === layout.zoomed && scale <= this.scale * 1.2 && scale >= this.scale / 4) return;
    const middle = (camera.x0 + camera.x1) / 2;
    let anchor = cover;
    for (;;) {
      const next = childrenOf(layout, anchor).find(
        (i) => !isRemainder(layout, i) && layout.x[i]! <= middle && layout.x[i]! + layout.w[i]! > middle,
      );
      if (next === undefined) break;
      anchor = next;
    }
    if (cover === layout.zoomed) {
      void this.fetch(target, { anchor, scale });
      return;
    }
    const zoom = namesOf(layout, cover).map(nameHash);
    this.paths.set(this.pathKey(target, zoom), pathOf(layout, cover));
    this.target = { ...target, zoom };
    this.host.rezoomed(zoom);
    void this.fetch(this.target, { anchor, scale });
  }

  /** The way back is at hand before it is asked for. */
  private prefetchParent(target: Target, path: readonly number[]): void {
    clearTimeout(this.prefetchTimer);
    if (path.length === 0) return;
    this.prefetchTimer = setTimeout(() => {
      const parent = { ...this.params(target, path.slice(0, -1), 1), panelId: this.host.panel + ".ahead" };
      this.host.ask(parent, new AbortController().signal).catch(() => undefined);
    }, 200);
  }
}

// Keys of one shape and granularity mean the same; a filter changes what is there, not what it is called.
function shapeOf(spec: string): string {
  const bar = spec.indexOf(" | ");
  return bar < 0 ? spec : spec.slice(0, bar);
}

/** The place in the metric's unit under a pixel. */
export const toUnitAt = (controller: FlameController, pixel: number) =>
  toUnit(controller.camera, controller.width, pixel);
