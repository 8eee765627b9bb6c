// What is under the pointer in the picture.
import { useEffect, useRef } from "preact/hooks";
import { Name } from "../../ui/bits.js";
import { placeAt } from "../../ui/menu.js";
import { changeText, shareText, signatureOf, versionMark, type City, type Standing, type Versions } from "./city.js";
import { marksOf } from "./hotlist.js";
import type { Hovered } from "./stage.js";

export function CityTooltip({
  city,
  standing,
  hovered,
  versions,
  sampled,
}: {
  city: City;
  standing: Standing;
  hovered: Hovered;
  versions: Versions | undefined;
  sampled: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  const { hit, x, y } = hovered;
  useEffect(() => {
    const stage = document.querySelector(".city-stage")?.getBoundingClientRect();
    if (box.current !== null)
      placeAt(
        box.current,
        { x: (stage?.left ?? 0) + x + 14, y: (stage?.top ?? 0) + y + 18 },
        (stage?.top ?? 0) + y - 10,
      );
  });
  if (hit.plot >= 0) {
    const version = { "[A] ": "[A] new in this version", "[D] ": "[D] gone from this version" }[
      versionMark(versions, hit.plot)
    ];
    const marks = [...(version === undefined ? [] : [version]), ...marksOf(standing.flags[hit.plot]!, sampled)];
    return (
      <div class="tooltip" ref={box} aria-hidden="true">
        <div class="tooltip-name">
          <Name text={signatureOf(city, hit.plot)} />
        </div>
        <div class="tooltip-place">
          <Name text={city.blocks.name[hit.block] ?? ""} />
        </div>
        <dl class="tooltip-values">
          <dt>elevation</dt>
          <dd>{`${sampled ? "about " : ""}${shareText(standing.height[hit.plot]!)}`}</dd>
          <dt>Thread Num</dt>
          <dd>{standing.threads[hit.plot]}</dd>
        </dl>
        {standing.before[hit.plot] !== 0 && (
          <div class="tooltip-change">{changeText(standing.before[hit.plot]!, standing.height[hit.plot]!)}</div>
        )}
        {marks.length > 0 && <div class="tooltip-note">{marks.join(" · ")}</div>}
      </div>
    );
  }
  const block = hit.block >= 0;
  const name = block ? city.blocks.name[hit.block]! : (city.districts.name[hit.district] ?? "");
  if (name === "") return null;
  return (
    <div class="tooltip" ref={box} aria-hidden="true">
      <div class="tooltip-name">
        <Name text={name} />
      </div>
      <div class="tooltip-note">{block ? `class, ${city.blocks.plots[hit.block]} methods` : "package"}</div>
    </div>
  );
}
