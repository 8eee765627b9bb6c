// What everything on the page shares: the state, the connection, the open profile, and asking the daemon.
import { batch, computed, effect, signal, type ReadonlySignal } from "@preact/signals";
import {
  DiffScale,
  ErrorCodes,
  MetricDeriveRequest,
  MetricForgetRequest,
  MetricListRequest,
  ProfileAggregateRequest,
  ProfileChangedNotification,
  ProfileCloseRequest,
  ProfileDiffRequest,
  ProfileListRequest,
  ProfileOpenRequest,
  ProfileSummaryRequest,
  ProgressNotification,
  SelectionChangedNotification,
  SelectionSetRequest,
  ShowDocumentRequest,
  ShowMessageNotification,
  StatusNotification,
  type ComposedPart,
  type ErrorData,
  type MetricInfo,
  type OpenedProfile,
  type DerivedMetric,
  type ProfileChangedParams,
  type ProfileListEntry,
  type ProfileSummary,
  type RequestType,
  type Selection,
  type StatusParams,
} from "../../shared/ts/psp.js";
import { Answers } from "./rpc/answers.js";
import { Cancelled, Client, RpcError, type Connection } from "./rpc/client.js";
import type { Transport } from "./rpc/transport.js";
import { keptSteps, stepsFrom, type KeptSteps } from "./state/kept.js";
import { decoded, filtersOfSides, inputsOf, isAggregate, isDiff, sidesOf } from "./state/compared.js";
import type { Span } from "./state/windows.js";
import { filesOf, fromAddress, startOf, toAddress, type Formula, type Place } from "./state/place.js";
import { go, INITIAL, openPlace, settingsFrom, type Settings, type State } from "./state/state.js";
import { WhenSeen } from "./ui/seen.js";

export interface OpenProfile {
  readonly handle: string;
  readonly revision: number;
  readonly uri: string;
  readonly name: string;
  /** With those by formula that add up. */
  readonly metrics: readonly MetricInfo[];
  readonly metric: string;
  /** Metrics by formula: those that it has the metrics for. */
  readonly derived: readonly DerivedMetric[];
  readonly summary: ProfileSummary;
  readonly members: readonly OpenedProfile[];
}

export interface Problem {
  readonly title: string;
  readonly message: string;
  readonly data: ErrorData | undefined;
  readonly uri: string | undefined;
  /** Nothing is wrong: a link leads to the file. */
  readonly question?: boolean;
}

export interface Loading {
  readonly title: string;
  readonly message: string;
  readonly percentage: number | undefined;
  readonly cancel: () => void;
}

export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly kind: "info" | "warning" | "error";
  readonly deed?: Deed | undefined;
}

/** What can be done about a notice. */
export interface Deed {
  readonly text: string;
  readonly run: () => void;
}

/** The frame that is looked at, in whichever view it was chosen. */
export interface Selected {
  readonly name: string;
  /** From below the root down to it; empty: chosen in a list. */
  readonly frames: readonly string[];
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  /** Its place in a tree: keys of the named view and revision. */
  readonly spec?: string | undefined;
  readonly path?: readonly number[] | undefined;
  /** Total and share as the answer had it. */
  readonly text?: string | undefined;
  /** Of a diff: what became of it. */
  readonly change?: string | undefined;
  /** Its self value, the same way. */
  readonly self?: string | undefined;
  readonly module?: string | undefined;
  /** Another client chose it. */
  readonly by?: string | undefined;
}

/** A profile that can be compared. */
export interface Comparable {
  /** Its address, and which profile of the file: of all these it is one. */
  readonly id: string;
  readonly name: string;
  readonly part: ComposedPart;
}

/** What is at a URI, open or not; `#2` behind it is the second profile there. */
export function comparableOf({ uri, name = baseName(uri) }: { uri: string; name?: string }): Comparable {
  const hash = uri.lastIndexOf("#");
  if (hash < 0) return { id: `${uri}#1`, name, part: { uri } };
  return { id: uri, name, part: { uri: uri.slice(0, hash), member: decoded(uri.slice(hash + 1)) } };
}

