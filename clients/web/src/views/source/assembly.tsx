// A function as instructions: what each costs, arrows of its jumps, what was inlined where, where calls lead.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { SourceDisassemblyRequest, type CodePiece, type MetricColumns } from "../../../../shared/ts/psp.js";
import type { App } from "../../app.js";
import { shown } from "../../draw/shown.js";
import { RpcError } from "../../rpc/client.js";
import { filtersOf, type AsmMode } from "../../state/place.js";
import { go, setSettings } from "../../state/state.js";
import { Busy, Empty, Name, Segments, Select, type Choice } from "../../ui/bits.js";
import { useApp, useProfile } from "../../ui/context.js";
import { useKeys } from "../../ui/keys.js";
import { FunctionPicker } from "../../ui/picker.js";
import { rowsAt, scrollFor } from "../../ui/rows.js";
import { rowOfKey } from "../../ui/steps.js";
import {
  arrowAt,
  arrowsWidth,
  fileIndex,
  headingOf,
  heaviestRow,
  hotRows,
  hottestRow,
  instructionAt,
  itemAt,
  itemOfRow,
  jumpsAt,
  nextHot,
  nextPage,
  rowOfItem,
  rowsOfLine,
  type CodePage,
  type Instruction,
  type Jump,
  type Listing,
} from "./code.js";
import { useReveal, type Links } from "./links.js";
import { LINE } from "./text.js";
import type { Code } from "./usecode.js";
import { WhyNoCode } from "./whynocode.js";

export const MODES: readonly Choice<AsmMode>[] = [
  { id: "", text: "Source" },
  { id: "beside", text: "Both", title: "Assembly beside the source (A)" },
  { id: "only", text: "Assembly" },
];

/** Assembly beside the source, and back to the source alone. */
export function stepMode(app: App): void {
  app.update((state) => go(state, { asm: state.place.asm === "" ? "beside" : "" }));
}

const SYNTAXES: readonly Choice<"intel" | "att">[] = [
  { id: "intel", text: "Intel", title: "What is written to comes first (i)" },
  { id: "att", text: "AT&T", title: "What is written to comes last (i)" },
];

export interface AssemblyProps {
  readonly code: Code;
  /** Whether it is known what to ask for. */
  readonly asked: boolean;
  readonly links: Links;
  /** The file beside it. */
  readonly uri: string | undefined;
  readonly file: string;
  /** The line that is meant in it, from 1; 0: none. */
  readonly line: number;
}

export function Assembly(props: AssemblyProps) {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const { code, asked } = props;
  const { listing, error, pending } = code;
  const pieces = listing?.head.pieces ?? [];
  const piece = listing?.head.piece ?? 0;
  const stepPiece = (by: number) => {
    if (pieces.length < 2) app.say("The function is one piece of code");
    else app.update((state) => go(state, { piece: (piece + by + pieces.length) % pieces.length }));
  };
  useKeys({
    title: "Assembly",
    keys: [
      {
        keys: ["i"],
        text: "as Intel or as AT&T writes instructions",
        run: () => app.update((state) => setSettings(state, { att: !state.settings.att })),
      },
      { keys: ["["], text: "the piece of code before", run: () => stepPiece(-1) },
      { keys: ["]"], text: "the next piece of code", run: () => stepPiece(1) },
    ],
  });
  if (!app.can(SourceDisassemblyRequest.method))
    return <Empty title="This daemon is older than the page and shows no assembly" />;
  if (!asked)
    return (
      <Empty title="Which code?">
        <p>Choose a line of the source, or a function in another view; A shows its assembly.</p>
      </Empty>
    );
  if (error !== undefined) return <WhyNoCode head={undefined} problem={error} module={moduleOf(place.fn) ?? ""} />;
  if (listing === undefined) return pending ? <Busy text="Reading the code" /> : null;
  const { head } = listing;
  const shownPiece = head.pieces[head.piece];
  return (
    <>
      {shownPiece !== undefined && <Head head={head} piece={shownPiece} />}
      {head.problem !== undefined || listing.rowCount === 0 ? (
        <WhyNoCode
          head={head}
          problem={
            head.problem ??
            (filtersOf(place).length > 0 ? "No stack passes the filters." : "No code of it is in the profile.")
          }
          module={moduleOf(place.fn) ?? app.selected.value?.module ?? ""}
        />
      ) : (
        <Rows
          key={`${profile?.handle ?? ""} ${shownPiece?.module ?? ""} ${shownPiece?.start ?? ""}`}
          {...props}
          listing={listing}
        />
      )}
    </>
  );
}

