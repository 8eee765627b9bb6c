// What became of a diff: a verdict in a sentence, what makes the two hard to compare, what grew and what shrank most.
import { ChangeKind } from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { useApp } from "../../ui/context.js";
import { Name, Notes } from "../../ui/bits.js";
import { useHottest, type Ways } from "./hottest.js";
import { Change, ChangeMark, type RowChange, type TableRow } from "./rows.js";

const MOST = 10;

/** `chosen`: what a click on one does beside choosing it. */
export function Changes({ panelId, chosen }: { panelId: string; chosen?: (row: TableRow) => void }) {
  const worse = useHottest(MOST, `${panelId}-worse`, "worse");
  const better = useHottest(MOST, `${panelId}-better`, "better");
  const { sides } = worse;
  return (
    <div class="changes-part">
      {sides !== undefined && (
        <p class="changes-totals">
          {sides.before.text} → {sides.after.text}: <b>{sides.change}</b>
        </p>
      )}
      {sides?.verdict !== undefined && <p class="changes-verdict">{shown(sides.verdict)}</p>}
      <Notes texts={sides?.warnings ?? []} />
      <p class="muted">{worse.by}</p>
      <div class="changes-lists">
        <ChangeList way="worse" title={worse.title} rows={worse.rows} known={worse.known} chosen={chosen} />
        <ChangeList way="better" title={better.title} rows={better.rows} known={better.known} chosen={chosen} />
      </div>
    </div>
  );
}

/** The lists are of selfs, whose way a total need not go. */
function selfKind({ kind, by }: RowChange): ChangeKind {
  if (kind === ChangeKind.added || kind === ChangeKind.deleted) return kind;
  return by > 0 ? ChangeKind.more : ChangeKind.less;
}

function ChangeList(props: {
  way: Ways;
  title: string;
  rows: readonly TableRow[];
  known: boolean;
  chosen: ((row: TableRow) => void) | undefined;
}) {
  const app = useApp();
  return (
    <section aria-label={props.title}>
      <h3>{props.title}</h3>
      {props.rows.length === 0 ? (
        <p class="muted">{props.known ? `Nothing ${props.way === "worse" ? "grew" : "shrank"}.` : ""}</p>
      ) : (
        <ol class="glance changes">
          {props.rows.map((row) => (
            <li key={row.key}>
              <button
                type="button"
                title={shown(row.name)}
                onClick={() => {
                  const { name, file, line, module } = row;
                  app.select({ name, frames: [], file, line, module });
                  props.chosen?.(row);
                }}
              >
                <Name text={row.label} cuts={row.cuts} />
                {row.change !== undefined && (
                  <span class="glance-change">
                    <ChangeMark kind={selfKind(row.change)} />{" "}
                    <Change text={row.change.self} standing={row.change.selfStanding} />
                  </span>
                )}
              </button>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