/** The open profiles that can be compared: diffs and what cannot be read are none. */
export const comparablesOf = (listed: readonly ProfileListEntry[]): Comparable[] =>
  listed
    .filter(({ uri, state }) => !isDiff(uri) && !isAggregate(uri) && state !== "failed" && state !== "opening")
    .map(({ uri, member, name, profile }) => ({
      id: `${uri}#${member?.number ?? 1}`,
      name: member === undefined ? name : `${name} (${member.number} of ${member.count})`,
      part: { profile },
    }));

/** What is to be compared; several on a side are runs of it. */
export interface Comparison {
  readonly before: readonly Comparable[];
  readonly after: readonly Comparable[];
  readonly scale: DiffScale;
}

interface ComposeHow {
  readonly workDoneToken: string;
  readonly options: { readonly makeDefault: boolean; readonly attach: boolean };
}

/** Where addresses and settings are kept: a browser, an editor, a test. */
export interface Home {
  address(): string;
  /** The whole address of what is shown, without what lets in: for `profd view`, which opens it anew. */
  readonly link?: () => string;
  /** The same, with what lets its user in once, and soon; without, where the daemon gives none. */
  readonly fresh?: () => Promise<{ readonly link: string; readonly letsIn: boolean }>;
  push(address: string): void;
  replace(address: string): void;
  onAddress(listener: (address: string) => void): void;
  /** Folders whose sources may be shown. */
  roots(): readonly string[];
  settings(): string | null;
  keepSettings(text: string): void;
  /** Where the page is let go of and made anew: the way back through changes of the filters. */
  readonly steps?: { get(): KeptSteps | undefined; keep(steps: KeptSteps): void };
  /** An editor asks which program the daemon is. */
  readonly setPath?: () => void;
  readonly inEditor: boolean;
  /** An editor opens a line, from 1, of a file beside. */
  readonly showLine?: (uri: string, line: number) => void;
  /** To the place before this one. */
  back(): void;
  /** Where links from elsewhere can lead here: files that the person opened in this tab, or the daemon's own address did. */
  readonly files?: { known(uri: string): boolean; add(uri: string): void };
}

/** Another profile and view, under the metric's name. */
export interface GlanceOf {
  readonly profile: string;
  readonly spec: string;
  readonly metric: string;
  readonly metrics: readonly MetricInfo[];
  /** `by self counts of allocation`. */
  readonly by: string;
}

export class App {
  readonly state = signal<State>(INITIAL);
  /** What the hottest functions beside a view are of, where that is not the profile as it is shown. */
  readonly glanceOf = signal<GlanceOf | undefined>(undefined);
  readonly place: ReadonlySignal<Place> = computed(() => this.state.value.place);
  readonly settings: ReadonlySignal<Settings> = computed(() => this.state.value.settings);
  readonly connection = signal<Connection>({ state: "connecting", attempt: 0 });
  /** Counts connections: what was asked on an older one is asked again. */
  readonly epoch = signal(0);
  readonly profile = signal<OpenProfile | undefined>(undefined);
  readonly listed = signal<readonly ProfileListEntry[]>([]);
  readonly loading = signal<Loading | undefined>(undefined);
  readonly problem = signal<Problem | undefined>(undefined);
  readonly notices = signal<readonly Notice[]>([]);
  /** What a screen reader is told. */
  readonly spoken = signal("");
  readonly status = signal<StatusParams | undefined>(undefined);
  readonly selected = signal<Selected | undefined>(undefined);
  /** What somebody is about to compare. */
  readonly comparing = signal<Comparison | undefined>(undefined);
  /** A window of time that another one is to be compared with. */
  readonly firstWindow = signal<{ readonly profile: string; readonly window: Span } | undefined>(undefined);
  /** What the timeline shows when it is opened next. */
  readonly lookAt = signal<Span | undefined>(undefined);
  readonly markerSearch = signal("");
  readonly client: Client;
  private readonly answers = new Answers(60);
  private readonly whenSeen = new WhenSeen();
  private opening: AbortController | undefined;
  private opened = "";
  /** Further files of the address: opened behind the first. */
  private others: readonly string[] = [];
  /** Files that end early and of which a person wants what can be read. */
  private readonly partial = new Set<string>();
  private readonly truncated = new Set<string>();
  private nextNotice = 1;
  private nextToken = 1;

