// What VS Code loads. The rest is loaded with the first profile, command, or project file, which the daemon reads.
import * as vscode from "vscode";
import { pagesOf } from "./editors.js";
import { EDITORS, PROJECT_FILE, VIEWS } from "./ids.js";
import type { Main } from "./main.js";

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

export function activate(context: vscode.ExtensionContext): void {
  let loading: Promise<Main> | undefined;
  const waiting = vscode.window.registerTreeDataProvider(VIEWS.profiles, {
    getChildren: () => [],
    getTreeItem: () => new vscode.TreeItem(""),
  });
  const main = () =>
    (loading ??= import("./main.js").then(({ start }) => {
      waiting.dispose();
      return start(context);
    }));
  context.subscriptions.push(waiting);

  for (const { command } of (context.extension.packageJSON as Manifest).contributes.commands)
    context.subscriptions.push(
      vscode.commands.registerCommand(command, async (...given: unknown[]) => (await main()).run(command, given)),
    );
  for (const viewType of EDITORS)
    context.subscriptions.push(
      vscode.window.registerCustomEditorProvider(
        viewType,
        {
          openCustomDocument: (uri) => ({ uri, dispose: () => undefined }),
          resolveCustomEditor: async (document, panel) => (await main()).showProfile(document.uri, panel),
        },
        { supportsMultipleEditorsPerDocument: true },
      ),
    );
  const trusted = async () => {
    if (loading !== undefined) await (await loading).reconnect();
    await openProject(main);
  };
  context.subscriptions.push(
    vscode.window.registerUriHandler({ handleUri: async (uri) => (await main()).handleUri(uri) }),
    vscode.workspace.onDidGrantWorkspaceTrust(trusted),
  );
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder !== undefined) {
    const watcher = vscode.workspace.createFileSystemWatcher(
      new vscode.RelativePattern(folder, PROJECT_FILE),
      false,
      true,
      true,
    );
    context.subscriptions.push(
      watcher,
      watcher.onDidCreate(() => void openProject(main)),
    );
  }
  // The editor asks for no page that came back behind others before it is looked at; the code shows its profile all the same.
  const pages = pagesOf(vscode.window.tabGroups.all.flatMap((group) => group.tabs));
  if (pages.length > 0) void main().then((started) => started.restore(pages));
  void openProject(main);
}

/** Where there is a project file, the daemon reads it, opens what it lists, and follows it from then on. */
async function openProject(main: () => Promise<Main>): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder?.uri.scheme !== "file" || !vscode.workspace.isTrusted) return;
  if (!vscode.workspace.getConfiguration("profd", folder).get<boolean>("openProjectProfiles", true)) return;
  try {
    await vscode.workspace.fs.stat(vscode.Uri.joinPath(folder.uri, PROJECT_FILE));
  } catch {
    return; // there is none
  }
  await (await main()).openProject();
}
