// Drawn for this page, on a grid of 16.
const PATHS = {
  flame: "M2 3h12M2 7h8M12 7h2M4 11h4",
  tree: "M2 3h5M5 8h6M8 13h6M3 5v3h2M6 10v3h2",
  flat: "M2 3h12M2 6.5h12M2 10h12M2 13.5h12",
  sandwich: "M2 2.5h6M10 2.5h4M2 8h12M2 13.5h4M8 13.5h6M5 5v1M11 5v1M4 10.5v1M12 10.5v1",
  source: "M5.5 4L2 8l3.5 4M10.5 4L14 8l-3.5 4",
  threads: "M3 2v12M8 2v12M13 2v12M3 5h5M8 10h5",
  timeline: "M2 13.500h12M2 10.500h4v-3h3v-3h3v6h2M4.500 15v-3M9.500 15v-3",
  script: "M3 3l4 4.5L3 12M8 13h6",
  profile: "M8 2a6 6 0 100 12A6 6 0 008 2zM8 7v4M8 4.8v.2",
  open: "M2 13V4h4l1.5 2H14v7z",
  search: "M7 2.5a4.5 4.5 0 100 9 4.5 4.5 0 000-9zM10.5 10.5L14 14",
  close: "M4 4l8 8M12 4l-8 8",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  down: "M4 6l4 4 4-4",
  right: "M6 4l4 4-4 4",
  left: "M10 4L6 8l4 4",
  up: "M4 10l4-4 4 4",
  undo: "M5 3L2 6l3 3M2 6h7a4 4 0 010 8H6",
  redo: "M11 3l3 3-3 3M14 6H7a4 4 0 000 8h3",
  export: "M8 10V2M5 5l3-3 3 3M3 9v5h10V9",
  theme: "M8 2a6 6 0 100 12zM8 2a6 6 0 010 12",
  help: "M6 6a2 2 0 113 1.7c-.7.4-1 .8-1 1.6M8 12v.1M8 1.5a6.5 6.5 0 100 13 6.5 6.5 0 000-13z",
  filter: "M2 3h12l-4.5 5.5V14l-3-2V8.5z",
  plus: "M8 3v10M3 8h10",
  copy: "M6 6V2h8v8h-4M2 6h8v8H2z",
  check: "M3 8.5l3.5 3.5L13 4.5",
  panes: "M2 3h3v10H2zM6.5 3h3v10h-3zM11 3h3v10h-3z",
  panel: "M2 3h12v10H2zM10 3v10",
  flip: "M8 2v12M4 5l4-3 4 3M4 11l4 3 4-3",
  swap: "M2 5h11M10 2l3 3-3 3M14 11H3M6 8l-3 3 3 3",
  compare: "M2 3h5v10H2zM9 6h5v7H9zM11.500 3v1",
  city: "M2 14h12M3 14V8h3v6M7 14V3h3v11M11 14V6h2.5v8",
  hot: "M8 2c1 3 4 4 4 8a4 4 0 01-8 0c0-2 1-2.500 1.500-4C7 7 8 5 8 2z",
  warning: "M8 2l6.500 11.500h-13zM8 6.500v3.500M8 12v.1",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
