// What a session tells, kept for all parts of the view: its city, the newest picture, pictures before it, and the time that
// is looked at. Asks only while somebody looks.
import { batch, signal } from "@preact/signals";
import {
  LiveCityRequest,
  LiveFrameRequest,
  LiveListRequest,
  LiveState,
  LiveWindowRequest,
  type LiveCityResult,
  type LiveFrameResult,
  type LiveMethods,
  type LiveSession,
  type LiveThreadRow,
  type LiveWindowResult,
  type RequestType,
} from "../../../../shared/ts/psp.js";
import {
  apply,
  applyBefore,
  carried,
  cityOf,
  joinCity,
  noneStanding,
  separatorOf,
  versionsOf,
  type City,
  type Standing,
  type Versions,
} from "./city.js";

export type Ask = <P extends object, R>(type: RequestType<P, R>, params: P, signal?: AbortSignal) => Promise<R>;

/** What heights are compared with. */
export type Against =
  | { readonly kind: "none" }
  /** How it stood when this was chosen. */
  | { readonly kind: "moment"; readonly text: string }
  | { readonly kind: "mark"; readonly name: string }
  | { readonly kind: "session"; readonly session: string };

/** Of one picture: what sparklines and lanes are made of. */
export interface Past {
  readonly time: number;
  /** By row of the plots of the city that was there then. */
  readonly height: Uint16Array;
  readonly city: City;
  readonly threads: readonly LiveThreadRow[];
}

const ROWS = 60;
const THREADS = 64;
export const STRIP_STEPS = 300;
/** Pictures that are kept, and numbers of all together. */
const MOST_PAST = 60;
const MOST_NUMBERS = 6_000_000;
const BUCKET = 1e8;
/** The strip is behind by a fiftieth of its length at most, and is asked for no more often than a person sees. */
const stripEvery = (time: number) => Math.min(1500, Math.max(200, time / 50e6));
/** How often what sessions there are is asked: while a person waits for a program, and beside one. */
const WAITED_MS = 2000;
const LIST_EVERY_MS = 5000;
/** How often one that runs is asked that one that has ended is compared with. */
const OTHER_EVERY_MS = 200;

export class Feed {
  readonly sessions = signal<readonly LiveSession[] | undefined>(undefined);
  readonly session = signal<string | undefined>(undefined);
  readonly city = signal<City | undefined>(undefined);
  readonly frame = signal<LiveFrameResult | undefined>(undefined);
  /** The time that is looked at; undefined: now. */
  readonly at = signal<number | undefined>(undefined);
  readonly window = signal<LiveWindowResult | undefined>(undefined);
  readonly playing = signal(false);
  readonly speed = signal(1);
  readonly against = signal<Against>({ kind: "none" });
  readonly versions = signal<Versions | undefined>(undefined);
  readonly problem = signal<string | undefined>(undefined);
  /** Counts changes of what stands. */
  readonly tick = signal(0);
  standing: Standing = noneStanding(0);
  past: Past[] = [];

  private answer: LiveCityResult | undefined;
  private following: AbortController | undefined;
  private seeking: AbortController | undefined;
  private stripAsked = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private listTimer: ReturnType<typeof setTimeout> | undefined;
  private looked = false;
  private other:
    | { readonly session: string; layout: number; frame: number; standing: Map<number, number>; ended: boolean }
    | undefined;

