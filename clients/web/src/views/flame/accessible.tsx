// The picture in words: what a screen reader walks through beside the canvas.
import { BoxFlag } from "../../../../shared/ts/psp.js";
import { childrenOf, isRemainder, labelOf, markOf, nameOf, type Layout } from "../../draw/layout.js";
import { shown } from "../../draw/shown.js";

export interface TreeItem {
  readonly item: number;
  readonly level: number;
  readonly position: number;
  readonly size: number;
  readonly expanded: boolean | undefined;
}

const NEIGHBOURS = 12;

/** Where a reader of the tree is: the chosen box, or the zoomed one before anything is chosen. */
export const activeItem = (layout: Layout, cursor: number) =>
  cursor >= 0 && cursor < layout.size ? cursor : layout.zoomed;

/** The active box, those above it, beside it and right below it. */
export function itemsAround(layout: Layout, cursor: number): TreeItem[] {
  if (layout.boxes === 0) return [];
  const at = activeItem(layout, cursor);
  const levelOf = (item: number) => layout.depth[item]! + 1;
  const items: TreeItem[] = [];
  for (let up = layout.parent[at]!; up >= 0; up = layout.parent[up]!)
    items.unshift({ item: up, level: levelOf(up), position: 1, size: 1, expanded: true });
  const parent = layout.parent[at]!;
  const siblings = parent < 0 ? [at] : childrenOf(layout, parent);
  const first = Math.max(0, siblings.indexOf(at) - NEIGHBOURS);
  siblings.slice(first, siblings.indexOf(at) + NEIGHBOURS + 1).forEach((item, i) => {
    const children = isRemainder(layout, item) ? [] : childrenOf(layout, item);
    const more = (layout.flags[item]! & BoxFlag.more) !== 0;
    const expanded = children.length === 0 && !more ? undefined : item === at;
    items.push({ item, level: levelOf(item), position: first + i + 1, size: siblings.length, expanded });
    if (item !== at) return;
    children.slice(0, NEIGHBOURS).forEach((child, position) =>
      items.push({
        item: child,
        level: levelOf(child),
        position: position + 1,
        size: children.length,
        expanded: undefined,
      }),
    );
  });
  return items;
}

const wordsOf = (layout: Layout, item: number) =>
  [layout.text[item], layout.answer.changes?.text[item]].filter((text) => text !== undefined).join(", ");

export function AccessibleTree(props: {
  id: string;
  label: string;
  layout: Layout | undefined;
  cursor: number;
  elementRef: { current: HTMLDivElement | null };
  onFocus: () => void;
  onMenu: () => void;
}) {
  const { layout, cursor, id } = props;
  return (
    <div
      class="stage-tree"
      role="tree"
      aria-label={props.label}
      aria-activedescendant={layout === undefined ? undefined : `${id}-box-${activeItem(layout, cursor)}`}
      tabIndex={0}
      ref={props.elementRef}
      onFocus={(event) => {
        if (event.currentTarget.matches(":focus-visible")) props.onFocus();
      }}
      onKeyDown={(event) => {
        if (event.key !== "ContextMenu" && !(event.shiftKey && event.key === "F10")) return;
        event.preventDefault();
        props.onMenu();
      }}
    >
      {layout !== undefined &&
        itemsAround(layout, cursor).map(({ item, level, position, size, expanded }) => (
          <div
            key={item}
            id={`${id}-box-${item}`}
            role="treeitem"
            aria-level={level}
            aria-posinset={position}
            aria-setsize={size}
            aria-expanded={expanded}
            aria-selected={item === cursor}
          >
            {isRemainder(layout, item)
              ? (layout.text[item] ?? "")
              : `${shown(nameOf(layout, item)) || labelOf(layout, item)}${markOf(layout, item, true)}, ${wordsOf(layout, item)}`}
          </div>
        ))}
    </div>
  );
}
