// One page is one client of the daemon: its messages go through a `profd connect` of its own, as they are. Web views
// may open no socket.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { InitializeRequest, SelectionSetRequest, type Selection } from "../../shared/ts/psp.js";
import { Frames, frame } from "./framing.js";

export interface RelayHooks {
  readonly command: () => { readonly program: string; readonly args: readonly string[] } | undefined;
  /** To the page. */
  readonly post: (message: unknown) => void;
  /** What the page cannot know goes into its `initialize`: the folders, and how paths map. */
  readonly introduce: (params: Record<string, unknown>) => Record<string, unknown>;
  /** The page chose a frame. */
  readonly onSelection: (selection: Selection | null) => void;
  readonly log: (text: string) => void;
  /** There is a daemon: it said its first word. */
  readonly onDaemon: () => void;
  /** Why there is no program to be started, as a sentence. */
  readonly missing: () => string;
}

export class Relay {
  private child: ChildProcessWithoutNullStreams | undefined;
  /** It was started ahead of its page, which has said nothing yet. */
  private fresh = false;

  constructor(private readonly hooks: RelayHooks) {}

  /** A page is about to come: by the time of its first word there is somebody to hear it. */
  prepare(): void {
    if (this.child !== undefined || this.hooks.command() === undefined) return;
    this.connect();
    this.fresh = true;
  }

  /** A message of the page's. Every page begins with `initialize`: it is a new one, or the old one was let go. */
  send(text: string): void {
    const method = methodOf(text);
    if (method === InitializeRequest.method) {
      if (!this.fresh) this.connect();
      this.fresh = false;
      const message = JSON.parse(text) as { params: Record<string, unknown> };
      this.child?.stdin.write(frame(JSON.stringify({ ...message, params: this.hooks.introduce(message.params) })));
      return;
    }
    this.child?.stdin.write(frame(text));
    if (method === SelectionSetRequest.method)
      this.hooks.onSelection((JSON.parse(text) as { params: { selection: Selection | null } }).params.selection);
  }

  close(): void {
    const child = this.child;
    this.child = undefined;
    this.fresh = false;
    child?.stdin.end();
  }

  private connect(): void {
    this.close();
    const command = this.hooks.command();
    if (command === undefined) {
      this.hooks.post({ type: "closed", text: this.hooks.missing(), missing: true });
      return;
    }
    const child = spawn(command.program, command.args, { stdio: "pipe" });
    this.child = child;
    const frames = new Frames();
    child.stdout.once("data", () => this.hooks.onDaemon());
    child.stdout.on("data", (chunk: Buffer) => {
      if (this.child !== child) return;
      for (const text of frames.push(chunk)) this.hooks.post({ type: "rpc", text });
    });
    child.stderr.on("data", (chunk: Buffer) => this.hooks.log(chunk.toString("utf8").trimEnd()));
    // A pipe that broke is told by `close`.
    child.stdin.on("error", () => undefined);
    const gone = (why: string) => {
      if (this.child !== child) return;
      const heard = !this.fresh;
      this.child = undefined;
      this.fresh = false;
      if (heard) this.hooks.post({ type: "closed", text: why });
    };
    child.on("error", (error) => gone(error.message));
    child.on("close", () => gone(""));
  }
}

/** The method of a message, without parsing what may be long. */
function methodOf(text: string): string | undefined {
  return /"method":"([^"]*)"/.exec(text.slice(0, 200))?.[1];
}