/** Code without names is called by its binary: `[libx.so]`, `libx.so+0x1234`. */
const moduleOf = (fn: string): string | undefined => /^\[(.+)\]$|^(.+)\+0x[0-9a-f]+$/i.exec(fn)?.slice(1).find(Boolean);

function Head({ head, piece }: { head: CodePage; piece: CodePiece }) {
  const app = useApp();
  const place = app.place.value;
  const [picking, setPicking] = useState(false);
  const { pieces } = head;
  const inlined = place.fn !== piece.name && head.rows.matched.some(Boolean);
  const count = pieces.length;
  const notes = [
    head.estimated,
    head.skid,
    head.note,
    head.branches?.text,
    ...(head.rest ?? []).map(({ amount, text }) => `${amount.text} ${text}`),
  ].filter((note) => note !== undefined);
  const size = piece.size > 0 ? `, ${piece.size.toLocaleString("en")} bytes` : "";
  return (
    <div class="asm-head">
      <div class="asm-title">
        <button
          type="button"
          class="button quiet asm-name"
          title="Choose another function"
          onClick={() => setPicking(true)}
        >
          <Name text={piece.name} />
        </button>
        {inlined && (
          <span>
            with <Name text={place.fn} /> inlined
          </span>
        )}
        <span class="muted">
          self {piece.self.shareText ?? piece.self.text} · total {piece.total.shareText ?? piece.total.text}
        </span>
        <span class="muted asm-where">
          {shown(piece.module)}+{piece.start}
          {size}
        </span>
        <span class="asm-tools">
          {count > 1 && (
            <Select
              label={`Piece ${head.piece + 1} of ${count}`}
              value={String(head.piece)}
              choices={pieces.map(({ name, self, start }, i) => ({
                id: String(i),
                text: `${self.shareText ?? self.text} ${shown(name)} ${start}`,
              }))}
              onChange={(id) => app.update((state) => go(state, { piece: Number(id) }))}
            />
          )}
          <Segments
            label="How instructions are written"
            value={app.settings.value.att ? "att" : "intel"}
            choices={SYNTAXES}
            onChange={(id) => app.update((state) => setSettings(state, { att: id === "att" }))}
          />
        </span>
      </div>
      {notes.length > 0 && <p class="asm-notes">{notes.map((note) => shown(note)).join(" · ")}</p>}
      {picking && (
        <FunctionPicker
          title="Which function?"
          onPick={(fn) => {
            setPicking(false);
            app.update((state) => go(state, { fn, file: "", line: 0 }));
          }}
          onClose={() => setPicking(false)}
        />
      )}
    </div>
  );
}

/** The row to begin at: of the line that is meant, else the one that costs most. */
function goalOf({ listing, uri, file, line }: AssemblyProps & { listing: Listing }): number | undefined {
  const { head } = listing;
  if (line > 0 && line !== head.pieces[head.piece]?.line) {
    const [first] = rowsOfLine(listing, fileIndex(head, uri, file), line);
    if (first !== undefined) return first;
  }
  return hottestRow(listing) ?? (nextPage(listing) === undefined ? heaviestRow(listing) : undefined);
}

