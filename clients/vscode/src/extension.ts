// What VS Code loads. The rest is loaded with the first profile, command, or project that lists profiles.
import * as vscode from "vscode";
import { pagesOf } from "./editors.js";
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
  /** The project file is another, or may be read now. */
  const again = async () => {
    if (!(await openProject(main)) && loading !== undefined) await (await loading).projectChanged();
  };
  context.subscriptions.push(
    vscode.window.registerUriHandler({ handleUri: async (uri) => (await main()).handleUri(uri) }),
    vscode.workspace.onDidGrantWorkspaceTrust(again),
    vscode.workspace.onDidSaveTextDocument(({ uri }) => {
      if (uri.path.endsWith("/" + PROJECT_FILE)) void again();
    }),
  );
  // The editor asks for no page that came back behind others before it is looked at; the code shows its profile all the same.
  const pages = pagesOf(vscode.window.tabGroups.all.flatMap((group) => group.tabs));
  if (pages.length > 0) void main().then((started) => started.restore(pages));
  void openProject(main);
}

/** A project that lists profiles is annotated without being asked. False: it lists none, or is not looked at. */
async function openProject(main: () => Promise<Main>): Promise<boolean> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder?.uri.scheme !== "file" || !vscode.workspace.isTrusted) return false;
  if (!vscode.workspace.getConfiguration("profd", folder).get<boolean>("openProjectProfiles", true)) return false;
  try {
    const text = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(folder.uri, PROJECT_FILE));
    if (!listsProfiles(new TextDecoder().decode(text))) return false;
  } catch {
    return false; // there is none
  }
  await (await main()).openProject();
  return true;
}
