// Searching: one expression that the address holds, and further sets that stay highlighted.
import { signal, type Signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { SearchRequest, type HiddenMatchesResult } from "../../../shared/ts/psp.js";
import { specOf } from "../state/place.js";
import { specText } from "../state/spec.js";
import { go } from "../state/state.js";
import { IconButton } from "./bits.js";
import { useApp, useAnswer, useProfile } from "./context.js";
import { useKeys } from "./keys.js";

export interface MarkedSet {
  readonly pattern: string;
  readonly color: string;
  readonly share: string;
  readonly names: ReadonlySet<string>;
}

export interface Search {
  /** What of the search has no box in the picture that is shown, once it is counted. */
  readonly hidden: Signal<HiddenMatchesResult | undefined>;
  readonly sets: Signal<readonly MarkedSet[]>;
  readonly marks: ReadonlyMap<string, string>;
  /** What n and N do in the view that is shown. */
  readonly steps: { current: ((direction: "next" | "previous") => void) | undefined };
}

const SET_COLORS = ["#c76b00", "#0080a8", "#b0418f", "#5a7d00"];

interface Held {
  hidden: Signal<HiddenMatchesResult | undefined>;
  sets: Signal<readonly MarkedSet[]>;
  steps: { current: ((direction: "next" | "previous") => void) | undefined };
  marks: Signal<ReadonlyMap<string, string>>;
}

export const newSearch = (): Held => ({
  hidden: signal(undefined),
  sets: signal([]),
  steps: { current: undefined },
  marks: signal(new Map()),
});

export const SearchContext = createContext<Held>(newSearch());

export function useSearch(): Search {
  const held = useContext(SearchContext);
  useEffect(
    () => () => {
      held.steps.current = undefined;
    },
    [],
  );
  return { hidden: held.hidden, sets: held.sets, steps: held.steps, marks: held.marks.value };
}

function putSets(held: Held, sets: readonly MarkedSet[]): void {
  held.sets.value = sets;
  const marks = new Map<string, string>();
  for (const set of sets) for (const name of set.names) marks.set(name, set.color);
  held.marks.value = marks;
}

export function SearchBox() {
  const app = useApp();
  const held = useContext(SearchContext);
  const profile = useProfile();
  const place = app.place.value;
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(place.search);
  // What comes from elsewhere, a link or a step back, replaces the text; one's own comes back while one types on.
  const sent = useRef(place.search);
  // What is typed is sent once: at rest, or before.
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    if (place.search === sent.current) return;
    clearTimeout(timer.current);
    sent.current = place.search;
    setText(place.search);
  }, [place.search]);
  const send = () => {
    clearTimeout(timer.current);
    sent.current = text;
    app.update((state) => go(state, { search: text }), false);
  };
  useEffect(() => {
    if (text === place.search) return;
    timer.current = setTimeout(send, 180);
    return () => clearTimeout(timer.current);
  }, [text]);

  const shape = place.view === "flat" ? "flat" : place.shape;
  const found = useAnswer(
    SearchRequest,
    profile === undefined ||
      place.search === "" ||
      ((shape === "callers" || shape === "callees") && place.focus.length === 0)
      ? undefined
      : {
          profile: profile.handle,
          spec: specText({ ...specOf(place, shape), metric: place.metric || profile.metric }),
          pattern: place.search,
          limit: 1,
          panelId: "search",
        },
  );
  const share = place.search === "" ? undefined : found.value;
  const hidden = place.view === "flame" ? held.hidden.value?.hidden : undefined;
  const unseen = hidden === undefined || hidden.value === 0 ? undefined : (hidden.shareText ?? hidden.text);
  useEffect(() => {
    if (share !== undefined) app.spoken.value = share.text;
  }, [share]);

  const keep = async () => {
    if (profile === undefined || place.search === "" || held.sets.value.some((set) => set.pattern === place.search))
      return;
    try {
      const answer = await app.ask(SearchRequest, {
        profile: profile.handle,
        spec: specText({ ...specOf(place, shape), metric: place.metric || profile.metric }),
        pattern: place.search,
        limit: 1000,
      });
      const color = SET_COLORS.find((c) => !held.sets.value.some((set) => set.color === c)) ?? SET_COLORS[0]!;
      putSets(held, [
        ...held.sets.value.slice(-3),
        {
          pattern: place.search,
          color,
          share: answer.matched.shareText ?? answer.matched.text,
          names: new Set(answer.matches.map((match) => match.name)),
        },
      ]);
      if (answer.functions > answer.matches.length)
        app.say(`${answer.matches.length} of ${answer.functions} names are highlighted, the heaviest`, "warning");
      app.update((state) => go(state, { search: "" }), false);
    } catch (error) {
      const reason = app.explain(error);
      if (reason !== undefined) app.say(reason, "error");
    }
  };

  // The browser's own search knows nothing of what is on a canvas or below a table's rows; asked again, it comes.
  useEffect(() => {
    const find = (event: KeyboardEvent) => {
      if (event.key !== "f" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      if (document.activeElement === input.current) return;
      event.preventDefault();
      input.current?.select();
    };
    window.addEventListener("keydown", find);
    return () => window.removeEventListener("keydown", find);
  }, []);
  useKeys({
    title: "Searching",
    keys: [{ keys: ["/"], text: "search; Ctrl + F does the same", run: () => input.current?.select() }],
  });
  return (
    <div class={`search${found.error !== undefined ? " wrong" : ""}`} role="search">
      {held.sets.value.map((set) => (
        <span key={set.pattern} class="search-set" style={{ borderColor: set.color }}>
          <i style={{ background: set.color }} />
          <span class="search-set-text" title={set.pattern}>
            {set.pattern}
          </span>
          <span class="muted">{set.share}</span>
          <IconButton
            icon="close"
            label={`Highlight ${set.pattern} no more`}
            onClick={() =>
              putSets(
                held,
                held.sets.value.filter((other) => other !== set),
              )
            }
          />
        </span>
      ))}
      <input
        ref={input}
        type="search"
        placeholder="Search names (regex)"
        aria-label="Search names"
        aria-invalid={found.error !== undefined}
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault();
            if (text !== place.search) send();
            held.steps.current?.(event.shiftKey ? "previous" : "next");
          } else if (event.key === "Escape") {
            // The words stay, for n and N; a second Escape, on the page, takes them away.
            event.preventDefault();
            if (text !== place.search) send();
            input.current?.blur();
          }
        }}
      />
      {found.error !== undefined && place.search !== "" && (
        <span class="search-wrong" role="alert" title={found.error}>
          {found.error}
        </span>
      )}
      {share !== undefined && found.error === undefined && (
        <>
          <span
            class="search-share"
            title={unseen === undefined ? share.text : `${share.text} · ${unseen} too narrow to see`}
          >
            {share.matched.shareText ?? share.matched.text}
            <span class="muted">
              {" "}
              · {share.functions} {share.functions === 1 ? "name" : "names"}
              {unseen !== undefined && ` · ${unseen} hidden`}
            </span>
          </span>
          <IconButton icon="up" label="Previous match" keys="N" onClick={() => held.steps.current?.("previous")} />
          <IconButton icon="down" label="Next match" keys="n" onClick={() => held.steps.current?.("next")} />
          <IconButton icon="plus" label="Keep this search highlighted" onClick={() => void keep()} />
        </>
      )}
    </div>
  );
}
