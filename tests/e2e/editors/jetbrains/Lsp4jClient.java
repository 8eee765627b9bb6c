// A client on lsp4j that does what LSP4IJ does with a template folder: starts its command, says what LSP4IJ says in `initialize`,
// and asks for everything that the IDE shows.
//
// usage: java -cp JARS Lsp4jClient.java TEMPLATE PROJECT

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.eclipse.lsp4j.*;
import org.eclipse.lsp4j.jsonrpc.messages.Either;
import org.eclipse.lsp4j.launch.LSPLauncher;
import org.eclipse.lsp4j.services.LanguageClient;
import org.eclipse.lsp4j.services.LanguageServer;

public class Lsp4jClient implements LanguageClient {
  static final long PATIENCE_S = 60;
  static final int HOT_LINE = 18; // sums.go:19, the line that `foldSum` spends its time on

  final List<ShowDocumentParams> shown = new ArrayList<>();
  final List<String> progress = new ArrayList<>();
  final List<String> messages = new ArrayList<>();
  int hintRefreshes;
  int lensRefreshes;

  // What the daemon asks of an IDE.

  @Override
  public synchronized CompletableFuture<ShowDocumentResult> showDocument(ShowDocumentParams params) {
    shown.add(params);
    notifyAll();
    return CompletableFuture.completedFuture(new ShowDocumentResult(true));
  }

  @Override
  public synchronized void notifyProgress(ProgressParams params) {
    if (params.getValue().isLeft()) progress.add(params.getValue().getLeft().getKind().name());
    notifyAll();
  }

