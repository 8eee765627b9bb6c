// Of a diff: before, after and the difference beside each other. The boxes of all three are the same paths: what is pointed
// at, chosen or zoomed in one is so in the others.
import { useSignal } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import type { GroupHues, Paints } from "../../draw/colors.js";
import { namesOf, type Layout } from "../../draw/layout.js";
import { shown } from "../../draw/shown.js";
import type { Width } from "../../state/compared.js";
import type { Selected } from "../../app.js";
import type { ColorScheme } from "../../state/place.js";
import type { Point } from "../../ui/menu.js";
import type { Target } from "./controller.js";
import { Stage, type Linked, type StageHandle } from "./stage.js";

const PANES: readonly { readonly id: Width; readonly title: string }[] = [
  { id: "before", title: "Before" },
  { id: "after", title: "After" },
  { id: "difference", title: "Difference" },
];

export interface PanesProps {
  /** Of a pane. */
  readonly targetOf: (width: Width) => Target;
  readonly scheme: ColorScheme;
  readonly upward: boolean;
  readonly marks: readonly string[];
  readonly hues: GroupHues;
  readonly onZoom: (zoom: readonly string[], step: boolean) => void;
  readonly onMenu: (box: Selected, at: Point) => void;
  readonly onList: (names: readonly string[]) => void;
  /** Of the pane that has most of the way to the zoomed box. */
  readonly onPicture: (layout: Layout, paints: Paints) => void;
  /** The pane that was used last. */
  readonly handle: { current: StageHandle | undefined };
}

interface Picture {
  readonly layout: Layout;
  readonly paints: Paints;
}

const depthOf = ({ layout }: Picture) => namesOf(layout, layout.zoomed).length;

export function Panes(props: PanesProps) {
  const linked = useSignal<Linked | undefined>(undefined);
  const [active, setActive] = useState<Width>("after");
  const handles = useRef(new Map<Width, { current: StageHandle | undefined }>());
  const pictures = useRef(new Map<Width, Picture>());
  const [, redraw] = useState(0);
  const handleOf = (id: Width) => {
    const known = handles.current.get(id) ?? { current: undefined };
    handles.current.set(id, known);
    return known;
  };
  const use = (id: Width) => {
    setActive(id);
    props.handle.current = handleOf(id).current;
  };
  const arrived = (id: Width, picture: Picture) => {
    pictures.current.set(id, picture);
    if (id === active || props.handle.current === undefined) props.handle.current = handleOf(id).current;
    const all = PANES.flatMap((pane) => pictures.current.get(pane.id) ?? []);
    const best = all.reduce((one, other) => (depthOf(other) > depthOf(one) ? other : one));
    props.onPicture(best.layout, best.paints);
    redraw((n) => n + 1);
  };
  return (
    <div class="panes">
      {PANES.map(({ id, title }) => {
        const target = props.targetOf(id);
        const picture = pictures.current.get(id);
        return (
          <section
            key={id}
            class={id === active ? "pane active" : "pane"}
            aria-label={title}
            onPointerDown={() => use(id)}
            onFocusIn={() => use(id)}
          >
            <PaneTitle title={title} id={id} layout={picture?.layout} zoom={target.zoom} />
            <Stage
              id={`flame-${id}`}
              label={`${title}, ${target.spec}`}
              target={target}
              scheme={props.scheme}
              upward={props.upward}
              marks={props.marks}
              hues={props.hues}
              handle={handleOf(id)}
              keys={id === active}
              follows
              linked={linked}
              onZoom={props.onZoom}
              onMenu={props.onMenu}
              onList={props.onList}
              onLayout={(layout, paints) => arrived(id, { layout, paints })}
            />
          </section>
        );
      })}
    </div>
  );
}

function PaneTitle(props: { title: string; id: Width; layout: Layout | undefined; zoom: readonly string[] }) {
  const { layout } = props;
  const sides = layout?.answer.sides;
  const whole =
    sides === undefined
      ? ""
      : props.id === "before"
        ? sides.before.text
        : props.id === "after"
          ? sides.after.text
          : sides.change;
  const names = layout === undefined ? [] : namesOf(layout, layout.zoomed);
  const gone = layout !== undefined && names.length < props.zoom.length;
  const nearest = names.at(-1) ?? "all";
  return (
    <h3 class="pane-title">
      {props.title} <span class="muted">{whole}</span>
      {gone && (
        <span class="muted">
          · {props.id === "difference" ? "nothing changed there" : "not there"}: {shown(nearest)} is shown
        </span>
      )}
    </h3>
  );
}