  constructor(
    connect: () => Transport,
    readonly home: Home,
  ) {
    this.client = new Client({
      connect,
      name: "profd-web",
      version: "0.1.0",
      roots: home.roots(),
      onConnection: (connection) => this.connected(connection),
    });
    this.others = filesOf(home.address()).slice(1);
    const { place, problem } = fromAddress(home.address());
    const steps = home.steps?.get();
    this.state.value = {
      ...INITIAL,
      ...(steps === undefined ? {} : stepsFrom(steps)),
      place,
      settings: settingsFrom(home.settings()),
    };
    if (problem !== undefined) this.say(problem, "warning");
    home.onAddress((address) => {
      this.state.value = { ...this.state.value, place: fromAddress(address).place };
    });
    let kept = "";
    effect(() => {
      const text = JSON.stringify(this.settings.value);
      if (kept !== "" && kept !== text) home.keepSettings(text);
      kept = text;
    });
    this.listen();
  }

  start(): void {
    this.client.start();
    effect(() => {
      const { profile, member, view } = this.place.value;
      const open = this.connection.value.state === "open";
      // A city is watched without its profile, which is made when a view of it is looked at.
      if (open && view !== "live") void this.sync(profile, member);
    });
  }

  /** `step`: a way back leads here. */
  update(change: (state: State) => State, step = true): void {
    const before = this.state.value;
    const after = change(before);
    if (after === before) return;
    this.state.value = after;
    if (after.undo !== before.undo || after.redo !== before.redo) this.home.steps?.keep(keptSteps(after));
    const address = toAddress(after.place);
    if (address === toAddress(before.place)) return;
    if (step) this.home.push(address);
    else this.home.replace(address);
  }

  say(text: string, kind: Notice["kind"] = "info", deed?: Deed): void {
    const id = this.nextNotice++;
    const others = this.notices.value.filter((notice) => notice.text !== text);
    this.notices.value = [...others, { id, text, kind, deed }].slice(-4);
    this.spoken.value = text;
    if (kind !== "error") setTimeout(() => this.dismiss(id), 6000);
  }

  dismiss(id: number): void {
    this.notices.value = this.notices.value.filter((notice) => notice.id !== id);
  }

  get server() {
    const connection = this.connection.value;
    return connection.state === "open" ? connection.server.capabilities.profd : undefined;
  }

  can(method: string): boolean {
    return this.server?.methods.includes(method) ?? false;
  }

  /** Asks, or answers from memory; what is remembered is of one revision. */
  async ask<P extends object, R>(type: RequestType<P, R>, params: P, signal?: AbortSignal): Promise<R> {
    const asked = JSON.stringify({ ...params, panelId: undefined });
    const key = `${type.method} ${this.profile.value?.revision ?? 0} ${asked}`;
    const known = this.answers.get(key);
    if (known !== undefined) return known as R;
    const value = await this.client.request(type, params, signal);
    this.answers.put(key, value);
    return value;
  }

  /** An error as a sentence, or nothing where there is nothing to say. */
  explain(error: unknown): string | undefined {
    if (error instanceof Cancelled) return undefined;
    if (error instanceof RpcError && error.code === ErrorCodes.contentModified) return undefined;
    return error instanceof Error ? error.message : String(error);
  }

  open(uri: string | undefined, member = 1): void {
    this.problem.value = undefined;
    if (uri !== undefined) this.home.files?.add(uri);
    if (uri === this.place.value.profile && member === this.place.value.member) this.opened = "";
    this.update((state) => openPlace(state, uri, member));
    this.selected.value = undefined;
  }

