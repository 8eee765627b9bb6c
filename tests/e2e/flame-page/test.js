// The page of `profd flame -o` in a real browser: what is on screen, and what wheel, keys and search do.
// Usage: node test.js PROFD [FOLDER [TEST]]   FOLDER keeps the pictures; TEST picks those whose name has it. Exits with 77 where there is no browser.
'use strict';
const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { Browser, findBrowser } = require('./browser.js');

const [profd, pictures, only] = process.argv.slice(2);
const program = findBrowser();
if (!program) {
  console.log('not run: no chromium here (PROFD_CHROMIUM names another place)');
  process.exit(77);
}
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'profd-page-'));
const sizes = [[1280, 700], [800, 600]];
const CTRL = 2, SHIFT = 8;

// Two hundred levels, of which a narrow one at the end; and three, with names that no estimate of widths fits.
const levels = (n, name) => Array.from({ length: n }, (_, i) => name + i).join(';');
const profiles = {
  deep: `${levels(200, 'descend_')} 900\n${levels(150, 'descend_')};leaf 80\n${levels(120, 'descend_')};needle 2\nidle 18\n`,
  shallow: 'main;WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW;iiiiiiiiiiiiiiiiiiiiiiiiiiiiii 40\nmain;MMMMMMMM@@@@@@@@%%%% 30\n'
    + 'main;解析エンジンの内部処理を行う関数の名前 20\nmain;a 5\nmain;b;c 3\nother;parse 2\n',
};

function page(name, ...options) {
  const input = path.join(scratch, name + '.folded'), output = path.join(scratch, `${name}-${options.length}.svg`);
  fs.writeFileSync(input, profiles[name]);
  execFileSync(profd, ['flame', '--no-cache', '--force', '-o', output, ...options, input]);
  return 'file://' + output;
}

const box = (id) => `(({ left, top, right, bottom }) => ({ left, top, right, bottom }))(document.getElementById('${id}').getBoundingClientRect())`;
// Boxes on screen: name, place, text's width.
const shown = `[...document.querySelectorAll('.b')].filter((g) => g.style.display !== 'none').map((g) => {
  const r = g.querySelector('rect').getBoundingClientRect(), t = g.querySelector('text');
  return { name: g.querySelector('title').textContent.split('\\n')[0], left: r.left, right: r.right, top: r.top,
    textRight: t.textContent ? t.getBoundingClientRect().right : r.left, label: t.textContent };
})`;
const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;

async function onScreen(browser, width, height) {
  const parts = {};
  for (const id of ['title', 'sub', 'find', 'share', 'reset', 'keys', 'bar', 'scroll']) {
    const b = parts[id] = await browser.value(box(id));
    assert.ok(b.left >= 0 && b.top >= 0 && b.right <= width + 0.5 && b.bottom <= height + 0.5, `${id} is off screen: ${JSON.stringify(b)}`);
  }
  const names = Object.keys(parts);
  for (const a of names) for (const b of names) if (a < b) assert.ok(apart(parts[a], parts[b]), `${a} covers ${b}`);
  assert.ok(parts.bar.bottom > height - 2 && parts.bar.top > parts.scroll.top);
}

function labelsInside(boxes) {
  assert.ok(boxes.some((b) => b.label));
  for (const b of boxes) assert.ok(b.textRight <= b.right + 0.2, `"${b.label}" leaves its box: ${b.textRight} > ${b.right}`);
}

