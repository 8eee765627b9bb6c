// Addresses and settings in a browser's page, and in an editor's web view, which has neither.
import type { Home } from "./app.js";
import type { KeptSteps } from "./state/kept.js";
import type { WebviewApi } from "./rpc/transport.js";
import { filesOf } from "./state/place.js";

const SETTINGS_KEY = "profd.settings";
const TOKEN_KEY = "profd.token";

// Storage may be closed to a page; then nothing is kept.
function kept<T>(use: () => T, otherwise: T): T {
  try {
    return use();
  } catch {
    return otherwise;
  }
}

const FILES_KEY = "profd.files";
const MOST_FILES = 500;

/** What was opened in this tab: its own addresses come back with a reload, and need no question. */
const files = (() => {
  let known: Set<string> | undefined;
  const read = () =>
    (known ??= new Set(
      kept(() => sessionStorage.getItem(FILES_KEY) ?? "", "")
        .split("\n")
        .filter((uri) => uri !== ""),
    ));
  return {
    // Without a token there is nobody who could be asked by a link: a page of a test, or of an editor's bridge.
    known: (uri: string) => kept(() => sessionStorage.getItem(TOKEN_KEY) ?? "", "") === "" || read().has(uri),
    add: (uri: string) => {
      const all = read();
      all.delete(uri);
      all.add(uri);
      if (all.size > MOST_FILES) all.delete([...all][0]!);
      kept(() => sessionStorage.setItem(FILES_KEY, [...all].join("\n")), undefined);
    },
  };
})();

/**
 * The token comes in the fragment once, itself (`t`) or as a code that is good for one exchange (`c`), and is gone from
 * the address before anything else is done.
 */
export async function takeToken(): Promise<{ token: string; problem?: string }> {
  const parts = location.hash.replace(/^#/, "").split("&");
  const given = parts.find((part) => /^[tc]=/.test(part));
  const known = () => kept(() => sessionStorage.getItem(TOKEN_KEY) ?? "", "");
  if (given === undefined) return { token: known() };
  const rest = parts.filter((part) => part !== given).join("&");
  history.replaceState(null, "", location.pathname + location.search + (rest === "" ? "" : "#" + rest));
  let token = decodeURIComponent(given.slice(2));
  if (given.startsWith("c=")) {
    const answer = await fetch("token", { method: "POST", headers: { Authorization: `Code ${token}` } }).catch(
      () => undefined,
    );
    if (answer?.ok !== true)
      return {
        token: known(),
        problem:
          "The address was used already, or is older than a minute: its code is good once. Run `profd view` again for a new one.",
      };
    token = ((await answer.json()) as { token?: string }).token ?? "";
  }
  kept(() => sessionStorage.setItem(TOKEN_KEY, token), undefined);
  for (const uri of filesOf(rest)) files.add(uri);
  return { token };
}

const ROOTS_KEY = "profd.roots";

// Folders come with the first address, like the token, and belong to this page, not to links of it.
function takeRoots(): readonly string[] {
  const given = location.hash
    .replace(/^#/, "")
    .split("&")
    .filter((part) => part.startsWith("root="))
    .map((part) => decodeURIComponent(part.slice(5)));
  if (given.length > 0) kept(() => sessionStorage.setItem(ROOTS_KEY, given.join("\n")), undefined);
  return kept(() => sessionStorage.getItem(ROOTS_KEY) ?? "", given.join("\n"))
    .split("\n")
    .filter((uri) => uri !== "");
}

/** An address that is followed by another one within this time is not shown: each is a navigation for the browser. */
const REST_MS = 250;

/** For the token, something that is good in its place once. */
async function codeFor(token: string): Promise<string | undefined> {
  const answer = await fetch("code", { method: "POST", headers: { Authorization: `Token ${token}` } }).catch(
    () => undefined,
  );
  return answer?.ok === true ? ((await answer.json()) as { code?: string }).code : undefined;
}

export function browserHome(token: string): Home {
  const roots = takeRoots();
  const target = (address: string) => (address === "" ? location.pathname + location.search : "#" + address);
  let next: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const drop = () => {
    clearTimeout(timer);
    next = undefined;
  };
  const write = () => {
    const address = next;
    drop();
    if (address !== undefined) history.replaceState(null, "", target(address));
  };
  return {
    inEditor: false,
    back: () => history.back(),
    files,
    roots: () => roots,
    address: () => next ?? location.hash,
    link: () => {
      write();
      return location.href;
    },
    fresh: async () => {
      write();
      const code = token === "" ? undefined : await codeFor(token);
      if (code === undefined) return { link: location.href, letsIn: false };
      const place = location.hash.replace(/^#/, "");
      return {
        link: `${location.origin}${location.pathname}#c=${code}${place === "" ? "" : `&${place}`}`,
        letsIn: true,
      };
    },
    push: (address) => {
      write();
      history.pushState(null, "", target(address));
    },
    replace: (address) => {
      next = address;
      clearTimeout(timer);
      timer = setTimeout(write, REST_MS);
    },
    onAddress: (listener) => {
      window.addEventListener("popstate", () => {
        drop(); // it was of the entry that was left
        listener(location.hash);
      });
    },
    settings: () => kept(() => localStorage.getItem(SETTINGS_KEY), null),
    keepSettings: (text) => kept(() => localStorage.setItem(SETTINGS_KEY, text), undefined),
  };
}

export function webviewHome(api: WebviewApi): Home {
  interface Kept {
    address?: string;
    settings?: string;
    steps?: KeptSteps;
  }
  const state = () => (api.getState() ?? {}) as Kept;
  const first = document.body.dataset.address ?? "";
  // A web view has no history of its own.
  const steps: string[] = [];
  let listener: (address: string) => void = () => undefined;
  const put = (address: string) => api.setState({ ...state(), address });
  const push = (address: string) => {
    steps.push(state().address ?? first);
    if (steps.length > 200) steps.shift();
    put(address);
  };
  window.addEventListener("message", (event: MessageEvent<unknown>) => {
    const data = event.data as { type?: unknown; address?: unknown } | null;
    if (data?.type !== "address" || typeof data.address !== "string") return;
    push(data.address);
    listener(data.address);
  });
  return {
    inEditor: true,
    showLine: (uri, line) => api.postMessage({ type: "source", uri, line }),
    back: () => {
      const address = steps.pop();
      if (address === undefined) return;
      put(address);
      listener(address);
    },
    setPath: () => api.postMessage({ type: "setPath" }),
    roots: () => [],
    address: () => state().address ?? first,
    push,
    replace: put,
    onAddress: (next) => (listener = next),
    steps: {
      get: () => state().steps,
      keep: (steps) => api.setState({ ...state(), steps }),
    },
    settings: () => state().settings ?? null,
    keepSettings: (text) => api.setState({ ...state(), settings: text }),
  };
}
