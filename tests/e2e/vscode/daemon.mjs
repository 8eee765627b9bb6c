// A client of the daemon that the editor uses, which asks it directly.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { framesOf } from "../../../clients/web/tools/bridge.mjs";

export class Client {
  static async connect(stage, folder) {
    const client = new Client(stage);
    await client.request("initialize", {
      processId: null,
      workspaceFolders: [{ uri: `file://${folder}`, name: "project" }],
      capabilities: {
        general: { positionEncodings: ["utf-16"] },
        profd: { protocolVersion: 1, selection: true },
      },
    });
    client.send({ method: "initialized", params: {} });
    return client;
  }

  constructor({ profd, editor }) {
    this.heard = [];
    this.waiting = new Map();
    this.nextId = 1;
    this.process = spawn(profd, ["connect"], {
      env: editor.environment,
      stdio: ["pipe", "pipe", "ignore"],
    });
    framesOf(this.process.stdout, (text) => {
      const { id, method, params, result, error } = JSON.parse(text);
      if (method !== undefined) this.heard.push({ method, params });
      else if (error === undefined) this.waiting.get(id)?.resolve(result);
      else this.waiting.get(id)?.reject(new Error(error.message));
    });
  }

  send(message) {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  request(method, params) {
    const id = this.nextId++;
    this.send({ id, method, params });
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  /** Lines of a file with what they cost, as hints should have it. */
  async annotations(folder, file, profile) {
    const { lines } = await this.request("source/annotations", {
      ...(profile === undefined ? {} : { profile }),
      textDocument: { uri: `file://${join(folder, file)}` },
    });
    return new Map(lines.line.map((line, i) => [line + 1, lines.text[i]]));
  }

  close() {
    this.process.stdin.end();
  }
}
