// Keys of the page: views add theirs while they are shown; `?` lists what is there.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Dialog } from "./menu.js";

export interface Key {
  /** As `KeyboardEvent.key` has it; several do the same. */
  readonly keys: readonly string[];
  readonly text: string;
  readonly run: () => void;
  /** How it is listed, where the names of keys say little. */
  readonly shown?: string;
}

export interface KeyGroup {
  readonly title: string;
  readonly keys: readonly Key[];
}

const groups = signal<readonly { readonly current: KeyGroup }[]>([]);

export function useKeys(group: KeyGroup): void {
  const held = useRef(group);
  held.current = group;
  useEffect(() => {
    groups.value = [...groups.value, held];
    return () => {
      groups.value = groups.value.filter((other) => other !== held);
    };
  }, []);
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches("input:not([type=checkbox]), textarea, select"));

/** What is shown later goes first. */
export function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (
    event.key === "Enter" &&
    event.target instanceof HTMLElement &&
    event.target.closest("button, a, summary, [role=grid], [role=treegrid]") !== null
  )
    return;
  if (event.key === " " && event.target instanceof HTMLElement && event.target.closest("button, summary") !== null) return;
  if (runKey(event.key)) event.preventDefault();
}

/** Does what a key stands for now; false: nothing. */
export function runKey(name: string): boolean {
  for (const group of [...groups.value].reverse()) {
    const key = group.current.keys.find((candidate) => candidate.keys.includes(name));
    if (key === undefined) continue;
    key.run();
    return true;
  }
  return false;
}

const NAMES: Readonly<Record<string, string>> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  " ": "Space",
  Backspace: "⌫",
};

export function KeyList({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose} wide>
      <div class="key-list">
        {groups.value.map((group) => (
          <section key={group.current.title}>
            <h3>{group.current.title}</h3>
            <dl>
              {group.current.keys.map((key) => (
                <div key={key.text}>
                  <dt>
                    {key.shown === undefined
                      ? key.keys.map((name) => <kbd key={name}>{NAMES[name] ?? name}</kbd>)
                      : key.shown.split(" ").map((name) => <kbd key={name}>{name}</kbd>)}
                  </dt>
                  <dd>{key.text}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <section>
          <h3>Pointer</h3>
          <dl>
            <div>
              <dt>click</dt>
              <dd>zoom to a box; a click on the zoomed one pins its details</dd>
            </div>
            <div>
              <dt>wheel</dt>
              <dd>scroll</dd>
            </div>
            <div>
              <dt>Ctrl + wheel, pinch</dt>
              <dd>closer or farther, where the pointer is</dd>
            </div>
            <div>
              <dt>Shift + wheel, drag</dt>
              <dd>sideways</dd>
            </div>
            <div>
              <dt>right click, long press</dt>
              <dd>what can be done with a box</dd>
            </div>
          </dl>
        </section>
      </div>
    </Dialog>
  );
}
