// What newer daemons say and psp.ts does not have yet. Everything is asked for only where the server's `methods` have
// it, and read as nothing where it is not there.
import type {
  Amount,
  BoxOrder,
  BoxPath,
  FlameGraphParams,
  FlameGraphResult,
  RequestType,
  SearchShare,
} from "../../../shared/ts/psp.js";

export type DetailedParams = FlameGraphParams & { details?: boolean };

export interface NameColumns {
  readonly group: readonly number[];
  readonly module?: readonly number[];
  readonly file?: readonly number[];
  readonly line?: readonly number[];
}

type Detailed = FlameGraphResult & {
  named?: NameColumns;
  groups?: string[];
  modules?: string[];
  files?: string[];
  search?: SearchShare & { zoomed?: Amount; shown?: Amount; hidden?: Amount };
  boxes: { selfText?: string[]; parentShare?: string[]; matchedBelow?: number[] };
  remainder: { matched?: number[]; matchedValue?: number[]; matchedText?: string[] };
};

export const detailed = (answer: FlameGraphResult) => answer as Detailed;

export interface MatchParams {
  profile?: string;
  spec: string;
  pattern: string;
  from?: BoxPath;
  within?: BoxPath;
  revision?: number;
  direction?: "next" | "previous";
  order?: BoxOrder;
  panelId?: string;
}
export interface Match {
  path: BoxPath;
  node: number;
  name: string;
  label: string;
  self: Amount;
  total: Amount;
  wrapped: boolean;
}
export const MatchRequest: RequestType<MatchParams, { match?: Match; warnings?: string[] }> = {
  method: "view/match",
  lane: "interactive",
};

export interface SourceTextResult {
  uri: string;
  text: string;
  encoding: string;
  lineCount: number;
}
export const SourceTextRequest: RequestType<
  { profile?: string; textDocument?: { uri: string }; path?: string },
  SourceTextResult
> = {
  method: "source/text",
  lane: "interactive",
};

export const UploadBeginRequest: RequestType<{ name: string; size: number }, { upload: string; pieceBytes: number }> = {
  method: "upload/begin",
  lane: "inline",
};
export const UploadPieceRequest: RequestType<{ upload: string; offset: number; base64: string }, { received: number }> =
  {
    method: "upload/piece",
    lane: "bulk",
  };
export const UploadEndRequest: RequestType<{ upload: string }, { uri: string; name: string }> = {
  method: "upload/end",
  lane: "inline",
};
export const UploadCancelRequest: RequestType<{ upload: string }, null> = { method: "upload/cancel", lane: "inline" };
