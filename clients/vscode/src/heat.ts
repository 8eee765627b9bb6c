// Costs drawn into the code: backgrounds, gutter, overview ruler, and texts after lines where those are no inlay hints.
// Decoration types are made once; the editor moves what is drawn along with edits by itself.
import * as vscode from "vscode";
import type { SourceAnnotationsResult } from "../../shared/ts/psp.js";
import type { Annotations } from "./annotations.js";
import { CONTEXT } from "./ids.js";
import { Later, type Disposes } from "./later.js";
import { LEVELS, drawnLines, type HeatedLine } from "./levels.js";
import { config, hintStyle } from "./settings.js";

/** With more lines than this, only those near the screen are drawn. */
const MANY_LINES = 1000;
const MARGIN = 200;

interface Looks {
  /** By level, from 1: hot, or more in a diff, whose gutter says which. */
  readonly hot: readonly vscode.TextEditorDecorationType[];
  readonly more: readonly vscode.TextEditorDecorationType[];
  readonly less: readonly vscode.TextEditorDecorationType[];
  readonly stale: vscode.TextEditorDecorationType;
  readonly quiet: vscode.TextEditorDecorationType;
  readonly hottest: vscode.TextEditorDecorationType;
  readonly text: vscode.TextEditorDecorationType;
}

/** Whether costs are shown in the code at all. */
export interface InCode {
  on: boolean;
}

export class Heat implements vscode.Disposable {
  private looks: Looks | undefined;
  private readonly subscriptions: readonly Disposes[];
  private readonly afterScroll = new Later(100, () => this.redraw());

  constructor(
    private readonly annotations: Annotations,
    private readonly inCode: InCode,
  ) {
    this.subscriptions = [
      this.afterScroll,
      annotations.onDidChange((document) => {
        for (const editor of vscode.window.visibleTextEditors) if (editor.document === document) this.draw(editor);
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.redraw()),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => {
        if ((annotations.of(textEditor.document)?.lines.line.length ?? 0) > MANY_LINES) this.afterScroll.start();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (!["profd.heat", "profd.hints", "editor.inlayHints"].some((key) => event.affectsConfiguration(key))) return;
        this.forget();
        this.redraw();
      }),
    ];
  }

  get on(): boolean {
    return this.inCode.on;
  }

  toggle(): void {
    this.inCode.on = !this.inCode.on;
    this.redraw();
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
    this.forget();
  }

  private forget(): void {
    if (this.looks === undefined) return;
    for (const look of allOf(this.looks)) look.dispose();
    this.looks = undefined;
  }

  private redraw(): void {
    for (const editor of vscode.window.visibleTextEditors) this.draw(editor);
  }

  private draw(editor: vscode.TextEditor): void {
    const answer = this.inCode.on ? this.annotations.of(editor.document) : undefined;
    if (answer === undefined || answer.lines.line.length === 0) {
      this.clear(editor);
      return;
    }
    const looks = (this.looks ??= makeLooks());
    const [from, to] = drawnRange(editor, answer);
    const drawn = drawnLines(answer.lines, from, to);
    const isDiff = answer.lines.strength !== undefined;
    const after =
      hintStyle(editor.document) === "decoration" ? [drawn.stale, ...drawn.hot, ...drawn.less, drawn.quiet].flat() : [];
    const last = editor.document.lineCount - 1;
    const range = (line: number) => new vscode.Range(Math.min(line, last), 0, Math.min(line, last), 0);
    const decorate = (look: vscode.TextEditorDecorationType | undefined, lines: readonly HeatedLine[]) => {
      if (look !== undefined)
        editor.setDecorations(
          look,
          lines.map(({ line }) => range(line)),
        );
    };
    for (let level = 1; level <= LEVELS; ++level) {
      const lines = drawn.hot[level] ?? [];
      decorate(looks.hot[level], isDiff ? [] : lines);
      decorate(looks.more[level], isDiff ? lines : []);
      decorate(looks.less[level], drawn.less[level] ?? []);
    }
    decorate(looks.stale, drawn.stale);
    decorate(looks.quiet, drawn.quiet);
    editor.setDecorations(looks.hottest, answer.hottest.map(range));
    editor.setDecorations(
      looks.text,
      after
        .filter(({ line }) => line <= last)
        .map(({ line, text }) => ({
          range: editor.document.lineAt(line).range,
          renderOptions: { after: { contentText: text } },
        })),
    );
    void vscode.commands.executeCommand("setContext", CONTEXT.annotated, true);
  }

