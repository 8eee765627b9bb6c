// Scripts over the profile: one to start from, its text, what it gives, and the profile that it makes in the flame graph beside.
import { useEffect, useRef, useState } from "preact/hooks";
import {
  AnalysisListRequest,
  AnalysisRunRequest,
  AnalysisSaveRequest,
  ProfileCloseRequest,
  type AnalysisInfo,
  type AnalysisRunResult,
  type ComposedPart,
} from "../../../../shared/ts/psp.js";
import { RpcError } from "../../rpc/client.js";
import { shown } from "../../draw/shown.js";
import { Empty, Select } from "../../ui/bits.js";
import { useApp, useProfile } from "../../ui/context.js";
import { FlameView } from "../flame/view.js";
import { ScriptEditor } from "./editor.js";
import { EXAMPLES } from "./examples.js";
import { ScriptResult } from "./result.js";

const EMPTY = "-- @title What this is\n\nprofile:visit(function(node)\n  \nend)\n";
const isScript = (uri: string) => uri.startsWith("script://");

/** What is written lives as long as the page. */
interface Draft {
  readonly name: string;
  readonly text: string;
  readonly values: Readonly<Record<string, string>>;
  readonly before: string;
  /** As it was loaded. */
  readonly from: string;
}
let kept: Draft = { name: "draft", text: EMPTY, values: {}, before: "", from: EMPTY };

