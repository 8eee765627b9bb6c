// A headless Chromium over its debugging pipe: no package, no port.
'use strict';
const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

// The browser's path, or undefined where there is none.
function findBrowser() {
  const names = [process.env.PROFD_CHROMIUM, 'chromium', 'chromium-browser', 'google-chrome'].filter(Boolean);
  for (const name of names) {
    try {
      return execFileSync('sh', ['-c', 'command -v "$1"', 'sh', name], { encoding: 'utf8' }).trim();
    } catch (error) { /* the next one */ }
  }
  return undefined;
}

class Browser {
  constructor(program) {
    this.home = fs.mkdtempSync(path.join(os.tmpdir(), 'profd-browser-'));
    this.child = spawn(program, ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run',
      '--user-data-dir=' + this.home, '--remote-debugging-pipe', 'about:blank'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    this.next = 1;
    this.waiting = new Map();
    this.listeners = [];
    let rest = Buffer.alloc(0);
    this.child.stdio[4].on('data', (data) => {
      rest = Buffer.concat([rest, data]);
      for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
        this.receive(JSON.parse(rest.subarray(0, end).toString()));
        rest = rest.subarray(end + 1);
      }
    });
    this.child.on('exit', () => { for (const { reject } of this.waiting.values()) reject(new Error('the browser ended')); });
  }

  receive(message) {
    const waiting = this.waiting.get(message.id);
    if (!waiting) { for (const listener of this.listeners) listener(message); return; }
    this.waiting.delete(message.id);
    if (message.error) waiting.reject(new Error(message.error.message)); else waiting.resolve(message.result);
  }

  send(method, params = {}, sessionId = this.session) {
    const id = this.next++;
    this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  async open(url, width, height, { script = true } = {}) {
    this.script = script;
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' }, undefined);
    this.session = (await this.send('Target.attachToTarget', { targetId, flatten: true }, undefined)).sessionId;
    await this.send('Page.enable');
    await this.send('Runtime.enable');
    this.complaints = [];
    this.listeners = [(message) => {
      if (message.method === 'Runtime.exceptionThrown') this.complaints.push(JSON.stringify(message.params.exceptionDetails));
    }];
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    await this.send('Emulation.setScriptExecutionDisabled', { value: !script });
    const loaded = new Promise((resolve) => this.listeners.push((m) => { if (m.method === 'Page.loadEventFired') resolve(); }));
    await this.send('Page.navigate', { url });
    await loaded;
  }

  // The value of an expression in the page, after what is pending has been drawn.
  async value(expression) {
    // Without script no timer of the page runs, and nothing is pending.
    const wrapped = !this.script ? expression : `(async () => { await new Promise((r) => setTimeout(() => requestAnimationFrame(() => setTimeout(r)), 30)); return (${expression}); })()`;
    const answer = await this.send('Runtime.evaluate', { expression: wrapped, awaitPromise: true, returnByValue: true });
    if (answer.exceptionDetails) throw new Error(JSON.stringify(answer.exceptionDetails));
    return answer.result.value;
  }

  mouse(type, x, y, more = {}) { return this.send('Input.dispatchMouseEvent', { type, x, y, ...more }); }
  async click(x, y) {
    await this.mouse('mouseMoved', x, y);
    await this.mouse('mousePressed', x, y, { button: 'left', clickCount: 1 });
    await this.mouse('mouseReleased', x, y, { button: 'left', clickCount: 1 });
  }
  wheel(x, y, deltaY, modifiers = 0) { return this.mouse('mouseWheel', x, y, { deltaX: 0, deltaY, modifiers }); }
  async key(key, text) {
    await this.send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', key, text, windowsVirtualKeyCode: { Enter: 13, Escape: 27, Backspace: 8 }[key] });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', key });
  }
  async type(text) { for (const c of text) await this.key(c, c); }
  async screenshot(file) {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
    fs.writeFileSync(file, Buffer.from(data, 'base64'));
  }

  async close() {
    const ended = new Promise((resolve) => this.child.on('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
    // Its own children may still be writing.
    try { fs.rmSync(this.home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }); } catch (error) { /* the system's cleaning takes it */ }
  }
}

module.exports = { Browser, findBrowser };