  private clear(editor: vscode.TextEditor): void {
    if (this.looks === undefined) return;
    for (const look of allOf(this.looks)) editor.setDecorations(look, []);
  }
}

function drawnRange(editor: vscode.TextEditor, answer: SourceAnnotationsResult): [number, number] {
  const first = editor.visibleRanges[0];
  const last = editor.visibleRanges.at(-1);
  if (answer.lines.line.length <= MANY_LINES || first === undefined || last === undefined) return [0, Infinity];
  return [first.start.line - MARGIN, last.end.line + MARGIN];
}

function makeLooks(): Looks {
  const background = config().get<boolean>("heat.background", true);
  const gutter = config().get<boolean>("heat.gutter", true);
  const make = vscode.window.createTextEditorDecorationType;
  const look = (color: string | undefined, icon: vscode.Uri) =>
    make({
      isWholeLine: true,
      ...(background && color !== undefined ? { backgroundColor: new vscode.ThemeColor(color) } : {}),
      ...(gutter ? { gutterIconPath: icon, gutterIconSize: "contain" } : {}),
    });
  const levels = (color: string, icon: (level: number) => vscode.Uri) =>
    Array.from({ length: LEVELS + 1 }, (_, level) =>
      level === 0 ? look(undefined, icon(level)) : look(`${color}${level}`, icon(level)),
    );
  const hot = levels("profd.heat", gutterBar);
  const more = levels("profd.heat", (level) => gutterArrow(level, true));
  const less = levels("profd.less", (level) => gutterArrow(level, false));
  const stale = look(undefined, gutterBar(0));
  const quiet = look(undefined, svgUri('<circle cx="7" cy="7" r="1.6" fill="#9a9a9a"/>'));
  const hottest = make(
    config().get<boolean>("heat.overviewRuler", true)
      ? {
          overviewRulerColor: new vscode.ThemeColor("profd.hottest"),
          overviewRulerLane: vscode.OverviewRulerLane.Right,
        }
      : {},
  );
  const text = make({ after: { color: new vscode.ThemeColor("profd.hint"), margin: "0 0 0 1.5em" } });
  return { hot, more, less, stale, quiet, hottest, text };
}

function allOf(looks: Looks): vscode.TextEditorDecorationType[] {
  return [...looks.hot, ...looks.more, ...looks.less, looks.stale, looks.quiet, looks.hottest, looks.text];
}

function opacity(part: number): string {
  return part.toFixed(2);
}

/** A bar as long as the level is high; an outline where the line is stale. */
function gutterBar(level: number): vscode.Uri {
  const width = level === 0 ? 4 : 2 + level;
  const fill =
    level === 0 ? 'fill="none" stroke="#9a9a9a"' : `fill="#f2741a" fill-opacity="${opacity(0.35 + level * 0.06)}"`;
  return svgUri(`<rect x="1" y="4.5" width="${width}" height="5" rx="1" ${fill}/>`);
}

/** What became of a line in a diff: up for more, down for less. */
function gutterArrow(level: number, more: boolean): vscode.Uri {
  const shape = more ? "M7 3.5 L11.5 10.5 L2.5 10.5 Z" : "M7 10.5 L11.5 3.5 L2.5 3.5 Z";
  const color = more ? "#f2741a" : "#3b8eea";
  return svgUri(`<path d="${shape}" fill="${color}" fill-opacity="${opacity(0.45 + level * 0.055)}"/>`);
}

function svgUri(shapes: string): vscode.Uri {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 14 14">${shapes}</svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`);
}
