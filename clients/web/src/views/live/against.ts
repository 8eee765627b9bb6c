// What heights can be compared with, as one chooses it.
import type { LiveMark, LiveSession } from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import type { Against } from "./feed.js";

export const againstChoices = (against: Against, marks: readonly LiveMark[], others: readonly LiveSession[]) => [
  { id: "none", text: "no comparison" },
  { id: "moment", text: against.kind === "moment" ? against.text : "with how it stands now" },
  ...[...new Set(marks.map(({ name }) => name))].map((name) => ({ id: `mark ${name}`, text: `with ${shown(name)}` })),
  ...others.map((one) => ({ id: `session ${one.session}`, text: `with ${shown(one.program)} (${one.session})` })),
];

export const againstId = (against: Against): string =>
  against.kind === "mark"
    ? `mark ${against.name}`
    : against.kind === "session"
      ? `session ${against.session}`
      : against.kind;

/** `time`: how it stands now is of it. */
export function againstOf(id: string, time: number): Against {
  if (id === "moment") return { kind: "moment", text: `with how it stood at ${(time / 1e9).toFixed(1)} s` };
  if (id.startsWith("mark ")) return { kind: "mark", name: id.slice(5) };
  if (id.startsWith("session ")) return { kind: "session", session: id.slice(8) };
  return { kind: "none" };
}
