// Searching: one expression that the address holds, and further sets that stay highlighted.
import { signal, type Signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { SearchRequest, SetsRequest, type HiddenMatchesResult, type NamedSet } from "../../../shared/ts/psp.js";
import { specOf } from "../state/place.js";
import { specText } from "../state/spec.js";
import { go } from "../state/state.js";
import { IconButton } from "./bits.js";
import { useApp, useAnswer, useProfile } from "./context.js";
import { useKeys } from "./keys.js";

/** A set that stays highlighted: an expression, or a run of calls. */
export interface MarkedSet extends NamedSet {
  readonly color: string;
}

export interface Search {
  /** What of the search has no box in the picture that is shown, once it is counted. */
  readonly hidden: Signal<HiddenMatchesResult | undefined>;
  /** Sets that stay highlighted, and their colours. */
  readonly sets: readonly NamedSet[];
  readonly marks: readonly string[];
  /** What n and N do in the view that is shown. */
  readonly steps: { current: ((direction: "next" | "previous") => void) | undefined };
}

const SET_COLORS = ["#c76b00", "#0080a8", "#b0418f", "#5a7d00", "#8a5a00", "#4a6fc4", "#a83a3a", "#00805a"];

interface Held {
  hidden: Signal<HiddenMatchesResult | undefined>;
  sets: Signal<readonly MarkedSet[]>;
  steps: { current: ((direction: "next" | "previous") => void) | undefined };
}

export const newSearch = (): Held => ({
  hidden: signal(undefined),
  sets: signal([]),
  steps: { current: undefined },
});

export const SearchContext = createContext<Held>(newSearch());

const asked = ({ name, pattern, frames, set }: NamedSet): NamedSet => ({
  name,
  ...(pattern === undefined ? {} : { pattern }),
  ...(frames === undefined ? {} : { frames }),
  ...(set === undefined ? {} : { set }),
});

export function useSearch(): Search {
  const held = useContext(SearchContext);
  useEffect(
    () => () => {
      held.steps.current = undefined;
    },
    [],
  );
  const marked = held.sets.value;
  const [sets, marks] = useMemo(() => [marked.map(asked), marked.map(({ color }) => color)], [marked]);
  return { hidden: held.hidden, sets, steps: held.steps, marks };
}

/** `a > b` is a run of calls; all else is an expression over names. */
function setOf(text: string): NamedSet {
  const frames = text.split(" > ").map((name) => name.trim());
  return frames.length > 1 && frames.every((name) => name !== "")
    ? { name: text, frames }
    : { name: text, pattern: text };
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

  // Shares of the sets that stay highlighted, of the view as it is now.
  const marked = held.sets.value;
  const shares = useAnswer(
    SetsRequest,
    profile === undefined || marked.length === 0
      ? undefined
      : {
          profile: profile.handle,
          spec: specText({ ...specOf(place, "flat"), metric: place.metric || profile.metric }),
          sets: marked.map(asked),
          panelId: "highlights",
        },
  );
  const keep = () => {
    if (place.search === "" || marked.some((set) => set.name === place.search)) return;
    if (marked.length >= SET_COLORS.length) {
      app.say(`${SET_COLORS.length} sets are highlighted already: take one away first`, "warning");
      return;
    }
    const color = SET_COLORS.find((c) => !marked.some((set) => set.color === c)) ?? SET_COLORS[0]!;
    held.sets.value = [...marked, { ...setOf(place.search), color }];
    app.update((state) => go(state, { search: "" }), false);
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
      {marked.map((set, at) => (
        <span key={set.name} class="search-set" style={{ borderColor: set.color }}>
          <i style={{ background: set.color }} />
          <span class="search-set-text" title={set.name}>
            {set.name}
          </span>
          <span class="muted">{shares.value?.sets[at]?.amount.shareText}</span>
          <IconButton
            icon="close"
            label={`Highlight ${set.name} no more`}
            onClick={() => (held.sets.value = marked.filter((other) => other !== set))}
          />
        </span>
      ))}
      {marked.length > 1 && shares.value !== undefined && shares.error === undefined && (
        <span class="search-union" title={`${shares.value.anyOf.text} in any of the highlighted sets, each stack once`}>
          together {shares.value.anyOf.shareText}
        </span>
      )}
      {shares.error !== undefined && marked.length > 0 && (
        <span class="search-wrong" role="alert" title={shares.error}>
          {shares.error}
        </span>
      )}
      <input
        ref={input}
        type="search"
        placeholder="Search names (regex)"
        title="An expression over names; + keeps it highlighted, and a > b as a run of calls"
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
          <IconButton icon="plus" label="Keep this search highlighted" onClick={keep} />
        </>
      )}
    </div>
  );
}