function Rows(props: AssemblyProps & { listing: Listing }) {
  const app = useApp();
  const { listing, links, code } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 400 });
  const [at, setAt] = useState(-1);
  const [pointed, setPointed] = useState(-1);
  /** The row at the top and how much of it is above: it stays where headings come to be known above it. */
  const anchor = useRef({ row: 0, above: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const tell = () => setView({ top: element.scrollTop, height: element.clientHeight });
    tell();
    const observer = new ResizeObserver(tell);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const { row, above } = anchor.current;
    const top = itemOfRow(listing, Math.min(row, listing.rowCount - 1)) * LINE + above;
    if (Math.abs(top - element.scrollTop) >= 1) element.scrollTop = top;
  }, [listing.headings]);
  const goal = goalOf(props);
  // Once, when it is known: other numbers of the same rows move nothing.
  useEffect(() => {
    const element = scroller.current;
    if (at >= 0 || goal === undefined || element === null) return;
    setAt(goal);
    element.scrollTop = Math.max(0, itemOfRow(listing, goal) * LINE - element.clientHeight / 3);
    // Keys go to it unless somebody is elsewhere.
    if (document.activeElement === document.body) element.focus({ preventScroll: true });
    links.choose({ side: "code", row: goal });
  }, [goal]);
  useReveal(scroller, links.rows, LINE, (row) => itemOfRow(listing, row) * LINE);
  const rows = rowsAt(listing.items, LINE, view.top, view.height);
  const [first, last] = [rowOfItem(listing, rows.first), rowOfItem(listing, Math.max(rows.first, rows.last - 1))];
  useEffect(() => code.see(first, last + 1), [first, last, listing]);

  const choose = (row: number) => {
    const next = Math.max(0, Math.min(listing.rowCount - 1, row));
    setAt(next);
    links.choose({ side: "code", row: next });
    const element = scroller.current;
    if (element === null) return;
    const item = itemOfRow(listing, next);
    const scroll = scrollFor(listing.items, LINE, element.scrollTop, element.clientHeight, item);
    if (scroll === undefined) return;
    // Far away it is shown with what is around it.
    const far = Math.abs(scroll - element.scrollTop) > 3 * LINE;
    element.scrollTop = far ? Math.max(0, item * LINE - element.clientHeight / 3) : scroll;
  };
  const follow = (instruction: Instruction) => {
    if (instruction.target >= 0) choose(instruction.target);
    else if (instruction.targetName !== "") void followCall(app, listing.head, instruction.targetName, code);
    else app.say("This instruction leads nowhere that is known");
  };
  const point = (row: number) => {
    setPointed(row);
    links.point(row < 0 ? undefined : { side: "code", row });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(view.height / LINE) - 1);
    const to = event.key === "n" ? nextHot(listing, at) : rowOfKey(event.key, at, page, listing.rowCount);
    const instruction = event.key === "Enter" ? instructionAt(listing, at) : undefined;
    if (to !== undefined) choose(to);
    else if (instruction !== undefined) follow(instruction);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const costsClass = costsClassOf(listing);
  const items: number[] = [];
  for (let item = rows.first; item < rows.last; ++item) items.push(item);
  const jumps = jumpsAt(listing, rows.first, rows.last);
  const arrows = arrowsWidth(listing.lanes);
  const looked = pointed >= 0 ? pointed : at;
  const mark = [...links.rows][0];
  const facts = instructionAt(listing, pointed >= 0 ? pointed : (mark ?? at));
  const hot = useMemo(() => hotRows(listing), [listing]);
  return (
    <>
      <div class="source-frame">
        <div
          class="asm"
          ref={scroller}
          tabIndex={0}
          role="grid"
          aria-label={`Assembly of ${listing.head.pieces[listing.head.piece]?.name ?? ""}`}
          aria-rowcount={listing.items}
          aria-activedescendant={at >= first && at <= last ? `asm-${at}` : undefined}
          onPointerLeave={() => point(-1)}
          onScroll={(event) => {
            const top = event.currentTarget.scrollTop;
            const item = Math.min(listing.items - 1, Math.floor(top / LINE));
            const row = rowOfItem(listing, item);
            anchor.current = { row, above: top - itemOfRow(listing, row) * LINE };
            setView({ top, height: event.currentTarget.clientHeight });
          }}
          onKeyDown={onKeyDown}
        >
          <div class="source-body" role="presentation" style={{ height: `${rows.height}px` }}>
            {items.map((item) => {
              const what = itemAt(listing, item);
              const line = {
                style: { transform: `translateY(${rows.offset + (item - rows.first) * LINE}px)` },
                "aria-rowindex": item + 1,
                arrows: <Arrows listing={listing} jumps={jumps} item={item} width={arrows} looked={looked} />,
              };
              if (what.kind === "heading") {
                const { heading } = what;
                return (
                  <div
                    key={`heading ${heading.first}`}
                    role="row"
                    aria-rowindex={line["aria-rowindex"]}
                    class={`asm-row asm-heading${headingClass(instructionAt(listing, heading.first))}`}
                    style={line.style}
                    onClick={() => choose(heading.first)}
                  >
                    <span class={costsClass} />
                    {line.arrows}
                    <span role="gridcell" class="asm-chain" title={heading.text}>
                      {shown(heading.text)}
                    </span>
                  </div>
                );
              }
              const { row } = what;
              const instruction = instructionAt(listing, row);
              const classes = [
                "asm-row",
                row === at ? "selected" : "",
                links.rows.has(row) ? "linked" : "",
                instruction?.beginsBlock === true ? "begins" : "",
                instruction?.kind === "nop" ? "nop" : "",
                instruction?.matched === true ? "matched" : "",
              ];
              return (
                <div
                  key={row}
                  id={`asm-${row}`}
                  role="row"
                  aria-rowindex={line["aria-rowindex"]}
                  aria-selected={row === at}
                  class={classes.filter((name) => name !== "").join(" ")}
                  style={line.style}
                  onPointerEnter={() => point(row)}
                  onClick={() => choose(row)}
                  onDblClick={() => instruction !== undefined && follow(instruction)}
                >
                  {instruction === undefined ? (
                    <span class="bone" />
                  ) : (
                    <InstructionCells
                      instruction={instruction}
                      listing={listing}
                      arrows={line.arrows}
                      onFollow={() => follow(instruction)}
                    />
                  )}
                </div>
              );
            })}
          </div>
        </div>
        <div class="source-ruler" aria-hidden="true">
          {hot.map(({ row, heat }) => (
            <i
              key={row}
              style={{
                top: `${(itemOfRow(listing, row) / Math.max(1, listing.items)) * 100}%`,
                opacity: 0.15 + 0.85 * heat,
              }}
              onClick={() => choose(row)}
            />
          ))}
        </div>
      </div>
      <p class="asm-facts">{facts !== undefined && <Facts instruction={facts} listing={listing} />}</p>
    </>
  );
}

