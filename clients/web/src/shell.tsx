// The page around the views: profile, metric, tabs, search, filters, notices, what is chosen.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { baseName, pathOfUri, type App } from "./app.js";
import { canCompare, CompareDialog, startComparing } from "./compare.js";
import { Details, DetailsLine, Glance } from "./details.js";
import { shown } from "./draw/shown.js";
import type { Connection } from "./rpc/client.js";
import { diffMetricOf, isDiff, nextBase } from "./state/compared.js";
import { go, setSettings, show, type Theme } from "./state/state.js";
import { Busy, IconButton, Name } from "./ui/bits.js";
import { showView, useBoxKeys } from "./ui/boxmenu.js";
import { useApp, useProfile } from "./ui/context.js";
import { commandOf, copyCommand, useExportItems } from "./ui/export.js";
import { Icon } from "./ui/icons.js";
import { KeyList, useKeys } from "./ui/keys.js";
import { MenuButton, type MenuItem } from "./ui/menu.js";
import { SearchBox } from "./ui/search.js";
import { stepWidth } from "./ui/sides.js";
import { useTheme } from "./ui/theme.js";
import { recentFiles, remember } from "./recent.js";
import { uploadAll } from "./upload.js";
import { VIEWS } from "./views.js";

const THEMES: readonly { id: Theme; text: string }[] = [
  { id: "system", text: "As the system" },
  { id: "light", text: "Light" },
  { id: "dark", text: "Dark" },
  { id: "contrast", text: "High contrast" },
];

