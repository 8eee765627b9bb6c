// Choosing a function by typing part of its name.
import { useEffect, useRef, useState } from "preact/hooks";
import { SearchRequest } from "../../../shared/ts/psp.js";
import { specOf } from "../state/place.js";
import { specText } from "../state/spec.js";
import { Name } from "./bits.js";
import { useAnswer, useApp, useProfile } from "./context.js";
import { Dialog } from "./menu.js";

export const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

export function FunctionPicker(props: { title: string; onPick: (name: string) => void; onClose: () => void }) {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const [text, setText] = useState("");
  const [pattern, setPattern] = useState("");
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    const timer = setTimeout(() => setPattern(text), 120);
    return () => clearTimeout(timer);
  }, [text]);
  const found = useAnswer(
    SearchRequest,
    profile === undefined
      ? undefined
      : {
          profile: profile.handle,
          spec: specText({ ...specOf(place, "flat"), metric: place.metric || profile.metric }),
          pattern: pattern === "" ? "." : literal(pattern),
          limit: 50,
          panelId: "picker",
        },
  );
  const matches = found.value?.matches ?? [];
  const pick = (i: number) => {
    const match = matches[i];
    if (match !== undefined) props.onPick(match.name);
  };
  return (
    <Dialog title={props.title} onClose={props.onClose} wide>
      <input
        ref={input}
        class="picker-input"
        type="text"
        role="combobox"
        aria-label="Part of the name"
        aria-expanded="true"
        aria-controls="picker-list"
        aria-activedescendant={matches.length > 0 ? `picker-${at}` : undefined}
        placeholder="Part of the name"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setAt(Math.min(matches.length - 1, at + 1));
          else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
          else if (event.key === "Enter") pick(at);
          else return;
          event.preventDefault();
        }}
      />
      <div class="picker-list" role="listbox" id="picker-list" aria-label="Functions">
        {matches.map((match, i) => (
          <div
            key={match.name}
            id={`picker-${i}`}
            role="option"
            aria-selected={i === at}
            class={i === at ? "selected" : ""}
            onClick={() => pick(i)}
          >
            <span class="picker-share">{match.total.shareText ?? match.total.text}</span>
            <Name text={match.name} />
          </div>
        ))}
        {found.value !== undefined && matches.length === 0 && (
          <div class="muted picker-none">No function has this in its name</div>
        )}
        {found.error !== undefined && <div class="muted picker-none">{found.error}</div>}
      </div>
    </Dialog>
  );
}
