// A browser with tabs, of which one is in front. (A page that playwright opens believes itself to be seen.)
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { browserProgram } from "./harness.mjs";

export async function startTabs(root, scratch) {
  const { WebSocket } = createRequire(join(root, "clients/web/package.json"))("ws");
  const folder = mkdtempSync(join(scratch, "tabs-"));
  const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"];
  const browser = spawn(browserProgram(), [...flags, `--user-data-dir=${folder}`, "about:blank"], { stdio: "ignore" });
  const told = join(folder, "DevToolsActivePort");
  while (browser.exitCode === null && !(existsSync(told) && readFileSync(told, "utf8").includes("/")))
    await new Promise((resolve) => setTimeout(resolve, 50));
  const [port, path] = readFileSync(told, "utf8").split("\n");
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
  await once(socket, "open");
  const waiting = new Map();
  socket.on("message", (text) => {
    const { id, result, error } = JSON.parse(text);
    if (error) waiting.get(id)?.reject(new Error(error.message));
    else waiting.get(id)?.resolve(result);
  });
  let next = 0;
  const send = (method, params = {}, sessionId = undefined) =>
    new Promise((resolve, reject) => {
      waiting.set(++next, { resolve, reject });
      socket.send(JSON.stringify({ id: next, method, params, sessionId }));
    });
  return {
    async open(url) {
      const { targetId } = await send("Target.createTarget", { url });
      const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
      return {
        toFront: () => send("Target.activateTarget", { targetId }),
        async evaluate(expression) {
          const given = { expression, awaitPromise: true, returnByValue: true };
          const { result, exceptionDetails } = await send("Runtime.evaluate", given, sessionId);
          if (exceptionDetails) throw new Error(exceptionDetails.text);
          return result.value;
        },
      };
    },
    async stop() {
      const ended = once(browser, "exit");
      browser.kill();
      await ended;
    },
  };
}
