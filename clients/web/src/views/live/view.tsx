// A program that runs, or ran: its city, and all that leads from there.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  LiveAttachRequest,
  LiveControlRequest,
  LiveListRequest,
  LiveMethodRequest,
  LiveOperation,
  LiveState,
  type LiveAttachResult,
  type LiveSession,
} from "../../../../shared/ts/psp.js";
import { uriOf } from "../../app.js";
import { shown } from "../../draw/shown.js";
import { go, openPlace } from "../../state/state.js";
import { Busy, Empty, Name, Notes, Segments, Select } from "../../ui/bits.js";
import { useApp } from "../../ui/context.js";
import { copyText } from "../../ui/copy.js";
import { Icon } from "../../ui/icons.js";
import { useKeys } from "../../ui/keys.js";
import { shortName, wholeName, type City, type Versions } from "./city.js";
import type { CityStage, Kind, Shown } from "./controller.js";
import { Feed, type Against } from "./feed.js";
import { CityTooltip, HotList, Lanes, MethodCard, Strip, type Deeds } from "./parts.js";
import { LIVE, matchesOf, sessionOf } from "./names.js";
import { Stage, type Hovered } from "./stage.js";

export function LiveView() {
  const app = useApp();
  const known = app.can(LiveListRequest.method);
  const epoch = app.epoch.value;
  const open = app.connection.value.state === "open";
  const feed = useMemo(
    () =>
      new Feed(
        (type, params, signal) => app.client.request(type, params, signal),
        (error) => app.explain(error),
      ),
    [epoch],
  );
  useEffect(() => {
    if (!open || !known) return;
    const seen = () => feed.look(!document.hidden);
    seen();
    document.addEventListener("visibilitychange", seen);
    return () => {
      document.removeEventListener("visibilitychange", seen);
      feed.look(false);
    };
  }, [feed, open, known]);
  const sessions = feed.sessions.value;
  const wanted = sessionOf(app.place.value.profile);
  const session =
    wanted ?? sessions?.filter(({ state }) => state !== LiveState.ended).at(-1)?.session ?? sessions?.at(-1)?.session;
  useEffect(() => feed.choose(session), [feed, session]);

  if (open && !known)
    return (
      <Empty title="Not known here">
        <p>This daemon is older than the page and watches no running programs.</p>
      </Empty>
    );
  if (sessions === undefined)
    return feed.problem.value === undefined ? (
      <Busy text="Asking for running programs" />
    ) : (
      <Empty title="Running programs cannot be listed">
        <p>{shown(feed.problem.value)}</p>
      </Empty>
    );
  const now = sessions.find((one) => one.session === session);
  if (session === undefined || now === undefined) return <Attach feed={feed} gone={wanted} />;
  return <Session feed={feed} session={now} sessions={sessions} />;
}

const REPLAY_SPEEDS = [
  { id: "1", text: "as it ran" },
  { id: "4", text: "4 x" },
  { id: "0", text: "at once" },
] as const;

