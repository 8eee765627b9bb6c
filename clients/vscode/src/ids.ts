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
} as const;

/** Pages of what is no file, such as a diff: the path is its name, the query its URI. A page of a file has the file's URI. */
export const PAGE_SCHEME = "profd-page";

/** Texts that are no files: scripts that profd brings, and what scripts gave. */
export const SCRIPT_SCHEME = "profd-script";

export const PROJECT_FILE = ".profd.toml";
