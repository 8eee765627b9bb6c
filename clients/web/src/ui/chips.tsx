// Filters as chips: on and off, in their order, edited as text, undone.
import { useRef, useState } from "preact/hooks";
import { TableRequest } from "../../../shared/ts/psp.js";
import { shown } from "../draw/shown.js";
import { FILTER_BYS, FILTER_OPS, filterText, parseClause, specText, SpecError } from "../state/spec.js";
import {
  addFilter,
  clearFilters,
  go,
  moveFilter,
  redoFilters,
  removeFilter,
  replaceFilter,
  setFilters,
  setProven,
  setSettings,
  toggleMine,
  toggleFilter,
  undoFilters,
} from "../state/state.js";
import { IconButton } from "./bits.js";
import { useAnswer, useApp, useProfile } from "./context.js";
import { Icon } from "./icons.js";
import { MenuButton, type MenuItem } from "./menu.js";
import { literal } from "./picker.js";
import { useKeys } from "./keys.js";

export function Chips() {
  const app = useApp();
  const { undo, redo, place, settings } = app.state.value;
  const [editing, setEditing] = useState<number | "new" | undefined>(undefined);
  const [dragged, setDragged] = useState(-1);
  useKeys({
    title: "Filters",
    keys: [
      { keys: ["u"], text: "undo the last filter", run: () => app.update(undoFilters) },
      { keys: ["U"], text: "redo it", run: () => app.update(redoFilters) },
      { keys: ["F"], text: "add a filter", run: () => setEditing("new") },
      { keys: ["M"], text: "my code only, and back", run: () => app.update(toggleMine) },
    ],
  });
  const { chips } = place;

  const commit = (text: string): string | undefined => {
    try {
      const clause = parseClause(text.trim());
      if ("metric" in clause) app.update((state) => go(state, { metric: clause.metric }));
      else if ("paths" in clause) app.update((state) => setProven(state, clause.paths === "proven"));
      else if (typeof editing === "number") app.update((state) => replaceFilter(state, editing, clause.filter));
      else app.update((state) => addFilter(state, clause.filter));
      setEditing(undefined);
      return undefined;
    } catch (error) {
      return error instanceof SpecError ? error.message : String(error);
    }
  };

  const saved = (): MenuItem[] => {
    const items: MenuItem[] = [];
    if (settings.saved.length > 0) items.push({ text: "Kept", heading: true });
    for (const set of settings.saved)
      items.push({
        text: set.name,
        icon: "filter",
        run: () =>
          app.update((state) =>
            setFilters(
              state,
              set.clauses.flatMap((text) => {
                try {
                  const clause = parseClause(text);
                  return "filter" in clause ? [clause.filter] : [];
                } catch {
                  return [];
                }
              }),
            ),
          ),
      });
    items.push({
      text: "Keep these filters",
      icon: "plus",
      apart: settings.saved.length > 0,
      disabled: chips.length === 0,
      run: () => {
        const clauses = chips.map((chip) => filterText(chip.filter));
        const name = clauses.join(", ").slice(0, 60);
        app.update((state) =>
          setSettings(state, {
            saved: [...state.settings.saved.filter((set) => set.name !== name), { name, clauses }].slice(-20),
          }),
        );
        app.say(`Kept as "${name}"`);
      },
    });
    if (settings.saved.length > 0)
      items.push({
        text: "Forget all that is kept",
        icon: "close",
        run: () => app.update((state) => setSettings(state, { saved: [] })),
      });
    items.push({
      text: "Remove all filters",
      icon: "close",
      disabled: chips.length === 0,
      run: () => app.update(clearFilters),
    });
    return items;
  };

  return (
    <div class="chips" role="group" aria-label="Filters">
      <ul class="chip-list">
        {chips.map((chip, at) => {
          const text = filterText(chip.filter);
          return editing === at ? (
            <li key={at}>
              <ClauseInput initial={text} commit={commit} onClose={() => setEditing(undefined)} />
            </li>
          ) : (
            <li
              key={at}
              class={`chip ${chip.filter.op}${chip.on ? "" : " off"}${dragged === at ? " dragged" : ""}`}
              draggable
              onDragStart={(event) => {
                event.dataTransfer?.setData("text/x-profd-chip", String(at));
                setDragged(at);
              }}
              onDragEnd={() => setDragged(-1)}
              onDragOver={(event) => dragged >= 0 && event.preventDefault()}
              onDrop={(event) => {
                event.preventDefault();
                event.stopPropagation();
                if (dragged >= 0) app.update((state) => moveFilter(state, dragged, at));
                setDragged(-1);
              }}
            >
              <button
                type="button"
                role="switch"
                aria-checked={chip.on}
                class="chip-text"
                title={`${shown(text)}\nClick: ${chip.on ? "off" : "on"}. Double click: edit. Alt with an arrow key, or drag: move.`}
                onClick={() => app.update((state) => toggleFilter(state, at))}
                onDblClick={() => setEditing(at)}
                onKeyDown={(event) => {
                  if (event.altKey && event.key === "ArrowLeft") app.update((state) => moveFilter(state, at, at - 1));
                  else if (event.altKey && event.key === "ArrowRight")
                    app.update((state) => moveFilter(state, at, at + 1));
                  else if (event.key === "Delete") app.update((state) => removeFilter(state, at));
                  else if (event.key === "e") setEditing(at);
                  else return;
                  event.preventDefault();
                  event.stopPropagation();
                }}
              >
                <bdi dir="ltr">{shown(text)}</bdi>
              </button>
              <IconButton
                icon="close"
                label={`Remove ${text}`}
                onClick={() => app.update((state) => removeFilter(state, at))}
              />
            </li>
          );
        })}
      </ul>
      {editing === "new" ? (
        <ClauseInput initial="" commit={commit} onClose={() => setEditing(undefined)} />
      ) : (
        <button type="button" class="button quiet" onClick={() => setEditing("new")} title="Add a filter (F)">
          <Icon name="filter" /> Filter
        </button>
      )}
      {(undo.length > 0 || redo.length > 0) && (
        <>
          <IconButton
            icon="undo"
            label="Undo filter"
            keys="u"
            disabled={undo.length === 0}
            onClick={() => app.update(undoFilters)}
          />
          <IconButton
            icon="redo"
            label="Redo filter"
            keys="U"
            disabled={redo.length === 0}
            onClick={() => app.update(redoFilters)}
          />
        </>
      )}
      {(chips.length > 0 || settings.saved.length > 0) && (
        <MenuButton label="More of filters" class="icon-button" items={saved}>
          <Icon name="more" />
        </MenuButton>
      )}
    </div>
  );
}

