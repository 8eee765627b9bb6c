// A row of an answer of view/table, and the columns that all tables of values begin with.
import { BoxFlag, ChangeKind, ChangeStanding, type MetricInfo, type TableResult } from "../../../../shared/ts/psp.js";
import { CHANGE_MARKS } from "../../draw/layout.js";
import { Share } from "../../ui/bits.js";
import type { Column } from "../../ui/table.js";

export interface TableRow {
  readonly name: string;
  readonly label: string;
  /** Where the beginning of the label may be left out. */
  readonly cuts: readonly number[] | undefined;
  readonly file: string | undefined;
  readonly line: number;
  readonly module: string | undefined;
  readonly place: string;
  readonly self: number;
  readonly total: number;
  readonly selfText: string;
  readonly totalText: string;
  readonly selfShare: string;
  readonly totalShare: string;
  readonly key: number;
  readonly children: boolean;
  readonly estimated: boolean;
  readonly further: readonly string[];
  /** Of a diff. */
  readonly change: RowChange | undefined;
}

/** Both sides of a row, as shown. */
export interface RowChange {
  /** What became of its total. */
  readonly kind: ChangeKind;
  /** Whether it stands out from noise; nothing where that cannot be told, or nothing changed. */
  readonly selfStanding: ChangeStanding | undefined;
  readonly totalStanding: ChangeStanding | undefined;
  readonly self: string;
  readonly selfBefore: string;
  readonly selfAfter: string;
  readonly total: string;
  readonly totalBefore: string;
  readonly totalAfter: string;
}

export function rowOf(page: TableResult, at: number): TableRow | undefined {
  const { rows } = page;
  if (at < 0 || at >= rows.name.length) return undefined;
  const file = page.files[rows.file[at]!];
  const module = page.modules[rows.module[at]!];
  const line = rows.line[at]!;
  return {
    name: page.names[rows.name[at]!] ?? "",
    label: page.labels[rows.name[at]!] ?? "",
    cuts: page.cuts?.[rows.name[at]!],
    file,
    line,
    module,
    place: file === undefined ? (module ?? "") : line > 0 ? `${file}:${line}` : file,
    self: rows.self[at]!,
    total: rows.total[at]!,
    selfText: rows.selfText[at]!,
    totalText: rows.totalText[at]!,
    selfShare: rows.selfShare[at]!,
    totalShare: rows.totalShare[at]!,
    key: rows.key[at]!,
    children: rows.children[at]!,
    estimated: (rows.flags[at]! & (BoxFlag.selfEstimated | BoxFlag.totalEstimated)) !== 0,
    further: (page.columns ?? []).map((column) => column.selfText[at] ?? ""),
    change: changeOfRow(page, at),
  };
}

function changeOfRow({ changes }: TableResult, at: number): RowChange | undefined {
  if (changes === undefined) return undefined;
  return {
    kind: changes.change[at]!,
    selfStanding: changes.selfBefore[at] === changes.selfAfter[at] ? undefined : changes.selfStanding?.[at],
    totalStanding: changes.totalBefore[at] === changes.totalAfter[at] ? undefined : changes.totalStanding?.[at],
    self: changes.selfChange[at]!,
    selfBefore: changes.selfBeforeText[at]!,
    selfAfter: changes.selfAfterText[at]!,
    total: changes.totalChange[at]!,
    totalBefore: changes.totalBeforeText[at]!,
    totalAfter: changes.totalAfterText[at]!,
  };
}

const KIND_CLASSES: Readonly<Record<number, string>> = {
  [ChangeKind.more]: "more",
  [ChangeKind.added]: "more",
  [ChangeKind.less]: "less",
  [ChangeKind.deleted]: "less",
};

/** `[+]`, in the colour that a box of it has. */
export function ChangeMark({ kind }: { kind: ChangeKind }) {
  return <span class={`change-mark ${KIND_CLASSES[kind] ?? "same"}`}>{CHANGE_MARKS[kind] ?? ""}</span>;
}