  async close(handle: string): Promise<void> {
    await this.client.request(ProfileCloseRequest, { profile: handle });
    if (this.profile.value?.handle === handle) {
      this.profile.value = undefined;
      this.opened = "";
      this.update((state) => go(openPlace(state, undefined), { view: "open" }));
    }
    await this.list();
  }

  async list(): Promise<readonly ProfileListEntry[]> {
    const { profiles } = await this.client.request(ProfileListRequest, {});
    this.listed.value = profiles;
    return profiles;
  }

  select(selected: Selected | undefined): void {
    this.selected.value = selected;
    const profile = this.profile.value;
    if (profile === undefined || this.connection.value.state !== "open") return;
    const selection: Selection | null =
      selected === undefined
        ? null
        : {
            profile: profile.handle,
            function: selected.name,
            ...(selected.file === undefined ? {} : { file: selected.file }),
            ...(selected.line === undefined || selected.line === 0 ? {} : { line: selected.line }),
            ...(selected.frames.length === 0 ? {} : { frames: [...selected.frames] }),
            ...(selected.spec === undefined || selected.path === undefined
              ? {}
              : { spec: selected.spec, path: [...selected.path], revision: profile.revision }),
          };
    this.client.request(SelectionSetRequest, { selection }).catch(() => undefined);
  }

  private connected(connection: Connection): void {
    batch(() => {
      this.connection.value = connection;
      if (connection.state !== "open") return;
      this.epoch.value += 1;
      this.opened = "";
    });
  }

  private listen(): void {
    this.client.on(ProfileChangedNotification, (params) =>
      this.whenSeen.do(`${params.profile} ${params.reason}`, () => void this.changed(params)),
    );
    this.client.on(StatusNotification, (params) => (this.status.value = params));
    this.client.on(ShowMessageNotification, ({ type, message }) =>
      this.say(message, type === 1 ? "error" : type === 2 ? "warning" : "info"),
    );
    this.client.on(SelectionChangedNotification, ({ selection, client }) => {
      if (selection?.profile !== this.profile.value?.handle) return;
      this.selected.value =
        selection === null
          ? undefined
          : {
              name: selection.function,
              frames: selection.frames ?? [],
              file: selection.file,
              line: selection.line,
              spec: selection.spec,
              path: selection.path,
              by: client ?? "another client",
            };
      if (selection !== null) this.spoken.value = `${client ?? "Another client"} chose ${selection.function}`;
    });
    this.client.on(ProgressNotification, ({ token, value }) => {
      const loading = this.loading.value;
      if (loading === undefined || token !== this.token) return;
      const report = value as { title?: string; message?: string; percentage?: number };
      this.loading.value = {
        ...loading,
        title: report.title ?? loading.title,
        message: report.message ?? loading.message,
        percentage: report.percentage ?? loading.percentage,
      };
    });
    this.client.answer(ShowDocumentRequest, () => ({ success: false }));
  }

  private get token(): string {
    return `web-${this.nextToken}`;
  }

  private async changed({ profile, reason, message }: ProfileChangedParams): Promise<void> {
    void this.list().catch(() => undefined);
    const open = this.profile.value;
    if (open?.handle !== profile) return;
    if (reason === "reloaded") {
      try {
        await this.refresh(open);
        this.say(message ?? `${open.name} was read again`);
      } catch (error) {
        const text = this.explain(error);
        if (text !== undefined) this.say(text, "error");
      }
    } else if (reason === "metricsChanged") await this.listDerived(open).catch(() => undefined);
    else if (reason === "reloadFailed")
      this.say(message ?? `${open.name} cannot be read any more; the older one is shown`, "warning");
    else if (reason === "closed") {
      this.opened = "";
      this.say(message ?? `${open.name} was closed`, "warning");
    }
  }

  private async refresh(open: OpenProfile): Promise<void> {
    const summary = await this.summary(open.handle);
    batch(() => {
      this.answers.clear();
      this.profile.value = { ...open, revision: summary.revision, metrics: summary.metrics, summary };
    });
    void this.listDerived(open).catch(() => undefined);
  }

