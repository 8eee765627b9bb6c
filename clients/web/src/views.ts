// Every view: one folder and one line here.
import type { ComponentType } from "preact";
import type { ViewId } from "./state/place.js";
import type { IconName } from "./ui/icons.js";
import { CorrelateView } from "./views/correlate/view.js";
import { AnalysesView } from "./views/analyses/view.js";
import { FlameView } from "./views/flame/view.js";
import { FlatView } from "./views/flat/view.js";
import { HeatMapView } from "./views/heatmap/view.js";
import { MarkersView } from "./views/markers/view.js";
import { LiveView } from "./views/live/view.js";
import { OpenView } from "./views/open/view.js";
import { ProfileView } from "./views/profile/view.js";
import { SandwichView } from "./views/sandwich/view.js";
import { SourceView } from "./views/source/view.js";
import { ThreadsView } from "./views/threads/view.js";
import { TimelineView } from "./views/timeline/view.js";
import { TreeView } from "./views/tree/view.js";

export interface ViewEntry {
  readonly id: ViewId;
  readonly title: string;
  readonly icon: IconName;
  readonly view: ComponentType;
  /** It needs no open profile. */
  readonly alone?: boolean;
  /** Most profiles have nothing to show there: the profile's page leads to it, no tab. */
  readonly aside?: boolean;
  /** Where its number is none of a key. */
  readonly key?: string;
}

export const VIEWS: readonly ViewEntry[] = [
  { id: "flame", title: "Flame graph", icon: "flame", view: FlameView },
  { id: "tree", title: "Tree", icon: "tree", view: TreeView },
  { id: "flat", title: "Table", icon: "flat", view: FlatView },
  { id: "sandwich", title: "Callers and callees", icon: "sandwich", view: SandwichView },
  { id: "source", title: "Source", icon: "source", view: SourceView },
  { id: "threads", title: "Threads", icon: "threads", view: ThreadsView },
  { id: "profile", title: "Profile", icon: "profile", view: ProfileView },
  { id: "timeline", title: "Timeline", icon: "timeline", view: TimelineView },
  { id: "open", title: "Open", icon: "open", view: OpenView, alone: true },
  { id: "correlate", title: "What goes with what", icon: "panes", view: CorrelateView, aside: true },
  { id: "analyses", title: "Scripts", icon: "script", view: AnalysesView, key: "S" },
  { id: "markers", title: "Markers", icon: "flat", view: MarkersView, aside: true },
  { id: "heatmap", title: "Heat map", icon: "panes", view: HeatMapView, aside: true },
  { id: "live", title: "Running programs", icon: "city", view: LiveView, alone: true, aside: true },
];
