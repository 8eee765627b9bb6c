// The methods that stand highest in the window, and what marks of a method say.
import type { LiveRow } from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { Name, Share } from "../../ui/bits.js";
import { Sparkline } from "../../ui/sparkline.js";
import { changeText, FLAG } from "./city.js";
import type { Feed } from "./feed.js";

/** What marks of a method say in words. */
export function marksOf(flags: number, sampled = false): string[] {
  const out: string[] = [];
  if (sampled) {
    if ((flags & FLAG.runs) !== 0) out.push("seen most of late");
  } else if ((flags & FLAG.waits) !== 0) out.push("waits");
  else if ((flags & FLAG.runs) !== 0) out.push("runs now");
  else if ((flags & FLAG.open) !== 0) out.push("on a stack");
  if ((flags & FLAG.demoted) !== 0) out.push("no probes: its time is in its callers");
  return out;
}

export function HotList({
  feed,
  rows,
  left,
  chosen,
  onChoose,
}: {
  feed: Feed;
  rows: readonly LiveRow[];
  left: number | undefined;
  chosen: number;
  onChoose: (row: number) => void;
}) {
  const city = feed.city.value;
  const { before } = feed.standing;
  const compared = feed.against.value.kind !== "none";
  const sampled = rows[0]?.samples !== undefined;
  return (
    <section class={sampled ? "live-hot sampled" : "live-hot"} aria-label="Hottest methods">
      <table>
        <thead>
          <tr>
            {sampled ? (
              <th scope="col" title="By samples: ± is half the interval of 95 %">
                About
              </th>
            ) : (
              <th scope="col">Elevation</th>
            )}
            <th scope="col">Method</th>
            <th scope="col">{compared ? "Change, points" : "Lately"}</th>
            <th scope="col" title="Threads on which it was open in the window">
              Threads
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const plot = city?.rowOf.get(row.method) ?? -1;
            return (
              <tr
                key={row.method}
                aria-current={plot === chosen && plot >= 0 ? "true" : undefined}
                class={plot === chosen && plot >= 0 ? "chosen" : ""}
              >
                <td title={shown(row.text)}>
                  <Share text={row.elevationText} part={row.elevation} />
                </td>
                <td>
                  <button type="button" title={shown(row.name)} disabled={plot < 0} onClick={() => onChoose(plot)}>
                    <Name text={row.label} />
                    {marksOf(row.flags & (FLAG.waits | FLAG.demoted)).map((mark) => (
                      <span class="tag" key={mark}>
                        {mark === "waits" ? mark : "in callers"}
                      </span>
                    ))}
                  </button>
                </td>
                <td class="live-lately">
                  {compared ? (
                    changeText(before[plot] ?? 0, Math.round(row.elevation * 65535)).replace(" points", "")
                  ) : (
                    <Sparkline values={feed.spark(plot)} />
                  )}
                </td>
                <td class="live-number">{row.threads}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {rows.length === 0 && <p class="muted live-none">Nothing that is measured ran in this window.</p>}
      {left !== undefined && left > 0 && <p class="muted live-none">{left.toLocaleString("en")} more stand above 0.</p>}
    </section>
  );
}
