// Pages of one list, fetched as they come into sight.
import { useEffect, useRef, useState } from "preact/hooks";
import type { RequestType } from "../../../../shared/ts/psp.js";
import { filtersOf, type Place } from "../../state/place.js";
import { useApp } from "../../ui/context.js";

export const PAGE = 200;

export interface Pages<Answer, Row> {
  readonly first: Answer | undefined;
  readonly row: (at: number) => Row | undefined;
  readonly see: (from: number, to: number) => void;
  readonly error: string | undefined;
}

/** Without `params` nothing is asked. Until another list is there the first page of the one before is shown. */
export function usePages<Params extends { offset?: number; limit?: number }, Answer, Row>(
  type: RequestType<Params, Answer>,
  params: Params | undefined,
  rowOf: (page: Answer, at: number) => Row | undefined,
): Pages<Answer, Row> {
  const app = useApp();
  const [, redraw] = useState(0);
  const [error, setError] = useState<string | undefined>(undefined);
  const pages = useRef(new Map<number, { readonly asked: AbortController; answer?: Answer }>());
  const first = useRef<Answer | undefined>(undefined);
  const key =
    params === undefined ? "" : `${JSON.stringify(params)} ${app.epoch.value} ${app.profile.value?.revision ?? 0}`;
  const fetchPage = (page: number) => {
    const own = pages.current;
    if (params === undefined || own.has(page)) return;
    const entry: { asked: AbortController; answer?: Answer } = { asked: new AbortController() };
    own.set(page, entry);
    app.ask(type, { ...params, offset: page * PAGE, limit: PAGE }, entry.asked.signal).then(
      (answer) => {
        if (pages.current !== own) return;
        entry.answer = answer;
        if (page === 0) first.current = answer;
        setError(undefined);
        redraw((n) => n + 1);
      },
      (reason: unknown) => {
        own.delete(page);
        const text = app.explain(reason);
        if (text !== undefined && pages.current === own) setError(text);
      },
    );
  };
  useEffect(() => {
    for (const { asked } of pages.current.values()) asked.abort();
    pages.current = new Map();
    fetchPage(0);
  }, [key]);
  return {
    first: first.current,
    error,
    row: (at) => {
      const page = pages.current.get(Math.floor(at / PAGE))?.answer ?? (at < PAGE ? first.current : undefined);
      return page === undefined ? undefined : rowOf(page, at % PAGE);
    },
    see: (from, to) => {
      for (let page = Math.floor(from / PAGE); page <= Math.floor(Math.max(from, to - 1) / PAGE); ++page)
        fetchPage(page);
    },
  };
}

/** Why a list has no rows; `otherwise` where nothing that was asked for is the reason. */
export function whyNoRows(place: Place, otherwise: string): string {
  if (place.search !== "") return "No name matches the search.";
  return filtersOf(place).length > 0 ? "No stack passes the filters." : otherwise;
}
