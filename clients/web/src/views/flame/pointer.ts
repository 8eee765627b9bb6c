// Mouse, pen, touch and wheel over a flame graph.
import { useEffect, useRef } from "preact/hooks";
import type { Point } from "../../ui/menu.js";
import type { FlameController } from "./controller.js";

const LONG_PRESS_MS = 500;
const DRAG_PIXELS = 5;

export interface PointerHandlers {
  readonly controller: FlameController;
  readonly itemAt: (x: number, y: number) => number;
  readonly hover: (item: number, at: Point | undefined) => void;
  readonly click: (item: number) => void;
  readonly tap: (item: number) => void;
  readonly doubleTap: (item: number) => void;
  readonly menu: (item: number, at: Point) => void;
}

export function usePointer(
  surface: { current: HTMLElement | null },
  scroller: { current: HTMLElement | null },
  handlers: PointerHandlers,
): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    const element = surface.current;
    const outer = scroller.current;
    if (element === null || outer === null) return;
    const local = (event: MouseEvent): Point => {
      const box = outer.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const held = new Map<number, Point>();
    let start: Point | undefined;
    let dragging = false;
    let pressTimer: ReturnType<typeof setTimeout> | undefined;
    let pressed = false;
    let lastTap = { time: 0, item: -1 };
    let pinch = 0;

    const down = (event: PointerEvent) => {
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
      dragging = false;
      pressed = false;
      start = { x: event.clientX, y: event.clientY };
      if (event.pointerType === "mouse") return;
      const at = local(event);
      clearTimeout(pressTimer);
      pressTimer = setTimeout(() => {
        pressed = true;
        latest.current.menu(latest.current.itemAt(at.x, at.y), { x: event.clientX, y: event.clientY });
      }, LONG_PRESS_MS);
    };
    const moved = (event: PointerEvent) => {
      const at = local(event);
      const before = held.get(event.pointerId);
      if (before === undefined) {
        if (event.pointerType !== "touch")
          latest.current.hover(latest.current.itemAt(at.x, at.y), { x: event.clientX, y: event.clientY });
        return;
      }
      if (start !== undefined && Math.hypot(event.clientX - start.x, event.clientY - start.y) > DRAG_PIXELS) {
        if (!dragging && event.pointerType === "mouse") element.setPointerCapture(event.pointerId);
        dragging = true;
        clearTimeout(pressTimer);
        latest.current.hover(-1, undefined);
      }
      if (held.size === 2) {
        held.set(event.pointerId, { x: event.clientX, y: event.clientY });
        const [one, two] = [...held.values()];
        const distance = Math.hypot(one!.x - two!.x, one!.y - two!.y);
        const box = outer.getBoundingClientRect();
        if (pinch > 0) latest.current.controller.zoomBy(pinch / distance, (one!.x + two!.x) / 2 - box.left);
        pinch = distance;
        return;
      }
      if (dragging) {
        latest.current.controller.pan(before.x - event.clientX);
        if (event.pointerType === "mouse") outer.scrollTop += before.y - event.clientY;
      }
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    };
    const up = (event: PointerEvent) => {
      const known = held.delete(event.pointerId);
      clearTimeout(pressTimer);
      pinch = 0;
      if (!known || dragging || pressed || event.button !== 0) return;
      const at = local(event);
      const item = latest.current.itemAt(at.x, at.y);
      if (event.pointerType === "mouse") {
        latest.current.click(item);
        return;
      }
      if (lastTap.item === item && event.timeStamp - lastTap.time < 350) latest.current.doubleTap(item);
      else latest.current.tap(item);
      lastTap = { time: event.timeStamp, item };
    };
    const cancel = (event: PointerEvent) => {
      held.delete(event.pointerId);
      clearTimeout(pressTimer);
      pinch = 0;
    };
    const leave = () => latest.current.hover(-1, undefined);
    const menu = (event: MouseEvent) => {
      event.preventDefault();
      if (pressed) return;
      const at = local(event);
      latest.current.menu(latest.current.itemAt(at.x, at.y), { x: event.clientX, y: event.clientY });
    };
    const wheel = (event: WheelEvent) => {
      const { controller } = latest.current;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const step = event.deltaMode === 0 ? event.deltaY : event.deltaY * 24;
        controller.zoomBy(Math.exp(Math.max(-120, Math.min(120, step)) * 0.004), local(event).x);
        latest.current.hover(-1, undefined);
        return;
      }
      const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
      if (sideways !== 0 && Math.abs(sideways) >= Math.abs(event.shiftKey ? 0 : event.deltaY) && controller.closer) {
        event.preventDefault();
        controller.pan(event.deltaMode === 0 ? sideways : sideways * 24);
      }
      latest.current.hover(-1, undefined);
    };
    const over = new AbortController();
    const { signal } = over;
    element.addEventListener("pointerdown", down, { signal });
    element.addEventListener("pointermove", moved, { signal });
    element.addEventListener("pointerup", up, { signal });
    element.addEventListener("pointercancel", cancel, { signal });
    element.addEventListener("pointerleave", leave, { signal });
    element.addEventListener("contextmenu", menu, { signal });
    element.addEventListener("wheel", wheel, { passive: false, signal });
    return () => {
      clearTimeout(pressTimer);
      over.abort();
    };
  }, []);
}
