// Drives the daemon with Microsoft's vscode-jsonrpc, over stdio, `profd connect`, the Unix socket and TCP.
// Usage: node test.js PROFD SOURCE_ROOT   (NODE_PATH says where vscode-jsonrpc is)
'use strict';
const assert = require('node:assert');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const rpc = require('vscode-jsonrpc/node');

const [profd, root] = process.argv.slice(2);
const demo = (file) => 'file://' + path.join(root, 'tests/fixtures/go-demo', file);
// Older than the recording, as it was, whenever it was checked out.
fs.utimesSync(path.join(root, 'tests/fixtures/go-demo/parse.go'), 1600000000, 1600000000);
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'profd-e2e-'));
const children = [];

function connection(reader, writer) {
  const client = rpc.createMessageConnection(new rpc.StreamMessageReader(reader), new rpc.StreamMessageWriter(writer));
  client.listen();
  return client;
}

function run(args, options = {}) {
  const child = spawn(profd, args, { stdio: ['pipe', 'pipe', 'pipe'], ...options });
  child.stderrText = '';
  child.stderr.on('data', (data) => { child.stderrText += data; });
  child.exited = new Promise((resolve) => child.on('exit', (code) => resolve(code)));
  children.push(child);
  return child;
}

async function until(what, condition) {
  for (let i = 0; i < 1500; ++i) {
    const value = condition();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('never came: ' + what);
}

// A socket has its name before somebody listens on it.
async function listening(socket) {
  for (let i = 0; i < 1500; ++i) {
    const knock = net.connect(socket);
    const answered = await new Promise((resolve) => {
      knock.once('connect', () => resolve(true));
      knock.once('error', () => resolve(false));
    });
    knock.destroy();
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('nobody listens on ' + socket);
}

async function initialize(client, options) {
  const result = await client.sendRequest('initialize', {
    processId: process.pid, rootUri: 'file://' + path.join(root, 'tests/fixtures'),
    initializationOptions: options,
    capabilities: { textDocument: { hover: { contentFormat: ['markdown'] } }, experimental: { profd: { profileChanged: true } } },
  });
  await client.sendNotification('initialized', {});
  return result;
}

// What an editor does with a profile.
async function session(client, options) {
  const result = await initialize(client, options);
  assert.strictEqual(result.serverInfo.name, 'profd');
  assert.ok(result.capabilities.experimental.profd.methods.includes('view/flameGraph'));
  const changed = new Promise((resolve) => client.onNotification('profile/changed', resolve));
  const progress = [];
  client.onProgress(new rpc.ProgressType(), 'token', (value) => progress.push(value.kind));
  const opened = await client.sendRequest('profile/open', { uri: demo('cpu.pprof'), workDoneToken: 'token' });
  if (!opened.alreadyOpen) assert.strictEqual((await changed).profile, opened.profile);
  assert.strictEqual(opened.summary.metrics.find((m) => m.name === 'cpu').total, 8340000000);
  assert.deepStrictEqual([progress[0], progress[progress.length - 1]], ['begin', 'end']);

  const document = { textDocument: { uri: demo('parse.go') } };
  await client.sendNotification('textDocument/didOpen', {
    textDocument: { uri: demo('parse.go'), languageId: 'go', version: 1, text: fs.readFileSync(path.join(root, 'tests/fixtures/go-demo/parse.go'), 'utf8') },
  });
  const range = { start: { line: 0, character: 0 }, end: { line: 200, character: 0 } };
  const hints = await client.sendRequest('textDocument/inlayHint', { ...document, range });
  assert.ok(hints.some((hint) => hint.label.startsWith('36.6 %  3.05 s')), JSON.stringify(hints));
  const hover = await client.sendRequest('textDocument/hover', { ...document, position: { line: 51, character: 3 } });
  assert.match(hover.contents.value, /`main\.parseOrder`.* parse\.go:52/);
  const flame = await client.sendRequest('view/flameGraph', { spec: 'top-down by function', viewport: { width: 1200 } });
  assert.strictEqual(flame.boxes.width[0], 8340000000);

  await assert.rejects(client.sendRequest('no/such', {}), (error) => error.code === rpc.ErrorCodes.MethodNotFound);
  await assert.rejects(client.sendRequest('profile/open', { uri: 7 }), (error) => error.code === rpc.ErrorCodes.InvalidParams);
  await assert.rejects(client.sendRequest('profile/open', { uri: 'file:///none.pprof' }), (error) => error.data.file === '/none.pprof');

  // Every request is answered, cancelled ones too.
  const source = new rpc.CancellationTokenSource();
  const cancelled = client.sendRequest('profile/summary', {}, source.token).then(() => 'done', (error) => error.code);
  source.cancel();
  assert.ok(['done', -32800].includes(await cancelled));
}

async function stdio() {
  const child = run(['serve', '--stdio']);
  const client = connection(child.stdout, child.stdin);
  await session(client);
  await client.sendRequest('shutdown');
  await client.sendNotification('exit');
  assert.strictEqual(await child.exited, 0, child.stderrText);
}

async function unixSocket() {
  const socket = path.join(scratch, 's');
  const daemon = run(['serve', '--socket', socket]);
  await listening(socket);
  assert.strictEqual(fs.statSync(socket).mode & 0o777, 0o600);
  const streams = [net.connect(socket), net.connect(socket)];
  await Promise.all(streams.map((stream) => session(connection(stream, stream))));  // two at once

  const second = run(['serve', '--socket', socket]);
  assert.strictEqual(await second.exited, 1);
  assert.match(second.stderrText, /in use/);

  // One that breaks the framing, and one that vanishes in the middle of a message, disturb nobody.
  const rude = net.connect(socket);
  rude.on('error', () => {});
  rude.write('GET / HTTP/1.1\r\n\r\n');
  const cut = net.connect(socket);
  cut.write('Content-Length: 1000\r\n\r\n{"jsonrpc"', () => cut.destroy());
  const list = await new Promise((resolve) => setTimeout(resolve, 50)).then(async () => {
    const stream = net.connect(socket);
    const client = connection(stream, stream);
    await initialize(client);
    return client.sendRequest('profile/list', {});
  });
  assert.ok(Array.isArray(list.profiles));
  daemon.kill('SIGTERM');
  assert.strictEqual(await daemon.exited, 0);
  assert.ok(!fs.existsSync(socket));
}

async function shim() {
  const socket = path.join(scratch, 'shared');
  const shims = [1, 2, 3].map(() => run(['connect', '--socket', socket, '--idle-timeout', '1']));  // a race to start it
  const clients = shims.map((child) => connection(child.stdout, child.stdin));
  await Promise.all(clients.map((client) => session(client)));
  const list = await clients[0].sendRequest('profile/list', {});
  assert.strictEqual(list.profiles.length, 1);  // one daemon, one profile
  for (const child of shims) child.stdin.end();
  for (const child of shims) assert.strictEqual(await child.exited, 0, child.stderrText);
  await until('the daemon to end when idle', () => !fs.existsSync(socket));
}

async function tcp() {
  const file = path.join(scratch, 'tcp');
  const daemon = run(['serve', '--port', '0', '--token-file', file]);
  await until('port and token', () => fs.existsSync(file));
  assert.strictEqual(fs.statSync(file).mode & 0o777, 0o600);
  const [port, token] = fs.readFileSync(file, 'utf8').trim().split('\n');
  await until('the port on stderr', () => daemon.stderrText.includes('127.0.0.1:' + port));
  const good = net.connect(Number(port), '127.0.0.1');
  await session(connection(good, good), { token });
  for (const wrong of [undefined, {}, { token: '' }, { token: token.slice(1) + '0' }, { token: 7 }]) {
    const stream = net.connect(Number(port), '127.0.0.1');
    const client = connection(stream, stream);
    const closed = new Promise((resolve) => stream.on('close', resolve));
    await assert.rejects(initialize(client, wrong), /token/);
    await closed;
  }
  const early = net.connect(Number(port), '127.0.0.1');
  await assert.rejects(connection(early, early).sendRequest('profile/list', {}), (error) => error.code === -32002);
  early.destroy();
  good.destroy();
  daemon.kill('SIGTERM');
  assert.strictEqual(await daemon.exited, 0);
}

// Nothing here takes long: what hangs is a fault.
setTimeout(() => {
  console.error('not done after 120 s');
  for (const child of children) child.kill('SIGKILL');
  process.exit(1);
}, 120000).unref();

(async () => {
  for (const part of [stdio, unixSocket, shim, tcp]) {
    await part();
    console.log('ok ' + part.name);
  }
})().catch((error) => {
  console.error(error);
  process.exitCode = 1;
}).finally(() => {
  for (const child of children) child.kill('SIGKILL');
  fs.rmSync(scratch, { recursive: true, force: true });
  setTimeout(() => process.exit(), 100);
});
