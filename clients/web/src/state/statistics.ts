// Statistics over the profiles of an aggregate, as choices name them.
import type { SpreadSortBy } from "./place.js";

export const BY_STATISTIC: Readonly<Record<SpreadSortBy, string>> = {
  sum: "by sum",
  lost: "by what is lost",
  max: "by the largest",
  deviation: "by deviation",
  imbalance: "by imbalance",
  mean: "by mean",
  median: "by median",
  p90: "by 90th percentile",
  p95: "by 95th percentile",
  p99: "by 99th percentile",
  variation: "by variation",
};

export const choicesOf = <Id extends SpreadSortBy>(ids: readonly Id[]): readonly { id: Id; text: string }[] =>
  ids.map((id) => ({ id, text: BY_STATISTIC[id] }));
