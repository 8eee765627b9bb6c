import "./app.css";
import { render } from "preact";
import { App } from "./app.js";
import { browserHome, takeToken, webviewHome } from "./home.js";
import { webSocketTransport, webviewTransport, type WebviewApi } from "./rpc/transport.js";
import { Shell } from "./shell.js";
import { AppContext } from "./ui/context.js";
import { joinEditor, shareWindow } from "./ui/editor.js";
import { handleKey } from "./ui/keys.js";
import { newSearch, SearchContext } from "./ui/search.js";
import { newWatched, WatchedContext } from "./views/live/watched.js";
import { letGoOfFirstRenders } from "./ui/vnodes.js";

declare global {
  interface Window {
    acquireVsCodeApi?: () => WebviewApi;
  }
}

async function begin(): Promise<App> {
  const acquire = window.acquireVsCodeApi;
  if (acquire !== undefined) {
    const api = acquire();
    joinEditor();
    const app = new App(() => webviewTransport(api), webviewHome(api));
    shareWindow(app, api);
    window.addEventListener("message", ({ data }: MessageEvent<{ type?: unknown } | null>) => {
      if (data?.type === "again" && app.client.connection.state === "lost") app.client.start();
    });
    return app;
  }
  const { token, problem } = await takeToken();
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const app = new App(() => webSocketTransport(`${scheme}//${location.host}/psp`, token), browserHome(token));
  if (problem !== undefined) app.say(problem, "error");
  return app;
}

letGoOfFirstRenders();
void begin().then((app) => {
  window.addEventListener("keydown", handleKey);
  const root = document.getElementById("app");
  if (root === null) return;
  render(
    <AppContext.Provider value={app}>
      <SearchContext.Provider value={newSearch()}>
        <WatchedContext.Provider value={newWatched()}>
          <Shell />
        </WatchedContext.Provider>
      </SearchContext.Provider>
    </AppContext.Provider>,
    root,
  );
  app.start();
});