/** How a program comes here. */
function Attach({ feed, gone }: { feed: Feed; gone: string | undefined }) {
  const app = useApp();
  const [place, setPlace] = useState<LiveAttachResult | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [path, setPath] = useState("");
  const [speed, setSpeed] = useState<(typeof REPLAY_SPEEDS)[number]["id"]>("1");
  const replay = () => {
    if (path.trim() === "") return;
    const uri = uriOf(path.trim());
    app.client.request(LiveAttachRequest, { replay: uri, speed: Number(speed) }).then(
      async ({ session }) => {
        await feed.refresh();
        if (session !== undefined) app.update((state) => go(state, { profile: `${LIVE}${session.session}` }));
      },
      (error: unknown) => setProblem(app.explain(error)),
    );
  };
  const listen = () => {
    app.client.request(LiveAttachRequest, { listen: true }).then(
      (there) => {
        setPlace(there);
        void feed.refresh();
      },
      (error: unknown) => setProblem(app.explain(error)),
    );
  };
  return (
    <div class="view page">
      <div class="page-body narrow live-attach">
        <h1>{gone === undefined ? "No program is attached" : `${shown(gone)} is not known any more`}</h1>
        <p>
          A program that is started with an agent of profd tells which methods run. They stand here as a city: packages
          are districts, classes blocks, methods buildings, as high as the share of the last seconds that they ran
          themselves. Without an agent <code>profd live http://127.0.0.1:6060</code>, or{" "}
          <code>ws://127.0.0.1:9229</code>, a pipe or a file, shows the same by samples in a terminal, and editors here.
        </p>
        {place === undefined ? (
          <p>
            <button type="button" class="button primary" onClick={listen}>
              Wait for programs
            </button>
          </p>
        ) : (
          <ul class="live-places">
            {place.listening.map((one) => (
              <li key={one.address}>
                <p>{shown(one.text)}</p>
                {one.environment.map((line) => (
                  <p class="row" key={line}>
                    <code>{shown(line)}</code>
                    <button type="button" class="button quiet" onClick={() => copyText(app, line, "The setting")}>
                      <Icon name="copy" /> Copy
                    </button>
                  </p>
                ))}
              </li>
            ))}
          </ul>
        )}
        <h2>Or play a recorded stream</h2>
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            replay();
          }}
        >
          <input
            class="grow"
            type="text"
            aria-label="Path of a recorded stream"
            placeholder="/path/to/run.plive"
            spellcheck={false}
            value={path}
            onInput={(event) => setPath(event.currentTarget.value)}
          />
          <Select label="Speed" value={speed} choices={REPLAY_SPEEDS} onChange={setSpeed} />
          <button type="submit" class="button">
            Play
          </button>
        </form>
        {problem !== undefined && <Notes texts={[problem]} />}
      </div>
    </div>
  );
}

const SPEEDS = ["0.25", "0.5", "1", "2", "4", "10"] as const;

type Side = "hot" | "threads";

