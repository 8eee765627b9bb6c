// Small pieces that every view uses.
import type { ComponentChildren } from "preact";
import type { MissingPart } from "../../../shared/ts/psp.js";
import { shown } from "../draw/shown.js";
import { Icon, type IconName } from "./icons.js";

/** A name from a profile: data, whatever it holds, and of its own direction. */
export function Name({
  text,
  class: className,
  cuts,
}: {
  text: string;
  class?: string;
  /** Where its beginning may be left out: without the room for all of it the last part is kept. */
  cuts?: readonly number[] | undefined;
}) {
  const keep = cuts?.at(-1);
  if (keep !== undefined && shown(text) === text)
    return (
      <bdi class="name split" dir="ltr" title={text}>
        <span>{text.slice(0, keep)}</span>
        <span>{text.slice(keep)}</span>
      </bdi>
    );
  return (
    <bdi class={className === undefined ? "name" : `name ${className}`} dir="ltr">
      {shown(text)}
    </bdi>
  );
}

/** The first of these texts that fits, by CSS (`.fit`); of the last as much as does. */
function FirstThatFits({ forms }: { forms: readonly string[] }) {
  const [first = "", ...rest] = forms;
  if (rest.length === 0) return <span class="form last" data-text={first} />;
  return (
    <span class="fit">
      <span class="shorter">
        <FirstThatFits forms={rest} />
      </span>
      <span class="form" data-text={first} />
    </span>
  );
}

/** A name where it may be whole: it is where there is room, else what `label` and `cuts` leave of it, as in a box. */
export function FittedName(props: {
  text: string;
  label: string;
  class?: string;
  cuts?: readonly number[] | undefined;
}) {
  const { text } = props;
  const label = props.label === "" ? text : props.label;
  const cuts = shown(label) === label ? (props.cuts ?? []) : [];
  const forms = [...(label === text ? [] : [shown(label)]), ...cuts.map((at) => label.slice(at))];
  return (
    <bdi class={`name fit ${props.class ?? ""}`} dir="ltr" title={shown(text)}>
      <span class="shorter" aria-hidden="true">
        <FirstThatFits forms={forms.length === 0 ? [shown(text)] : forms} />
      </span>
      <span class="form">{shown(text)}</span>
    </bdi>
  );
}

/** A path, of which the end says more than the beginning. */
export function FittedPath({ text, class: className = "muted" }: { text: string; class?: string }) {
  const cuts = [...text.matchAll(/[/\\](?=.)/g)].map(({ index }) => index + 1).slice(-4);
  return <FittedName class={className} text={text} label={text} cuts={cuts} />;
}

export interface IconButtonProps {
  readonly icon: IconName;
  readonly label: string;
  readonly onClick: (event: MouseEvent) => void;
  readonly disabled?: boolean;
  readonly pressed?: boolean;
  readonly keys?: string;
}

export function IconButton({ icon, label, onClick, disabled, pressed, keys }: IconButtonProps) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={keys === undefined ? label : `${label} (${keys})`}
      aria-pressed={pressed}
      aria-keyshortcuts={keys}
      disabled={disabled}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

export interface Choice<T extends string> {
  readonly id: T;
  readonly text: string;
  readonly title?: string;
}

export function Segments<T extends string>(props: {
  label: string;
  value: T;
  choices: readonly Choice<T>[];
  onChange: (value: T) => void;
}) {
  return (
    <div class="segments" role="group" aria-label={props.label}>
      {props.choices.map((choice) => (
        <button
          type="button"
          key={choice.id}
          title={choice.title}
          aria-pressed={choice.id === props.value}
          onClick={() => props.onChange(choice.id)}
        >
          {choice.text}
        </button>
      ))}
    </div>
  );
}

export function Select<T extends string>(props: {
  label: string;
  value: T;
  choices: readonly Choice<T>[];
  onChange: (value: T) => void;
}) {
  return (
    <label class="select" title={props.label}>
      <span class="select-label">{props.label}</span>
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value as T)}>
        {props.choices.map((choice) => (
          <option key={choice.id} value={choice.id} title={choice.title}>
            {choice.text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A share as a bar behind its text; the text says it, the bar only helps. */
export function Share({ text, part }: { text: string; part: number }) {
  const width = `${(Math.max(0, Math.min(1, Number.isFinite(part) ? part : 0)) * 100).toFixed(1)}%`;
  return (
    <span class="share">
      <span class="share-bar" style={{ width }} />
      <span class="share-text">{text}</span>
    </span>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Busy({ text }: { text: string }) {
  return (
    <div class="busy" role="status">
      <span class="spinner" aria-hidden="true" />
      {text}
    </div>
  );
}

/** What the profile does not know of its code, how much that is, and what would bring it. */
export function Missing({ parts }: { parts: readonly MissingPart[] }) {
  return <Notes texts={parts.map((part) => `${part.text} ${part.advice}`)} />;
}

/** Sentences about what is shown: what it leaves out, what is an estimate. */
export function Notes({ texts }: { texts: readonly (string | undefined)[] }) {
  const notes = texts.filter((text) => text !== undefined);
  if (notes.length === 0) return null;
  return (
    <ul class="notes">
      {notes.map((note) => (
        <li key={note}>
          <Icon name="warning" size={14} /> {shown(note)}
        </li>
      ))}
    </ul>
  );
}
