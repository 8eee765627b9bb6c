// What VS Code loads. The rest is loaded with the first profile, command, or project that lists profiles.
import * as vscode from "vscode";
import { EDITORS, PROJECT_FILE, VIEWS } from "./ids.js";
import type { Main } from "./main.js";
import { listsProfiles } from "./project.js";

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
  context.subscriptions.push(
    vscode.window.registerUriHandler({ handleUri: async (uri) => (await main()).handleUri(uri) }),
    vscode.workspace.onDidGrantWorkspaceTrust(async () => {
      if (loading !== undefined) await (await loading).projectChanged();
      else await openProject(main);
    }),
    vscode.workspace.onDidSaveTextDocument(async (document) => {
      if (!document.uri.path.endsWith("/" + PROJECT_FILE)) return;
      if (loading !== undefined) await (await loading).projectChanged();
      else await openProject(main);
    }),
  );
  void openProject(main);
}

/** A project that lists profiles is annotated without being asked. */
async function openProject(main: () => Promise<Main>): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder?.uri.scheme !== "file" || !vscode.workspace.isTrusted) return;
  if (!vscode.workspace.getConfiguration("profd", folder).get<boolean>("openProjectProfiles", true)) return;
  try {
    const text = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(folder.uri, PROJECT_FILE));
    if (listsProfiles(new TextDecoder().decode(text))) await (await main()).openProject();
  } catch {
    // There is none: nothing is asked for.
  }
}