export function Shell() {
  const app = useApp();
  useTheme();
  const profile = useProfile();
  const place = app.place.value;
  const connection = app.connection.value;
  const [listing, setListing] = useState(false);
  const entry = VIEWS.find((view) => view.id === place.view) ?? VIEWS[0]!;
  useEffect(() => {
    if (profile !== undefined) remember(profile.uri);
    document.title = profile === undefined ? "profd" : `${shown(profile.name)} · profd`;
  }, [profile]);
  useDrop(app);
  useBoxKeys();
  const metrics = profile?.metrics ?? [];
  const nextMetric = () => {
    if (metrics.length < 2) {
      app.say("This profile has one metric");
      return;
    }
    const now = place.metric || (profile?.metric ?? "");
    const ofDiff = isDiff(profile?.uri) ? diffMetricOf(metrics, now) : undefined;
    const name = ofDiff === undefined ? undefined : nextBase(metrics, ofDiff);
    if (name === now) {
      app.say("Both sides have one metric in common; d chooses which side is wide");
      return;
    }
    const next =
      metrics.find((m) => m.name === name) ?? metrics[(metrics.findIndex((m) => m.name === now) + 1) % metrics.length]!;
    app.update((state) => go(state, { metric: next.name }));
    app.say(`Widths and values are ${next.title ?? next.name}`);
  };
  useKeys({
    title: "Everywhere",
    keys: [
      { keys: ["?"], text: "these keys", run: () => setListing(true) },
      {
        keys: ["t"],
        text: "table and back",
        run: () => app.update((s) => show(s, s.place.view === "flat" ? "flame" : "flat")),
      },
      { keys: ["m"], text: "next metric", run: nextMetric },
      { keys: ["d"], text: "of a comparison: which side is wide", run: () => stepWidth(app) },
      {
        keys: ["D"],
        text: "compare with another profile",
        run: () => {
          if (canCompare(app)) void startComparing(app);
          else app.say("This daemon is older than the page and compares nothing", "warning");
        },
      },
      { keys: ["Backspace"], text: "back", run: () => app.home.back() },
      {
        keys: ["Escape"],
        text: "no search, then nothing chosen",
        run: () => {
          if (app.place.peek().search !== "") app.update((state) => go(state, { search: "" }), false);
          else app.select(undefined);
        },
      },
      {
        keys: ["p"],
        text: "details of what is chosen",
        run: () => {
          if (wideQuery.matches) app.update((s) => setSettings(s, { details: !s.settings.details }));
          else setUnfolded((now) => !now);
        },
      },
      ...VIEWS.filter((view) => view.aside !== true).map((view, i) => ({
        keys: [view.key ?? String(i + 1)],
        text: view.title,
        run: () => showView(app, view.id),
      })),
      { keys: ["L"], text: "running programs", run: () => showView(app, "live") },
      { keys: ["e"], text: "export", run: () => document.querySelector<HTMLElement>("#export-button button")?.click() },
    ],
  });

  const View = entry.view;
  const busy = app.loading.value;
  const problem = app.problem.value;
  // On a wide page the panel has its place whatever is chosen: nothing moves with a click.
  const panel =
    app.settings.value.details &&
    profile !== undefined &&
    problem === undefined &&
    entry.alone !== true &&
    entry.id !== "profile";
  const wide = useWide();
  // On a narrow one a line is there in its place, which opens: a click on a box leaves the picture its room.
  const [unfolded, setUnfolded] = useState(false);
  const details = panel && (wide || unfolded);
  const head = useLabels(place.search !== "", [profile?.name, place.metric || profile?.metric, wide]);
  return (
    <div class={`shell${details ? " with-details" : ""}`}>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          const main = document.querySelector("#main");
          for (const choice of [".stage-tree", ".table, .source", "button"]) {
            const found = main?.querySelector<HTMLElement>(choice);
            if (found === null || found === undefined) continue;
            found.focus();
            break;
          }
        }}
      >
        To the view
      </a>
      <header class="top" ref={head}>
        <ProfileMenu />
        <MetricMenu />
        <nav class="tabs" aria-label="Views">
          {VIEWS.filter((view) => view.aside !== true || view.id === entry.id).map((view) => (
            <button
              type="button"
              key={view.id}
              aria-current={view.id === entry.id ? "page" : undefined}
              title={view.title}
              onClick={() => showView(app, view.id)}
            >
              <Icon name={view.icon} />
              <span>{view.id === "sandwich" ? "Callers" : view.id === "flame" ? "Flame" : view.title}</span>
            </button>
          ))}
        </nav>
        <SearchBox />
        <div class="tools">
          {!app.home.inEditor && (
            <>
              <IconButton icon="left" label="Back" keys="Backspace" onClick={() => app.home.back()} />
              <IconButton icon="right" label="Forward" onClick={() => history.forward()} />
            </>
          )}
          <ExportMenu />
          <SettingsMenu />
          <IconButton icon="help" label="Keys" keys="?" onClick={() => setListing(true)} />
        </div>
      </header>
      <ConnectionBar />
      <div class="body">
        <main id="main" aria-busy={busy !== undefined}>
          {problem !== undefined && entry.alone !== true ? (
            <ProblemPage />
          ) : profile === undefined && entry.alone !== true ? (
            <Waiting connection={connection} />
          ) : (
            <View />
          )}
          {busy !== undefined && <LoadingCard />}
        </main>
        {panel && !wide && <DetailsLine open={unfolded} onToggle={() => setUnfolded(!unfolded)} />}
        {details && (app.selected.value === undefined ? <Glance /> : <Details selected={app.selected.value} />)}
      </div>
      <Notices />
      <div class="visually-hidden" role="status" aria-live="polite">
        {shown(app.spoken.value)}
      </div>
      <CompareDialog />
      {listing && <KeyList onClose={() => setListing(false)} />}
    </div>
  );
}

