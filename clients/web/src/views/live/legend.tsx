// What colours and marks say where two pictures or versions are compared.
import { useMemo } from "preact/hooks";
import { Name } from "../../ui/bits.js";
import { wholeName, type City, type Versions } from "./city.js";

export function ChangeLegend({ city, versions }: { city: City | undefined; versions: Versions | undefined }) {
  const gone = useMemo(() => {
    if (city === undefined || versions?.gone.length !== city.plots.count) return undefined;
    const rows = Array.from({ length: city.plots.count }, (_, row) => row);
    return rows.filter((row) => versions.gone[row] === 1).map((row) => wholeName(city, row));
  }, [city, versions]);
  return (
    <div class="live-legend">
      <span class="more">Orange</span> more than before, <span class="less">blue</span> less; dashed above: what it was.
      {versions !== undefined && " A frame on its roof: [A] new. Crossed out: [D] gone."}
      {gone !== undefined && gone.length > 0 && (
        <details>
          <summary>
            [D] {gone.length === 1 ? "1 method is gone" : `${gone.length.toLocaleString("en")} methods are gone`}
          </summary>
          <ul>
            {gone.slice(0, 200).map((name, i) => (
              <li key={i}>
                <Name text={name} />
              </li>
            ))}
            {gone.length > 200 && <li>{(gone.length - 200).toLocaleString("en")} more</li>}
          </ul>
        </details>
      )}
    </div>
  );
}
