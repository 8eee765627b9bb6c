// Colours of the city: districts are quiet greens, deeper ones lighter; blocks a quiet orange; what stands has heat.
import { changeTone, oklch, type Mode, type Rgb } from "../../draw/colors.js";

export interface CityPaints {
  readonly ground: Rgb;
  readonly district: (level: number) => Rgb;
  readonly block: Rgb;
  readonly plot: Rgb;
  readonly line: Rgb;
  readonly chosen: Rgb;
}

/** From little to much: pale to deep, by the square root, as heat of source lines is. */
export function heatTone(mode: Mode, part: number): Rgb {
  const t = Math.sqrt(Math.min(1, Math.max(0, part)));
  return mode === "light"
    ? oklch(0.84 - 0.28 * t, 0.1 + 0.1 * t, 82 - 50 * t)
    : oklch(0.56 + 0.2 * t, 0.085 + 0.085 * t, 74 - 32 * t);
}

export const HEAT_STEPS = 32;

/** For shaders and lists: heat from nothing to all. */
export const heatRamp = (mode: Mode): Rgb[] =>
  Array.from({ length: HEAT_STEPS + 1 }, (_, i) => heatTone(mode, i / HEAT_STEPS));

/** What became of a method between two versions or times: orange more, blue less. */
export const cityChange = (mode: Mode, strength: number): Rgb => changeTone(mode, strength);

export function paintsOf(mode: Mode): CityPaints {
  return mode === "light"
    ? {
        ground: [255, 255, 255],
        district: (level) => oklch(0.845 + 0.02 * Math.min(4, level), 0.038, 148),
        block: oklch(0.925, 0.03, 72),
        plot: oklch(0.87, 0.042, 66),
        line: oklch(0.62, 0.05, 148),
        chosen: oklch(0.48, 0.22, 305),
      }
    : {
        ground: [20, 22, 28],
        district: (level) => oklch(0.285 + 0.026 * Math.min(4, level), 0.026, 152),
        block: oklch(0.385, 0.026, 62),
        plot: oklch(0.45, 0.034, 62),
        line: oklch(0.5, 0.05, 150),
        chosen: oklch(0.78, 0.15, 310),
      };
}
