// What views over time have in common: the part that is looked at, the window that the filters keep, and what is done by both.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { OpenProfile } from "../app.js";
import { specOf, type Place } from "../state/place.js";
import { specText } from "../state/spec.js";
import { withoutWindows, type Span } from "../state/windows.js";
import { Empty } from "./bits.js";
import { useProfile } from "./context.js";
import { placeAt, type Point } from "./menu.js";
import { Toolbar } from "./toolbar.js";
import { WindowCompare } from "./windowcompare.js";

/** The part that is looked at, undefined: all of it, and how another one is. `onOther`: another profile or revision has
 * another time, so that what else is of the old one goes, too. */
export function useLookedAt(onOther: () => void): [Span | undefined, (span: Span | undefined) => void] {
  const profile = useProfile();
  const [wanted, setWanted] = useState<Span | undefined>(undefined);
  const of = `${profile?.handle ?? ""} ${profile?.revision ?? 0}`;
  const last = useRef(of);
  if (last.current !== of) {
    last.current = of;
    if (wanted !== undefined) setWanted(undefined);
    onOther();
  }
  return [wanted, setWanted];
}

/** A view over time shows what its window leaves out as well. */
export function specOverTime(place: Place, profile: OpenProfile): string {
  const spec = specOf(place, "topDown");
  return specText({ ...spec, filters: withoutWindows(spec.filters), metric: place.metric || profile.metric });
}

/** A button to the window that is kept, one to everything, and what can be done with the window. */
export function WindowTools(props: {
  kept: Span | undefined;
  wanted: Span | undefined;
  onLook: (span: Span | undefined) => void;
  onKeep: (window: Span | undefined) => void;
}) {
  const { kept, wanted } = props;
  return (
    <>
      <button type="button" disabled={kept === undefined} onClick={() => kept !== undefined && props.onLook(kept)}>
        To the window
      </button>
      <button type="button" disabled={wanted === undefined} onClick={() => props.onLook(undefined)}>
        Everything
      </button>
      <button type="button" disabled={kept === undefined} onClick={() => props.onKeep(undefined)}>
        No window
      </button>
      <WindowCompare kept={kept} />
    </>
  );
}

/** `name`: "timeline"; `error`: why there is none of this profile. */
export function OverTime(props: {
  name: string;
  known: boolean;
  error: string | undefined;
  children: ComponentChildren;
}) {
  return (
    <div class="view">
      <Toolbar />
      {!props.known ? (
        <Empty title="Not known here">
          <p>This daemon is older than the page and has no {props.name}.</p>
        </Empty>
      ) : props.error !== undefined ? (
        <Empty title={`There is no ${props.name}`}>
          <p>{props.error}</p>
        </Empty>
      ) : (
        props.children
      )}
    </div>
  );
}

/** What is under the pointer. */
export function PointTip({ name, note, at }: { name: string; note: string; at: Point }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (box.current !== null) placeAt(box.current, { x: at.x + 14, y: at.y + 18 }, at.y - 10);
  }, [at.x, at.y, name, note]);
  return (
    <div class="tooltip" ref={box} aria-hidden="true">
      <div class="tooltip-name">{name}</div>
      <div class="tooltip-note">{note}</div>
    </div>
  );
}
