// Measured callers and callees in the editor's own call hierarchy, when a setting says so: the editor asks one provider
// alone, and a language's own may be the better one.
import * as vscode from "vscode";
import { SourceResolveRequest, TableRequest, type TableResult } from "../../shared/ts/psp.js";
import type { Parts } from "./main.js";
import type { Frame } from "./reveal.js";
import { config } from "./settings.js";
import { functionFor } from "./where.js";

const LIMIT = 50;

class Item extends vscode.CallHierarchyItem {
  constructor(
    readonly frame: Frame,
    detail: string,
    uri: vscode.Uri,
    line: number,
  ) {
    const range = new vscode.Range(line, 0, line, 0);
    super(vscode.SymbolKind.Function, frame.name, detail, uri, range, range);
  }
}

export class CallHierarchy implements vscode.CallHierarchyProvider, vscode.Disposable {
  private registered: vscode.Disposable | undefined;
  private readonly listening: vscode.Disposable;

  constructor(private readonly parts: Parts) {
    this.listening = vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("profd.callHierarchy")) this.apply();
    });
    this.apply();
  }

  dispose(): void {
    this.listening.dispose();
    this.registered?.dispose();
  }

  async prepareCallHierarchy(
    document: vscode.TextDocument,
    { line }: vscode.Position,
  ): Promise<vscode.CallHierarchyItem | undefined> {
    if (this.parts.session.shown === undefined) return undefined;
    const frame = await functionFor(this.parts.session, { uri: document.uri.toString(), line });
    return frame && new Item(frame, "", document.uri, line);
  }

  // Where in a caller it calls, a profile may not know; a call without a place is shown as the first line of its file.
  async provideCallHierarchyIncomingCalls(item: Item): Promise<vscode.CallHierarchyIncomingCall[]> {
    return (await this.calls(item, "callers")).map((from) => new vscode.CallHierarchyIncomingCall(from, [from.range]));
  }

  async provideCallHierarchyOutgoingCalls(item: Item): Promise<vscode.CallHierarchyOutgoingCall[]> {
    return (await this.calls(item, "callees")).map((to) => new vscode.CallHierarchyOutgoingCall(to, [item.range]));
  }

  private apply(): void {
    const on = config().get<boolean>("callHierarchy", false);
    if (on) this.registered ??= vscode.languages.registerCallHierarchyProvider({ scheme: "file" }, this);
    else {
      this.registered?.dispose();
      this.registered = undefined;
    }
  }

  private async calls(item: Item, shape: "callers" | "callees"): Promise<Item[]> {
    const { session, filters } = this.parts;
    const answer = await session.request(TableRequest, {
      spec: filters.spec({ shape, focus: [item.frame.name] }),
      sort: "total",
      limit: LIMIT,
    });
    return Promise.all(answer.rows.name.map((_, row) => this.itemOf(answer, row, item)));
  }

  /** A function without a file is shown where it was asked for: the editor wants a place for each. */
  private async itemOf(answer: TableResult, row: number, asked: Item): Promise<Item> {
    const { rows } = answer;
    const name = answer.names[rows.name[row] ?? 0] ?? "";
    const detail = `${rows.totalShare[row] ?? ""}  ${rows.totalText[row] ?? ""}`;
    const file = answer.files[rows.file[row] ?? -1];
    const line = rows.line[row] ?? 0;
    const found =
      file === undefined
        ? undefined
        : await this.parts.session.request(SourceResolveRequest, {
            profile: answer.profile,
            path: file,
            ...(line === 0 ? {} : { line }),
          });
    const place = found?.tie === false ? found.candidates[0] : undefined;
    const frame: Frame = { name, profile: answer.profile, file, line };
    return place === undefined
      ? new Item(frame, detail, asked.uri, asked.range.start.line)
      : new Item(frame, detail, vscode.Uri.parse(place.uri), place.line ?? 0);
  }
}