interface Progress {
  /** What stands before the word that is typed. */
  readonly before: string;
  readonly word: string;
  readonly words: readonly string[];
  /** Names of this are offered. */
  readonly names: "function" | "module" | "file" | undefined;
}

/** The kinds of work that come with profd; a project may have more. */
const KINDS = ["gc", "jit", "idle", "locking", "allocation", "serialisation", "io", "kernel", "mine", "library"];

/** How far a clause has come, and what can follow. */
export function progressOf(text: string): Progress {
  const space = text.lastIndexOf(" ");
  const before = text.slice(0, space + 1);
  const word = text.slice(space + 1);
  const done = before.trim().split(/\s+/).filter(Boolean);
  const starts = (words: readonly string[]) => words.filter((w) => w.startsWith(word) && w !== word);
  if (done.length === 0)
    return { before, word, words: starts([...FILTER_OPS, "thread", "label", "time", "marker", "metric"]), names: undefined };
  const bys = FILTER_BYS.filter((by) => (by === "recursion") === (done[0] === "collapse") || by !== "recursion");
  if (done.length === 1 && (FILTER_OPS as readonly string[]).includes(done[0]!))
    return { before, word, words: starts(bys), names: undefined };
  if (done.length === 2 && (done[1] === "kind" || done[1] === "work"))
    return { before, word, words: starts(KINDS), names: undefined };
  const by = done.find((w) => w === "function" || w === "module" || w === "file" || w === "fragment");
  if (by !== undefined && !word.startsWith("/"))
    return { before, word, words: [], names: by === "fragment" ? "function" : by };
  return { before, word, words: [], names: undefined };
}

function ClauseInput(props: { initial: string; commit: (text: string) => string | undefined; onClose: () => void }) {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const [text, setText] = useState(props.initial);
  const [wrong, setWrong] = useState<string | undefined>(undefined);
  const [at, setAt] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const progress = progressOf(text);
  const names = useAnswer(
    TableRequest,
    profile === undefined || progress.names === undefined
      ? undefined
      : {
          profile: profile.handle,
          spec: specText({
            shape: "flat",
            granularity: progress.names,
            filters: [],
            metric: place.metric || profile.metric,
            focus: [],
          }),
          sort: "total",
          limit: 12,
          ...(progress.word === "" ? {} : { search: literal(progress.word.replaceAll('"', "")) }),
          panelId: "clause",
        },
  );
  const rows = names.value;
  const offers =
    progress.names === undefined
      ? progress.words
      : (rows?.rows.name.map((row) => rows.names[row] ?? "") ?? []).map((name) =>
          filterText({ op: "keep", by: "function", pattern: name }).slice("keep function ".length),
        );
  const take = (offer: string) => {
    const complete = progress.names !== undefined;
    setText(progress.before + offer + (complete ? "" : " "));
    setAt(-1);
    setWrong(undefined);
    input.current?.focus();
  };
  return (
    <div class="clause">
      <input
        ref={(element) => {
          if (element !== null && input.current !== element) {
            input.current = element;
            element.focus();
          }
        }}
        type="text"
        role="combobox"
        aria-label="Filter"
        aria-autocomplete="list"
        aria-expanded={offers.length > 0}
        aria-controls="clause-list"
        aria-activedescendant={at >= 0 ? `clause-${at}` : undefined}
        aria-invalid={wrong !== undefined}
        placeholder="drop module libc.so.6"
        spellcheck={false}
        size={Math.max(28, Math.min(70, text.length + 4))}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setWrong(undefined);
          setAt(-1);
        }}
        onBlur={(event) => {
          const to = event.relatedTarget;
          if (!(to instanceof Node && event.currentTarget.parentElement?.contains(to) === true)) props.onClose();
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") props.onClose();
          else if (event.key === "ArrowDown") setAt(Math.min(offers.length - 1, at + 1));
          else if (event.key === "ArrowUp") setAt(Math.max(-1, at - 1));
          else if ((event.key === "Tab" && offers.length > 0) || (event.key === "Enter" && at >= 0))
            take(offers[Math.max(0, at)]!);
          else if (event.key === "Enter") setWrong(props.commit(text));
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      {(offers.length > 0 || wrong !== undefined) && (
        <div class="clause-list" role="listbox" id="clause-list" aria-label="What can follow">
          {wrong !== undefined && (
            <div class="clause-wrong" role="alert">
              {wrong}
            </div>
          )}
          {offers.map((offer, i) => (
            <div
              key={offer}
              id={`clause-${i}`}
              role="option"
              aria-selected={i === at}
              class={i === at ? "selected" : ""}
              onMouseDown={(event) => {
                event.preventDefault();
                take(offer);
              }}
            >
              <bdi dir="ltr">{shown(offer)}</bdi>
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
