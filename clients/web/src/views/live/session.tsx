// A program that runs, or ran: its picture, what stands beside it, and all that leads from there.
import { useMemo, useRef, useState } from "preact/hooks";
import {
  LiveControlRequest,
  LiveMethodRequest,
  LiveOperation,
  LiveState,
  type LiveSession,
} from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { go, openPlace } from "../../state/state.js";
import { Busy, Segments } from "../../ui/bits.js";
import { useApp } from "../../ui/context.js";
import { Icon } from "../../ui/icons.js";
import { useKeys } from "../../ui/keys.js";
import { shortName } from "./city.js";
import type { CityStage, Kind, Shown } from "./controller.js";
import { LiveFoot } from "./foot.js";
import { HotList } from "./hotlist.js";
import { ChangeLegend } from "./legend.js";
import { MethodCard, type Deeds } from "./methodcard.js";
import { LIVE, matchesOf } from "./names.js";
import { Stage, type Hovered } from "./stage.js";
import { Lanes } from "./threads.js";
import { LiveToolbar } from "./toolbar.js";
import { CityTooltip } from "./tooltip.js";
import type { Side, Watched } from "./watched.js";

export function Session({
  watched,
  session,
  sessions,
}: {
  watched: Watched;
  session: LiveSession;
  sessions: readonly LiveSession[];
}) {
  const app = useApp();
  const { feed } = watched;
  const kind = watched.kind.value;
  const why = watched.why.value;
  const side = watched.side.value;
  const pair = watched.pair.value;
  const search = watched.search.value;
  const chosenId = watched.chosen.value;
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
  const rows = at === undefined ? (frame?.rows ?? []) : (window_?.rows ?? []);
  const left = at === undefined ? frame?.rowsLeft : window_?.rowsLeft;
  const choose = (row: number) => {
    watched.chosen.value =
      row < 0 || city === undefined ? undefined : { id: city.plots.id[row]!, before: city.plots.before[row]! };
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
  const setKind = (next: Kind) => {
    if (next === "city") {
      watched.insists = why !== undefined;
      watched.why.value = undefined;
    }
    watched.kind.value = next;
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
      { keys: ["v"], text: "city or map", run: () => setKind(kind === "city" ? "map" : "city") },
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
      { keys: ["Escape"], text: "let go of it", run: () => (search !== "" ? (watched.search.value = "") : choose(-1)) },
    ],
  });

  return (
    <div class="view live">
      <LiveToolbar
        watched={watched}
        session={session}
        sessions={sessions}
        time={timeAt}
        found={matches?.length}
        searchBox={searchBox}
        onKind={setKind}
        onHome={() => stage.current?.home()}
        onStep={step}
        onArrange={() => control(LiveOperation.arrange)}
      />
      {why !== undefined && (
        <p class="live-why" role="status">
          <Icon name="warning" size={14} /> {shown(why.text)}{" "}
          {why.again && (
            <button type="button" class="link" onClick={() => setKind("city")}>
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
            camera={watched.camera}
            onStage={(made) => (stage.current = made)}
            onHover={setHovered}
            onChoose={choose}
            onOpen={(row) => {
              if (row >= 0) jump("source", row);
            }}
            onNoCity={(text, again) => {
              if (watched.insists && again) return;
              watched.why.value = { text, again };
              watched.kind.value = "map";
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
            onChange={(next) => (watched.side.value = next)}
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
      <LiveFoot
        feed={feed}
        session={session}
        time={timeAt}
        length={length}
        canPause={can("pause")}
        onHold={toggleHold}
        onMark={mark}
        onProbes={(on) => control(on ? LiveOperation.resume : LiveOperation.pause)}
      />
    </div>
  );
}
