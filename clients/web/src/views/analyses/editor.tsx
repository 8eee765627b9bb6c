// A text with line numbers, the line of an error, and what the word before the caret may become.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { completionsAt, type Completion } from "./api.js";

export function ScriptEditor(props: {
  text: string;
  /** From 1; the line that an error is of. */
  wrong: number | undefined;
  onText: (text: string) => void;
  onRun: () => void;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const [offered, setOffered] = useState<readonly Completion[]>([]);
  const caret = useRef<number | undefined>(undefined);
  const lines = props.text.split("\n").length;
  useLayoutEffect(() => {
    if (caret.current === undefined) return;
    area.current?.setSelectionRange(caret.current, caret.current);
    caret.current = undefined;
  });
  useLayoutEffect(() => {
    if (props.wrong === undefined || area.current === null) return;
    const height = area.current.scrollHeight / Math.max(lines, 1);
    area.current.scrollTop = Math.max(0, (props.wrong - 4) * height);
  }, [props.wrong]);
  const take = ({ text, from, to }: Completion) => {
    caret.current = from + text.length;
    setOffered([]);
    props.onText(props.text.slice(0, from) + text + props.text.slice(to));
    area.current?.focus();
  };
  const look = (element: HTMLTextAreaElement) => setOffered(completionsAt(element.value, element.selectionEnd));
  return (
    <div class="script-editor">
      <div class="script-text">
        <div class="script-lines" ref={gutter} aria-hidden="true">
          {Array.from({ length: lines }, (_, i) => (
            <div key={i} class={props.wrong === i + 1 ? "wrong" : ""}>
              {i + 1}
            </div>
          ))}
        </div>
        <textarea
          ref={area}
          aria-label="Script"
          aria-invalid={props.wrong !== undefined}
          spellcheck={false}
          wrap="off"
          value={props.text}
          onInput={(event) => {
            props.onText(event.currentTarget.value);
            look(event.currentTarget);
          }}
          onClick={(event) => look(event.currentTarget)}
          onScroll={(event) => {
            if (gutter.current !== null) gutter.current.scrollTop = event.currentTarget.scrollTop;
          }}
          onKeyDown={(event) => {
            event.stopPropagation();
            const held = event.ctrlKey || event.metaKey;
            if (held && event.key === "Enter") {
              event.preventDefault();
              props.onRun();
            } else if (held && event.key === " " && offered[0] !== undefined) {
              event.preventDefault();
              take(offered[0]);
            } else if (event.key === "Escape") setOffered([]);
          }}
        />
      </div>
      <div class="script-offers" role="group" aria-label="Completions">
        {offered.map((one, i) => (
          <button
            type="button"
            class="button"
            key={one.text}
            title={i === 0 ? "Ctrl+Space" : undefined}
            onClick={() => take(one)}
          >
            {one.text}
          </button>
        ))}
      </div>
    </div>
  );
}