/** What became of a value: strong where it is beyond noise, faint where it may be nothing else, which its text says by `~`. */
export function Change({ text, standing }: { text: string; standing: ChangeStanding | undefined }) {
  if (standing === ChangeStanding.standsOut) return <b title="Beyond noise">{text}</b>;
  if (standing === ChangeStanding.candidate)
    return <span title="Worth a look: one in twenty of these is noise">{text}</span>;
  if (standing === ChangeStanding.none)
    return (
      <span class="muted" title="It may be noise">
        {text}
      </span>
    );
  return <>{text}</>;
}

/** Widths of a table from which there is room for both sides of the selfs, what became of the totals, and both sides of those. */
const SELFS = 680;
const TOTALS = 520;
const ALL = 870;

/** Of `+15.0 ms (+100 %)`. */
export const SELF_CHANGE_WIDTH = "10.5rem";

const sideColumn = (
  id: string,
  title: string,
  from: number,
  render: (change: RowChange) => string,
): Column<TableRow> => ({
  id,
  title,
  width: "5.4rem",
  align: "right",
  from,
  render: (row) => (row.change === undefined ? "" : render(row.change)),
});

/** `leading`: what is never left out. */
export function changeColumns(leading: "self" | "total"): Column<TableRow>[] {
  const selfs: Column<TableRow>[] = [
    {
      id: "self-change",
      title: "Self change",
      width: SELF_CHANGE_WIDTH,
      align: "right",
      from: leading === "self" ? 0 : ALL,
      ...(leading === "self" ? { sort: "change" } : {}),
      render: ({ change }) =>
        change === undefined ? "" : <Change text={change.self} standing={change.selfStanding} />,
    },
  ];
  if (leading === "self")
    selfs.push(
      sideColumn("self-before", "before", SELFS, (change) => change.selfBefore),
      sideColumn("self-after", "after", SELFS, (change) => change.selfAfter),
    );
  const sides = leading === "total" ? TOTALS : ALL;
  const totals: Column<TableRow>[] = [
    {
      id: "total-change",
      title: "Total change",
      width: "12rem",
      align: "right",
      from: leading === "total" ? 0 : TOTALS,
      render: (row) =>
        row.change === undefined ? (
          ""
        ) : (
          <span class="change">
            <ChangeMark kind={row.change.kind} /> <Change text={row.change.total} standing={row.change.totalStanding} />
          </span>
        ),
    },
    sideColumn("total-before", "before", sides, (change) => change.totalBefore),
    sideColumn("total-after", "after", sides, (change) => change.totalAfter),
  ];
  return leading === "self" ? [...selfs, ...totals] : [...totals, ...selfs];
}

export function columnsOf(whole: number, metric: string, info: MetricInfo | undefined): Column<TableRow>[] {
  const title = info?.title ?? metric;
  const share = (value: number) => (whole > 0 ? value / whole : 0);
  return [
    { id: "self", title: `Self ${title}`, width: "8rem", align: "right", sort: "self", render: (row) => row.selfText },
    {
      id: "self-share",
      title: "",
      width: "5.5rem",
      align: "right",
      render: (row) => <Share text={row.selfShare} part={share(row.self)} />,
    },
    {
      id: "total",
      title: `Total ${title}`,
      width: "8rem",
      align: "right",
      sort: "total",
      render: (row) => row.totalText,
    },
    {
      id: "total-share",
      title: "",
      width: "5.5rem",
      align: "right",
      render: (row) => <Share text={row.totalShare} part={share(row.total)} />,
    },
  ];
}

/** Of metrics beside the one that is shown. */
export function furtherColumns(names: readonly string[], metrics: readonly MetricInfo[]): Column<TableRow>[] {
  return names.map((name, i) => ({
    id: `m-${name}`,
    title: `Self ${metrics.find((metric) => metric.name === name)?.title ?? name}`,
    width: "9.5rem",
    align: "right",
    render: (row) => row.further[i] ?? "",
  }));
}

export function rowsText(count: number): string {
  return count === 1 ? "1 row" : `${count.toLocaleString("en")} rows`;
}
