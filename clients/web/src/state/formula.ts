// Names of metrics in the text of a formula, as they are typed.

const PLAIN = /^[A-Za-z_][A-Za-z0-9_.:]*$/;

/** As a formula has it: in quotes where it has other signs. */
export const nameInFormula = (name: string) => (PLAIN.test(name) ? name : `"${name.replace(/["\\]/g, "\\$&")}"`);

export interface NamePart {
  readonly from: number;
  readonly to: number;
  /** What stands there, and the name that it begins: without its quote. */
  readonly typed: string;
  readonly text: string;
}

/** The name that ends at the caret; empty where none does. */
export function nameAt(formula: string, caret: number): NamePart {
  const before = formula.slice(0, caret);
  // An open quote reaches to the caret.
  let open = -1;
  for (let i = 0; i < before.length; ++i) {
    if (before[i] === "\\" && open >= 0) ++i;
    else if (before[i] === '"') open = open >= 0 ? -1 : i;
  }
  const from = open >= 0 ? open : caret - (/[A-Za-z_][A-Za-z0-9_.:]*$/.exec(before)?.[0].length ?? 0);
  const typed = before.slice(from);
  const text = open >= 0 ? typed.slice(1).replace(/\\(.)/g, "$1") : typed;
  return { from, to: caret, typed, text };
}

/** The formula with that name in the place of what was typed of it. */
export function withName(formula: string, part: NamePart, name: string): { text: string; caret: number } {
  const begin = formula.slice(0, part.from) + nameInFormula(name);
  return { text: begin + formula.slice(part.to), caret: begin.length };
}
