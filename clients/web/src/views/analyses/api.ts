// What a script can use, for completion: docs/analyses-api.md says what each is.

export const API = [
  "profile:visit(function(node) end)",
  "profile:nodes()",
  "profile:samples()",
  "profile:records()",
  "profile:functions()",
  "profile:total()",
  "profile:self()",
  "profile:totals()",
  "profile:has_metric(name)",
  "profile:add_metric(name, column)",
  "profile.metrics",
  "profile.metric",
  "profile.unit",
  "profile.duration",
  "profile.program",
  "profile.name",
  "profile.root",
  "profile.n_nodes",
  "profile.n_samples",
  "profiles",
  "node:self()",
  "node:total()",
  "node:share()",
  "node:children()",
  "node:elide()",
  "node:merge(other)",
  "node:rename(name)",
  "node:tag(text)",
  "node:stop()",
  "node:drop()",
  "node.id",
  "node.name",
  "node.file",
  "node.line",
  "node.function_line",
  "node.module",
  "node.kind",
  "node.parent",
  "node.depth",
  "node.is_root",
  "sample.node",
  "sample.thread",
  "sample.process",
  "sample.tid",
  "sample.pid",
  "sample.time",
  "sample:value()",
  "sample:label(key)",
  "column:above(least)",
  "column:below(most)",
  "column:least(other)",
  "column:most(other)",
  "column:or_zero()",
  "column:map(function(value, id) end)",
  "column:at(node)",
  "column:sum()",
  "args",
  "print()",
  'show_table {title = "", columns = {}, rows = {}}',
  "annotate(file, line, text)",
] as const;

export interface Completion {
  /** What is shown, and put in the place of `typed`. */
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/**
 * What the word before the caret may become, if it is `least` letters long. Of a name that is nobody's here (`p:vi`) the
 * members of everything.
 */
export function completionsAt(text: string, caret: number, most = 8, least = 2): Completion[] {
  const word = /[A-Za-z_][\w.:]*$/.exec(text.slice(0, caret))?.[0] ?? "";
  if (word.length < least) return [];
  const from = caret - word.length;
  const names: readonly string[] = API;
  const whole = names
    .filter((entry) => entry.startsWith(word) && entry !== word)
    .map((entry) => ({
      text: entry,
      from,
      to: caret,
    }));
  const [, owner, mark, member] = /^(\w+)([.:])(\w*)$/.exec(word) ?? [];
  if (owner === undefined || mark === undefined || member === undefined || whole.length > 0)
    return whole.slice(0, most);
  const members = new Set(
    API.filter((entry) => entry.includes(mark)).map((entry) => entry.slice(entry.search(/[.:]/) + 1)),
  );
  return [...members]
    .filter((entry) => entry.startsWith(member))
    .map((entry) => ({ text: entry, from: caret - member.length, to: caret }))
    .slice(0, most);
}
