// What a script gave.
import type { AnalysisRunResult, AnalysisTable } from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { go } from "../../state/state.js";
import { useApp } from "../../ui/context.js";

export function ScriptResult({ result }: { result: AnalysisRunResult }) {
  const app = useApp();
  const { showLine } = app.home;
  return (
    <div class="script-result">
      {result.text !== "" && <pre>{result.text}</pre>}
      {result.tables.map((table, i) => (
        <ScriptTable key={i} table={table} />
      ))}
      {result.annotations.length > 0 && (
        <ul class="script-notes">
          {result.annotations.map(({ file, line, uri, text }, i) => {
            const inPage = () => app.update((state) => go(state, { view: "source", file, line: line + 1 }));
            return (
              <li key={i}>
                <button
                  type="button"
                  class="link"
                  title={shown(file)}
                  onClick={() => (uri !== undefined && showLine !== undefined ? showLine(uri, line + 1) : inPage())}
                >
                  {shown(file.slice(file.lastIndexOf("/") + 1))}:{line + 1}
                </button>{" "}
                {shown(text)}
              </li>
            );
          })}
        </ul>
      )}
      {result.left > 0 && <p class="muted">{result.left} more notes are not shown.</p>}
      {result.text === "" && result.tables.length === 0 && result.annotations.length === 0 && (
        <p class="muted">It printed nothing and made no table.</p>
      )}
      {result.duration !== undefined && <p class="muted">Ran {result.duration.text}</p>}
    </div>
  );
}

function ScriptTable({ table }: { table: AnalysisTable }) {
  const isNumber = (column: number) =>
    table.rows.length > 0 && table.rows.every(({ values, cells }) => values[column] != null || cells[column] === "");
  return (
    <section>
      <h2>{shown(table.title)}</h2>
      <div class="script-table" role="region" aria-label={shown(table.title)} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {table.columns.map(({ title }, i) => (
                <th key={i} scope="col" class={isNumber(i) ? "number" : ""}>
                  {shown(title)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map(({ cells }, row) => (
              <tr key={row}>
                {cells.map((cell, i) => (
                  <td key={i} class={isNumber(i) ? "number" : ""}>
                    <bdi dir="ltr">{shown(cell)}</bdi>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {table.left > 0 && <p class="muted">{table.left} more rows are not shown.</p>}
    </section>
  );
}
