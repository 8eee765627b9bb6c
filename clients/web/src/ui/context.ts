import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { DerivedMetric, MissingKind, MissingPart, ProfileSummary, RequestType } from "../../../shared/ts/psp.js";
import type { App, OpenProfile } from "../app.js";

export const AppContext = createContext<App | undefined>(undefined);

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === undefined) throw new Error("no app here");
  return app;
}

export interface Answer<R> {
  readonly value: R | undefined;
  readonly error: string | undefined;
  /** What is shown is of an older question. */
  readonly pending: boolean;
}

/** What the daemon says to `params`; the last answer stays until the next one is there. */
export function useAnswer<P extends object, R>(type: RequestType<P, R>, params: P | undefined): Answer<R> {
  const app = useApp();
  const epoch = app.epoch.value;
  const revision = app.profile.value?.revision ?? 0;
  const key = params === undefined ? "" : `${type.method} ${JSON.stringify(params)} ${epoch} ${revision}`;
  const [answer, setAnswer] = useState<Answer<R> & { key: string }>({
    key: "",
    value: undefined,
    error: undefined,
    pending: false,
  });
  const asked = useRef(params);
  asked.current = params;
  useEffect(() => {
    const now = asked.current;
    if (now === undefined) return;
    const controller = new AbortController();
    app.ask(type, now, controller.signal).then(
      (value) => setAnswer({ key, value, error: undefined, pending: false }),
      (error: unknown) => {
        const text = app.explain(error);
        if (!controller.signal.aborted && text !== undefined)
          setAnswer((old) => ({ key, value: old.value, error: text, pending: false }));
      },
    );
    return () => controller.abort();
  }, [key]);
  return {
    value: answer.value,
    error: answer.key === key ? answer.error : undefined,
    pending: answer.key !== key && key !== "",
  };
}

/** Less than this share of a profile says nothing about a picture of it. */
const WORTH_SAYING = 0.05;

/** What the profile does not know of its code, where that is enough to be felt. */
export function missingOf(
  summary: ProfileSummary | undefined,
  ...kinds: readonly MissingKind[]
): readonly MissingPart[] {
  return (summary?.missing ?? []).filter(
    (part) => kinds.includes(part.kind) && (part.amount.share ?? 1) >= WORTH_SAYING,
  );
}

/** Why the metric that is shown is not the one the file shows first: that one is 0. Nothing where another was chosen. */
export function metricNoteOf(profile: OpenProfile | undefined, metric: string): string | undefined {
  if (profile === undefined || (metric !== "" && metric !== profile.metric)) return undefined;
  return profile.summary.report.find((row) => row.kind === "default-metric-empty")?.message;
}

export function useProfile(): OpenProfile | undefined {
  return useApp().profile.value;
}

/** Metrics by formula of which no view can be: ratios, and in a comparison all of them. */
export function ratiosOf(profile: OpenProfile | undefined): readonly DerivedMetric[] {
  return (profile?.derived ?? []).filter(({ name }) => !profile?.metrics.some((metric) => metric.name === name));
}
