// The time that is held is in the address: the browser's way back, a reload and a copied link lead to it.
import { useEffect, useRef } from "preact/hooks";
import type { Place } from "../../state/place.js";
import { go } from "../../state/state.js";
import { useApp } from "../../ui/context.js";
import type { Feed } from "./feed.js";
import { LIVE, sessionOf } from "./names.js";

export interface Held {
  readonly session: string;
  /** Nanoseconds since the session began. */
  readonly time: number;
}

export const heldText = ({ session, time }: Held) => `${session} ${time}`;

/** What is held by itself, or by the part of a session that the address names: at its end. */
export function heldOf({ held, profile }: Pick<Place, "held" | "profile">): Held | undefined {
  const [, session, time] = /^(\S+) (\d{1,18})$/.exec(held) ?? [];
  if (session !== undefined) return { session, time: Number(time) };
  const of = sessionOf(profile);
  const to = /[?&]to=(\d{1,18})(?:&|$)/.exec(profile ?? "")?.[1];
  return of === undefined || to === undefined ? undefined : { session: of, time: Number(to) };
}

/** Holds what the address names, and names in it what is held. */
export function useHeld(feed: Feed, session: string | undefined): void {
  const app = useApp();
  const named = heldOf(app.place.value);
  const time = named?.session === session ? named?.time : undefined;
  const known = useRef<number | undefined>(undefined);
  const at = feed.at.value;
  const playing = feed.playing.value;
  useEffect(() => {
    if (session === undefined || time === known.current) return;
    known.current = time;
    if (time === undefined) feed.live();
    else if (time !== feed.at.peek()) feed.seek(time);
  }, [feed, session, time]);
  useEffect(() => {
    const now = feed.at.peek();
    if (session === undefined || feed.session.peek() !== session || playing || now === time) return;
    known.current = now;
    app.update((state) => {
      if (now !== undefined) return go(state, { held: heldText({ session, time: now }) });
      // A part of the session would hold its end again.
      const part = heldOf({ held: "", profile: state.place.profile }) !== undefined;
      return go(state, { held: "", ...(part ? { profile: `${LIVE}${session}` } : {}) });
    }, false);
  }, [feed, session, at, playing]);
}
