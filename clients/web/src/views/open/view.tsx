// Opening: drop a file, name one, or go back to one that is open.
import { LiveListRequest, UploadBeginRequest } from "../../../../shared/ts/psp.js";
import { useEffect, useRef, useState } from "preact/hooks";
import { baseName, pathOfUri, uriOf } from "../../app.js";
import { canCompare, startComparing } from "../../compare.js";
import { isDiff } from "../../state/compared.js";
import { shown } from "../../draw/shown.js";
import { Name } from "../../ui/bits.js";
import { useApp } from "../../ui/context.js";
import { IconButton } from "../../ui/bits.js";
import { Icon } from "../../ui/icons.js";
import { uploadAll } from "../../upload.js";
import { recentFiles } from "../../recent.js";
import { show } from "../../state/state.js";

export function OpenView() {
  const app = useApp();
  const [path, setPath] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const files = useRef<HTMLInputElement>(null);
  const entries = app.listed.value;
  const canUpload = app.can(UploadBeginRequest.method);
  useEffect(() => {
    if (app.connection.value.state === "open") void app.list().catch(() => undefined);
  }, [app.connection.value.state]);
  const recent = recentFiles.value.filter((uri) => !entries.some((entry) => entry.uri === uri)).slice(0, 12);
  return (
    <div class="view page">
      <div class="page-body narrow">
        <h1>Open a profile</h1>
        <div class="dropzone" role="group" aria-label="Files">
          <p>
            {canUpload ? "Drop files anywhere on this page, or " : "Name a file on the machine of the daemon."}
            {canUpload && (
              <button type="button" class="link" onClick={() => files.current?.click()}>
                choose some
              </button>
            )}
            {canUpload && "."}
          </p>
          <p class="muted">
            {canUpload
              ? "They go to the daemon on this machine and to nobody else."
              : "Any profiler's output: pprof, perf, JFR, callgrind, V8, Firefox, …"}
          </p>
          <input
            ref={files}
            type="file"
            multiple
            hidden
            onChange={(event) => {
              void uploadAll(app, [...(event.currentTarget.files ?? [])]);
              event.currentTarget.value = "";
            }}
          />
        </div>
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            if (path.trim() !== "") app.open(uriOf(path.trim()));
          }}
        >
          <input
            ref={input}
            class="grow"
            type="text"
            aria-label="Path or address of a profile"
            placeholder="/path/to/cpu.pprof"
            spellcheck={false}
            value={path}
            onInput={(event) => setPath(event.currentTarget.value)}
          />
          <button type="submit" class="button primary">
            Open
          </button>
        </form>
        {app.can(LiveListRequest.method) && (
          <p>
            <button
              type="button"
              class="button"
              title="Their city (L)"
              onClick={() => app.update((s) => show(s, "live"))}
            >
              <Icon name="city" /> Running programs…
            </button>
          </p>
        )}
        {entries.length > 0 && (
          <>
            <div class="row entries-head">
              <h2 class="grow">Open in the daemon</h2>
              {canCompare(app) && (
                <button
                  type="button"
                  class="button"
                  title="What became of one profile in another (D)"
                  onClick={() => void startComparing(app)}
                >
                  <Icon name="compare" /> Compare…
                </button>
              )}
            </div>
            <ul class="entries">
              {entries.map((entry) => (
                <li key={entry.profile}>
                  <button
                    type="button"
                    aria-current={app.profile.value?.handle === entry.profile}
                    title={pathOfUri(entry.uri)}
                    onClick={() => app.open(entry.uri, entry.member?.number ?? 1)}
                  >
                    <Name text={entry.name} />
                    <span class="muted">
                      {entry.format}
                      {entry.total !== undefined &&
                        !isDiff(entry.uri) &&
                        ` · ${entry.total.text} ${entry.metric ?? ""}`}{" "}
                      · {entry.memory.text}
                      {entry.state === "failed" && " · cannot be read any more"}
                      {entry.state === "opening" && " · being read"}
                    </span>
                  </button>
                  <IconButton
                    icon="close"
                    label={`Close ${shown(entry.name)}`}
                    onClick={() => void app.close(entry.profile)}
                  />
                </li>
              ))}
            </ul>
          </>
        )}
        {recent.length > 0 && (
          <>
            <h2>Recent</h2>
            <ul class="entries">
              {recent.map((uri) => (
                <li key={uri}>
                  <button type="button" onClick={() => app.open(uri)}>
                    <Name text={baseName(uri)} />
                    <Name class="muted" text={pathOfUri(uri)} />
                  </button>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </div>
  );
}
