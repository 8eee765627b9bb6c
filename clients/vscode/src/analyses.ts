// Scripts over profiles: which there are, the questions before one runs, and what it says of lines, at their ends.
import * as vscode from "vscode";
import {
  AnalysisArgumentType,
  AnalysisListRequest,
  AnalysisOrigin,
  AnalysisRunRequest,
  AnalysisSaveRequest,
  type AnalysisAnnotation,
  type AnalysisArgument,
  type AnalysisInfo,
  type AnalysisRunParams,
  type AnalysisRunResult,
  type AnalysisValue,
  type ComposedPart,
  type ProfileListEntry,
} from "../../shared/ts/psp.js";
import { isValue, textOf } from "./analysis.js";
import type { Comparing } from "./comparing.js";
import type { InCode } from "./heat.js";
import { SCRIPT_SCHEME } from "./ids.js";
import type { Disposes } from "./later.js";
import { plain } from "./plain.js";
import { asProblem, explain, showError } from "./problems.js";
import type { Session } from "./session.js";

const BEGINNING = `-- @title What this is
-- @arg least number 0.05 Nodes with this share of the whole or more

local rows = {}
profile:visit(function(node)
  rows[#rows + 1] = { node.name, node:self() }
end, { min_share = args.least })
show_table { title = "Nodes", columns = { "function", { "self", profile.unit } }, rows = rows }
`;

interface Notes {
  readonly by: ReadonlyMap<string, readonly AnalysisAnnotation[]>;
  /** The profile and its revision: of other numbers they say nothing. */
  readonly of: string;
}

