// Asks for a function's instructions, a page at a time as they come into sight.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { SourceDisassemblyRequest, type SourceDisassemblyParams } from "../../../../shared/ts/psp.js";
import { useApp } from "../../ui/context.js";
import { CODE_PAGE, listingOf, nextPage, type CodePage, type Listing } from "./code.js";

export interface Code {
  /** Until the next one is there that of the question before. */
  readonly listing: Listing | undefined;
  readonly error: string | undefined;
  readonly pending: boolean;
  /** Rows that are on the screen, the last one not among them. */
  readonly see: (first: number, last: number) => void;
}

interface Held {
  readonly key: string;
  readonly pages: ReadonlyMap<number, CodePage>;
  readonly error: string | undefined;
}

/** Without `params` nothing is asked. */
export function useCode(params: SourceDisassemblyParams | undefined, allHeadings: boolean): Code {
  const app = useApp();
  const key =
    params === undefined ? "" : `${JSON.stringify(params)} ${app.epoch.value} ${app.profile.value?.revision ?? 0}`;
  const [held, setHeld] = useState<Held>({ key: "", pages: new Map(), error: undefined });
  const asked = useRef({ key: "", pages: new Set<number>(), controller: new AbortController() });
  const fetchPage = (page: number) => {
    const own = asked.current;
    if (params === undefined || own.key !== key || own.pages.has(page)) return;
    own.pages.add(page);
    app
      .ask(
        SourceDisassemblyRequest,
        { ...params, bytes: true, offset: page * CODE_PAGE, limit: CODE_PAGE },
        own.controller.signal,
      )
      .then(
        (answer) => {
          if (asked.current !== own) return;
          setHeld((before) => ({
            key,
            pages: new Map([...(before.key === key ? before.pages : []), [page, answer]]),
            error: undefined,
          }));
        },
        (reason: unknown) => {
          own.pages.delete(page);
          const error = app.explain(reason);
          if (asked.current !== own || error === undefined) return;
          setHeld((before) => ({ key, pages: before.key === key ? before.pages : new Map(), error }));
        },
      );
  };
  useEffect(() => {
    asked.current.controller.abort();
    asked.current = { key, pages: new Set(), controller: new AbortController() };
    fetchPage(0);
  }, [key]);
  useEffect(() => () => asked.current.controller.abort(), []);
  const listing = useMemo(() => listingOf(held.pages, allHeadings), [held.pages, allHeadings]);
  const current = held.key === key;
  const more = current && listing !== undefined ? nextPage(listing) : undefined;
  useEffect(() => {
    if (more !== undefined) fetchPage(more);
  }, [more, key]);
  return {
    listing: key === "" ? undefined : listing,
    error: current ? held.error : undefined,
    pending: key !== "" && !current,
    see: (first, last) => {
      if (!current || listing === undefined) return;
      const end = Math.min(last, listing.rowCount) - 1;
      for (let page = Math.floor(first / CODE_PAGE); page <= Math.floor(end / CODE_PAGE); ++page) fetchPage(page);
    },
  };
}
