// How a message body reaches the daemon. A text is one JSON-RPC message, whatever carries it.

export interface Transport {
  send(text: string): void;
  close(): void;
  onMessage: (text: string) => void;
  /** Called once, when it is open. */
  onOpen: () => void;
  /**
   * Called once, when it is gone or could not be opened. `refused`: trying again will not help. `absent`: there is no
   * program to be asked, and `reason` says what to do.
   */
  onClose: (reason: string, refused: boolean, absent?: boolean) => void;
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
    if (wasOpen) {
      transport.onClose(event.reason, event.code === 1008);
      return;
    }
    // A browser does not tell a page why it was not let in. Where the page itself can be had, it is the token.
    fetch("./", { cache: "no-store" }).then(
      (answer) => transport.onClose(answer.ok ? "the token is not good, or not any more" : "", answer.ok),
      () => transport.onClose("", false),
    );
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
  const stop = () => window.removeEventListener("message", receive);
  const transport: Transport = {
    send: (text) => api.postMessage({ type: "rpc", text }),
    close: stop,
    onMessage: nothing,
    onOpen: nothing,
    onClose: nothing,
  };
  function receive(event: MessageEvent<unknown>): void {
    const data = event.data as { type?: unknown; text?: unknown; missing?: unknown } | null;
    const text = typeof data?.text === "string" ? data.text : "";
    if (data?.type === "rpc") transport.onMessage(text);
    if (data?.type !== "closed") return;
    stop();
    transport.onClose(text, false, data.missing === true);
  }
  window.addEventListener("message", receive);
  queueMicrotask(() => transport.onOpen());
  return transport;
}
