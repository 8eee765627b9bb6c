// What VS Code loads. The rest is loaded with the first profile, command, or project file, which the daemon reads.
import * as vscode from "vscode";
import { pagesOf } from "./editors.js";
import { CONTEXT, EDITORS, PROJECT_FILE, RECORDED_KEY, RECORDING_META, TASK_TYPE, VIEWS } from "./ids.js";
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
  registerRecording(context, main);
  // The editor asks for no page that came back behind others before it is looked at; the code shows its profile all the same.
  const pages = pagesOf(vscode.window.tabGroups.all.flatMap((group) => group.tabs));
  if (pages.length > 0) void main().then((started) => started.restore(pages));
  void openProject(main);
}

/** Tasks, lenses on tests, and recordings that end in any terminal. */
function registerRecording(context: vscode.ExtensionContext, main: () => Promise<Main>): void {
  const recording = () => import("./recording.js");
  let tasks: Promise<vscode.TaskProvider> | undefined;
  const provider = () => (tasks ??= recording().then((loaded) => loaded.tasks(context)));
  const lensesChanged = new vscode.EventEmitter<void>();
  context.subscriptions.push(
    lensesChanged,
    vscode.tasks.registerTaskProvider(TASK_TYPE, {
      provideTasks: async (token) => (await provider()).provideTasks(token),
      resolveTask: async (task, token) => (await provider()).resolveTask(task, token),
    }),
    vscode.languages.registerCodeLensProvider(
      ["go", "python", "javascript", "rust"].map((language) => ({ language, scheme: "file" })),
      {
        onDidChangeCodeLenses: lensesChanged.event,
        provideCodeLenses: async (document) => (await recording()).lensesOf(document),
      },
    ),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("profd.testLens")) lensesChanged.fire();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => lensesChanged.fire()),
  );
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    const pattern = new vscode.RelativePattern(folder, RECORDING_META);
    const watcher = vscode.workspace.createFileSystemWatcher(pattern, false, true, true);
    const ended = async (meta: vscode.Uri) => {
      if (vscode.workspace.isTrusted) await (await main()).recorded(meta);
    };
    context.subscriptions.push(
      watcher,
      watcher.onDidCreate((meta) => void ended(meta)),
    );
  }
  const any = context.workspaceState.get<readonly unknown[]>(RECORDED_KEY, []).length > 0;
  if (any) void vscode.commands.executeCommand("setContext", CONTEXT.recorded, true);
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
