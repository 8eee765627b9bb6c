// One table for all: rows of one height, only those on the screen in the page, keys, sorting, levels.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icons.js";
import { rowsAt, scrollFor } from "./rows.js";
import { rowOfKey } from "./steps.js";

export interface Column<R> {
  readonly id: string;
  readonly title: string;
  /** CSS of a grid track. */
  readonly width: string;
  readonly align?: "right";
  readonly sort?: string;
  readonly render: (row: R) => ComponentChildren;
  /** The width of the table, in pixels, below which it is left out. */
  readonly from?: number;
}

export interface Level {
  readonly depth: number;
  /** undefined: a leaf. */
  readonly open: boolean | undefined;
  readonly setSize?: number;
  readonly position?: number;
}

export interface TableProps<R> {
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly count: number;
  /** undefined: not here yet. */
  readonly row: (at: number) => R | undefined;
  readonly level?: (row: R) => Level;
  readonly sort?: { readonly by: string; readonly descending: boolean };
  readonly onSort?: (by: string) => void;
  readonly onVisible?: (first: number, last: number) => void;
  readonly selected: number;
  readonly onSelect: (at: number) => void;
  readonly onOpen?: (at: number) => void;
  readonly onToggle?: (at: number, open: boolean) => void;
  readonly onMenu?: (at: number, point: { x: number; y: number }) => void;
  readonly rowClass?: (row: R) => string;
  readonly rowHeight?: number;
}

let nextTable = 1;

export function Table<R>(props: TableProps<R>) {
  const { count, selected } = props;
  const rowHeight = props.rowHeight ?? 26;
  const scroller = useRef<HTMLDivElement>(null);
  const [id] = useState(() => `table-${nextTable++}`);
  const [view, setView] = useState({ top: 0, height: 400, width: 1000 });
  const columns = props.columns.filter(({ from = 0 }) => view.width >= from);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const tell = () => setView({ top: element.scrollTop, height: element.clientHeight, width: element.clientWidth });
    tell();
    const observer = new ResizeObserver(tell);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const header = rowHeight + 4;
  const room = Math.max(rowHeight, view.height - header);
  const rows = rowsAt(count, rowHeight, view.top, room);
  useEffect(() => props.onVisible?.(rows.first, rows.last), [rows.first, rows.last, count]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || selected < 0 || selected >= count) return;
    const to = scrollFor(
      count,
      rowHeight,
      element.scrollTop,
      Math.max(rowHeight, element.clientHeight - header),
      selected,
    );
    if (to !== undefined) element.scrollTop = to;
  }, [selected, count]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(room / rowHeight) - 1);
    const to = rowOfKey(event.key, selected, page, count);
    const row = selected >= 0 && selected < count ? props.row(selected) : undefined;
    const level = row === undefined ? undefined : props.level?.(row);
    if (to !== undefined && count > 0) props.onSelect(Math.max(0, Math.min(count - 1, to)));
    else if (event.key === "Enter" && selected >= 0) props.onOpen?.(selected);
    else if ((event.key === "ArrowRight" || event.key === "l") && level !== undefined) {
      if (level.open === false) props.onToggle?.(selected, true);
      else if (level.open === true && selected + 1 < count) props.onSelect(selected + 1);
    } else if ((event.key === "ArrowLeft" || event.key === "h") && level !== undefined) {
      if (level.open === true) props.onToggle?.(selected, false);
      else {
        for (let at = selected - 1; at >= 0; --at) {
          const above = props.row(at);
          if (above !== undefined && props.level!(above).depth < level.depth) {
            props.onSelect(at);
            break;
          }
        }
      }
    } else if ((event.key === "ContextMenu" || (event.shiftKey && event.key === "F10")) && selected >= 0) {
      const box = document.getElementById(`${id}-${selected}`)?.getBoundingClientRect();
      if (box !== undefined) props.onMenu?.(selected, { x: box.left + 40, y: box.bottom });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const tracks = columns.map((column) => column.width).join(" ");
  const drawn: number[] = [];
  for (let at = rows.first; at < rows.last; ++at) drawn.push(at);
  return (
    <div
      class="table"
      ref={scroller}
      role={props.level === undefined ? "grid" : "treegrid"}
      aria-label={props.label}
      aria-rowcount={count + 1}
      aria-colcount={columns.length}
      aria-activedescendant={selected >= rows.first && selected < rows.last ? `${id}-${selected}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onScroll={(event) => setView({ ...view, top: event.currentTarget.scrollTop })}
    >
      <div
        class="table-head"
        role="row"
        aria-rowindex={1}
        style={{ gridTemplateColumns: tracks, height: `${header}px` }}
      >
        {columns.map((column, i) => {
          // What has no title of its own goes with the column before it, which has the room for its title then.
          if (column.title === "" && i > 0) return null;
          const untitled = columns.slice(i + 1).findIndex(({ title }) => title !== "");
          const span = 1 + (untitled < 0 ? columns.length - i - 1 : untitled);
          const sorted = props.sort !== undefined && column.sort === props.sort.by;
          return (
            <div
              key={column.id}
              role="columnheader"
              title={column.title}
              {...(span > 1 ? { "aria-colspan": span, style: { gridColumn: `span ${span}` } } : {})}
              class={column.align === "right" ? "right" : ""}
              aria-sort={sorted ? (props.sort.descending ? "descending" : "ascending") : undefined}
            >
              {column.sort === undefined ? (
                column.title
              ) : (
                <button type="button" tabIndex={-1} onClick={() => props.onSort?.(column.sort!)}>
                  {column.title}
                  {sorted && <Icon name={props.sort.descending ? "down" : "up"} size={12} />}
                </button>
              )}
            </div>
          );
        })}
      </div>
      <div class="table-body" role="presentation" style={{ height: `${rows.height}px` }}>
        {drawn.map((at) => {
          const row = props.row(at);
          const level = row === undefined ? undefined : props.level?.(row);
          return (
            <div
              key={at}
              id={`${id}-${at}`}
              role="row"
              aria-rowindex={at + 2}
              aria-selected={at === selected}
              aria-level={level === undefined ? undefined : level.depth + 1}
              aria-expanded={level?.open}
              aria-setsize={level?.setSize}
              aria-posinset={level?.position}
              class={`table-row${at === selected ? " selected" : ""}${row === undefined ? " waiting" : ` ${props.rowClass?.(row) ?? ""}`}`}
              style={{
                gridTemplateColumns: tracks,
                height: `${rowHeight}px`,
                transform: `translateY(${rows.offset + (at - rows.first) * rowHeight}px)`,
              }}
              onClick={() => props.onSelect(at)}
              onDblClick={() => props.onOpen?.(at)}
              onContextMenu={(event) => {
                if (props.onMenu === undefined) return;
                event.preventDefault();
                props.onSelect(at);
                props.onMenu(at, { x: event.clientX, y: event.clientY });
              }}
            >
              {columns.map((column) => (
                <div key={column.id} role="gridcell" class={column.align === "right" ? "right" : ""}>
                  {row === undefined ? <span class="bone" /> : column.render(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}