  /** What the address defines and the daemon does not know yet is defined; then what there is. */
  private async listDerived(open: OpenProfile): Promise<void> {
    if (!this.can(MetricDeriveRequest.method)) return;
    const ask = () => this.client.request(MetricListRequest, { profile: open.handle });
    let known = await ask();
    const { formulas } = this.place.peek();
    const missing = formulas.filter(({ name }) => !known.derived?.some((metric) => metric.name === name));
    for (const { name, formula, unit } of missing)
      await this.client
        .request(MetricDeriveRequest, { profile: open.handle, name, formula, ...(unit === "" ? {} : { unit }) })
        .catch((error: unknown) => {
          const text = this.explain(error);
          if (text !== undefined) this.say(`${name}: ${text}`, "warning");
        });
    if (missing.length > 0) known = await ask();
    const now = this.profile.peek();
    if (now?.handle !== open.handle) return;
    batch(() => {
      this.answers.clear();
      const derived = (known.derived ?? []).filter(({ why }) => why === undefined);
      this.profile.value = { ...now, metrics: known.metrics, derived };
    });
  }

  /** Defines a metric of the profile that is shown; fails with what is wrong with its formula. */
  async derive(metric: Formula): Promise<void> {
    const open = this.profile.peek();
    if (open === undefined) return;
    const { name, formula, unit } = metric;
    await this.client.request(MetricDeriveRequest, {
      profile: open.handle,
      name,
      formula,
      ...(unit === "" ? {} : { unit }),
    });
    this.update(
      (state) => go(state, { formulas: [...state.place.formulas.filter((one) => one.name !== name), metric] }),
      false,
    );
    await this.listDerived(open);
  }

  /** Takes it back. What shows it shows something else then. */
  async forget(name: string): Promise<void> {
    const open = this.profile.peek();
    if (open === undefined) return;
    this.update((state) => {
      const { formulas, metric, colorMetric, sort, color } = state.place;
      return go(state, {
        formulas: formulas.filter((one) => one.name !== name),
        ...(metric === name ? { metric: "" } : {}),
        ...(colorMetric === name ? { colorMetric: "", color: color === "metric" ? "module" : color } : {}),
        ...(sort.metric === name ? { sort: { by: sort.by, descending: sort.descending } } : {}),
      });
    }, false);
    await this.client.request(MetricForgetRequest, { profile: open.handle, name });
    await this.listDerived(open);
  }

  private summary(handle: string, signal?: AbortSignal): Promise<ProfileSummary> {
    return this.client.request(ProfileSummaryRequest, { profile: handle, hottest: 10, heaviest: 5 }, signal);
  }

  /** Opens what the address names; called again for every connection, as a new daemon knows nothing. */
  private async sync(uri: string | undefined, member: number): Promise<void> {
    const wanted = `${this.epoch.value} ${uri ?? ""} ${member}`;
    if (wanted === this.opened) return;
    this.opened = wanted;
    this.opening?.abort();
    const controller = new AbortController();
    this.opening = controller;
    try {
      if (uri === undefined) {
        const profiles = await this.list();
        const entry = profiles.find((p) => p.default) ?? profiles.at(0); // the first that is being read for this page
        if (entry === undefined) {
          this.update((state) => go(state, { view: "open" }), false);
          return;
        }
        const { profile, member, color, sort } = startOf(entry.uri, entry.member?.number);
        this.update((state) => go(state, { profile, member, ...(isDiff(profile) ? { color, sort } : {}) }), false);
        return;
      }
      if (await this.isFromElsewhere(uri)) {
        const others = this.others.length === 0 ? "" : ` It names ${this.others.length} more.`;
        this.others = [];
        this.problem.value = {
          title: `Open ${baseName(uri)}?`,
          message: `A link leads to this file, which was not opened in this tab before: ${pathOfUri(uri)}.${others}`,
          data: undefined,
          uri,
          question: true,
        };
        return;
      }
      await this.openUri(uri, member, controller, this.partial.has(uri));
    } catch (error) {
      void this.list().catch(() => undefined);
      if (controller.signal.aborted && this.opening !== controller) return;
      const message = this.explain(error);
      if (message !== undefined) {
        this.problem.value = {
          title: uri === undefined ? "The daemon did not answer" : `${baseName(uri)} cannot be opened`,
          message,
          data: error instanceof RpcError ? error.data : undefined,
          uri,
        };
        this.spoken.value = message;
      }
    } finally {
      if (this.opening === controller) this.loading.value = undefined;
    }
  }

