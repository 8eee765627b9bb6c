// How a message body reaches the daemon. A text is one JSON-RPC message, whatever carries it.

export interface Transport {
  send(text: string): void;
  close(): void;
  onMessage: (text: string) => void;
  /** Called once, when it is open. */
  onOpen: () => void;
  /** Called once, when it is gone or could not be opened. `refused`: trying again will not help. */
  onClose: (reason: string, refused: boolean) => void;
}

const nothing = () => undefined;

/** The browser's way. The token travels as a subprotocol: a WebSocket has no headers, and cookies know no ports. */
export function webSocketTransport(url: string, token: string): Transport {
  const protocols = ["profd.v1"];
  if (token !== "") protocols.push("profd.t." + token);
  const socket = new WebSocket(url, protocols);
  let wasOpen = false;
  const transport: Transport = {
    send: (text) => socket.send(text),
    close: () => socket.close(),
    onMessage: nothing,
    onOpen: nothing,
    onClose: nothing,
  };
  socket.onopen = () => {
    wasOpen = true;
    transport.onOpen();
  };
  socket.onmessage = (event) => {
    if (typeof event.data === "string") transport.onMessage(event.data);
  };
  socket.onclose = (event) => {
    // Policy violation, or the application's own "no": the token is wrong.
    transport.onClose(event.reason, event.code === 1008 || event.code === 4401);
    if (!wasOpen) transport.onOpen = nothing;
  };
  return transport;
}

/** What an editor's web view gives a page. */
export interface WebviewApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

/** An editor relays the messages: its web views may open no socket. */
export function webviewTransport(api: WebviewApi): Transport {
  const transport: Transport = {
    send: (text) => api.postMessage({ type: "rpc", text }),
    close: () => window.removeEventListener("message", receive),
    onMessage: nothing,
    onOpen: nothing,
    onClose: nothing,
  };
  function receive(event: MessageEvent<unknown>): void {
    const data = event.data as { type?: unknown; text?: unknown } | null;
    if (data?.type === "rpc" && typeof data.text === "string") transport.onMessage(data.text);
    if (data?.type === "closed") transport.onClose(typeof data.text === "string" ? data.text : "", false);
  }
  window.addEventListener("message", receive);
  queueMicrotask(() => transport.onOpen());
  return transport;
}
