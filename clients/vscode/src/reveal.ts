// From a frame to its source: the daemon's word first, then, when asked for and only on demand, the editor's symbols.
import * as vscode from "vscode";
import {
  SourceAnnotationsRequest,
  SourceResolveRequest,
  type Selection,
  type SourceCandidate,
} from "../../shared/ts/psp.js";
import { cursorLine, isOfFunctions, linesOf, type FunctionLines } from "./hotline.js";
import { Outside } from "./outside.js";
import type { Session } from "./session.js";
import { config } from "./settings.js";

/** A frame as any answer of the daemon names it. */
export interface Frame {
  readonly name: string;
  readonly profile?: string | undefined;
  readonly file?: string | undefined;
  /** 1-based. */
  readonly line?: number | undefined;
  /** The file in the workspace. */
  readonly uri?: string | undefined;
}

const HIGHLIGHT_MS = 1500;
/** Of an editor that was not drawn yet. */
const ROWS = 20;

export class Reveal implements vscode.Disposable {
  private readonly highlight = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.rangeHighlightBackground"),
    borderColor: new vscode.ThemeColor("editor.findMatchHighlightBorder"),
    border: "1px solid",
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.findMatchForeground"),
  });
  private readonly outside: Outside;
  /** Counts what was chosen: what was chosen before is not shown any more. */
  private turn = 0;

  constructor(private readonly session: Session) {
    this.outside = new Outside(session);
  }

  dispose(): void {
    this.highlight.dispose();
  }

  /** Goes to the source of a frame; says why where there is none. */
  async goTo(frame: Frame): Promise<boolean> {
    if (frame.uri !== undefined) return this.show(vscode.Uri.parse(frame.uri), frame.line ?? 0, true);
    const found = await this.session.request(SourceResolveRequest, {
      ...(frame.profile === undefined ? {} : { profile: frame.profile }),
      function: frame.name,
      ...(frame.file === undefined || frame.file === "" ? {} : { path: frame.file }),
      ...(frame.line === undefined || frame.line === 0 ? {} : { line: frame.line }),
    });
    const [only] = found.candidates;
    if (only !== undefined && !found.tie) return this.showCandidate(only);
    if (found.tie) return this.choose(found.candidates);
    const { profile, file, line } = frame;
    const outside = file === undefined || file === "" ? undefined : await this.outside.ask({ profile, file });
    if (outside?.kind === "file") return this.show(outside.uri, line ?? 0, true);
    if (outside?.kind === "declined") return false;
    if (config().get<boolean>("editorSymbols", true) && (await this.showSymbol(found.symbol ?? frame.name)))
      return true;
    const why = outside?.kind === "never" ? outside.why : found.text;
    void vscode.window.showInformationMessage(vscode.l10n.t("{0}: {1}.", frame.name, why));
    return false;
  }

  /** For a frame that was chosen in a page: where its file is outside the workspace, the user is asked beside the work. */
  async offerOutside(selection: Selection): Promise<void> {
    const { profile, file } = selection;
    if (file === undefined || file === "") return;
    const shown = await this.outside.offer({ profile, file });
    if (shown.kind === "file") await this.showSelection(shown.uri, selection);
  }

  /** Opens what was chosen in a page, without taking the focus: the flame graph stays where the keys go. */
  async showSelection(uri: vscode.Uri, selection: Selection): Promise<void> {
    const turn = ++this.turn;
    const lines = isOfFunctions(selection.spec) ? await this.linesOf(uri, selection) : undefined;
    if (turn !== this.turn) return;
    if (lines !== undefined) await this.showFunction(uri, lines);
    else if (selection.line !== undefined) await this.show(uri, selection.line, false);
  }

  /** Its hot lines are what a function is looked at for. */
  private async showFunction(uri: vscode.Uri, lines: FunctionLines): Promise<void> {
    const document = await vscode.workspace.openTextDocument(uri);
    const viewColumn = columnFor(uri);
    const editor = await vscode.window.showTextDocument(document, { viewColumn, preserveFocus: true, preview: true });
    const [visible] = editor.visibleRanges;
    const rows = visible === undefined || visible.isSingleLine ? ROWS : visible.end.line - visible.start.line;
    const at = document.validatePosition(new vscode.Position(cursorLine(lines, rows), 0));
    const to = document.validatePosition(new vscode.Position(lines.hottest, 0));
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, to), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    this.flash(editor, at);
  }

  /** Those of the file as it is here; nothing where the profile does not know any. */
  private async linesOf(uri: vscode.Uri, selection: Selection): Promise<FunctionLines | undefined> {
    try {
      const answer = await this.session.request(SourceAnnotationsRequest, {
        profile: selection.profile,
        textDocument: { uri: uri.toString() },
      });
      return linesOf(answer, selection.function);
    } catch {
      return undefined; // the line that the profile names is still known
    }
  }

  /** Opens a line, from 1, that was chosen in a page: the focus stays there. */
  showLine(uri: vscode.Uri, line: number): Promise<boolean> {
    return this.show(uri, line, false);
  }

  private async show(uri: vscode.Uri, line: number, focus: boolean): Promise<boolean> {
    const document = await vscode.workspace.openTextDocument(uri);
    const at = document.validatePosition(new vscode.Position(Math.max(0, line - 1), 0));
    const editor = await vscode.window.showTextDocument(document, {
      viewColumn: columnFor(uri),
      preserveFocus: !focus,
      preview: true,
      selection: new vscode.Range(at, at),
    });
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    this.flash(editor, at);
    return true;
  }

  private flash(editor: vscode.TextEditor, at: vscode.Position): void {
    editor.setDecorations(this.highlight, [new vscode.Range(at, at)]);
    setTimeout(() => editor.setDecorations(this.highlight, []), HIGHLIGHT_MS);
  }

  private showCandidate(candidate: SourceCandidate): Promise<boolean> {
    return this.show(vscode.Uri.parse(candidate.uri), (candidate.line ?? -1) + 1, true);
  }

  private async choose(candidates: readonly SourceCandidate[]): Promise<boolean> {
    const chosen = await vscode.window.showQuickPick(
      candidates.map((candidate) => ({
        label: vscode.workspace.asRelativePath(vscode.Uri.parse(candidate.uri)),
        description: candidate.line === undefined ? "" : `:${candidate.line + 1}`,
        candidate,
      })),
      { placeHolder: vscode.l10n.t("Several files fit equally well. Which one is meant?") },
    );
    return chosen !== undefined && this.showCandidate(chosen.candidate);
  }

  private async showSymbol(name: string): Promise<boolean> {
    const symbols = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: vscode.l10n.t("Looking for {0} in the workspace", name) },
      () =>
        vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(
          "vscode.executeWorkspaceSymbolProvider",
          name,
        ),
    );
    // Ours are of the profile, which has no file for it.
    const found = (symbols ?? []).filter((symbol) => symbol.name.replace(/\(.*$/, "") === name);
    const [only] = found;
    if (only === undefined) return false;
    if (found.length === 1) return this.show(only.location.uri, only.location.range.start.line + 1, true);
    const chosen = await vscode.window.showQuickPick(
      found.map((symbol) => ({
        label: symbol.name,
        description: symbol.containerName,
        detail: `${vscode.workspace.asRelativePath(symbol.location.uri)}:${symbol.location.range.start.line + 1}`,
        symbol,
      })),
      { placeHolder: vscode.l10n.t("The profile has no file for {0}. Which of these is it?", name) },
    );
    if (chosen === undefined) return false;
    return this.show(chosen.symbol.location.uri, chosen.symbol.location.range.start.line + 1, true);
  }
}

/** Where the file is shown already, else a group that shows code, else beside. */
function columnFor(uri: vscode.Uri): vscode.ViewColumn {
  const shown = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri.toString());
  if (shown?.viewColumn !== undefined) return shown.viewColumn;
  const active = vscode.window.tabGroups.activeTabGroup;
  const isCode = (tab: vscode.Tab | undefined) => tab?.input instanceof vscode.TabInputText || tab === undefined;
  if (isCode(active.activeTab)) return active.viewColumn;
  const group = vscode.window.tabGroups.all.find((other) => isCode(other.activeTab));
  return group?.viewColumn ?? vscode.ViewColumn.Beside;
}