  @Override
  public CompletableFuture<Void> createProgress(WorkDoneProgressCreateParams params) {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public synchronized CompletableFuture<Void> refreshInlayHints() {
    ++hintRefreshes;
    notifyAll();
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public synchronized CompletableFuture<Void> refreshCodeLenses() {
    ++lensRefreshes;
    notifyAll();
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletableFuture<Void> refreshDiagnostics() {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletableFuture<List<Object>> configuration(ConfigurationParams params) {
    List<Object> nothing = new ArrayList<>();
    for (int i = 0; i < params.getItems().size(); ++i) nothing.add(null);
    return CompletableFuture.completedFuture(nothing);
  }

  @Override
  public CompletableFuture<Void> registerCapability(RegistrationParams params) {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public synchronized void showMessage(MessageParams params) {
    messages.add(params.getMessage());
    notifyAll();
  }

  @Override
  public CompletableFuture<MessageActionItem> showMessageRequest(ShowMessageRequestParams params) {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public void logMessage(MessageParams params) {}

  @Override
  public void telemetryEvent(Object object) {}

  @Override
  public void publishDiagnostics(PublishDiagnosticsParams params) {}

  // Waiting and checking.

  synchronized <T> T until(String what, Supplier<T> found) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
    for (T value; ; ) {
      if ((value = found.get()) != null) return value;
      long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
      if (left <= 0) throw new AssertionError(what + ": did not happen; messages: " + messages);
      wait(left);
    }
  }

  static <T> T answer(CompletableFuture<T> future) throws Exception {
    return future.get(PATIENCE_S, TimeUnit.SECONDS);
  }

  static void check(boolean holds, String what, Object got) {
    if (!holds) throw new AssertionError(what + "; got " + got);
    System.out.println("ok: " + what);
  }

  // The template folder, read as LSP4IJ reads it.

  static JsonObject object(Path file) throws Exception {
    return JsonParser.parseString(Files.readString(file)).getAsJsonObject();
  }

  // What LSP4IJ starts: the words of the command, quoted parts kept together.
  static List<String> command(String line) {
    List<String> words = new ArrayList<>();
    java.util.regex.Matcher word = java.util.regex.Pattern.compile("\"([^\"]*)\"|(\\S+)").matcher(line);
    while (word.find()) words.add(word.group(1) != null ? word.group(1) : word.group(2));
    return words;
  }

  static String languageOf(JsonArray mappings, String name) {
    for (JsonElement mapping : mappings) {
      JsonObject fileType = mapping.getAsJsonObject().getAsJsonObject("fileType");
      for (JsonElement pattern : fileType.getAsJsonArray("patterns")) {
        if (FileSystems.getDefault().getPathMatcher("glob:" + pattern.getAsString()).matches(Path.of(name)))
          return mapping.getAsJsonObject().get("languageId").getAsString();
      }
    }
    return null;
  }

  // What LSP4IJ says it can do, as far as profd asks.
  static ClientCapabilities capabilities() {
    GeneralClientCapabilities general = new GeneralClientCapabilities();
    StaleRequestCapabilities stale = new StaleRequestCapabilities();
    stale.setCancel(true);
    general.setStaleRequestSupport(stale);
    general.setPositionEncodings(List.of(PositionEncodingKind.UTF16));

    WorkspaceClientCapabilities workspace = new WorkspaceClientCapabilities();
    workspace.setApplyEdit(true);
    workspace.setConfiguration(true);
    workspace.setWorkspaceFolders(true);
    workspace.setSymbol(new SymbolCapabilities());
    workspace.setExecuteCommand(new ExecuteCommandCapabilities(true));
    workspace.setDidChangeWatchedFiles(new DidChangeWatchedFilesCapabilities(true));
    workspace.setDidChangeConfiguration(new DidChangeConfigurationCapabilities(true));
    workspace.setCodeLens(new CodeLensWorkspaceCapabilities(true));
    workspace.setInlayHint(new InlayHintWorkspaceCapabilities(true));
    workspace.setDiagnostics(new DiagnosticWorkspaceCapabilities(true));

    TextDocumentClientCapabilities document = new TextDocumentClientCapabilities();
    document.setSynchronization(new SynchronizationCapabilities(true, true, true));
    PublishDiagnosticsCapabilities published = new PublishDiagnosticsCapabilities();
    published.setDataSupport(true);
    published.setCodeDescriptionSupport(true);
    published.setRelatedInformation(true);
    document.setPublishDiagnostics(published);
    DiagnosticCapabilities pulled = new DiagnosticCapabilities();
    pulled.setDynamicRegistration(true);
    pulled.setRelatedDocumentSupport(true);
    document.setDiagnostic(pulled);
    CodeActionCapabilities actions = new CodeActionCapabilities(
        new CodeActionLiteralSupportCapabilities(new CodeActionKindCapabilities(
            List.of(CodeActionKind.QuickFix, CodeActionKind.Refactor, CodeActionKind.Source))),
        true);
    actions.setDataSupport(true);
    actions.setResolveSupport(new CodeActionResolveSupportCapabilities(List.of("edit")));
    document.setCodeAction(actions);
    document.setCodeLens(new CodeLensCapabilities(true));
    document.setInlayHint(new InlayHintCapabilities(true));
    HoverCapabilities hover = new HoverCapabilities(true);
    hover.setContentFormat(List.of(MarkupKind.MARKDOWN, MarkupKind.PLAINTEXT));
    document.setHover(hover);
    DocumentSymbolCapabilities symbols = new DocumentSymbolCapabilities(true);
    symbols.setHierarchicalDocumentSymbolSupport(true);
    document.setDocumentSymbol(symbols);
    document.setReferences(new ReferencesCapabilities(true));
    document.setCallHierarchy(new CallHierarchyCapabilities(true));

    WindowClientCapabilities window = new WindowClientCapabilities();
    window.setWorkDoneProgress(true);
    window.setShowDocument(new ShowDocumentCapabilities(true));
    window.setShowMessage(new WindowShowMessageRequestCapabilities());

    ClientCapabilities all = new ClientCapabilities(workspace, document, window, null);
    all.setGeneral(general);
    return all;
  }

  public static void main(String[] arguments) throws Exception {
    Path template = Path.of(arguments[0]), project = Path.of(arguments[1]).toRealPath();
    JsonObject descriptor = object(template.resolve("template.json"));
    JsonArray mappings = descriptor.getAsJsonArray("fileTypeMappings");
    check("profd".equals(descriptor.get("id").getAsString()), "the template is profd's", descriptor.get("id"));
    check("go".equals(languageOf(mappings, "sums.go")), "files of Go are mapped", languageOf(mappings, "sums.go"));
    for (String name : new String[] {"a.cc", "a.rs", "A.java", "a.kt", "a.py", "a.ts"})
      if (languageOf(mappings, name) == null) throw new AssertionError(name + " is not mapped");
    Object options = object(template.resolve("initializationOptions.json"));

    ProcessBuilder builder =
        new ProcessBuilder(command(descriptor.getAsJsonObject("programArgs").get("default").getAsString()));
    Process process = builder.directory(project.toFile()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try {
      drive(new Lsp4jClient(), process, options, project);
      check(process.waitFor(PATIENCE_S, TimeUnit.SECONDS) && process.exitValue() == 0, "it ends with the IDE", process);
    } finally {
      process.destroyForcibly();
    }
    System.exit(0);
  }

  static void drive(Lsp4jClient client, Process process, Object options, Path project) throws Exception {
    var launcher = LSPLauncher.createClientLauncher(client, process.getInputStream(), process.getOutputStream());
    launcher.startListening();
    LanguageServer server = launcher.getRemoteProxy();

    InitializeParams initialize = new InitializeParams();
    initialize.setProcessId((int) ProcessHandle.current().pid());
    initialize.setClientInfo(new ClientInfo("IntelliJ IDEA", "test"));
    initialize.setCapabilities(capabilities());
    initialize.setInitializationOptions(options);
    initialize.setTrace("off");
    initialize.setWorkspaceFolders(List.of(new WorkspaceFolder(project.toUri().toString(), "parcels")));
    ServerCapabilities can = answer(server.initialize(initialize)).getCapabilities();
    check(PositionEncodingKind.UTF16.equals(can.getPositionEncoding()), "positions count UTF-16 units", can.getPositionEncoding());
    server.initialized(new InitializedParams());

    Path file = project.resolve("sums.go");
    String uri = file.toUri().toString();
    TextDocumentIdentifier document = new TextDocumentIdentifier(uri);
    server.getTextDocumentService().didOpen(
        new DidOpenTextDocumentParams(new TextDocumentItem(uri, "go", 1, Files.readString(file))));

    // The profile that the project lists is read by itself; another is opened by a command, with progress.
    ExecuteCommandParams open = new ExecuteCommandParams("profd.open", List.of(project.resolve("after-1.pb.gz").toUri().toString()));
    open.setWorkDoneToken("open-1");
    answer(server.getWorkspaceService().executeCommand(open));
    client.until("progress of reading", () -> client.progress.contains("begin") && client.progress.contains("end") ? true : null);
    check(true, "reading a profile reports progress", client.progress);
    client.until("a refresh of hints", () -> client.hintRefreshes > 0 ? true : null);

    Range whole = new Range(new Position(0, 0), new Position(48, 0));
    List<InlayHint> hints = answer(server.getTextDocumentService().inlayHint(new InlayHintParams(document, whole)));
    InlayHint hint = hints.stream().filter(each -> each.getPosition().getLine() == HOT_LINE).findFirst().orElse(null);
    check(hint != null && hint.getLabel().getLeft().startsWith("8.1 %  1.12 s"), "inlay hints say what lines cost", hints);

    Hover hover = answer(server.getTextDocumentService().hover(new HoverParams(document, new Position(HOT_LINE, 4))));
    MarkupContent text = hover.getContents().getRight();
    check("markdown".equals(text.getKind()) && text.getValue().contains("1.12 s"), "a hover has all of the line", text);

    List<? extends CodeLens> lenses = answer(server.getTextDocumentService().codeLens(new CodeLensParams(document)));
    CodeLens lens = lenses.stream().filter(each -> each.getRange().getStart().getLine() == 16).findFirst().orElse(null);
    if (lens != null && lens.getCommand() == null) lens = answer(server.getTextDocumentService().resolveCodeLens(lens));
    check(lens != null && lens.getCommand().getTitle().startsWith("total 10.2 %"), "lenses stand above functions", lenses);
    answer(server.getWorkspaceService().executeCommand(
        new ExecuteCommandParams(lens.getCommand().getCommand(), lens.getCommand().getArguments())));
    ShowDocumentParams callers = client.until("a page of callers",
        () -> client.shown.stream().filter(each -> each.getUri().contains("callers")).findFirst().orElse(null));
    check(Files.readString(Path.of(java.net.URI.create(callers.getUri()))).contains("main.summarise"), "a lens opens the page of callers", callers);

    answer(server.getWorkspaceService().executeCommand(new ExecuteCommandParams("profd.openInBrowser", List.of())));
    ShowDocumentParams page = client.until("an address",
        () -> client.shown.stream().filter(each -> Boolean.TRUE.equals(each.getExternal())).findFirst().orElse(null));
    check(page.getUri().startsWith("http://127.0.0.1:"), "the flame graph opens in the browser", page);

    var symbols = answer(server.getWorkspaceService().symbol(new WorkspaceSymbolParams("foldSum")));
    String first = symbols.isLeft() ? symbols.getLeft().get(0).getName() : symbols.getRight().get(0).getName();
    check(first.contains("main.foldSum"), "Search Everywhere finds measured functions", symbols);

    var items = answer(server.getTextDocumentService().prepareCallHierarchy(
        new CallHierarchyPrepareParams(document, new Position(HOT_LINE, 4))));
    check(items.size() == 1 && items.get(0).getName().equals("main.foldSum"), "the call hierarchy begins at the function", items);
    var incoming = answer(server.getTextDocumentService().callHierarchyIncomingCalls(new CallHierarchyIncomingCallsParams(items.get(0))));
    check(incoming.size() == 1 && incoming.get(0).getFrom().getName().equals("main.summarise"), "measured callers stand in it", incoming);
    var outgoing = answer(server.getTextDocumentService().callHierarchyOutgoingCalls(
        new CallHierarchyOutgoingCallsParams(incoming.get(0).getFrom())));
    check(outgoing.stream().anyMatch(each -> each.getTo().getName().equals("main.foldSum")), "and measured callees", outgoing);

    var outline = answer(server.getTextDocumentService().documentSymbol(new DocumentSymbolParams(document)));
    check(outline.stream().anyMatch(each -> each.isRight() && each.getRight().getName().contains("foldSum")),
        "the structure of the file has what functions cost", outline);

    Range here = new Range(new Position(HOT_LINE, 4), new Position(HOT_LINE, 4));
    var actions = answer(server.getTextDocumentService().codeAction(
        new CodeActionParams(document, here, new CodeActionContext(List.of()))));
    for (String title : new String[] {"Who calls", "Where in", "flame graph", "Compare"})
      check(actions.stream().anyMatch(each -> each.isRight() && each.getRight().getTitle().contains(title)),
          "Alt+Enter offers: " + title, actions);
    CodeAction within = actions.stream().filter(each -> each.getRight().getTitle().contains("Where in")).findFirst().get().getRight();
    answer(server.getWorkspaceService().executeCommand(
        new ExecuteCommandParams(within.getCommand().getCommand(), within.getCommand().getArguments())));
    ShowDocumentParams lines = client.until("a page of lines",
        () -> client.shown.stream().filter(each -> each.getUri().contains("within")).findFirst().orElse(null));
    check(Files.readString(Path.of(java.net.URI.create(lines.getUri()))).contains("sums.go:19"), "an action opens its page", lines);

    answer(server.getWorkspaceService().executeCommand(new ExecuteCommandParams("profd.compare", List.of("before-1.pb.gz"))));
    ShowDocumentParams changes = client.until("a page of changes",
        () -> client.shown.stream().filter(each -> each.getUri().contains("changes")).findFirst().orElse(null));
    check(Files.readString(Path.of(java.net.URI.create(changes.getUri()))).contains("main.foldSum"), "what changed is a page", changes);
    client.until("lenses of the change", () -> client.lensRefreshes > 0 ? true : null);

    answer(server.shutdown());
    server.exit();
  }
}