const tests = {
  async 'head, graph and details share the window'(browser) {
    for (const [width, height] of sizes) {
      for (const name of ['deep', 'shallow']) {
        await browser.open(page(name, '--title', 'A title that is longer than any window is wide, '.repeat(6)), width, height);
        await onScreen(browser, width, height);
        labelsInside(await browser.value(shown));
        if (pictures) await browser.screenshot(path.join(pictures, `${name}-${width}.png`));
      }
    }
  },

  async 'without script it is a picture whose labels stay inside, too'(browser) {
    await browser.open(page('shallow'), 1280, 700, { script: false });
    labelsInside(await browser.value(shown));
  },

  async 'the details line says the whole name, however far the page is scrolled'(browser) {
    await browser.open(page('deep'), 800, 600);
    await browser.wheel(400, 300, 1500);
    await browser.value('new Promise((r) => setTimeout(r, 300))');
    assert.ok(await browser.value(`document.getElementById('scroll').scrollTop`) > 800);
    await onScreen(browser, 800, 600);
    await browser.mouse('mouseMoved', 300, 300);
    const text = await browser.value(`document.getElementById('bar').textContent`);
    assert.match(text, /^descend_\d+.*total \d+/);
  },

  async 'a plain wheel scrolls, Ctrl+wheel zooms at the pointer, Shift+wheel goes sideways'(browser) {
    await browser.open(page('shallow'), 1280, 700);
    const find = async (name) => (await browser.value(shown)).find((b) => b.name.startsWith(name));
    const before = await find('MMMM');
    await browser.wheel(before.left + 30, before.top + 5, 120);
    assert.deepStrictEqual(await find('MMMM'), before);
    const x = before.left + (before.right - before.left) / 4;
    for (let i = 0; i < 3; ++i) await browser.wheel(x, before.top + 5, -120, CTRL);
    const zoomed = await find('MMMM');
    assert.ok(zoomed.right - zoomed.left > 2 * (before.right - before.left));
    labelsInside(await browser.value(shown));
    await browser.mouse('mouseMoved', x, before.top + 6);
    assert.match(await browser.value(`document.getElementById('what').textContent`), /^MMMM/);
    // Its left edge is off screen now; the right one went away from the pointer by the three steps' factor.
    assert.ok(Math.abs((zoomed.right - x) / (before.right - x) - Math.exp(0.9)) < 0.02, 'what is under the pointer stays there');
    await browser.wheel(x, before.top + 5, 200, SHIFT);
    assert.ok(Math.abs((await find('MMMM')).right - (zoomed.right - 200)) < 3);
    await browser.key('Backspace');
    await browser.key('0', '0');
    assert.strictEqual((await find('MMMM')).left, before.left);
  },

  async 'a click zooms and Backspace goes back'(browser) {
    await browser.open(page('shallow'), 800, 600);
    const b = (await browser.value(shown)).find((each) => each.name === 'other');
    await browser.click((b.left + b.right) / 2, b.top + 5);
    const names = (await browser.value(shown)).map((each) => each.name);
    assert.deepStrictEqual(names, ['all', 'other', 'parse']);
    assert.strictEqual(await browser.value(`document.getElementById('reset').disabled`), false);
    await browser.key('Backspace');
    assert.ok((await browser.value(shown)).length > 8);
  },

  async 'the search box stays, says the share and finds what is too narrow to see'(browser) {
    await browser.open(page('deep'), 800, 600);
    await browser.key('/', '/');
    await browser.type('needle');
    assert.strictEqual(await browser.value(`document.getElementById('share').textContent`), '0.2 % in 1 box');
    await browser.key('Enter');
    const found = (await browser.value(shown)).find((b) => b.name === 'needle');
    assert.ok(found.right - found.left >= 4 && found.top > 0 && found.top < 600);
    assert.strictEqual(await browser.value(`document.getElementById('find').value`), 'needle');
    await onScreen(browser, 800, 600);
    if (pictures) await browser.screenshot(path.join(pictures, 'search.png'));
    await browser.key('Escape');
    assert.strictEqual(await browser.value(`document.getElementById('find').value + document.getElementById('share').textContent`), '');
    await browser.key('/', '/');
    await browser.type('(');
    assert.strictEqual(await browser.value(`document.getElementById('share').textContent`), 'not an expression');
  },

  async 'inverted flames grow upwards from the bottom of the window'(browser) {
    for (const name of ['deep', 'shallow']) {
      await browser.open(page(name, '--inverted'), 800, 600);
      const boxes = await browser.value(shown), all = boxes.find((b) => b.name === 'all');
      assert.ok(boxes.every((b) => b === all || b.top < all.top));
      const scroll = await browser.value(box('scroll'));
      assert.ok(all.top < scroll.bottom && all.top > scroll.bottom - 40);
      if (pictures) await browser.screenshot(path.join(pictures, `inverted-${name}.png`));
    }
    await browser.key('i', 'i');
    const boxes = await browser.value(shown), all = boxes.find((b) => b.name === 'all');
    assert.ok(boxes.every((b) => b === all || b.top > all.top));
  },

  async 'the keys are listed and the list goes away'(browser) {
    await browser.open(page('shallow'), 800, 600);
    await browser.key('?', '?');
    if (pictures) await browser.screenshot(path.join(pictures, 'keys.png'));
    assert.match(await browser.value(`document.getElementById('help').textContent`), /Ctrl\+wheel/);
    await browser.key('Escape');
    assert.strictEqual(await browser.value(`document.getElementById('help')`), null);
  },
};

setTimeout(() => { console.error('not done after 280 s'); process.exit(1); }, 280000).unref();

(async () => {
  const browser = new Browser(program);
  try {
    for (const [name, run] of Object.entries(tests)) {
      if (only && !name.includes(only)) continue;
      await run(browser);
      assert.deepStrictEqual(browser.complaints, [], name);
      console.log('ok ' + name);
    }
  } finally {
    await browser.close();
    fs.rmSync(scratch, { recursive: true, force: true });
  }
})().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); });