function ProfileMenu() {
  const app = useApp();
  const profile = useProfile();
  const items = (): MenuItem[] => {
    const list: MenuItem[] = app.listed.value.map((entry) => ({
      text: shown(entry.name),
      note: pathOfUri(entry.uri),
      checked: entry.profile === profile?.handle,
      run: () => app.open(entry.uri, entry.member?.number ?? 1),
    }));
    const recent = recentFiles.value.filter((uri) => !app.listed.value.some((entry) => entry.uri === uri)).slice(0, 5);
    if (recent.length > 0) list.push({ text: "Recent", heading: true });
    for (const uri of recent)
      list.push({ text: shown(baseName(uri)), note: shown(pathOfUri(uri)), run: () => app.open(uri) });
    list.push({
      text: "Open another",
      icon: "open",
      apart: true,
      run: () => app.update((state) => show(state, "open")),
    });
    if (canCompare(app))
      list.push({ text: "Compare with…", icon: "compare", keys: "D", run: () => void startComparing(app) });
    return list;
  };
  return (
    <MenuButton
      label={profile === undefined ? "Profiles: profd" : `Profile ${shown(profile.name)}`}
      class="button profile-button"
      title={profile === undefined ? "Profiles" : pathOfUri(profile.uri)}
      items={items}
    >
      <svg class="logo" width="18" height="18" viewBox="0 0 32 32" aria-hidden="true">
        <rect x="2" y="4" width="28" height="6" rx="1.5" class="logo-a" />
        <rect x="2" y="12" width="17" height="6" rx="1.5" class="logo-b" />
        <rect x="21" y="12" width="9" height="6" rx="1.5" class="logo-c" />
        <rect x="6" y="20" width="9" height="6" rx="1.5" class="logo-d" />
      </svg>
      <span class="profile-name">{profile === undefined ? "profd" : <Name text={profile.name} />}</span>
      <Icon name="down" size={12} />
    </MenuButton>
  );
}

function MetricMenu() {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  if (profile === undefined) return null;
  const name = place.metric || profile.metric;
  const now = profile.metrics.find((m) => m.name === name);
  // The totals of a diff are those of its sides, which the line above the view has.
  const total = isDiff(profile.uri) ? undefined : now?.text;
  if (profile.metrics.length < 2)
    return (
      <span class="metric" title={now?.description}>
        {shown(now?.title ?? name)} <b>{now?.text}</b>
      </span>
    );
  return (
    <MenuButton
      label={`Metric of widths and values: ${shown(now?.title ?? name)} ${total ?? ""}`}
      title="Metric of widths and values (m)"
      items={() =>
        profile.metrics.map((m) => ({
          text: shown(m.title ?? m.name),
          ...(total === undefined ? {} : { note: m.text }),
          checked: m.name === name,
          run: () => app.update((state) => go(state, { metric: m.name })),
        }))
      }
    >
      {shown(now?.title ?? name)} {total !== undefined && <b>{total}</b>}
      <Icon name="down" size={12} />
    </MenuButton>
  );
}

function ExportMenu() {
  const items = useExportItems();
  return (
    <span id="export-button">
      <MenuButton label="Export" title="Export (e)" class="icon-button" items={items}>
        <Icon name="export" />
      </MenuButton>
    </span>
  );
}

function SettingsMenu() {
  const app = useApp();
  const items = (): MenuItem[] => {
    const { theme, palette, motion, compact, details, keepEnds } = app.settings.peek();
    const set = (change: Parameters<typeof setSettings>[1]) => () => app.update((state) => setSettings(state, change));
    return [
      { text: "Theme", heading: true },
      ...THEMES.map((t) => ({ text: t.text, checked: t.id === theme, run: set({ theme: t.id }) })),
      { text: "Colours of boxes", heading: true },
      { text: "Many hues", checked: palette === "standard", run: set({ palette: "standard" }) },
      { text: "Safe for colour-blind eyes", checked: palette === "safe", run: set({ palette: "safe" }) },
      { text: "Manners", heading: true },
      { text: "Animate", checked: motion, run: set({ motion: !motion }) },
      { text: "Long names keep their end", checked: keepEnds, run: set({ keepEnds: !keepEnds }) },
      { text: "Compact rows", checked: compact, run: set({ compact: !compact }) },
      { text: "Details of what is chosen", checked: details, keys: "p", run: set({ details: !details }) },
    ];
  };
  return (
    <MenuButton label="Settings" class="icon-button" items={items}>
      <Icon name="theme" />
    </MenuButton>
  );
}

const wideQuery = window.matchMedia("(min-width: 861px)");

