// A row of an answer of view/table, and the columns that all tables of values begin with.
import {
  BoxFlag,
  ChangeKind,
  ChangeStanding,
  type DerivedMetric,
  type MetricInfo,
  type TableResult,
} from "../../../../shared/ts/psp.js";
import type { Selected } from "../../app.js";
import { CHANGE_MARKS } from "../../draw/layout.js";
import { shown } from "../../draw/shown.js";
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
  /** Self and total of further metrics. */
  readonly further: readonly FurtherValue[];
  /** Of a diff. */
  readonly change: RowChange | undefined;
}

export interface FurtherValue {
  readonly self: string;
  readonly total: string;
  /** Of a metric by formula in a diff: what became of it. */
  readonly selfChange: string | undefined;
  readonly totalChange: string | undefined;
}

/** Both sides of a row, as shown. */
export interface RowChange {
  /** What became of its total. */
  readonly kind: ChangeKind;
  /** Whether it stands out from noise; nothing where that cannot be told, or nothing changed. */
  readonly selfStanding: ChangeStanding | undefined;
  readonly totalStanding: ChangeStanding | undefined;
  readonly self: string;
  /** Self after, less self before. */
  readonly by: number;
  readonly selfBefore: string;
  readonly selfAfter: string;
  readonly total: string;
  readonly totalBefore: string;
  readonly totalAfter: string;
}

/** What rows of all tables have. */
type RowsPage = Pick<TableResult, "names" | "labels" | "cuts" | "files" | "modules" | "rows" | "columns" | "changes">;

export function selectedOf(row: TableRow): Selected {
  return {
    name: row.name,
    frames: [],
    file: row.file,
    line: row.line,
    module: row.module,
    text: `${row.totalText} · ${row.totalShare}`,
  };
}

export function rowOf(page: RowsPage, at: number): TableRow | undefined {
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
    further: (page.columns ?? []).map((column) => ({
      self: column.selfText[at] ?? "",
      total: column.totalText[at] ?? "",
      selfChange: column.before?.selfChange[at],
      totalChange: column.before?.totalChange[at],
    })),
    change: changeOfRow(page, at),
  };
}

function changeOfRow({ changes }: RowsPage, at: number): RowChange | undefined {
  if (changes === undefined) return undefined;
  return {
    kind: changes.change[at]!,
    selfStanding: changes.selfBefore[at] === changes.selfAfter[at] ? undefined : changes.selfStanding?.[at],
    totalStanding: changes.totalBefore[at] === changes.totalAfter[at] ? undefined : changes.totalStanding?.[at],
    self: changes.selfChange[at]!,
    by: changes.selfAfter[at]! - changes.selfBefore[at]!,
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

/** Columns of metrics by formula, the `first` of which is that one of the further values of a row. */
export function derivedColumns(derived: readonly DerivedMetric[], first: number, from: number): Column<TableRow>[] {
  return derived.flatMap(({ name }, i) =>
    (["self", "total"] as const).map((which): Column<TableRow> => ({
      id: `d-${which}-${name}`,
      title: `${which === "self" ? "Self" : "Total"} ${shown(name)}`,
      width: "7rem",
      align: "right",
      from,
      sort: `${which} ${name}`,
      render: ({ further }) => {
        const value = further[first + i];
        if (value === undefined) return "";
        const change = which === "self" ? value.selfChange : value.totalChange;
        return (
          <span title={change === undefined ? undefined : `${change} since before`}>
            {value[which]}
            {change !== undefined && change !== "n/a" && <span class="muted"> {change}</span>}
          </span>
        );
      },
    })),
  );
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
    render: (row) => row.further[i]?.self ?? "",
  }));
}

export function rowsText(count: number): string {
  return count === 1 ? "1 row" : `${count.toLocaleString("en")} rows`;
}