function Session({ feed, session, sessions }: { feed: Feed; session: LiveSession; sessions: readonly LiveSession[] }) {
  const app = useApp();
  const [kind, setKind] = useState<Kind>("city");
  const [why, setWhy] = useState<{ text: string; again: boolean } | undefined>(undefined);
  const insists = useRef(false);
  const [side, setSide] = useState<Side>("hot");
  const [pair, setPair] = useState(false);
  const [search, setSearch] = useState("");
  const [chosenId, setChosenId] = useState<{ readonly id: number; readonly before: number } | undefined>(undefined);
  const [hovered, setHovered] = useState<Hovered | undefined>(undefined);
  const stage = useRef<CityStage | undefined>(undefined);
  const searchBox = useRef<HTMLInputElement>(null);
  const city = feed.city.value;
  const tick = feed.tick.value;
  const frame = feed.frame.value;
  const window_ = feed.window.value;
  const at = feed.at.value;
  const against = feed.against.value;
  const versions = feed.versions.value;
  const chosen =
    chosenId === undefined ? -1 : (city?.rowOf.get(chosenId.id) ?? city?.rowOfBefore.get(chosenId.before) ?? -1);
  const matches = useMemo(() => matchesOf(city, search), [city, search]);
  const matchSet = useMemo(() => (matches === undefined ? undefined : new Set(matches)), [matches]);
  const compared = against.kind !== "none";
  const picture = useMemo(
    (): Shown | undefined =>
      city === undefined
        ? undefined
        : {
            city,
            standing: feed.standing,
            compared,
            pair: pair && compared,
            versions,
            matches: matchSet,
          },
    [city, feed.standing, compared, pair, versions, matchSet],
  );
  useEffect(() => setChosenId(undefined), [session.session]);

  const rows = at === undefined ? (frame?.rows ?? []) : (window_?.rows ?? []);
  const left = at === undefined ? frame?.rowsLeft : window_?.rowsLeft;
  const choose = (row: number) => {
    setChosenId(
      row < 0 || city === undefined ? undefined : { id: city.plots.id[row]!, before: city.plots.before[row]! },
    );
    if (row >= 0 && city !== undefined) app.spoken.value = `${shortName(city, row)} is chosen`;
  };
  const find = (row: number) => {
    choose(row);
    stage.current?.goTo(row);
  };
  const orderOf = (): readonly number[] => {
    const of = rows.map((row) => city?.rowOf.get(row.method) ?? -1).filter((row) => row >= 0);
    return matches === undefined
      ? of
      : [...of.filter((row) => matchSet?.has(row)), ...matches.filter((row) => !of.includes(row))];
  };
  const step = (by: number) => {
    const order = orderOf();
    if (order.length === 0) {
      app.say(matches === undefined ? "Nothing stands in this window" : "No method has this name");
      return;
    }
    const now = order.indexOf(chosen);
    find(order[now < 0 ? (by > 0 ? 0 : order.length - 1) : (now + by + order.length) % order.length]!);
  };
  const jump = (view: "source" | "sandwich" | "flame", row = chosen) => {
    if (view !== "flame" && (row < 0 || city === undefined)) {
      app.say("Choose a method first: by a click, or with n and N");
      return;
    }
    const id = row < 0 || city === undefined ? 0 : city.plots.id[row]!;
    // What is gone is in the session before.
    const gone = row >= 0 && id === 0 && against.kind === "session";
    const of = gone ? against.session : session.session;
    const method = id === 0 && row >= 0 ? city!.plots.before[row]! : id;
    // What is held is looked at, not all that there was.
    const held = gone || at === undefined ? undefined : feed.window.peek()?.uri;
    const uri = held ?? `${LIVE}${of}`;
    const show = (fn: string, file: string, line: number) => {
      app.home.files?.add(uri);
      app.update((state) =>
        go(openPlace(state, uri), { view, ...(view === "flame" ? { search: fn } : { fn, file, line }) }),
      );
    };
    if (method === 0) {
      show("", "", 0);
      return;
    }
    // Its name as profiles have it.
    app.client.request(LiveMethodRequest, { session: of, method }).then(
      ({ name, file, line }) => show(name, file ?? "", line ?? 0),
      (error: unknown) => {
        const text = app.explain(error);
        if (text !== undefined) app.say(text, "error");
      },
    );
  };
  const control = (operation: LiveOperation, more: { methods?: number[]; text?: string } = {}) => {
    app.client.request(LiveControlRequest, { session: session.session, operation, ...more }).then(
      ({ text }) => {
        app.say(shown(text));
        feed.again();
      },
      (error: unknown) => {
        const text = app.explain(error);
        if (text !== undefined) app.say(text, "error");
      },
    );
  };
  const can = (ability: string) => session.abilities.includes(ability) && session.state !== LiveState.ended;
  const ids = city === undefined || chosen < 0 || city.plots.id[chosen] === 0 ? [] : [city.plots.id[chosen]!];
  const deeds: Deeds = {
    source: () => jump("source"),
    callers: () => jump("sandwich"),
    flame: () => jump("flame"),
    find: () => stage.current?.goTo(chosen),
    demote: can("demote") && ids.length > 0 ? () => control(LiveOperation.demote, { methods: ids }) : undefined,
    promote: can("demote") && ids.length > 0 ? () => control(LiveOperation.promote, { methods: ids }) : undefined,
  };
  const toggleHold = () => (at === undefined ? feed.hold() : feed.live());
  const setKindSaid = (next: Kind) => {
    if (next === "city") {
      insists.current = why !== undefined;
      setWhy(undefined);
    }
    setKind(next);
  };
  const mark = () => control(LiveOperation.mark, { text: `mark ${(window_?.marks.length ?? 0) + 1}` });
  const timeAt = at ?? frame?.time ?? 0;
  const length = frame?.window ?? session.window;
  useKeys({
    title: "City",
    keys: [
      { keys: ["ArrowLeft", "h"], text: "move left", run: () => stage.current?.move(-0.12, 0) },
      { keys: ["ArrowRight", "l"], text: "move right", run: () => stage.current?.move(0.12, 0) },
      { keys: ["ArrowUp", "k"], text: "move away", run: () => stage.current?.move(0, 0.12) },
      { keys: ["ArrowDown", "j"], text: "move near", run: () => stage.current?.move(0, -0.12) },
      { keys: ["+", "="], text: "closer", run: () => stage.current?.scale(1 / 1.25) },
      { keys: ["-"], text: "farther", run: () => stage.current?.scale(1.25) },
      { keys: ["["], text: "turn", run: () => stage.current?.turn(0.14, 0) },
      { keys: ["]"], text: "turn the other way", run: () => stage.current?.turn(-0.14, 0) },
      { keys: ["{"], text: "look more from above", run: () => stage.current?.turn(0, 0.1) },
      { keys: ["}"], text: "look more along the ground", run: () => stage.current?.turn(0, -0.1) },
      { keys: ["o"], text: "look from above", run: () => stage.current?.fromAbove() },
      { keys: ["0", "Home"], text: "all of it", run: () => stage.current?.home() },
      { keys: ["v"], text: "city or map", run: () => setKindSaid(kind === "city" ? "map" : "city") },
      { keys: ["n"], text: "next: of the hottest, or of what was found", run: () => step(1) },
      { keys: ["N"], text: "the one before", run: () => step(-1) },
      { keys: ["Enter"], text: "go to the chosen method", run: () => stage.current?.goTo(chosen) },
      { keys: [" "], text: "hold the picture, and go on", run: toggleHold },
      { keys: [","], text: "a tenth of a window back", run: () => feed.seek(timeAt - length / 10) },
      { keys: ["."], text: "a tenth of a window on", run: () => feed.seek(timeAt + length / 10) },
      { keys: ["M"], text: "give this moment a name", run: mark },
      { keys: ["/"], text: "find a method", run: () => searchBox.current?.focus() },
      { keys: ["g"], text: "its source", run: () => jump("source") },
      { keys: ["c"], text: "who calls it", run: () => jump("sandwich") },
      { keys: ["f"], text: "flame graph of the session, or of the window that is held", run: () => jump("flame") },
      { keys: ["Escape"], text: "let go of it", run: () => (search !== "" ? setSearch("") : choose(-1)) },
    ],
  });

  const others = sessions.filter((one) => one.session !== session.session);
  const againstChoices = [
    { id: "none", text: "no comparison" },
    { id: "moment", text: against.kind === "moment" ? against.text : "with how it stands now" },
    ...[...new Set((window_?.marks ?? []).map(({ name }) => name))].map((name) => ({
      id: `mark ${name}`,
      text: `with ${shown(name)}`,
    })),
    ...others.map((one) => ({ id: `session ${one.session}`, text: `with ${shown(one.program)} (${one.session})` })),
  ];
  const againstId =
    against.kind === "mark"
      ? `mark ${against.name}`
      : against.kind === "session"
        ? `session ${against.session}`
        : against.kind;
  const compare = (id: string) => {
    const next: Against =
      id === "moment"
        ? { kind: "moment", text: `with how it stood at ${(timeAt / 1e9).toFixed(1)} s` }
        : id.startsWith("mark ")
          ? { kind: "mark", name: id.slice(5) }
          : id.startsWith("session ")
            ? { kind: "session", session: id.slice(8) }
            : { kind: "none" };
    void feed.compare(next);
  };
  const estimate = at === undefined ? frame?.estimate : window_?.estimate;
  const stateText =
    at !== undefined
      ? feed.playing.value
        ? "plays again"
        : "held"
      : session.state === LiveState.runs
        ? "live"
        : session.state;

  return (
    <div class="view live">
      <div class="toolbar-row">
        <div class="toolbar">
          {sessions.length > 1 ? (
            <Select
              label="Program"
              value={session.session}
              choices={sessions.map((one) => ({
                id: one.session,
                text: `${shown(one.program)} (${one.session})`,
                title: one.text,
              }))}
              onChange={(id) => app.update((state) => go(state, { profile: `${LIVE}${id}` }))}
            />
          ) : (
            <b class="live-program" title={shown(session.text)}>
              <Name text={session.program} />
            </b>
          )}
          <span class={`tag live-state ${at === undefined ? session.state : "held"}`}>{stateText}</span>
          {session.estimate !== undefined && (
            <span
              class="tag live-estimate"
              title={`${shown(session.estimate.source)}: ${shown(session.estimate.text)}. ± is half the interval of 95 %.`}
            >
              estimate ±
            </span>
          )}
          <Segments<Kind>
            label="Picture"
            value={kind}
            choices={[
              { id: "city", text: "City", title: "In three dimensions (v)" },
              { id: "map", text: "Map", title: "From above, in two dimensions (v)" },
            ]}
            onChange={setKindSaid}
          />
          <button type="button" class="button quiet" title="All of it (0)" onClick={() => stage.current?.home()}>
            Home
          </button>
          <Select label="Compare with" value={againstId} choices={againstChoices} onChange={compare} />
          {compared && kind === "city" && (
            <Segments
              label="Both"
              value={pair ? "pair" : "one"}
              choices={[
                { id: "one", text: "One city", title: "Orange has more than before, blue less" },
                { id: "pair", text: "Side by side", title: "Before and now, seen from the same place" },
              ]}
              onChange={(id) => setPair(id === "pair")}
            />
          )}
          <input
            ref={searchBox}
            class="live-search"
            type="search"
            placeholder="Find a method (/)"
            aria-label="Find a method"
            spellcheck={false}
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
              else if (event.key === "Escape") {
                if (search === "") searchBox.current?.blur();
                else setSearch("");
              } else return;
              event.preventDefault();
            }}
          />
          {matches !== undefined && (
            <span class="muted" role="status">
              {matches.length === 0
                ? "none"
                : matches.length === 1
                  ? "1 method"
                  : `${matches.length.toLocaleString("en")} methods`}
            </span>
          )}
          <span class="grow" />
          <button
            type="button"
            class="button quiet"
            onClick={() => control(LiveOperation.arrange)}
            title="The largest first again; places change"
          >
            Re-arrange
          </button>
        </div>
      </div>
      {why !== undefined && (
        <p class="live-why" role="status">
          <Icon name="warning" size={14} /> {shown(why.text)}{" "}
          {why.again && (
            <button type="button" class="link" onClick={() => setKindSaid("city")}>
              Show the city all the same
            </button>
          )}
        </p>
      )}
      <div class="live-body">
        <div class="live-picture">
          {city === undefined && <Busy text="Waiting for the first picture" />}
          <Stage
            kind={kind}
            shown={picture}
            tick={tick}
            chosen={chosen}
            onStage={(made) => (stage.current = made)}
            onHover={setHovered}
            onChoose={choose}
            onOpen={(row) => {
              if (row >= 0) jump("source", row);
            }}
            onNoCity={(text, again) => {
              if (insists.current && again) return;
              setWhy({ text, again });
              setKind("map");
            }}
          />
          {compared && <ChangeLegend city={city} versions={versions} />}
          {hovered !== undefined && city !== undefined && (
            <CityTooltip
              city={city}
              standing={feed.standing}
              hovered={hovered}
              versions={versions}
              sampled={session.estimate !== undefined}
            />
          )}
        </div>
        <aside class="live-side">
          {chosen >= 0 && city !== undefined && (
            <MethodCard
              feed={feed}
              session={session.session}
              chosen={chosen}
              deeds={deeds}
              onClose={() => choose(-1)}
            />
          )}
          <Segments<Side>
            label="Beside the picture"
            value={side}
            choices={[
              { id: "hot", text: "Hottest" },
              { id: "threads", text: `Threads (${session.threads})` },
            ]}
            onChange={setSide}
          />
          {side === "hot" ? (
            <HotList feed={feed} rows={rows} left={left} chosen={chosen} onChoose={find} />
          ) : (
            <Lanes
              feed={feed}
              threads={(at === undefined ? frame?.threadRows : feed.window.value?.threadRows) ?? []}
              left={at === undefined ? frame?.threadsLeft : feed.window.value?.threadsLeft}
              at={at}
              onMethod={find}
            />
          )}
        </aside>
      </div>
      <footer class="live-foot">
        <div class="row">
          <button type="button" class="button" aria-pressed={at !== undefined} onClick={toggleHold} title="Space">
            {at === undefined ? "Hold" : "Live"}
          </button>
          {at !== undefined && (
            <button
              type="button"
              class="button"
              onClick={() => (feed.playing.value ? feed.seek(timeAt) : feed.play())}
              title="Lets the time that is looked at go on"
            >
              {feed.playing.value ? "Stop" : "Play"}
            </button>
          )}
          {at !== undefined && (
            <Select
              label="Speed"
              value={String(feed.speed.value) as (typeof SPEEDS)[number]}
              choices={SPEEDS.map((id) => ({ id, text: `${id} x` }))}
              onChange={(id) => feed.setSpeed(Number(id))}
            />
          )}
          <button type="button" class="button quiet" onClick={mark} title="Gives this moment a name (M)">
            Mark
          </button>
          {can("pause") && (
            <button
              type="button"
              class="button quiet"
              onClick={() => control(session.state === LiveState.paused ? LiveOperation.resume : LiveOperation.pause)}
              title="Probes of the program tell nothing as long as they are off"
            >
              {session.state === LiveState.paused ? "Probes on" : "Probes off"}
            </button>
          )}
        </div>
        <Strip
          window={window_}
          end={frame?.time ?? session.time}
          length={length}
          at={timeAt}
          text={at === undefined ? (frame?.timeText ?? "") : (window_?.windowText ?? "")}
          onSeek={(time) => feed.seek(time)}
        />
        <p class="live-says">
          {at === undefined ? (
            <>
              {shown(frame?.timeText ?? "")}, heights are of {shown(frame?.windowText ?? "the window")}
              {frame !== undefined && frame.probeText !== "" && <> · {shown(frame.probeText)}</>}
            </>
          ) : (
            <>{shown(window_?.windowText ?? "")}</>
          )}
          {estimate !== undefined ? (
            <>
              {" · "}
              {shown(estimate.text)}; {shown(estimate.source)}
            </>
          ) : (
            frame !== undefined && <> · {shown(frame.losses.text)}</>
          )}
          {frame?.lagText !== undefined && (
            <b>
              {" · "}
              {shown(frame.lagText)}
            </b>
          )}
          {session.error !== undefined && <b> · {shown(session.error)}</b>}
        </p>
        {feed.problem.value !== undefined && <Notes texts={[feed.problem.value]} />}
      </footer>
    </div>
  );
}

function ChangeLegend({ city, versions }: { city: City | undefined; versions: Versions | undefined }) {
  const gone = useMemo(() => {
    if (city === undefined || versions?.gone.length !== city.plots.count) return undefined;
    const rows = Array.from({ length: city.plots.count }, (_, row) => row);
    return rows.filter((row) => versions.gone[row] === 1).map((row) => wholeName(city, row));
  }, [city, versions]);
  return (
    <div class="live-legend">
      <span class="more">Orange</span> more than before, <span class="less">blue</span> less; dashed above: what it was.
      {versions !== undefined && " A frame on its roof: [A] new. Crossed out: [D] gone."}
      {gone !== undefined && gone.length > 0 && (
        <details>
          <summary>
            [D] {gone.length === 1 ? "1 method is gone" : `${gone.length.toLocaleString("en")} methods are gone`}
          </summary>
          <ul>
            {gone.slice(0, 200).map((name, i) => (
              <li key={i}>
                <Name text={name} />
              </li>
            ))}
            {gone.length > 200 && <li>{(gone.length - 200).toLocaleString("en")} more</li>}
          </ul>
        </details>
      )}
    </div>
  );
}