const costsClassOf = ({ hasExecuted }: Listing) => (hasExecuted ? "asm-costs with-executed" : "asm-costs");

const headingClass = (first: Instruction | undefined): string =>
  first === undefined || first.depth === 0 ? "" : first.matched ? " inlined matched" : " inlined";

function InstructionCells({
  instruction,
  listing,
  arrows,
  onFollow,
}: {
  instruction: Instruction;
  listing: Listing;
  arrows: ComponentChildren;
  onFollow: () => void;
}) {
  const { self, total, selfShare, totalShare, heat, offset, text, target, targetName, depth, executed } = instruction;
  const space = text.indexOf(" ");
  const [mnemonic, operands] = space < 0 ? [text, ""] : [text.slice(0, space), text.slice(space)];
  const to = target >= 0 ? instructionAt(listing, target) : undefined;
  const [most] = instruction.branches;
  const taken = most === undefined ? "" : ` (${most})`;
  const goes = targetName !== "" ? shown(targetName) : to === undefined ? "" : `+${to.offset}`;
  return (
    <>
      <span class={costsClassOf(listing)}>
        <span class="source-cost asm-self" role="gridcell" title={instruction.selfText}>
          <i style={{ opacity: heat }} />
          <span>{self === 0 ? "" : selfShare}</span>
        </span>
        <span class="asm-total" role="gridcell" title={instruction.totalText}>
          {total === 0 ? "" : totalShare}
        </span>
        {listing.hasExecuted && (
          <span class="asm-executed" role="gridcell" title={executed === "" ? undefined : `executed ${executed} times`}>
            {executed === "0" ? "" : executed}
          </span>
        )}
        <span class="asm-offset" role="rowheader">
          +{offset}
        </span>
      </span>
      {arrows}
      <code role="gridcell" class={depth > 0 ? "inlined" : undefined}>
        <b>{shown(mnemonic)}</b>
        {shown(operands)}
        {(goes !== "" || target >= 0) && (
          <button
            type="button"
            class="link asm-target"
            tabIndex={-1}
            title={(targetName !== "" ? "Show its assembly" : "Go there") + taken}
            onClick={(event) => {
              event.stopPropagation();
              onFollow();
            }}
          >
            {target >= 0 && targetName === "" ? "→ " : ""}
            {goes}
          </button>
        )}
      </code>
    </>
  );
}

