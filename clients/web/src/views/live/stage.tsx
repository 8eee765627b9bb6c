// The picture on the page: its canvases, the names upon it, and the pointer. What it shows is in the list beside it, too, so
// that it is hidden from screen readers; keys do all that a pointer does.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { watchScreen } from "../../draw/canvas.js";
import { useTheme } from "../../ui/theme.js";
import { CityStage, type Kind, type SeenFrom, type Shown } from "./controller.js";
import { loadScene } from "./loadscene.js";
import type { Hit } from "./pick.js";

export interface Hovered {
  readonly hit: Hit;
  readonly x: number;
  readonly y: number;
}

export interface StageProps {
  readonly kind: Kind;
  readonly shown: Shown | undefined;
  /** Of a city that changes while it is shown. */
  readonly tick: number;
  readonly chosen: number;
  /** Where one looks from: taken up, and left for the next time. */
  readonly camera: { current: SeenFrom | undefined };
  readonly onStage: (stage: CityStage | undefined) => void;
  readonly onHover: (hovered: Hovered | undefined) => void;
  readonly onChoose: (row: number) => void;
  readonly onOpen: (row: number) => void;
  /** There is no WebGL, its part cannot be loaded, or it is slow; `again`: it can be chosen all the same. */
  readonly onNoCity: (why: string, again: boolean) => void;
}

const DRAG = 4;

