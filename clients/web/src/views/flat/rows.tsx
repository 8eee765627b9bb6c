// A row of an answer of view/table, and the columns that all tables of values begin with.
import { BoxFlag, type MetricInfo, type TableResult } from "../../../../shared/ts/psp.js";
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
  };
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