function useWide(): boolean {
  const [wide, setWide] = useState(wideQuery.matches);
  useEffect(() => {
    const changed = () => setWide(wideQuery.matches);
    wideQuery.addEventListener("change", changed);
    return () => wideQuery.removeEventListener("change", changed);
  }, []);
  return wide;
}

/** So much is left to the search beside names of views; with what it found beside it. */
const SEARCH_PIXELS = 190;
const FOUND_PIXELS = 320;

/** The names of the views are there where they fit: all, of the one that is shown, or none. */
function useLabels(searching: boolean, changes: readonly unknown[]): { current: HTMLElement | null } {
  const head = useRef<HTMLElement>(null);
  const measure = useRef<() => void>(() => undefined);
  measure.current = () => {
    const top = head.current;
    const tabs = top?.querySelector<HTMLElement>(".tabs");
    const search = top?.querySelector<HTMLElement>(".search");
    if (top === null || tabs === null || tabs === undefined || search === null || search === undefined) return;
    const below = search.getBoundingClientRect().top >= tabs.getBoundingClientRect().bottom;
    // A name of usual length is not cut for the sake of labels; longer ones end where they may.
    const name = top.querySelector<HTMLElement>(".profile-name");
    const named = () =>
      name === null ||
      name.scrollWidth <= name.clientWidth ||
      name.clientWidth + 1 >= Number.parseFloat(getComputedStyle(name).maxWidth);
    const fits = () =>
      named() &&
      tabs.scrollWidth <= tabs.clientWidth &&
      top.scrollWidth <= top.clientWidth &&
      (below || search.clientWidth >= (searching ? FOUND_PIXELS : SEARCH_PIXELS));
    for (const labels of ["all", "current", "none"]) {
      top.dataset.labels = labels;
      if (fits()) break;
    }
  };
  useLayoutEffect(() => measure.current(), [searching, ...changes]);
  useEffect(() => {
    if (head.current === null) return;
    let width = head.current.clientWidth;
    const observer = new ResizeObserver(() => {
      const now = head.current?.clientWidth ?? width;
      if (now !== width) measure.current();
      width = now;
    });
    observer.observe(head.current);
    void document.fonts.ready.then(() => measure.current());
    return () => observer.disconnect();
  }, []);
  return head;
}

function ConnectionBar() {
  const app = useApp();
  const connection = app.connection.value;
  if (connection.state === "open" || (connection.state === "connecting" && connection.attempt === 0)) return null;
  const { link } = app.home;
  // An address is of one daemon: the next one has another port and another token, which `profd view` knows.
  const command = link !== undefined && (
    <button type="button" class="button" title={commandOf(link())} onClick={() => copyCommand(app, link())}>
      <Icon name="copy" /> Copy the command
    </button>
  );
  if (connection.state === "refused")
    return (
      <div class="bar error" role="alert">
        <Icon name="warning" />
        <span>
          The daemon did not let this page in{connection.reason === "" ? "" : `: ${connection.reason}`}. An address is
          good in the tab it was made for; <code>profd view LINK</code>, with the address of this page, opens this view
          in another one.
        </span>
        {command}
      </div>
    );
  const { absent } = connection;
  if (absent !== undefined)
    return (
      <div class="bar error" role="alert">
        <Icon name="warning" /> {shown(absent)}
        {app.home.setPath !== undefined && (
          <button type="button" class="button" onClick={app.home.setPath}>
            Set Path…
          </button>
        )}
        <button type="button" class="button" onClick={() => app.client.start()}>
          Try again
        </button>
      </div>
    );
  return (
    <div class="bar" role="alert">
      <span class="spinner" aria-hidden="true" />
      <span>
        The daemon is gone
        {connection.state === "lost" && connection.reason !== "" ? ` (${connection.reason})` : ""}. What is shown stays.{" "}
        {link === undefined ? (
          "The page comes back by itself when it is there again."
        ) : (
          <>
            The page comes back by itself if it was only out of reach; if it has ended, <code>profd view LINK</code>,
            with the address of this page, opens this view in the next one.
          </>
        )}
      </span>
      {command}
      <button type="button" class="button" onClick={() => app.client.start()}>
        Try now
      </button>
    </div>
  );
}

