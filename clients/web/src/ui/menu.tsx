// Menus that open at a button or at a point: arrows move, letters jump, Escape closes and gives the focus back.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./icons.js";

export interface MenuItem {
  readonly text: string;
  readonly run?: () => void;
  readonly icon?: IconName;
  readonly keys?: string;
  readonly checked?: boolean;
  readonly disabled?: boolean;
  /** A line before it. */
  readonly apart?: boolean;
  /** A heading: cannot be chosen. */
  readonly heading?: boolean;
  readonly note?: string;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

const EDGE = 6;

/** Puts an element at a point, moved in where it would leave the window. */
export function placeAt(element: HTMLElement, at: Point, above?: number): void {
  const { width, height } = element.getBoundingClientRect();
  const room = { x: document.documentElement.clientWidth, y: document.documentElement.clientHeight };
  const x = Math.max(EDGE, Math.min(at.x, room.x - width - EDGE));
  let y = at.y;
  if (y + height > room.y - EDGE)
    y = above !== undefined && above - height >= EDGE ? above - height : room.y - height - EDGE;
  element.style.left = `${x}px`;
  element.style.top = `${Math.max(EDGE, y)}px`;
}

export function Menu(props: { label: string; at: Point; items: readonly MenuItem[]; onClose: () => void }) {
  const list = useRef<HTMLDivElement>(null);
  const before = useRef<Element | null>(document.activeElement);
  const close = (refocus: boolean) => {
    props.onClose();
    if (refocus && before.current instanceof HTMLElement) before.current.focus();
  };
  useLayoutEffect(() => {
    if (list.current === null) return;
    placeAt(list.current, props.at);
    (buttons()[0] ?? list.current).focus();
  }, []);
  useEffect(() => {
    const outside = (event: Event) => {
      if (event.target instanceof Node && !(list.current?.contains(event.target) ?? false)) close(false);
    };
    window.addEventListener("pointerdown", outside, true);
    window.addEventListener("blur", outside);
    return () => {
      window.removeEventListener("pointerdown", outside, true);
      window.removeEventListener("blur", outside);
    };
  }, []);
  const buttons = () => [...(list.current?.querySelectorAll<HTMLButtonElement>("button:not(:disabled)") ?? [])];
  const onKeyDown = (event: KeyboardEvent) => {
    const all = buttons();
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    const step = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (step !== undefined) all[(step + all.length) % Math.max(1, all.length)]?.focus();
    else if (event.key === "Escape" || event.key === "Tab") close(true);
    else if (event.key.length === 1 && event.key !== " ") {
      const letter = event.key.toLowerCase();
      const after = [...all.slice(at + 1), ...all.slice(0, at + 1)];
      after.find((button) => button.textContent.trim().toLowerCase().startsWith(letter))?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="menu" role="menu" aria-label={props.label} tabIndex={-1} ref={list} onKeyDown={onKeyDown}>
      {props.items.map((item, i) =>
        item.heading === true ? (
          <div class="menu-heading" key={i} role="presentation">
            {item.text}
          </div>
        ) : (
          <button
            type="button"
            key={i}
            class={item.apart === true ? "apart" : ""}
            role={item.checked === undefined ? "menuitem" : "menuitemradio"}
            aria-checked={item.checked}
            disabled={item.disabled}
            tabIndex={-1}
            onClick={() => {
              close(true);
              item.run?.();
            }}
          >
            <span class="menu-icon">
              {item.checked === true ? (
                <Icon name="check" />
              ) : item.icon !== undefined ? (
                <Icon name={item.icon} />
              ) : null}
            </span>
            <span class="menu-text">
              {item.text}
              {item.note !== undefined && <span class="menu-note">{item.note}</span>}
            </span>
            {item.keys !== undefined && <kbd>{item.keys}</kbd>}
          </button>
        ),
      )}
    </div>
  );
}

export function MenuButton(props: {
  label: string;
  class?: string;
  title?: string;
  items: () => readonly MenuItem[];
  children: ComponentChildren;
}) {
  const [at, setAt] = useState<Point | undefined>(undefined);
  const button = useRef<HTMLButtonElement>(null);
  const toggle = () => {
    const box = button.current?.getBoundingClientRect();
    setAt(at === undefined && box !== undefined ? { x: box.left, y: box.bottom + 4 } : undefined);
  };
  return (
    <>
      <button
        type="button"
        ref={button}
        class={props.class ?? "button"}
        aria-haspopup="menu"
        aria-expanded={at !== undefined}
        aria-label={props.label}
        title={props.title ?? props.label}
        onClick={toggle}
      >
        {props.children}
      </button>
      {at !== undefined && <Menu label={props.label} at={at} items={props.items()} onClose={() => setAt(undefined)} />}
    </>
  );
}

/** A window above the page: takes the focus, gives it back, closes with Escape. */
export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren; wide?: boolean }) {
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={box}
      class={props.wide === true ? "dialog wide" : "dialog"}
      aria-label={props.title}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
      onKeyDown={(event) => event.stopPropagation()}
      onClick={(event) => {
        if (event.target === box.current) props.onClose();
      }}
    >
      <div class="dialog-body">
        <header>
          <h2>{props.title}</h2>
          <button type="button" class="icon-button" aria-label="Close" onClick={props.onClose}>
            <Icon name="close" />
          </button>
        </header>
        {props.children}
      </div>
    </dialog>
  );
}