export class Analyses implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<void>();
  /** The list is another, or a script has run. */
  readonly onDidChangeList = this.changed.event;
  /** The last result of each, by name. */
  private readonly results = new Map<string, AnalysisRunResult>();
  /** How many have run. */
  runs = 0;
  private notes: Notes | undefined;
  /** The profile that the last script ran over. */
  private of: string | undefined;
  private readonly look = vscode.window.createTextEditorDecorationType({
    after: { color: new vscode.ThemeColor("profd.hint"), fontStyle: "italic", margin: "0 0 0 1.5em" },
  });
  private readonly texts = new Map<string, string>();
  private readonly textChanged = new vscode.EventEmitter<vscode.Uri>();
  /** Of texts that are no files. */
  readonly onDidChange = this.textChanged.event;
  private readonly subscriptions: readonly Disposes[];

  constructor(
    private readonly session: Session,
    private readonly comparing: Comparing,
    private readonly inCode: InCode,
    private readonly showPage: (profile: string) => Promise<void>,
  ) {
    const scripts = vscode.workspace.createFileSystemWatcher("**/.profd/analyses/*.lua");
    const again = () => this.changed.fire();
    this.subscriptions = [
      this.changed,
      this.textChanged,
      this.look,
      scripts,
      scripts.onDidCreate(again),
      scripts.onDidChange(again),
      scripts.onDidDelete(again),
      session.onDidChange(() => this.redraw()),
      vscode.window.onDidChangeVisibleTextEditors(() => this.redraw()),
      vscode.workspace.registerTextDocumentContentProvider(SCRIPT_SCHEME, this),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.path) ?? "";
  }

  async list(): Promise<readonly AnalysisInfo[]> {
    const { analyses } = await this.session.request(AnalysisListRequest, {});
    return analyses;
  }

  resultOf(name: string): AnalysisRunResult | undefined {
    return this.results.get(name);
  }

  clear(): void {
    this.results.clear();
    this.notes = undefined;
    this.redraw();
    this.changed.fire();
  }

  /** Asks which, where none is given. */
  async run(given: AnalysisInfo | undefined): Promise<void> {
    const info = given ?? (await this.choose());
    if (info === undefined) return;
    const shown = this.source();
    if (shown === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t("No profile is open."));
      return;
    }
    if (info.origin === AnalysisOrigin.workspace && !vscode.workspace.isTrusted) {
      void vscode.window.showInformationMessage(
        vscode.l10n.t("{0} is a script of this folder: it runs once the folder is trusted.", info.name),
      );
      return;
    }
    const of = await this.profilesFor(info, shown.profile);
    if (of === undefined) return;
    const values: AnalysisValue[] = [];
    for (const argument of info.arguments) {
      const value = await askArgument(info, argument);
      if (value === undefined) return;
      values.push({ name: argument.name, value });
    }
    await this.start(info, { name: info.name, of, arguments: values });
  }

  /** The script itself: its file, or what profd brings, to be read. */
  async open(info: AnalysisInfo, line?: number): Promise<void> {
    let uri = info.uri === undefined ? undefined : vscode.Uri.parse(info.uri);
    if (uri === undefined) {
      const { analyses } = await this.session.request(AnalysisListRequest, { name: info.name });
      uri = this.textAt(`/${info.name}.lua`, analyses[0]?.text ?? "");
    }
    const editor = await vscode.window.showTextDocument(uri, { preview: true });
    if (line === undefined) return;
    const at = editor.document.validatePosition(new vscode.Position(line - 1, 0));
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  /** All that a script gave, as a text beside the code. */
  async showText(name: string): Promise<void> {
    const result = this.results.get(name);
    if (result === undefined) return;
    const uri = this.textAt(`/${name}.txt`, textOf(result));
    await vscode.window.showTextDocument(uri, { preview: true, viewColumn: vscode.ViewColumn.Beside });
  }

  /** A file in the workspace's folder of scripts, with something to start from. */
  async create(): Promise<void> {
    const name = await vscode.window.showInputBox({
      title: vscode.l10n.t("A new script"),
      prompt: vscode.l10n.t("Its name: letters, digits, _ and -"),
      validateInput: (value) =>
        /^[\w-]+$/.test(value) ? undefined : vscode.l10n.t("Its name: letters, digits, _ and -"),
    });
    if (name === undefined) return;
    const { uri } = await this.session.request(AnalysisSaveRequest, { name, text: BEGINNING });
    this.changed.fire();
    await vscode.window.showTextDocument(vscode.Uri.parse(uri));
  }

  async goTo({ uri, line, file }: AnalysisAnnotation): Promise<void> {
    if (uri === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t("{0} is not in this workspace.", file));
      return;
    }
    const editor = await vscode.window.showTextDocument(vscode.Uri.parse(uri));
    const at = editor.document.validatePosition(new vscode.Position(line, 0));
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  /** What the last script said of lines stands there until the numbers are others. */
  redraw(): void {
    if (this.notes !== undefined && this.notes.of !== this.shownNow()) this.notes = undefined;
    for (const editor of vscode.window.visibleTextEditors) {
      const notes = this.inCode.on ? this.notes?.by.get(editor.document.uri.toString()) : undefined;
      const { document } = editor;
      editor.setDecorations(
        this.look,
        (notes ?? [])
          .filter(({ line }) => line < document.lineCount)
          .map(({ line, text }) => ({
            range: document.lineAt(line).range,
            hoverMessage: new vscode.MarkdownString().appendText(text),
            renderOptions: { after: { contentText: `◂ ${text}` } },
          })),
      );
    }
  }

  private shownNow(): string {
    const shown = this.session.shown;
    return `${shown?.profile ?? ""} ${shown?.revision ?? 0}`;
  }

  private textAt(path: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: SCRIPT_SCHEME, path });
    this.texts.set(path, text);
    this.textChanged.fire(uri);
    return uri;
  }

  /** What scripts run over: while the code shows the profile that one made, what that was made of. */
  private source(): ProfileListEntry | undefined {
    const { shown, profiles } = this.session;
    if (shown?.uri.startsWith("script://") !== true) this.of = shown?.profile;
    return profiles.find(({ profile }) => profile === this.of) ?? shown;
  }

  private async choose(): Promise<AnalysisInfo | undefined> {
    const chosen = await vscode.window.showQuickPick(
      (await this.list()).map((info) => ({ label: info.name, description: info.title, info })),
      { title: vscode.l10n.t("Which script over the profile?"), matchOnDescription: true },
    );
    return chosen?.info;
  }

  /** Where it is of several, those before the one in the code are asked for. */
  private async profilesFor(info: AnalysisInfo, shown: string): Promise<ComposedPart[] | undefined> {
    const of: ComposedPart[] = [];
    for (let number = 1; number < info.minProfiles; ++number) {
      const side = await this.comparing.choose(
        vscode.l10n.t("{0}: which profile is number {1} of {2}?", info.name, number, info.minProfiles),
        shown,
      );
      if (side === undefined) return undefined;
      of.push(side.part);
    }
    return [...of, { profile: shown }];
  }

  private async start(info: AnalysisInfo, params: AnalysisRunParams): Promise<void> {
    const options = {
      location: vscode.ProgressLocation.Notification,
      title: vscode.l10n.t("Running {0}", info.name),
      cancellable: true,
    };
    let result: AnalysisRunResult;
    try {
      result = await vscode.window.withProgress(options, (_, token) =>
        this.session.request(AnalysisRunRequest, params, token),
      );
    } catch (error) {
      const text = explain(error);
      const line = asProblem(error)?.data?.line;
      if (text === undefined) return;
      await showError(text, { title: vscode.l10n.t("Open Script"), run: () => this.open(info, line) });
      return;
    }
    if (result.ask === undefined) {
      await this.take(result);
      return;
    }
    const yes = vscode.l10n.t("Run It");
    const look = vscode.l10n.t("Open Script");
    const answer = await vscode.window.showWarningMessage(plain(result.ask.text), { modal: true }, yes, look);
    if (answer === yes) await this.start(info, { ...params, trust: result.ask.hash });
    else if (answer === look) await this.open(info);
  }

  private async take(result: AnalysisRunResult): Promise<void> {
    this.results.set(result.name, result);
    ++this.runs;
    if (result.opened !== undefined) await this.session.adopt(result.opened);
    const by = new Map<string, AnalysisAnnotation[]>();
    for (const note of result.annotations) {
      if (note.uri === undefined) continue;
      const uri = vscode.Uri.parse(note.uri).toString();
      by.set(uri, [...(by.get(uri) ?? []), note]);
    }
    this.notes = { by, of: this.shownNow() };
    this.redraw();
    this.changed.fire();
    if (result.opened !== undefined) await this.showPage(result.opened.summary.uri);
  }
}

async function askArgument(info: AnalysisInfo, argument: AnalysisArgument): Promise<string | undefined> {
  const title = `${info.name}: ${argument.name}`;
  if (argument.type === AnalysisArgumentType.boolean) {
    const values = argument.default === "true" ? ["true", "false"] : ["false", "true"];
    return vscode.window.showQuickPick(values, { title, placeHolder: argument.documentation });
  }
  return vscode.window.showInputBox({
    title,
    prompt: argument.documentation,
    value: argument.default,
    validateInput: (value) =>
      isValue(argument.type, value)
        ? undefined
        : argument.type === AnalysisArgumentType.integer
          ? vscode.l10n.t("A whole number")
          : vscode.l10n.t("A number"),
  });
}
