// Above the picture: which program, as a city or a map, what it is compared with, and finding a method.
import type { RefObject } from "preact";
import { LiveState, type LiveSession } from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { go } from "../../state/state.js";
import { Name, Segments, Select } from "../../ui/bits.js";
import { useApp } from "../../ui/context.js";
import { againstChoices, againstId, againstOf } from "./against.js";
import type { Kind } from "./controller.js";
import { LIVE } from "./names.js";
import type { Watched } from "./watched.js";

export function LiveToolbar({
  watched,
  session,
  sessions,
  time,
  found,
  searchBox,
  onKind,
  onHome,
  onStep,
  onArrange,
}: {
  watched: Watched;
  session: LiveSession;
  sessions: readonly LiveSession[];
  /** What is looked at. */
  time: number;
  /** How many methods the search finds; undefined: nothing is looked for. */
  found: number | undefined;
  searchBox: RefObject<HTMLInputElement | null>;
  onKind: (kind: Kind) => void;
  onHome: () => void;
  onStep: (by: number) => void;
  onArrange: () => void;
}) {
  const app = useApp();
  const { feed, search } = watched;
  const kind = watched.kind.value;
  const at = feed.at.value;
  const against = feed.against.value;
  const compared = against.kind !== "none";
  const others = sessions.filter((one) => one.session !== session.session);
  const stateText =
    at !== undefined
      ? feed.playing.value
        ? "plays again"
        : "held"
      : session.state === LiveState.runs
        ? "live"
        : session.state;

  return (
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
            onChange={(id) => app.update((state) => go(state, { profile: `${LIVE}${id}`, held: "" }))}
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
          onChange={onKind}
        />
        <button type="button" class="button quiet" title="All of it (0)" onClick={() => onHome()}>
          Home
        </button>
        <Select
          label="Compare with"
          value={againstId(against)}
          choices={againstChoices(against, feed.window.value?.marks ?? [], others)}
          onChange={(id) => void feed.compare(againstOf(id, time))}
        />
        {compared && kind === "city" && (
          <Segments
            label="Both"
            value={watched.pair.value ? "pair" : "one"}
            choices={[
              { id: "one", text: "One city", title: "Orange has more than before, blue less" },
              { id: "pair", text: "Side by side", title: "Before and now, seen from the same place" },
            ]}
            onChange={(id) => (watched.pair.value = id === "pair")}
          />
        )}
        <input
          ref={searchBox}
          class="live-search"
          type="search"
          placeholder="Find a method (/)"
          aria-label="Find a method"
          spellcheck={false}
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") onStep(event.shiftKey ? -1 : 1);
            else if (event.key === "Escape") {
              if (search.value === "") searchBox.current?.blur();
              else search.value = "";
            } else return;
            event.preventDefault();
          }}
        />
        {found !== undefined && (
          <span class="muted" role="status">
            {found === 0 ? "none" : found === 1 ? "1 method" : `${found.toLocaleString("en")} methods`}
          </span>
        )}
        <span class="grow" />
        <button
          type="button"
          class="button quiet"
          onClick={() => onArrange()}
          title="The largest first again; places change"
        >
          Re-arrange
        </button>
      </div>
    </div>
  );
}