function ProblemPage() {
  const app = useApp();
  const problem = app.problem.value!;
  const partial = problem.data?.reason === "truncated";
  return (
    <div class="view page">
      <div class="page-body narrow problem">
        <h1>{shown(problem.title)}</h1>
        <p role="alert">{shown(problem.message)}</p>
        {problem.data !== undefined && (
          <dl class="facts">
            {problem.data.format !== undefined && (
              <div>
                <dt>read as</dt>
                <dd>{problem.data.format}</dd>
              </div>
            )}
            {problem.data.byteOffset !== undefined && (
              <div>
                <dt>byte</dt>
                <dd>{problem.data.byteOffset.toLocaleString("en")}</dd>
              </div>
            )}
            {problem.data.line !== undefined && (
              <div>
                <dt>line</dt>
                <dd>{problem.data.line.toLocaleString("en")}</dd>
              </div>
            )}
            {(problem.data.where ?? []).length > 0 && (
              <div>
                <dt>in</dt>
                <dd>{(problem.data.where ?? []).map(shown).join(", ")}</dd>
              </div>
            )}
          </dl>
        )}
        <div class="row">
          {partial && problem.uri !== undefined && (
            <button type="button" class="button primary" onClick={() => app.openPartial(problem.uri!)}>
              Open what can be read
            </button>
          )}
          <button
            type="button"
            class={partial ? "button" : "button primary"}
            onClick={() => app.open(problem.uri, app.place.peek().member)}
          >
            {problem.question === true ? "Open it" : "Try again"}
          </button>
          <button
            type="button"
            class="button"
            onClick={() => {
              app.problem.value = undefined;
              app.update((state) => show(state, "open"));
            }}
          >
            Open another
          </button>
        </div>
      </div>
    </div>
  );
}

function Waiting({ connection }: { connection: Connection }) {
  if (connection.state === "open") return <Busy text="Opening" />;
  // The bar above says what to do; nothing goes on meanwhile.
  if (connection.state === "refused" || connection.absent !== undefined) return <div class="view" />;
  return <Busy text="Connecting to the daemon" />;
}

function LoadingCard() {
  const app = useApp();
  const loading = app.loading.value!;
  return (
    <div class="loading-card" role="status">
      <b>{shown(loading.title)}</b>
      {loading.message !== "" && <span class="muted">{shown(loading.message)}</span>}
      <progress
        max={100}
        {...(loading.percentage === undefined ? {} : { value: loading.percentage })}
        aria-label={loading.title}
      />
      <button type="button" class="button" onClick={loading.cancel}>
        Cancel
      </button>
    </div>
  );
}

function Notices() {
  const app = useApp();
  return (
    <div class="notices">
      {app.notices.value.map((notice) => (
        <div key={notice.id} class={`notice ${notice.kind}`}>
          <span>{shown(notice.text)}</span>
          {notice.deed !== undefined && (
            <button
              type="button"
              class="button"
              onClick={() => {
                app.dismiss(notice.id);
                notice.deed?.run();
              }}
            >
              {notice.deed.text}
            </button>
          )}
          <IconButton icon="close" label="Dismiss" onClick={() => app.dismiss(notice.id)} />
        </div>
      ))}
    </div>
  );
}

function useDrop(app: App): void {
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      document.documentElement.dataset.dropping = "yes";
    };
    const out = (event: DragEvent) => {
      if (event.relatedTarget === null) delete document.documentElement.dataset.dropping;
    };
    const drop = (event: DragEvent) => {
      delete document.documentElement.dataset.dropping;
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      void uploadAll(app, files);
    };
    window.addEventListener("dragover", over);
    window.addEventListener("dragleave", out);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", over);
      window.removeEventListener("dragleave", out);
      window.removeEventListener("drop", drop);
    };
  }, []);
}
