// What scripts are and gave, without the editor: what arguments may be, and a result as text.
import {
  AnalysisArgumentType,
  AnalysisOrigin,
  type AnalysisInfo,
  type AnalysisRunResult,
  type AnalysisTable,
} from "../../shared/ts/psp.js";

/** Whose they are, in the order in which they are listed. */
export const ORIGINS: readonly AnalysisOrigin[] = [
  AnalysisOrigin.workspace,
  AnalysisOrigin.user,
  AnalysisOrigin.bundled,
];

export const originsOf = (analyses: readonly AnalysisInfo[]): readonly AnalysisOrigin[] =>
  ORIGINS.filter((origin) => analyses.some((analysis) => analysis.origin === origin));

/** Whether a text is a value of the type. */
export function isValue(type: AnalysisArgumentType, text: string): boolean {
  switch (type) {
    case AnalysisArgumentType.integer:
      return /^\s*[+-]?\d+\s*$/.test(text);
    case AnalysisArgumentType.number:
      return text.trim() !== "" && Number.isFinite(Number(text));
    case AnalysisArgumentType.boolean:
      return text === "true" || text === "false";
    default:
      return true;
  }
}

/** A column is one of numbers when all of its cells are that, or empty. */
export const isNumeric = ({ rows }: AnalysisTable, column: number): boolean =>
  rows.length > 0 && rows.every(({ values, cells }) => values[column] != null || cells[column] === "");

function linesOfTable(table: AnalysisTable): string[] {
  const titles = table.columns.map(({ title }) => title);
  const cells = [titles, ...table.rows.map((row) => row.cells)];
  const widths = titles.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        isNumeric(table, column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return [
    ...(table.title === "" ? [] : [table.title]),
    ...cells.map(line),
    ...(table.left > 0 ? [`${table.left} more rows`] : []),
  ];
}

/** All that a script gave, to be read or copied. */
export function textOf(result: AnalysisRunResult): string {
  const notes = result.annotations.map(({ file, line, text }) => `${file}:${line + 1}: ${text}`);
  const parts = [
    result.text.replace(/\n$/, "").split("\n"),
    ...result.tables.map(linesOfTable),
    [...notes, ...(result.left > 0 ? [`${result.left} more notes on lines`] : [])],
    result.opened === undefined ? [] : [`It made the profile ${result.opened.summary.name}.`],
  ];
  const said = parts.map((lines) => lines.join("\n")).filter((part) => part !== "");
  return `${said.length === 0 ? "It printed nothing and made no table." : said.join("\n\n")}\n`;
}
