// Where in its file a function that was chosen is looked at. Pure: what an answer of the daemon becomes on the screen.
import type { SourceAnnotationsResult } from "../../shared/ts/psp.js";
import { parseSpec } from "../../web/src/state/spec.js";

export interface FunctionLines {
  /** 0-based, both. */
  readonly declared: number;
  readonly hottest: number;
}

/** Lines of a function up to the next one of the file: where it begins, and the one that is drawn strongest. */
export function linesOf(
  { functions, lines }: Pick<SourceAnnotationsResult, "functions" | "lines">,
  name: string,
): FunctionLines | undefined {
  const declared = functions.find((found) => found.name === name)?.line;
  if (declared === undefined) return undefined;
  const next = Math.min(...functions.map(({ line }) => line).filter((line) => line > declared), Infinity);
  let hottest = declared;
  let most = 0;
  lines.line.forEach((line, i) => {
    const heat = lines.heat[i] ?? 0;
    if (line < declared || line >= next || heat <= most) return;
    hottest = line;
    most = heat;
  });
  return { declared, hottest };
}

/** The line that the cursor goes to: the first one, but where the screen has not room for the hottest one, too. */
export function cursorLine({ declared, hottest }: FunctionLines, rows: number): number {
  return hottest - declared < rows ? declared : hottest;
}

/** Whether the boxes of a view are functions; in one of lines the line of a box is the one that is meant. */
export function isOfFunctions(spec: string | undefined): boolean {
  if (spec === undefined) return true;
  try {
    return parseSpec(spec).granularity === "function";
  } catch {
    return false;
  }
}
