// The web extension host has no processes and no files: said once, for every way in.
import * as vscode from "vscode";
import { EDITORS } from "./ids.js";

const text = () =>
  vscode.l10n.t(
    "profd needs a machine that holds the files: open this folder in VS Code on the desktop, over SSH, in a container, or in a codespace.",
  );

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

export function activate(context: vscode.ExtensionContext): void {
  const refuse = () => vscode.window.showErrorMessage(text());
  for (const { command } of (context.extension.packageJSON as Manifest).contributes.commands)
    context.subscriptions.push(vscode.commands.registerCommand(command, refuse));
  for (const viewType of EDITORS)
    context.subscriptions.push(
      vscode.window.registerCustomEditorProvider(viewType, {
        openCustomDocument: (uri) => ({ uri, dispose: () => undefined }),
        resolveCustomEditor: (_document, panel) => {
          panel.webview.html = `<!doctype html><meta http-equiv="Content-Security-Policy" content="default-src 'none'"><p>${text()}</p>`;
        },
      }),
    );
}
