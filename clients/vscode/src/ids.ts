// Names that package.json and the code share.

export const VIEWS = {
  profiles: "profd.profiles",
  hotspots: "profd.hotspots",
  calls: "profd.calls",
  filters: "profd.filters",
  analyses: "profd.analyses",
  bookmarks: "profd.bookmarks",
} as const;

export const EDITORS = ["profd.profile", "profd.profileAny"] as const;

/** Keys of `when` clauses. */
export const CONTEXT = {
  active: "profd.active",
  annotated: "profd.annotated",
  canUndo: "profd.filters.canUndo",
  canRedo: "profd.filters.canRedo",
  /** Something was recorded here, which can be recorded again. */
  recorded: "profd.recorded",
} as const;

/** Pages of what is no file, such as a diff: the path is its name, the query its URI. A page of a file has the file's URI. */
export const PAGE_SCHEME = "profd-page";

/** Texts that are no files: scripts that profd brings, and what scripts gave. */
export const SCRIPT_SCHEME = "profd-script";

export const PROJECT_FILE = ".profd.toml";

/** Tasks that record, in tasks.json. */
export const TASK_TYPE = "profd";

/** What says that a recording has ended. */
export const RECORDING_META = ".profd/recordings/*/meta.json";

/** What a person recorded in this workspace, in its memory. */
export const RECORDED_KEY = "profd.recorded";