  /** Nobody here asked for it, and the daemon does not have it: any page can link to this one. */
  private async isFromElsewhere(uri: string): Promise<boolean> {
    const { files } = this.home;
    if (files === undefined || files.known(uri)) return false;
    return !(await this.list()).some((profile) => profile.uri === uri);
  }

  /** Has a file read that is not shown yet; false where it cannot be, which is said. */
  async read(uri: string, name: string): Promise<boolean> {
    const controller = new AbortController();
    this.reading(name, () => controller.abort());
    try {
      await this.client.request(
        ProfileOpenRequest,
        { uri, workDoneToken: this.token, options: { makeDefault: false, attach: false } },
        controller.signal,
      );
      return true;
    } catch (error) {
      if (controller.signal.aborted) this.say(`${name} was not read: you cancelled it`);
      const text = this.explain(error);
      if (text === undefined) return false;
      const truncated = error instanceof RpcError && error.data?.reason === "truncated";
      if (truncated) this.truncated.add(uri);
      const part = { text: "Open what can be read", run: () => this.openPartial(uri) };
      this.say(text, "error", truncated ? part : undefined);
      return false;
    } finally {
      this.loading.value = undefined;
    }
  }

  /** Opens what became of profiles, which is a profile too. What is on the page stays where that cannot be. */
  async compare(comparison: Comparison): Promise<void> {
    const { before, after, scale } = comparison;
    await this.compose(
      `Comparing ${sideName(before)} with ${sideName(after)}`,
      comparison,
      async (how, signal) => {
        const sides = { before: before.map(({ part }) => part), after: after.map(({ part }) => part) };
        return this.client.request(ProfileDiffRequest, { ...sides, scale, ...how }, signal);
      },
      "Nothing was compared: you cancelled it",
    );
  }

  /** Opens several profiles as one, in their order: runs, ranks or snapshots of a program. */
  async putTogether(profiles: readonly Comparable[]): Promise<void> {
    await this.compose(
      `Putting ${sideName(profiles)} together`,
      { before: [], after: profiles, scale: DiffScale.automatic },
      async (how, signal) =>
        this.client.request(ProfileAggregateRequest, { of: profiles.map(({ part }) => part), ...how }, signal),
      "Nothing was put together: you cancelled it",
    );
  }

  private async compose(
    title: string,
    comparison: Comparison,
    ask: (how: ComposeHow, signal: AbortSignal) => Promise<{ readonly summary: ProfileSummary }>,
    cancelled: string,
  ): Promise<void> {
    const controller = new AbortController();
    this.nextToken++;
    this.loading.value = { title, message: "", percentage: undefined, cancel: () => controller.abort() };
    let uri: string | undefined;
    try {
      const how = { workDoneToken: this.token, options: { makeDefault: false, attach: false } };
      uri = (await ask(how, controller.signal)).summary.uri;
    } catch (error) {
      if (controller.signal.aborted) this.say(cancelled);
      const text = this.explain(error);
      if (text === undefined) return;
      this.say(text, "error", { text: "Choose others", run: () => (this.comparing.value = comparison) });
    } finally {
      this.loading.value = undefined;
    }
    if (uri !== undefined) this.open(uri);
  }

  canBeReadInPart(uri: string): boolean {
    return this.truncated.has(uri);
  }

  private reading(name: string, cancel: () => void): void {
    this.nextToken++;
    this.loading.value = { title: `Reading ${name}`, message: "", percentage: undefined, cancel };
  }