export function Stage(props: StageProps) {
  const box = useRef<HTMLDivElement>(null);
  const solid = useRef<HTMLCanvasElement>(null);
  const flat = useRef<HTMLCanvasElement>(null);
  const labels = useRef<HTMLDivElement>(null);
  const [stage, setStage] = useState<CityStage | undefined>(undefined);
  const [loaded, setLoaded] = useState(false);
  const theme = useTheme();
  const held = useRef(props);
  held.current = props;

  useLayoutEffect(() => {
    const made = new CityStage(flat.current!, labels.current!, {
      onHover: (hit, at) => {
        const nothing = hit.plot < 0 && hit.block < 0 && hit.district < 0;
        held.current.onHover(nothing ? undefined : { hit, x: at.x, y: at.y });
      },
      onChoose: (row) => held.current.onChoose(row),
      onSlow: (renderer) =>
        held.current.onNoCity(`The city is drawn slowly here (by ${renderer}): the map shows the same.`, true),
    });
    if (props.camera.current !== undefined) made.lookFrom(props.camera.current);
    setStage(made);
    props.onStage(made);
    const unwatch = watchScreen(box.current!, (screen) => made.setScreen(screen));
    return () => {
      unwatch();
      held.current.camera.current = made.seenFrom;
      made.stop();
      held.current.onStage(undefined);
    };
  }, []);

  useEffect(() => {
    if (props.kind !== "city" || loaded || stage === undefined) return;
    let gone = false;
    loadScene().then(
      ({ createScene }) => {
        if (gone) return;
        const scene = createScene(solid.current!);
        if (scene === undefined)
          held.current.onNoCity("This browser has no WebGL 2, which the city needs: the map shows the same.", false);
        else {
          setLoaded(true);
          stage.useScene(scene);
        }
      },
      (error: unknown) => held.current.onNoCity(error instanceof Error ? error.message : String(error), true),
    );
    return () => {
      gone = true;
    };
  }, [props.kind, stage, loaded]);

  useLayoutEffect(() => stage?.setKind(props.kind === "city" && loaded ? "city" : "map"), [stage, props.kind, loaded]);
  useLayoutEffect(
    () => stage?.setTheme(theme.mode, theme.font, theme.reducedMotion),
    [stage, theme.mode, theme.font, theme.reducedMotion],
  );
  useLayoutEffect(() => {
    if (props.shown !== undefined) stage?.show(props.shown);
  }, [stage, props.shown, props.tick]);
  useLayoutEffect(() => stage?.choose(props.chosen), [stage, props.chosen]);
  usePointer(box, stage);

  const city = props.kind === "city" && loaded;
  return (
    <div class="city-stage" ref={box} aria-hidden="true" data-drawn={city ? "city" : "map"}>
      <canvas ref={solid} class={city ? "" : "away"} />
      <canvas ref={flat} class={city ? "away" : ""} />
      <div class="city-labels" ref={labels} />
      {props.shown?.pair === true && city && (
        <div class="city-sides">
          <span>Before</span>
          <span>Now</span>
        </div>
      )}
    </div>
  );

  function usePointer(element: typeof box, at: CityStage | undefined): void {
    useEffect(() => {
      const target = element.current;
      if (target === null || at === undefined) return;
      interface Down {
        x: number;
        y: number;
        moved: boolean;
        turn: boolean;
      }
      const down = new Map<number, Down>();
      let pinch = 0;
      const point = (event: MouseEvent) => {
        const rect = target.getBoundingClientRect();
        return { x: event.clientX - rect.left, y: event.clientY - rect.top };
      };
      const pinched = () => {
        const [a, b] = [...down.values()];
        return a === undefined || b === undefined
          ? undefined
          : { size: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
      };
      const onDown = (event: PointerEvent) => {
        const { x, y } = point(event);
        // The right button, or a key held, moves; the left one turns. On the map all of them move.
        const turn = event.button === 0 && !event.shiftKey && !event.ctrlKey;
        down.set(event.pointerId, { x, y, moved: false, turn });
        target.setPointerCapture(event.pointerId);
        pinch = pinched()?.size ?? 0;
        at.hover(undefined);
      };
      const onMove = (event: PointerEvent) => {
        const now = point(event);
        const one = down.get(event.pointerId);
        if (one === undefined) {
          if (event.pointerType !== "touch") at.hover(now);
          return;
        }
        const [dx, dy] = [now.x - one.x, now.y - one.y];
        if (!one.moved && Math.hypot(dx, dy) < DRAG) return;
        one.moved = true;
        const height = Math.max(1, target.clientHeight);
        if (down.size === 2) {
          const before = pinched();
          Object.assign(one, now);
          const after = pinched();
          if (before !== undefined && after !== undefined && after.size > 0) {
            at.scale(pinch / after.size, after);
            at.move((before.x - after.x) / height, (after.y - before.y) / height);
            pinch = after.size;
          }
          return;
        }
        if (one.turn && held.current.kind === "city" && target.dataset.drawn === "city")
          at.turn((-dx / height) * 3, (dy / height) * 2);
        else at.move(-dx / height, dy / height);
        Object.assign(one, now);
      };
      const onUp = (event: PointerEvent) => {
        const one = down.get(event.pointerId);
        down.delete(event.pointerId);
        if (one !== undefined && !one.moved && event.button === 0) at.click(point(event));
      };
      const onLeave = () => {
        if (down.size === 0) at.hover(undefined);
      };
      const onWheel = (event: WheelEvent) => {
        event.preventDefault();
        // A picture has nothing to scroll: the wheel comes closer, a trackpad's pinch likewise.
        const step = event.deltaMode === 1 ? event.deltaY * 30 : event.deltaY;
        at.scale(Math.exp(Math.max(-240, Math.min(240, step)) * (event.ctrlKey ? 0.008 : 0.0016)), point(event));
      };
      const onDouble = (event: MouseEvent) => held.current.onOpen(at.hitAt(point(event)).plot);
      const onMenu = (event: Event) => event.preventDefault();
      const on = <K extends keyof HTMLElementEventMap>(
        name: K,
        listener: (event: HTMLElementEventMap[K]) => void,
        options?: AddEventListenerOptions,
      ) => {
        target.addEventListener(name, listener, options);
        return () => target.removeEventListener(name, listener, options);
      };
      const off = [
        on("pointerdown", onDown),
        on("pointermove", onMove),
        on("pointerup", onUp),
        on("pointercancel", onUp),
        on("pointerleave", onLeave),
        on("wheel", onWheel, { passive: false }),
        on("dblclick", onDouble),
        on("contextmenu", onMenu),
      ];
      return () => off.forEach((take) => take());
    }, [at]);
  }
}
