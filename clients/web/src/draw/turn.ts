// One for the page: a port that somebody listens on keeps the listener, and a picture that left the page before its
// effects ran would never close its own.
const waiting: (() => void)[] = [];
const { port1, port2 } = new MessageChannel();
port1.onmessage = () => waiting.shift()?.();

/**
 * In line behind the messages that the page has yet to hear: browsers put frames before messages, so that a motion whose
 * frames fill the time would keep the answer that it waits for from being read.
 */
export function behindMessages(then: () => void): void {
  waiting.push(then);
  port2.postMessage(undefined);
}
