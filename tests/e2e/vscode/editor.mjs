// A VS Code of its own for tests: its server, its extensions, its settings, and a home where nothing else is.
import { execFile, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

// What would be on the screen, or on the wire, beside what is tested.
const QUIET = {
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.enableExperiments": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "chat.disableAIFeatures": true,
  "chat.commandCenter.enabled": false,
  "git.enabled": false,
  "typescript.tsserver.log": "off",
  "window.restoreWindows": "none",
  "files.hotExit": "off",
  "editor.minimap.enabled": false,
  "editor.occurrencesHighlight": "off",
  "editor.hover.delay": 100,
  "security.workspace.trust.enabled": false,
};

const LONG_AGO = new Date("2020-01-01");

export class Editor {
  /** `scratch` is an empty folder; `programs` maps names on PATH to files. */
  constructor(runner, scratch, programs) {
    this.runner = runner;
    this.scratch = scratch;
    for (const folder of ["home", "data/User", "data/Machine", "extensions", "bin", "projects", "tmp"])
      mkdirSync(join(scratch, folder), { recursive: true });
    mkdirSync(join(scratch, "run"), { recursive: true, mode: 0o700 });
    for (const [name, file] of Object.entries(programs)) symlinkSync(file, join(scratch, "bin", name));
    const path = `${join(scratch, "bin")}:${process.env.PATH}`;
    // The editor asks the person's shell.
    writeFileSync(join(scratch, "home/.profile"), `export PATH='${path}'\n`);
    this.environment = {
      PATH: path,
      HOME: join(scratch, "home"),
      TMPDIR: join(scratch, "tmp"),
      XDG_RUNTIME_DIR: join(scratch, "run"),
      LANG: "C.UTF-8",
      SHELL: "/bin/sh",
    };
    this.settings();
  }

  /** The person's settings, and the machine's, which alone may name programs; the next window has them. */
  settings(more = {}) {
    const write = (whose, values) =>
      writeFileSync(join(this.scratch, "data", whose, "settings.json"), JSON.stringify(values, null, 2));
    write("User", { ...QUIET, ...more });
    write("Machine", more);
  }

  get folders() {
    return [
      ...["--user-data-dir", join(this.scratch, "data")],
      ...["--extensions-dir", join(this.scratch, "extensions")],
      ...["--config", join(this.scratch, "config.yaml")],
    ];
  }

  async start() {
    const options = ["--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check"];
    options.push("--disable-getting-started-override", "--disable-proxy");
    this.server = spawn(this.runner, [...this.folders, ...options], {
      env: this.environment,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let said = "";
    this.url = await new Promise((resolve, reject) => {
      const hear = (data) => {
        said += data;
        const address = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(said)?.[1];
        if (address !== undefined) resolve(address);
      };
      this.server.stdout.on("data", hear);
      this.server.stderr.on("data", hear);
      this.server.on("exit", (code) => reject(new Error(`code-server ended with ${code}: ${said}`)));
    });
  }

  /** As `code --install-extension` does. */
  async install(vsix) {
    const { stdout } = await promisify(execFile)(this.runner, [...this.folders, "--install-extension", vsix], {
      env: this.environment,
    });
    return stdout;
  }

  has(extension) {
    return readdirSync(join(this.scratch, "extensions")).some((name) => name.startsWith(extension));
  }

  /** A copy of a folder to work in, whose files were written long ago. */
  project(source, name) {
    const folder = join(this.scratch, "projects", name);
    rmSync(folder, { recursive: true, force: true });
    cpSync(source, folder, { recursive: true });
    for (const name of readdirSync(folder, { recursive: true })) utimesSync(join(folder, name), LONG_AGO, LONG_AGO);
    return folder;
  }

  /** Processes that were started from here and carry `words` on their command line. */
  processes(words) {
    const found = [];
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        const mine = readFileSync(`/proc/${pid}/environ`, "utf8").includes(this.scratch);
        if (mine && line.includes(words)) found.push(Number(pid));
      } catch {
        // It ended meanwhile, or is another user's.
      }
    }
    return found;
  }

  daemons() {
    return this.processes("profd serve");
  }

  /** What the extension's host said of an extension that is at fault. */
  logs() {
    const folder = join(this.scratch, "data/logs");
    if (!existsSync(folder)) return "";
    const files = readdirSync(folder, { recursive: true }).filter((name) =>
      /(remoteexthost|profd).*\.log$/i.test(name),
    );
    return files.map((name) => `# ${name}\n${readFileSync(join(folder, name), "utf8")}`).join("\n");
  }

  stop() {
    try {
      process.kill(-this.server.pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
    for (const pid of this.processes(this.scratch)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // So did this one.
      }
    }
  }
}