export function AnalysesView() {
  const app = useApp();
  const profile = useProfile();
  const [known, setKnown] = useState<readonly AnalysisInfo[]>([]);
  const [draft, setDraft] = useState<Draft>(kept);
  const [result, setResult] = useState<AnalysisRunResult | undefined>(undefined);
  const [wrong, setWrong] = useState<{ readonly text: string; readonly line: number | undefined } | undefined>(
    undefined,
  );
  const [running, setRunning] = useState<AbortController | undefined>(undefined);
  /** The profile that scripts are run over, while the one that they made is shown. */
  const source = useRef<{ handle: string; name: string } | undefined>(undefined);
  const made = useRef<string | undefined>(undefined);
  if (profile !== undefined && !isScript(profile.uri)) source.current = { handle: profile.handle, name: profile.name };
  const change = (part: Partial<Draft>) => {
    kept = { ...draft, ...part };
    setDraft(kept);
  };
  const list = () =>
    app.client.request(AnalysisListRequest, {}).then(
      ({ analyses, problems }) => {
        setKnown(analyses);
        for (const problem of problems ?? []) app.say(shown(problem), "warning");
      },
      () => undefined,
    );
  useEffect(() => {
    if (app.connection.value.state === "open") void list();
  }, [app.connection.value.state]);
  if (!app.can(AnalysisRunRequest.method))
    return <Empty title="Not known here">This daemon is older than the page and runs no scripts.</Empty>;

  const load = async (name: string) => {
    const { analyses } = await app.client.request(AnalysisListRequest, { name });
    const found = analyses[0];
    if (found === undefined) return;
    change({ name, text: found.text ?? "", from: found.text ?? "", values: {} });
    setWrong(undefined);
    setResult(undefined);
  };
  const info = known.find(({ name }) => name === draft.name);
  const others = app.listed.value.filter(
    ({ uri, profile: handle }) => !isScript(uri) && handle !== source.current?.handle,
  );
  const needsBefore = draft.text === draft.from && (info?.minProfiles ?? 1) > 1;

  const run = async () => {
    const of: ComposedPart[] = [];
    const before = draft.before === "" ? others[0]?.profile : draft.before;
    if (needsBefore && before !== undefined) of.push({ profile: before });
    if (source.current !== undefined) of.push({ profile: source.current.handle });
    const controller = new AbortController();
    setRunning(controller);
    setWrong(undefined);
    try {
      const answer = await app.client.request(
        AnalysisRunRequest,
        {
          name: draft.name,
          text: draft.text,
          of,
          arguments: Object.entries(draft.values).map(([name, value]) => ({ name, value })),
          options: { makeDefault: false, attach: false },
        },
        controller.signal,
      );
      setResult(answer);
      app.spoken.value = `${draft.name} has run`;
      const earlier = made.current;
      if (answer.opened !== undefined) {
        made.current = answer.opened.profile;
        app.open(answer.opened.summary.uri);
      }
      if (earlier !== undefined && answer.opened !== undefined && earlier !== answer.opened.profile)
        await app.client.request(ProfileCloseRequest, { profile: earlier }).catch(() => undefined);
    } catch (error) {
      const text = app.explain(error);
      if (text === undefined) return;
      setWrong({ text, line: error instanceof RpcError ? error.data?.line : undefined });
      app.spoken.value = text;
    } finally {
      setRunning(undefined);
    }
  };
  const save = async (overwrite: boolean) => {
    try {
      await app.client.request(AnalysisSaveRequest, { name: draft.name, text: draft.text, overwrite });
      change({ from: draft.text });
      app.say(`Saved as .profd/analyses/${draft.name}.lua in the workspace`);
      await list();
    } catch (error) {
      const text = app.explain(error);
      if (text === undefined) return;
      app.say(text, "error", overwrite ? undefined : { text: "Overwrite", run: () => void save(true) });
    }
  };
  return (
    <div class="view analyses">
      <div class="analyses-side">
        <div class="row">
          <Select
            label="Script"
            value={info === undefined ? "" : draft.name}
            choices={[
              { id: "", text: "a script of your own" },
              ...known.map(({ name, title }) => ({ id: name, text: name, title: shown(title) })),
            ]}
            onChange={(name) =>
              name === "" ? change({ name: "draft", text: EMPTY, from: EMPTY, values: {} }) : void load(name)
            }
          />
          {running === undefined ? (
            <button
              type="button"
              class="button primary"
              title="Ctrl+Enter"
              disabled={source.current === undefined}
              onClick={() => void run()}
            >
              Run
            </button>
          ) : (
            <button type="button" class="button" onClick={() => running.abort()}>
              Stop
            </button>
          )}
          <button type="button" class="button" onClick={() => void save(false)}>
            Save
          </button>
        </div>
        <div class="row">
          <label class="grow">
            Name{" "}
            <input
              type="text"
              value={draft.name}
              spellcheck={false}
              onInput={(event) => change({ name: event.currentTarget.value })}
            />
          </label>
          {needsBefore && (
            <Select
              label="Before"
              value={draft.before === "" ? (others[0]?.profile ?? "") : draft.before}
              choices={others.map(({ profile: id, name }) => ({ id, text: shown(name) }))}
              onChange={(before) => change({ before })}
            />
          )}
        </div>
        {info !== undefined && info.arguments.length > 0 && draft.text === draft.from && (
          <div class="script-arguments">
            {info.arguments.map(({ name, default: value, documentation }) => (
              <label key={name} title={shown(documentation)}>
                {name}{" "}
                <input
                  type="text"
                  spellcheck={false}
                  value={draft.values[name] ?? value}
                  onInput={(event) => change({ values: { ...draft.values, [name]: event.currentTarget.value } })}
                />
              </label>
            ))}
          </div>
        )}
        {info !== undefined && draft.text === draft.from && <p class="muted script-title">{shown(info.title)}</p>}
        {draft.text === EMPTY && (
          <div class="row script-examples" role="group" aria-label="Examples">
            <span class="muted">Start from</span>
            {EXAMPLES.map(({ title, text }) => (
              <button type="button" class="button" key={title} onClick={() => change({ text, values: {} })}>
                {title}
              </button>
            ))}
          </div>
        )}
        <ScriptEditor
          text={draft.text}
          wrong={wrong?.line}
          onText={(text) => change({ text })}
          onRun={() => void run()}
        />
        {wrong !== undefined && (
          <p class="script-wrong" role="alert">
            {shown(wrong.text)}
          </p>
        )}
        {source.current !== undefined && profile !== undefined && isScript(profile.uri) && (
          <p class="muted">
            Shown is what the script made of {shown(source.current.name)}.{" "}
            <button
              type="button"
              class="link"
              onClick={() => {
                const original = app.listed.value.find(({ profile: id }) => id === source.current?.handle);
                if (original !== undefined) app.open(original.uri, original.member?.number ?? 1);
              }}
            >
              Show the profile itself
            </button>
          </p>
        )}
        {result !== undefined && wrong === undefined && <ScriptResult result={result} />}
      </div>
      <FlameView />
    </div>
  );
}
