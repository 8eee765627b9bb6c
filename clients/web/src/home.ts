// Addresses and settings in a browser's page, and in an editor's web view, which has neither.
import type { Home } from "./app.js";
import type { WebviewApi } from "./rpc/transport.js";

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
  return { token };
}

export function browserHome(): Home {
  const target = (address: string) => (address === "" ? location.pathname + location.search : "#" + address);
  return {
    inEditor: false,
    address: () => location.hash,
    push: (address) => history.pushState(null, "", target(address)),
    replace: (address) => history.replaceState(null, "", target(address)),
    onAddress: (listener) => {
      window.addEventListener("popstate", () => listener(location.hash));
    },
    settings: () => kept(() => localStorage.getItem(SETTINGS_KEY), null),
    keepSettings: (text) => kept(() => localStorage.setItem(SETTINGS_KEY, text), undefined),
  };
}

export function webviewHome(api: WebviewApi): Home {
  interface Kept {
    address?: string;
    settings?: string;
  }
  const state = () => (api.getState() ?? {}) as Kept;
  // A web view has no history of its own.
  const steps: string[] = [];
  let listener: (address: string) => void = () => undefined;
  const put = (address: string) => api.setState({ ...state(), address });
  window.addEventListener("message", (event: MessageEvent<unknown>) => {
    const data = event.data as { type?: unknown; address?: unknown } | null;
    if (data?.type === "address" && typeof data.address === "string") listener(data.address);
    if (data?.type === "back" && steps.length > 0) {
      const address = steps.pop()!;
      put(address);
      listener(address);
    }
  });
  const first = document.body.dataset.address ?? "";
  return {
    inEditor: true,
    address: () => state().address ?? first,
    push: (address) => {
      steps.push(state().address ?? first);
      if (steps.length > 200) steps.shift();
      put(address);
    },
    replace: put,
    onAddress: (next) => (listener = next),
    settings: () => state().settings ?? null,
    keepSettings: (text) => api.setState({ ...state(), settings: text }),
  };
}