  constructor(
    private readonly ask: Ask,
    private readonly explain: (error: unknown) => string | undefined,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Somebody looks, or does no more. */
  look(looked: boolean): void {
    if (looked === this.looked) return;
    this.looked = looked;
    if (looked) {
      void this.refresh();
      if (this.follows) this.follow();
    } else this.rest();
  }

  /** It is live, or there is no picture yet that says what could be held. */
  private get follows(): boolean {
    return this.at.peek() === undefined || this.frame.peek() === undefined;
  }

  private rest(): void {
    this.following?.abort();
    this.seeking?.abort();
    this.following = this.seeking = undefined;
    clearTimeout(this.timer);
    clearTimeout(this.listTimer);
    this.playing.value = false;
  }

  /** What sessions there are; again after a while where that can change: one runs, or programs may dial in. */
  async refresh(): Promise<void> {
    clearTimeout(this.listTimer);
    let changes = true;
    try {
      const { listening, sessions } = await this.ask(LiveListRequest, {});
      this.sessions.value = sessions;
      changes = listening.length > 0 || sessions.some(({ state }) => state !== LiveState.ended);
    } catch (error) {
      this.fail(error);
    }
    clearTimeout(this.listTimer);
    if (!this.looked || !changes) return;
    const after = this.session.peek() === undefined ? WAITED_MS : LIST_EVERY_MS;
    this.listTimer = setTimeout(() => void this.refresh(), after);
  }

  /** Something was asked of the session: what has ended is looked at once more. */
  again(): void {
    this.stripAsked = -Infinity;
    if (this.looked && this.follows) this.follow();
  }

  private fail(error: unknown): void {
    const text = this.explain(error);
    if (text !== undefined) this.problem.value = text;
  }

  choose(session: string | undefined): void {
    if (session === this.session.peek()) return;
    this.rest();
    this.answer = undefined;
    this.other = undefined;
    this.past = [];
    this.stripAsked = -Infinity;
    this.standing = noneStanding(0);
    batch(() => {
      this.session.value = session;
      this.city.value = undefined;
      this.frame.value = undefined;
      this.window.value = undefined;
      this.at.value = undefined;
      this.against.value = { kind: "none" };
      this.versions.value = undefined;
      this.problem.value = undefined;
      this.tick.value += 1;
    });
    if (this.looked) {
      void this.refresh();
      this.follow();
    }
  }

  private follow(): void {
    const session = this.session.peek();
    if (session === undefined || this.following !== undefined) return;
    const controller = new AbortController();
    this.following = controller;
    const isOver = () => controller.signal.aborted;
    const run = async () => {
      let since = 0;
      let state: LiveState | undefined;
      for (;;) {
        const asked = this.now();
        const frame = await this.ask(
          LiveFrameRequest,
          // Of what has ended there is no newer picture to wait for.
          { session, since, wait: state === LiveState.ended ? 0 : 1000, rows: ROWS, threads: THREADS },
          controller.signal,
        );
        if (isOver()) return;
        const moved = await this.askOther(controller.signal);
        // Of two versions the sum of both.
        if (frame.layout + (this.other?.layout ?? 0) !== this.city.peek()?.layout) {
          await this.askCity(session, controller.signal);
          // The city that was there had no place for some: all of it anew.
          if (!frame.key && since !== 0) {
            since = 0;
            continue;
          }
        }
        const same = frame.frame === since;
        since = frame.frame;
        if (frame.state !== state) {
          state = frame.state;
          if (this.sessions.peek()?.some((one) => one.session === session && one.state !== state)) void this.refresh();
        }
        const ended = state === LiveState.ended;
        this.take(frame, same);
        if (moved && same) this.tick.value += 1;
        const held = this.at.peek();
        if (held !== undefined) {
          void this.show(held);
          return;
        }
        const still = ended && (this.other === undefined || this.other.ended);
        if (still || asked - this.stripAsked > stripEvery(frame.time)) {
          this.stripAsked = asked;
          void this.askStrip(session, controller.signal);
        }
        // Nothing of it changes any more.
        if (still) {
          this.following = undefined;
          return;
        }
        if (ended) await this.pause(OTHER_EVERY_MS, controller.signal);
        else if (same) await this.pause(50, controller.signal);
        if (isOver()) return;
      }
    };
    run().catch((error: unknown) => {
      if (this.following === controller) this.following = undefined;
      if (controller.signal.aborted) return;
      this.fail(error);
      this.timer = setTimeout(() => {
        if (this.looked && this.follows) this.follow();
      }, 2000);
    });
  }

  private pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  private async askCity(session: string, signal: AbortSignal): Promise<void> {
    const { other } = this;
    const came = await this.ask(
      LiveCityRequest,
      other === undefined ? { session, since: this.answer?.layout ?? 0 } : { session, before: other.session },
      signal,
    );
    if (signal.aborted || other !== this.other) return;
    // A city of two versions comes whole.
    this.answer = other === undefined ? joinCity(this.answer, came) : undefined;
    const language = this.sessions.peek()?.find((one) => one.session === session)?.language;
    const city = cityOf(this.answer ?? came, separatorOf(language));
    const old = this.city.peek();
    this.standing = old === undefined ? noneStanding(city.plots.count) : carried(old, this.standing, city);
    batch(() => {
      this.versions.value = other === undefined ? undefined : versionsOf(city);
      this.city.value = city;
    });
    this.placeBefore();
  }

  private placeBefore(): void {
    const city = this.city.peek();
    if (this.other === undefined || city === undefined) return;
    const { standing } = this.other;
    const methods: LiveMethods = { id: [...standing.keys()], height: [...standing.values()], threads: [], flags: [] };
    applyBefore(this.standing, methods, city.rowOfBefore);
  }

  private take(frame: LiveFrameResult, same: boolean): void {
    const city = this.city.peek();
    if (city === undefined) return;
    if (!same || frame.key) apply(city, this.standing, frame.methods, frame.key);
    // One that is asked for anew is there already.
    if (!same && this.past.at(-1)?.time !== frame.time) {
      this.past.push({ time: frame.time, height: this.standing.height.slice(), city, threads: frame.threadRows });
      const most = Math.max(2, Math.min(MOST_PAST, Math.floor(MOST_NUMBERS / Math.max(1, city.plots.count))));
      if (this.past.length > most) this.past.splice(0, this.past.length - most);
    }
    batch(() => {
      this.problem.value = undefined;
      this.frame.value = frame;
      if (!same || frame.key) this.tick.value += 1;
    });
  }

  private async askStrip(session: string, signal: AbortSignal): Promise<void> {
    const time = this.frame.peek()?.time ?? 0;
    try {
      const window = await this.ask(
        LiveWindowRequest,
        { session, from: Math.max(0, time - 1e8), rows: 0, steps: STRIP_STEPS },
        signal,
      );
      const here = session === this.session.peek() && this.at.peek() === undefined;
      if (!signal.aborted && here) this.window.value = window;
    } catch {
      // The next one is asked soon.
    }
  }

  /** Stands still at what is shown now, or goes on with what is new. */
  hold(): void {
    const time = this.frame.peek()?.time;
    if (time !== undefined) this.seek(time);
  }

  live(): void {
    this.seeking?.abort();
    clearTimeout(this.timer);
    batch(() => {
      this.at.value = undefined;
      this.playing.value = false;
    });
    if (this.looked) this.follow();
  }

  /** Looks at the window that ends at a time; once there is a picture, where there is none yet. */
  seek(time: number): void {
    this.playing.value = false;
    clearTimeout(this.timer);
    if (this.frame.peek() === undefined) {
      this.at.value = time;
      return;
    }
    void this.show(time);
  }

  private async show(time: number): Promise<boolean> {
    const session = this.session.peek();
    const frame = this.frame.peek();
    if (session === undefined || frame === undefined) return false;
    this.following?.abort();
    this.following = undefined;
    this.seeking?.abort();
    const controller = new AbortController();
    this.seeking = controller;
    // Whole tenths of a second, as they are kept: then the window is as long as it says.
    const to = Math.max(BUCKET, Math.min(Math.round(time / BUCKET) * BUCKET, frame.time));
    this.at.value = to;
    try {
      const window = await this.ask(
        LiveWindowRequest,
        { session, from: Math.max(0, to - frame.window), to, rows: ROWS, threads: THREADS, steps: STRIP_STEPS },
        controller.signal,
      );
      const city = this.city.peek();
      if (controller.signal.aborted || city === undefined) return false;
      apply(city, this.standing, window.methods, true);
      batch(() => {
        this.window.value = window;
        this.tick.value += 1;
      });
      return true;
    } catch (error) {
      if (!controller.signal.aborted) this.fail(error);
      return false;
    }
  }

  /** Lets the time that is looked at go on, as fast as `speed` says; at the end of what is known it is live again. */
  play(): void {
    const from = this.at.peek();
    if (from === undefined) return;
    this.playing.value = true;
    const begun = this.now();
    const speed = this.speed.peek();
    const step = async () => {
      if (!this.playing.peek()) return;
      const frame = this.frame.peek();
      const to = from + (this.now() - begun) * 1e6 * speed;
      if (frame === undefined || to >= frame.time) {
        if (frame?.state === LiveState.ended) this.seek(frame.time);
        else this.live();
        return;
      }
      const asked = this.now();
      if (!(await this.show(to)) || !this.playing.peek()) return;
      this.timer = setTimeout(() => void step(), Math.max(10, 100 - (this.now() - asked)));
    };
    void step();
  }

  setSpeed(speed: number): void {
    this.speed.value = speed;
    if (this.playing.peek()) {
      clearTimeout(this.timer);
      this.play();
    }
  }

  /** Chooses what heights are compared with. */
  async compare(against: Against): Promise<void> {
    const parts = this.other !== undefined;
    this.other = undefined;
    this.standing.before.fill(0);
    batch(() => {
      this.against.value = against;
      this.versions.value = undefined;
    });
    const session = this.session.peek();
    if (this.city.peek() === undefined || session === undefined) return;
    const signal = new AbortController().signal;
    try {
      if (parts) await this.askCity(session, signal);
      const city = this.city.peek();
      if (city === undefined || this.against.peek() !== against) return;
      if (against.kind === "moment") this.standing.before.set(this.standing.height);
      else if (against.kind === "mark") {
        const mark = this.window
          .peek()
          ?.marks.filter(({ name }) => name === against.name)
          .at(-1);
        if (mark === undefined) return;
        const length = this.frame.peek()?.window ?? 3e9;
        const from = Math.max(0, mark.time - length);
        const window = await this.ask(LiveWindowRequest, { session, from, to: mark.time, rows: 0, steps: 1 });
        if (this.against.peek() === against) applyBefore(this.standing, window.methods, city.rowOf);
      } else if (against.kind === "session") {
        this.other = { session: against.session, layout: 0, frame: 0, standing: new Map(), ended: false };
        await this.askOther(signal);
        await this.askCity(session, signal);
      }
    } catch (error) {
      this.fail(error);
    }
    this.tick.value += 1;
    this.again();
  }

  /** Whether what is compared with stands otherwise now. */
  private async askOther(signal: AbortSignal): Promise<boolean> {
    const { other } = this;
    if (other === undefined) return false;
    const frame = await this.ask(
      LiveFrameRequest,
      { session: other.session, since: other.frame, wait: 0, rows: 0, threads: 0 },
      signal,
    );
    if (signal.aborted || this.other !== other) return false;
    other.ended = frame.state === LiveState.ended;
    if (frame.frame === other.frame && !frame.key) return false;
    other.frame = frame.frame;
    other.layout = frame.layout;
    if (frame.key) other.standing.clear();
    frame.methods.id.forEach((id, i) => other.standing.set(id, frame.methods.height[i]!));
    this.placeBefore();
    return true;
  }

  /** Heights of a method in the pictures that are kept, 0 to 1, the oldest first. */
  spark(row: number): number[] {
    const city = this.city.peek();
    const id = city?.plots.id[row];
    if (city === undefined || id === undefined || id === 0) return [];
    return this.past.map(({ height, city: then }) => {
      const at = then === city ? row : then.rowOf.get(id);
      return at === undefined ? 0 : height[at]! / 65535;
    });
  }
}