  private async openUri(uri: string, member: number, controller: AbortController, partial: boolean): Promise<void> {
    this.reading(baseName(uri), () => {
      controller.abort();
      this.loading.value = undefined;
      this.problem.value = {
        title: "Opening was cancelled",
        message: `${baseName(uri)} was not read.`,
        data: undefined,
        uri,
      };
    });
    const result = await this.client.request(
      ProfileOpenRequest,
      { uri, workDoneToken: this.token, options: { makeDefault: false, attach: false, partial } },
      controller.signal,
    );
    const chosen = result.profiles.find((p) => p.number === member);
    const handle = chosen?.profile ?? result.profile;
    const summaryOf = () => this.summary(handle, controller.signal);
    // The answer has the first glance of the profile that is meant where none is named; the picture waits for no more.
    const known = handle === result.profile;
    const summary = known ? result.summary : await summaryOf();
    const open: OpenProfile = {
      handle,
      revision: summary.revision,
      uri,
      name: summary.name,
      metrics: summary.metrics,
      metric: summary.metrics.find((m) => m.default)?.name ?? summary.metric,
      derived: [],
      summary,
      members: result.profiles,
    };
    batch(() => {
      this.problem.value = undefined;
      this.answers.clear();
      this.profile.value = open;
    });
    void this.listDerived(open).catch(() => undefined);
    this.home.files?.add(uri);
    if (known)
      void summaryOf().then(
        (whole) => {
          const now = this.profile.value;
          if (now?.handle === handle && now.revision === open.revision && whole.revision === open.revision)
            this.profile.value = { ...now, summary: whole };
        },
        () => undefined,
      );
    void this.openOthers();
  }

  private async openOthers(): Promise<void> {
    const { others } = this;
    this.others = [];
    for (const uri of others) {
      try {
        await this.client.request(ProfileOpenRequest, { uri, options: { makeDefault: false, attach: false } });
      } catch (error) {
        const text = this.explain(error);
        if (text !== undefined) this.say(text, "error");
      }
    }
    await this.list().catch(() => undefined);
  }

  /** Takes what can be read of a file that ends early. */
  openPartial(uri: string): void {
    this.partial.add(uri);
    this.open(uri, uri === this.place.peek().profile ? this.place.peek().member : 1);
  }
}

const someOf = ([first = "", ...more]: readonly string[]) =>
  more.length === 0 ? first : `${first} and ${more.length} more`;

const sideName = (side: readonly Comparable[]) => someOf(side.map(({ name }) => name));

export function baseName(uri: string): string {
  if (isDiff(uri)) {
    const { before, after } = sidesOf(uri);
    const filters = filtersOfSides(uri);
    const nameOf = (of: readonly string[]) => (side: string, at: number) =>
      (of[at] ?? "") === "" ? baseName(side) : `${baseName(side)} (${of[at]})`;
    return `${someOf(before.map(nameOf(filters.before)))} → ${someOf(after.map(nameOf(filters.after)))}`;
  }
  if (isAggregate(uri)) {
    const inputs = inputsOf(uri);
    return `${inputs.length} profiles: ${someOf(inputs.map(baseName))}`;
  }
  if (uri.startsWith("previous:")) {
    const parts = new URLSearchParams(uri.slice(uri.indexOf("?")));
    return `${baseName(parts.get("of") ?? "")} (recording ${parts.get("revision") ?? "?"})`;
  }
  const last = uri.slice(uri.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(last) || uri;
  } catch {
    return last || uri;
  }
}

/** A path as a person writes it, as a URI. */
export function uriOf(path: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) return path;
  return "file://" + path.split("/").map(encodeURIComponent).join("/");
}

export function pathOfUri(uri: string): string {
  if (isDiff(uri)) {
    const { before, after } = sidesOf(uri);
    return `${before.map(pathOfUri).join(", ")} → ${after.map(pathOfUri).join(", ")}`;
  }
  if (isAggregate(uri)) return inputsOf(uri).map(pathOfUri).join(", ");
  if (!uri.startsWith("file://")) return uri;
  try {
    return decodeURIComponent(uri.slice(7));
  } catch {
    return uri.slice(7);
  }
}
