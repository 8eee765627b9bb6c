// A text in colours with line numbers, the line of an error, and a list of what the word before the caret may become. What is
// typed is typed into a text field, whose letters cannot be seen: the coloured ones stand below them, at the same places.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { linesOf } from "../source/highlight.js";
import { completionsAt, type Completion } from "./api.js";
import { indentAfter } from "./indent.js";

const MOST = 8;

interface Offered {
  readonly all: readonly Completion[];
  /** What Enter takes; -1: Enter is a line's end. */
  readonly active: number;
  /** Where the list is, in pixels of the text. */
  readonly left: number;
  readonly top: number;
  readonly bottom: number;
}

/** In place of what is chosen, so that undo knows of it. */
function insert(area: HTMLTextAreaElement, text: string, from: number, to: number): void {
  area.focus();
  area.setSelectionRange(from, to);
  // No other way leaves the field's own undo as it is.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  document.execCommand("insertText", false, text);
}

export function ScriptEditor(props: {
  text: string;
  /** From 1; the line that an error is of. */
  wrong: number | undefined;
  onText: (text: string) => void;
  onRun: () => void;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const colours = useRef<HTMLDivElement>(null);
  const ruler = useRef<HTMLSpanElement>(null);
  const [offered, setOffered] = useState<Offered | undefined>(undefined);
  const lines = useMemo(() => linesOf(props.text, "script.lua"), [props.text]);
  const follow = (element: HTMLTextAreaElement) => {
    if (gutter.current !== null) gutter.current.scrollTop = element.scrollTop;
    if (colours.current !== null)
      colours.current.style.transform = `translate(${-element.scrollLeft}px, ${-element.scrollTop}px)`;
    setOffered(undefined);
  };
  useLayoutEffect(() => {
    if (props.wrong === undefined || area.current === null) return;
    const height = area.current.scrollHeight / Math.max(lines.length, 1);
    area.current.scrollTop = Math.max(0, (props.wrong - 4) * height);
    follow(area.current);
  }, [props.wrong]);
  const look = (element: HTMLTextAreaElement, asked = false) => {
    const all = completionsAt(element.value, element.selectionEnd, MOST, asked ? 0 : undefined);
    const size = ruler.current?.getBoundingClientRect();
    if (all.length === 0 || size === undefined || element.selectionStart !== element.selectionEnd) {
      setOffered(undefined);
      return;
    }
    const before = element.value.slice(0, all[0]!.from).split("\n");
    const y = (before.length - 1) * size.height - element.scrollTop;
    setOffered({
      all,
      active: asked ? 0 : -1,
      left: (before.at(-1)!.length * size.width) / 10 - element.scrollLeft,
      top: y + size.height,
      bottom: element.clientHeight - y,
    });
  };
  const take = ({ text, from, to }: Completion) => {
    if (area.current !== null) insert(area.current, text, from, to);
    setOffered(undefined);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    const element = event.currentTarget as HTMLTextAreaElement;
    const held = event.ctrlKey || event.metaKey;
    const move = (by: number) => {
      const n = offered!.all.length;
      setOffered({ ...offered!, active: (offered!.active + by + n + (offered!.active < 0 && by < 0 ? 1 : 0)) % n });
    };
    const chosen = offered?.all[Math.max(0, offered.active)];
    let done = true;
    if (held && event.key === "Enter") props.onRun();
    else if (held && event.key === " ") look(element, true);
    else if (offered !== undefined && event.key === "ArrowDown") move(1);
    else if (offered !== undefined && event.key === "ArrowUp") move(-1);
    else if (offered !== undefined && event.key === "Escape") setOffered(undefined);
    else if (chosen !== undefined && (event.key === "Tab" || (event.key === "Enter" && offered!.active >= 0)))
      take(chosen);
    else if (event.key === "Enter" && !event.shiftKey && !event.altKey && !held)
      insert(
        element,
        `\n${indentAfter(element.value, element.selectionStart)}`,
        element.selectionStart,
        element.selectionEnd,
      );
    else done = false;
    if (done) event.preventDefault();
  };
  const above = offered !== undefined && offered.bottom < 160 && offered.top > 160;
  return (
    <div class="script-editor">
      <div class="script-text">
        <div class="script-lines" ref={gutter} aria-hidden="true">
          {lines.map((_, i) => (
            <div key={i} class={props.wrong === i + 1 ? "wrong" : ""}>
              {i + 1}
            </div>
          ))}
        </div>
        <div class="script-code">
          <div class="script-colours" aria-hidden="true">
            <div ref={colours}>
              {lines.map((html, i) => (
                <div
                  key={i}
                  class={props.wrong === i + 1 ? "wrong" : ""}
                  dangerouslySetInnerHTML={{ __html: html === "" ? " " : html }}
                />
              ))}
            </div>
            <span class="script-ruler" ref={ruler}>
              0000000000
            </span>
          </div>
          <textarea
            ref={area}
            aria-label="Script"
            aria-description="Ctrl+Space shows what can be written, Ctrl+Enter runs"
            aria-invalid={props.wrong !== undefined}
            aria-autocomplete="list"
            aria-controls="script-offers"
            aria-activedescendant={
              offered !== undefined && offered.active >= 0 ? `script-offer-${offered.active}` : undefined
            }
            spellcheck={false}
            wrap="off"
            value={props.text}
            onInput={(event) => {
              props.onText(event.currentTarget.value);
              look(event.currentTarget);
            }}
            onClick={() => setOffered(undefined)}
            onBlur={() => setOffered(undefined)}
            onScroll={(event) => follow(event.currentTarget)}
            onKeyDown={onKeyDown}
          />
          <ul
            id="script-offers"
            class="script-offers"
            role="listbox"
            aria-label="Completions"
            hidden={offered === undefined}
            style={
              offered === undefined
                ? {}
                : {
                    left: `${offered.left}px`,
                    ...(above ? { bottom: `${offered.bottom}px` } : { top: `${offered.top}px` }),
                  }
            }
          >
            {offered?.all.map((one, i) => (
              <li
                key={one.text}
                id={`script-offer-${i}`}
                role="option"
                aria-selected={i === offered.active}
                onPointerDown={(event) => {
                  event.preventDefault(); // the text keeps the focus
                  take(one);
                }}
              >
                {one.text}
              </li>
            ))}
          </ul>
        </div>
      </div>
    </div>
  );
}
