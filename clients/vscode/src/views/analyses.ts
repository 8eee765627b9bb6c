// The scripts there are, by whose they are, and below each what it gave when it ran last.
import * as vscode from "vscode";
import {
  AnalysisOrigin,
  type AnalysisAnnotation,
  type AnalysisInfo,
  type AnalysisRow,
  type AnalysisRunResult,
  type AnalysisTable,
} from "../../../shared/ts/psp.js";
import type { Analyses } from "../analyses.js";
import { originsOf } from "../analysis.js";
import { NoDaemon, type Session } from "../session.js";
import { Tree } from "./tree.js";

/** Of what is printed; all of it is in the text. */
const MOST_LINES = 30;

export interface AnalysisNode {
  readonly kind: "analysis";
  readonly info: AnalysisInfo;
}
type Node =
  | { readonly kind: "origin"; readonly origin: AnalysisOrigin; readonly analyses: readonly AnalysisInfo[] }
  | AnalysisNode
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "table"; readonly table: AnalysisTable }
  | { readonly kind: "row"; readonly row: AnalysisRow; readonly table: AnalysisTable }
  | { readonly kind: "notes"; readonly result: AnalysisRunResult }
  | { readonly kind: "note"; readonly note: AnalysisAnnotation }
  | { readonly kind: "profile"; readonly name: string; readonly uri: string };

const { None, Expanded } = vscode.TreeItemCollapsibleState;

export function analysisOf(node: unknown): AnalysisInfo | undefined {
  return (node as Partial<AnalysisNode> | undefined)?.info;
}

export class AnalysesTree extends Tree<Node> {
  constructor(
    private readonly session: Session,
    private readonly analyses: Analyses,
  ) {
    super();
    analyses.onDidChangeList(() => this.refresh());
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node === undefined) return this.roots();
    switch (node.kind) {
      case "origin":
        return node.analyses.map((info) => ({ kind: "analysis", info }));
      case "analysis": {
        const result = this.analyses.resultOf(node.info.name);
        return result === undefined ? [] : partsOf(result);
      }
      case "table":
        return [
          ...node.table.rows.map((row): Node => ({ kind: "row", row, table: node.table })),
          ...(node.table.left > 0 ? [text(vscode.l10n.t("{0} more rows", node.table.left))] : []),
        ];
      case "notes": {
        const { annotations, left } = node.result;
        return [
          ...annotations.map((note): Node => ({ kind: "note", note })),
          ...(left > 0 ? [text(vscode.l10n.t("{0} more notes", left))] : []),
        ];
      }
      default:
        return [];
    }
  }

  private async roots(): Promise<Node[]> {
    if (this.session.shown === undefined) return [];
    try {
      const analyses = await this.analyses.list();
      return originsOf(analyses).map((origin) => ({
        kind: "origin",
        origin,
        analyses: analyses.filter((analysis) => analysis.origin === origin),
      }));
    } catch (error) {
      if (error instanceof NoDaemon) return [];
      throw error;
    }
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case "origin": {
        const item = new vscode.TreeItem(titleOf(node.origin), Expanded);
        item.id = `origin ${node.origin}`;
        return item;
      }
      case "analysis":
        return this.analysisItem(node.info);
      case "text": {
        const item = new vscode.TreeItem(node.text, None);
        item.tooltip = new vscode.MarkdownString().appendText(node.text);
        return item;
      }
      case "table": {
        const rows = node.table.rows.length + node.table.left;
        const item = new vscode.TreeItem(node.table.title || vscode.l10n.t("Table"), Expanded);
        item.description = rows === 1 ? vscode.l10n.t("1 row") : vscode.l10n.t("{0} rows", rows);
        item.iconPath = new vscode.ThemeIcon("table");
        return item;
      }
      case "row": {
        const [first = "", ...others] = node.row.cells;
        const item = new vscode.TreeItem(first, None);
        item.description = others.filter((cell) => cell !== "").join("  ");
        const lines = node.table.columns.map(({ title }, i) => `${title}: ${node.row.cells[i] ?? ""}`);
        item.tooltip = new vscode.MarkdownString().appendText(lines.join("\n"));
        return item;
      }
      case "notes": {
        const count = node.result.annotations.length + node.result.left;
        const item = new vscode.TreeItem(vscode.l10n.t("Notes on Lines"), Expanded);
        item.description = String(count);
        item.iconPath = new vscode.ThemeIcon("comment");
        return item;
      }
      case "note": {
        const { file, line, text } = node.note;
        const item = new vscode.TreeItem(`${file.slice(file.lastIndexOf("/") + 1)}:${line + 1}`, None);
        item.description = text;
        item.tooltip = new vscode.MarkdownString().appendText(`${file}:${line + 1}\n${text}`);
        item.command = {
          title: vscode.l10n.t("Go to Source"),
          command: "profd.analyses.note",
          arguments: [node.note],
        };
        return item;
      }
      case "profile": {
        const item = new vscode.TreeItem(node.name, None);
        item.iconPath = new vscode.ThemeIcon("graph");
        item.tooltip = vscode.l10n.t("The profile that it made: a click opens its page.");
        item.command = {
          title: vscode.l10n.t("Open"),
          command: "profd.analyses.page",
          arguments: [node.uri],
        };
        return item;
      }
    }
  }

  private analysisItem(info: AnalysisInfo): vscode.TreeItem {
    const result = this.analyses.resultOf(info.name);
    const item = new vscode.TreeItem(info.name, result === undefined ? None : Expanded);
    // A row that had nothing below it stays closed for the editor: after a run it is another one.
    item.id = `analysis ${info.origin} ${info.name} ${result === undefined ? 0 : this.analyses.runs}`;
    item.description = result?.duration === undefined ? info.title : vscode.l10n.t("ran {0}", result.duration.text);
    item.iconPath = new vscode.ThemeIcon(info.trusted ? "beaker" : "shield");
    item.contextValue = result === undefined ? "analysis" : "analysis result";
    const given = info.arguments.map(
      ({ name, default: value, documentation }) => `${name} = ${value === "" ? '""' : value}  ${documentation}`,
    );
    const asks = info.trusted ? [] : [vscode.l10n.t("A script of this workspace: it asks before it runs.")];
    item.tooltip = new vscode.MarkdownString().appendText([info.title, ...given, ...asks].join("\n"));
    return item;
  }
}

function titleOf(origin: AnalysisOrigin): string {
  switch (origin) {
    case AnalysisOrigin.workspace:
      return vscode.l10n.t("Of This Workspace");
    case AnalysisOrigin.user:
      return vscode.l10n.t("Yours");
    default:
      return vscode.l10n.t("Bundled with profd");
  }
}

const text = (text: string): Node => ({ kind: "text", text });

function partsOf(result: AnalysisRunResult): Node[] {
  const lines = result.text === "" ? [] : result.text.replace(/\n$/, "").split("\n");
  const more = lines.length - MOST_LINES;
  const parts: Node[] = [
    ...(result.opened === undefined
      ? []
      : [{ kind: "profile", name: result.opened.summary.name, uri: result.opened.summary.uri } as const]),
    ...lines.slice(0, MOST_LINES).map(text),
    ...(more > 0 ? [text(vscode.l10n.t("{0} more lines: Show Result as Text", more))] : []),
    ...result.tables.map((table) => ({ kind: "table", table }) as const),
    ...(result.annotations.length === 0 ? [] : [{ kind: "notes", result } as const]),
  ];
  return parts.length === 0 ? [text(vscode.l10n.t("It printed nothing and made no table."))] : parts;
}
