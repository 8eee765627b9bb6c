// Metrics by formula: a button that opens a window to define them, with names offered as they are typed and what is
// wrong said at its place.
import { useEffect, useRef, useState } from "preact/hooks";
import { MetricDeriveRequest, type DerivedMetric, type MetricInfo } from "../../../shared/ts/psp.js";
import { shown } from "../draw/shown.js";
import { RpcError } from "../rpc/client.js";
import { nameAt, nameInFormula, withName } from "../state/formula.js";
import { useApp, useProfile } from "./context.js";
import { IconButton, Name } from "./bits.js";
import { Dialog } from "./menu.js";
import { Icon } from "./icons.js";

export function FormulaButton({ onAdded, small }: { onAdded?: (name: string) => void; small?: boolean }) {
  const app = useApp();
  const [open, setOpen] = useState(false);
  if (!app.can(MetricDeriveRequest.method)) return null;
  return (
    <>
      <button
        type="button"
        class={small === true ? "icon-button" : "button quiet"}
        title="A metric by formula: cycles / instructions"
        aria-label="Formula"
        onClick={() => setOpen(true)}
      >
        <Icon name="plus" /> {small !== true && "Formula"}
      </button>
      {open && <FormulaDialog onAdded={onAdded} onClose={() => setOpen(false)} />}
    </>
  );
}

interface Judged {
  readonly text: string;
  /** What the formula comes to over the whole profile. */
  readonly metric?: DerivedMetric;
  readonly error?: string;
  /** Characters into the formula. */
  readonly place?: number;
}

/** Bytes of UTF-8 into a text as characters of it. */
function placeOf(text: string, bytes: number): number {
  return new TextDecoder().decode(new TextEncoder().encode(text).slice(0, bytes)).length;
}

function FormulaDialog({ onAdded, onClose }: { onAdded: ((name: string) => void) | undefined; onClose: () => void }) {
  const app = useApp();
  const profile = useProfile();
  const metrics = profile?.metrics ?? [];
  const [name, setName] = useState("");
  const [formula, setFormula] = useState("");
  const [unit, setUnit] = useState("");
  const [judged, setJudged] = useState<Judged | undefined>(undefined);
  const text = `${name}\n${formula}\n${unit}`;

  useEffect(() => {
    if (profile === undefined || formula.trim() === "") return;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      const asked = { profile: profile.handle, name: name.trim() || "x", formula, check: true };
      app.client
        .request(MetricDeriveRequest, unit.trim() === "" ? asked : { ...asked, unit: unit.trim() }, controller.signal)
        .then(
          ({ metric }) => setJudged({ text, metric }),
          (error: unknown) => {
            const said = app.explain(error);
            if (controller.signal.aborted || said === undefined) return;
            const bytes = error instanceof RpcError ? error.data?.byteOffset : undefined;
            setJudged({ text, error: said, ...(bytes === undefined ? {} : { place: placeOf(formula, bytes) }) });
          },
        );
    }, 150);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text, profile?.revision]);

  const current = judged?.text === text ? judged : undefined;
  const add = async () => {
    if (name.trim() === "" || formula.trim() === "") return;
    try {
      await app.derive({ name: name.trim(), formula, unit: unit.trim() });
    } catch (error) {
      const said = app.explain(error);
      if (said !== undefined) setJudged({ text, error: said });
      return;
    }
    onAdded?.(name.trim());
    onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") void add();
  };
  return (
    <Dialog title="A metric by formula" onClose={onClose} wide>
      <div class="formula">
        <label>
          Formula
          <FormulaInput value={formula} metrics={metrics} onChange={setFormula} onEnter={() => void add()} />
        </label>
        <div class="formula-said" role="status">
          {current?.error !== undefined ? (
            <span class="formula-wrong">
              {current.place !== undefined && (
                <code aria-hidden="true">
                  {shown(formula.slice(0, current.place))}
                  <mark>{shown(formula.slice(current.place, current.place + 1)) || " "}</mark>
                  {shown(formula.slice(current.place + 1))}
                </code>
              )}
              {shown(current.error)}
            </span>
          ) : current?.metric !== undefined ? (
            <span>
              {current.metric.text} over the whole profile
              {current.metric.unit !== "" && <span class="muted"> · {shown(current.metric.unit)}</span>}
            </span>
          ) : (
            <span class="muted">
              Metrics, numbers, + - * / and brackets; it is worked out of the sums of every row and box
            </span>
          )}
        </div>
        <div class="formula-names">
          <label>
            Name
            <input
              type="text"
              spellcheck={false}
              placeholder="cpi"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
              onKeyDown={onKeyDown}
            />
          </label>
          <label>
            Unit
            <input
              type="text"
              spellcheck={false}
              placeholder="that of the formula"
              value={unit}
              onInput={(event) => setUnit(event.currentTarget.value)}
              onKeyDown={onKeyDown}
            />
          </label>
          <button
            type="button"
            class="button primary"
            disabled={name.trim() === "" || formula.trim() === "" || current?.error !== undefined}
            onClick={() => void add()}
          >
            Add
          </button>
        </div>
        {(profile?.derived.length ?? 0) > 0 && (
          <ul class="formula-list" aria-label="Metrics by formula">
            {profile?.derived.map((metric) => (
              <li key={metric.name}>
                <b>
                  <Name text={metric.name} />
                </b>
                <code>{shown(metric.formula)}</code>
                <span class="muted">{metric.text}</span>
                {metric.set === true ? (
                  <span class="muted" title="By the settings or .profd.toml">
                    set
                  </span>
                ) : (
                  <IconButton
                    icon="close"
                    label={`Remove ${shown(metric.name)}`}
                    onClick={() =>
                      void app.forget(metric.name).catch((error: unknown) => {
                        const said = app.explain(error);
                        if (said !== undefined) app.say(said, "error");
                      })
                    }
                  />
                )}
              </li>
            ))}
          </ul>
        )}
      </div>
    </Dialog>
  );
}