function Arrows(props: { listing: Listing; jumps: readonly Jump[]; item: number; width: number; looked: number }) {
  const { listing, jumps, item, width, looked } = props;
  let [plain, strong] = ["", ""];
  const told: { readonly path: string; readonly text: string }[] = [];
  for (const jump of jumps) {
    const path = arrowAt(listing, jump, item, LINE) ?? "";
    if (jump.from === looked || jump.to === looked) strong += path;
    else plain += path;
    if (path !== "" && jump.taken !== "") told.push({ path, text: jump.taken });
  }
  return (
    <svg class="asm-arrows" width={width} height={LINE} aria-hidden="true">
      {plain !== "" && <path d={plain} />}
      {strong !== "" && <path class="strong" d={strong} />}
      {told.map(({ path, text }) => (
        <path key={path} class="told" d={path}>
          <title>{text}</title>
        </path>
      ))}
    </svg>
  );
}

/** All that is known of one instruction. */
function Facts({ instruction, listing }: { instruction: Instruction; listing: Listing }) {
  const profile = useProfile();
  const { row, offset, selfText, selfShare, totalText, totalShare, loopDepth, bytes, executed, branches } = instruction;
  const title = (name: string) => profile?.metrics.find((m) => m.name === name)?.title ?? name;
  const chain = headingOf(listing, row);
  const page = listing.pages.get(Math.floor(row / listing.pageRows));
  const other = ({ metric, selfText, totalText }: MetricColumns) => {
    const at = row - (page?.offset ?? 0);
    return `${title(metric)} self ${selfText[at] ?? "?"}, total ${totalText[at] ?? "?"}`;
  };
  const facts = [
    `+${offset}`,
    `${title(listing.head.metric)} self ${selfText} (${selfShare}), total ${totalText} (${totalShare})`,
    ...(page?.columns ?? []).map(other),
    executed === "" ? "" : `executed ${executed} times`,
    ...branches,
    loopDepth === 0 ? "" : loopDepth === 1 ? "in a loop" : `in ${loopDepth} loops`,
    chain,
    bytes.replace(/..(?=.)/g, "$& "),
  ];
  return <>{shown(facts.filter((fact) => fact !== "").join(" · "))}</>;
}

/** Opens the code that a call leads to, if the profile has any. */
async function followCall(app: App, head: CodePage, target: string, code: Code): Promise<void> {
  const profile = app.profile.peek();
  const module = head.pieces[head.piece]?.module ?? "";
  const fn = /^0x[0-9a-f]+$/i.test(target) ? `${module}+${target}` : target;
  if (profile === undefined) return;
  try {
    const place = fn === target ? { function: fn } : { code: fn };
    const answer = await app.ask(SourceDisassemblyRequest, { profile: profile.handle, ...place, limit: 1 });
    if (answer.pieces.length === 0) throw new Error(answer.problem ?? "");
  } catch (error) {
    const isUnknown = error instanceof RpcError && error.data?.reason === "notFound";
    const text = isUnknown ? "nothing of it is in the profile" : app.explain(error);
    if (text !== undefined) app.say(`${target}: ${text === "" ? "no code of it is known" : text}`);
    return;
  }
  if (code.listing?.head !== head) return; // something else is shown meanwhile
  app.update((state) => go(state, { fn, file: "", line: 0 }));
}
