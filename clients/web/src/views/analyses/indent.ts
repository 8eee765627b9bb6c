// What a new line of a script begins with.

/** A line that ends so goes on further in. */
const OPENS = /(?:\b(?:do|then|else|repeat)|\bfunction\b[^()]*\([^()]*\)|[{(])\s*$/;

/** That of the line which ends at `caret`, and a step more where something begins there. */
export function indentAfter(text: string, caret: number): string {
  const line = text.slice(text.lastIndexOf("\n", caret - 1) + 1, caret);
  return /^[ \t]*/.exec(line)![0] + (OPENS.test(line.replace(/--.*$/, "")) ? "  " : "");
}
