// Debug information that servers may have: offered where code has no names or lines for want of it, and asked for when
// a person says so.
import { useState } from "preact/hooks";
import { ProfileModulesRequest, ProfileSymbolizeRequest, type ProfileModule } from "../../../shared/ts/psp.js";
import { shown } from "../draw/shown.js";
import { useAnswer, useApp, useProfile } from "./context.js";

/** The hosts of servers that modules name, in their order: "debuginfod.debian.net, 127.0.0.1:8002". */
export function hostsOf(modules: readonly ProfileModule[]): string {
  const hosts = modules
    .flatMap(({ fetch }) => fetch ?? [])
    .map((address) => {
      try {
        return new URL(address).host;
      } catch {
        return address;
      }
    });
  return [...new Set(hosts)].join(", ");
}

/** `wanted`: something is missing that it could bring. */
export function Fetch({ wanted }: { wanted: boolean }) {
  const app = useApp();
  const profile = useProfile();
  const [busy, setBusy] = useState(false);
  const can = app.can(ProfileModulesRequest.method) && app.can(ProfileSymbolizeRequest.method);
  const answer = useAnswer(
    ProfileModulesRequest,
    wanted && can && profile !== undefined ? { profile: profile.handle } : undefined,
  );
  const modules = (answer.value?.modules ?? []).filter(({ fetch }) => fetch !== undefined && fetch.length > 0);
  if (profile === undefined || modules.length === 0 || !wanted) return null;
  const what = modules.length === 1 ? (modules[0]?.name ?? "") : `${modules.length} binaries`;
  const hosts = hostsOf(modules);
  const fetchThem = async () => {
    setBusy(true);
    try {
      const names = modules.map(({ path }) => path);
      const done = await app.client.request(ProfileSymbolizeRequest, {
        profile: profile.handle,
        modules: names,
        allow: true,
      });
      app.say(done.text);
    } catch (error) {
      const text = app.explain(error);
      if (text !== undefined) app.say(text, "error");
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="question" role="group" aria-label="Debug information">
      <p>
        {shown(`${hosts} may have the debug information of ${what}. It is asked for by build id, and learns that.`)}
      </p>
      <button
        type="button"
        class="button"
        disabled={busy}
        onClick={(event) => {
          if (event.isTrusted) void fetchThem();
        }}
      >
        {busy ? "Fetching" : "Fetch it"}
      </button>
    </div>
  );
}