function FormulaInput(props: {
  value: string;
  metrics: readonly MetricInfo[];
  onChange: (value: string) => void;
  onEnter: () => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const [at, setAt] = useState(0);
  const [caret, setCaret] = useState(0);
  useEffect(() => input.current?.focus(), []);
  const part = nameAt(props.value, caret);
  const lower = part.text.toLowerCase();
  // It stays when the focus goes elsewhere: what is clicked must not move away.
  const offered =
    part.typed === ""
      ? []
      : props.metrics
          .filter(({ name }) => name.toLowerCase().includes(lower) && nameInFormula(name) !== part.typed)
          .slice(0, 8);
  const isWhole = props.metrics.some(({ name }) => nameInFormula(name) === part.typed);
  const take = (i: number) => {
    const metric = offered[i];
    if (metric === undefined) return;
    const next = withName(props.value, part, metric.name);
    props.onChange(next.text);
    setCaret(next.caret);
    setAt(0);
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(next.caret, next.caret);
    });
  };
  return (
    <>
      <input
        ref={input}
        class="picker-input formula-input"
        type="text"
        role="combobox"
        aria-expanded={offered.length > 0}
        aria-controls="formula-names"
        aria-activedescendant={offered.length > 0 ? `formula-${at}` : undefined}
        placeholder="cycles / instructions"
        spellcheck={false}
        value={props.value}
        onInput={(event) => {
          setCaret(event.currentTarget.selectionStart ?? event.currentTarget.value.length);
          setAt(0);
          props.onChange(event.currentTarget.value);
        }}
        onClick={(event) => setCaret(event.currentTarget.selectionStart ?? 0)}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setAt(Math.min(offered.length - 1, at + 1));
          else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
          else if (event.key === "Tab" && offered.length > 0 && !isWhole) take(at);
          else if (event.key === "Enter") {
            if (offered.length > 0 && !isWhole) take(at);
            else props.onEnter();
          } else return;
          event.preventDefault();
        }}
      />
      {offered.length > 0 && (
        <div class="picker-list formula-offered" role="listbox" id="formula-names" aria-label="Metrics">
          {offered.map((metric, i) => (
            <div
              key={metric.name}
              id={`formula-${i}`}
              role="option"
              aria-selected={i === at}
              class={i === at ? "selected" : ""}
              onPointerDown={(event) => {
                event.preventDefault();
                take(i);
              }}
            >
              <span class="picker-share">{metric.text}</span>
              <Name text={metric.name} />
            </div>
          ))}
        </div>
      )}
    </>
  );
}
