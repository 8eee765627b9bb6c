// What the lines of open documents cost: asked once for a document and what is shown, kept, and asked again when
// either changed.
import * as vscode from "vscode";
import { SourceAnnotationsRequest, type SourceAnnotationsResult } from "../../shared/ts/psp.js";
import { Later, type Disposes } from "./later.js";
import { NoDaemon, type Session } from "./session.js";

export interface Annotated {
  readonly document: vscode.TextDocument;
  readonly answer: SourceAnnotationsResult;
}

/** Typing has paused. */
const REST_MS = 400;

interface Known {
  readonly answer: SourceAnnotationsResult;
  readonly asked: string;
}

export class Annotations implements vscode.Disposable {
  private readonly known = new Map<string, Known>();
  private readonly asking = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.TextDocument>();
  readonly onDidChange = this.changed.event;
  private readonly subscriptions: readonly Disposes[];
  private readonly afterTyping = new Later(REST_MS, () => this.refresh());
  /** Counts what was shown: an answer to an older question is not kept. */
  private turn = 0;

  constructor(private readonly session: Session) {
    this.subscriptions = [
      this.changed,
      this.afterTyping,
      session.onDidChange(() => {
        this.turn++;
        this.refresh();
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.refresh()),
      vscode.workspace.onDidChangeTextDocument(({ contentChanges }) => {
        if (contentChanges.length > 0 && this.session.shown !== undefined) this.afterTyping.start();
      }),
      vscode.workspace.onDidSaveTextDocument(() => this.afterTyping.start()),
      vscode.workspace.onDidCloseTextDocument((document) => this.known.delete(document.uri.toString())),
    ];
  }

  /** What is known of a document; it may be of its text before the last edits, whose lines the editor moved itself. */
  of(document: vscode.TextDocument): SourceAnnotationsResult | undefined {
    const answer = this.known.get(document.uri.toString())?.answer;
    return answer?.profile === this.session.shown?.profile ? answer : undefined;
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private refresh(): void {
    const seen = new Set<vscode.TextDocument>();
    for (const { document } of vscode.window.visibleTextEditors) {
      if (document.uri.scheme !== "file" || seen.has(document)) continue;
      seen.add(document);
      if (this.session.shown !== undefined) void this.ask(document);
      else if (this.known.delete(document.uri.toString())) this.changed.fire(document);
    }
  }

  private async ask(document: vscode.TextDocument): Promise<void> {
    const key = document.uri.toString();
    const wanted = `${this.turn} ${document.version} ${document.isDirty}`;
    if (this.known.get(key)?.asked === wanted || this.asking.get(key) === wanted) return;
    this.asking.set(key, wanted);
    try {
      const answer = await this.session.ask(SourceAnnotationsRequest, { textDocument: { uri: key } });
      if (answer === undefined || this.asking.get(key) !== wanted) return;
      this.known.set(key, { answer, asked: wanted });
      this.changed.fire(document);
    } catch (error) {
      // Nothing is known of it then, which the code shows by showing nothing.
      if (!(error instanceof NoDaemon) && this.known.delete(key)) this.changed.fire(document);
    } finally {
      if (this.asking.get(key) === wanted) this.asking.delete(key);
    }
  }
}
