"use strict";
(function () {
  var svg = document.getElementById("profd");
  var ns = "http://www.w3.org/2000/svg";
  var top0 = +svg.dataset.top, row = +svg.dataset.row, side = +svg.dataset.side, bottom = +svg.dataset.bottom;
  var bar = document.getElementById("bar");
  var boxes = [].map.call(document.querySelectorAll("#boxes .b"), function (g, i) {
    var title = g.querySelector("title").textContent.split("\n");
    var text = g.querySelector("text");
    return { i: i, g: g, rect: g.querySelector("rect"), text: text, k: +g.dataset.k, s: +g.dataset.s,
      w: +g.dataset.w, label: text.getAttribute("data-n"), name: title[0], value: title.slice(1).join(" "),
      more: g.classList.contains("r") };
  });
  if (!boxes.length) return;
  var rows = [];
  boxes.forEach(function (b) { (rows[b.k] = rows[b.k] || []).push(b); });
  rows.forEach(function (r) { r.sort(function (a, b) { return a.s - b.s; }); });
  // Fractions are printed with nine digits: neighbours may overlap by less than this.
  var eps = 2e-9;
  function within(a, b) { return a.s >= b.s - eps && a.s + a.w <= b.s + b.w + eps; }
  boxes.forEach(function (b) {
    var above = rows[b.k - 1] || [];
    b.parent = above.find(function (p) { return !p.more && within(b, p); }) || null;
  });
  function childrenOf(b) { return (rows[b.k + 1] || []).filter(function (c) { return c.parent === b; }); }

  var root = boxes.find(function (b) { return b.k === 0; }) || boxes[0];
  var zoomed = root, at = null, trail = [], pattern = null, hits = [], hitAt = -1, charWidth = 6.7;
  var width = 1200, height0 = svg.viewBox.baseVal.height;

  function measure() {
    var probe = document.createElementNS(ns, "text");
    probe.textContent = "abcdefghijklmnopqrstuvwxyz.ABCDEFGHIJ:(*_0123456789)";
    svg.appendChild(probe);
    try { charWidth = probe.getComputedTextLength() / probe.textContent.length || charWidth; } catch (e) { /* hidden */ }
    svg.removeChild(probe);
  }
  function fit(label, room) {
    var n = Math.floor((room - 6) / charWidth), chars = Array.from(label);
    if (n < 3) return "";
    return chars.length <= n ? label : chars.slice(0, n - 1).join("") + "\u2026";
  }
  function draw() {
    var inner = width - 2 * side, scale = inner / zoomed.w, deepest = 0;
    boxes.forEach(function (b) {
      var above = b.k < zoomed.k && within(zoomed, b);
      var shown = above || (b.k >= zoomed.k && within(b, zoomed));
      var w = above ? inner : b.w * scale;
      shown = shown && w >= 0.3;
      b.g.style.display = shown ? "" : "none";
      b.g.classList.toggle("faded", above);
      if (!shown) return;
      var x = above ? side : side + (b.s - zoomed.s) * scale;
      b.rect.setAttribute("x", x);
      b.rect.setAttribute("width", Math.max(w - 0.5, 0.3));
      b.text.setAttribute("x", x + 3);
      b.text.textContent = fit(b.label, w);
      deepest = Math.max(deepest, b.k);
    });
    document.getElementById("resettool").style.display = zoomed === root ? "none" : "";
    status();
  }
  function resize() {
    var full = document.documentElement === svg ? window.innerWidth : svg.clientWidth || 1200;
    // A page taller than the window has a scroll bar, which would hide the right edge.
    if (document.documentElement === svg && height0 > window.innerHeight) full -= 16;
    width = Math.max(320, full || 1200);
    var height = height0;
    // As a document of its own the ground covers the window.
    if (document.documentElement === svg) height = Math.max(height0, window.innerHeight || 0);
    svg.setAttribute("height", height);
    svg.setAttribute("viewBox", "0 0 " + width + " " + height);
    svg.setAttribute("width", width);
    place();
    draw();
  }

  function matchedShare() {
    // Each stack once: a hit below another hit is part of it already.
    var sum = 0;
    hits.forEach(function (b) {
      for (var p = b.parent; p; p = p.parent) if (p.hit) return;
      sum += b.w;
    });
    return sum / root.w;
  }
  function percent(share) {
    if (share === 0) return "0 %";
    if (share >= 1 - 1e-9) return "100 %";
    if (share < 0.001) return "<0.1 %";
    return Math.min(99.9, share * 100).toFixed(1) + " %";
  }
  function status() {
    var parts = [];
    if (pattern) parts.push("/" + pattern + "/ matches " + percent(matchedShare()) + " in " + hits.length + (hits.length === 1 ? " box" : " boxes"));
    var b = at || (zoomed !== root ? zoomed : null);
    if (b) parts.push(b.name + ": " + b.value);
    bar.textContent = parts.join("  \u00b7  ") || "Click zooms, / searches, ? shows the keys";
  }
  function zoom(b, keep) {
    if (b.more) b = b.parent || root;
    if (b === zoomed) return;
    if (!keep) trail.push(zoomed);
    zoomed = b;
    draw();
  }
  function back() { if (trail.length) zoom(trail.pop(), true); }
  function reset() { trail = []; zoomed = root; select(null); draw(); }
  function select(b) {
    if (at) at.g.classList.remove("at");
    at = b;
    if (at) at.g.classList.add("at");
    status();
  }
  function search(text) {
    var re = null;
    pattern = text || null;
    if (pattern) {
      // As in profd: case matters when the pattern has an upper-case letter.
      try { re = new RegExp(pattern, /[A-Z]/.test(pattern) ? "" : "i"); } catch (e) { pattern = null; bar.textContent = "Not a regular expression: " + e.message; return; }
    }
    hits = [];
    hitAt = -1;
    boxes.forEach(function (b) {
      b.hit = !!re && b.k > 0 && !b.more && re.test(b.name);
      b.g.classList.toggle("hit", b.hit);
      if (b.hit) hits.push(b);
    });
    svg.classList.toggle("searching", !!pattern);
    document.getElementById("cleartool").style.display = pattern ? "" : "none";
    place();
    status();
  }
  function next(step) {
    if (!hits.length) return;
    hitAt = (hitAt + step + hits.length) % hits.length;
    if (hits[hitAt].g.style.display === "none") zoom(root);
    select(hits[hitAt]);
  }
  function ask() {
    var text = window.prompt("Search names (regular expression)", pattern || "");
    if (text !== null) search(text);
  }
  function move(key) {
    if (!at) { select(zoomed); return; }
    var to = null, line = (rows[at.k] || []).filter(function (b) { return b.g.style.display !== "none"; });
    if (key === "k") to = at.parent;
    if (key === "j") to = childrenOf(at).sort(function (a, b) { return b.w - a.w; })[0];
    if (key === "h") to = line[line.indexOf(at) - 1];
    if (key === "l") to = line[line.indexOf(at) + 1];
    if (to) select(to);
  }
  var keys = ["h j k l or arrows   move", "Enter   zoom", "Backspace   back", "0   reset", "/   search, n N next, previous",
    "y   copy the name", "Esc   clear the search", "?   these keys"];
  function help() {
    var old = document.getElementById("help");
    if (old) { svg.removeChild(old); return; }
    var g = document.createElementNS(ns, "g");
    g.id = "help";
    var r = document.createElementNS(ns, "rect");
    [["x", width / 2 - 140], ["y", 70], ["width", 280], ["height", keys.length * 20 + 24], ["rx", 6]].forEach(function (a) { r.setAttribute(a[0], a[1]); });
    g.appendChild(r);
    keys.forEach(function (k, i) {
      var t = document.createElementNS(ns, "text");
      t.setAttribute("x", width / 2 - 120);
      t.setAttribute("y", 70 + 26 + i * 20);
      t.textContent = k;
      g.appendChild(t);
    });
    g.addEventListener("click", help);
    svg.appendChild(g);
  }

  var tools = document.getElementById("tools");
  function tool(id, label, act) {
    var g = document.createElementNS(ns, "g"), r = document.createElementNS(ns, "rect"), t = document.createElementNS(ns, "text");
    g.id = id;
    g.setAttribute("class", "tool");
    r.setAttribute("height", 22); r.setAttribute("rx", 4); r.setAttribute("y", 12);
    t.setAttribute("y", 27);
    t.textContent = label;
    g.appendChild(r); g.appendChild(t);
    g.addEventListener("click", act);
    tools.appendChild(g);
    return g;
  }
  function place() {
    var x = width - side;
    [].slice.call(tools.children).reverse().forEach(function (g) {
      if (g.style.display === "none") return;
      var t = g.querySelector("text"), w = t.textContent.length * charWidth + 18;
      x -= w;
      g.querySelector("rect").setAttribute("x", x);
      g.querySelector("rect").setAttribute("width", w);
      t.setAttribute("x", x + 9);
      x -= 6;
    });
  }
  measure();
  tool("resettool", "Reset zoom", reset).style.display = "none";
  tool("cleartool", "Clear", function () { search(""); }).style.display = "none";
  tool("searchtool", "Search", ask);
  tool("helptool", "?", help);

  var over = function (e) {
    var g = e.target.closest ? e.target.closest(".b") : null;
    return g ? boxes.find(function (b) { return b.g === g; }) : null;
  };
  svg.addEventListener("click", function (e) { var b = over(e); if (b) { zoom(b); } });
  svg.addEventListener("mouseover", function (e) { var b = over(e); if (b) select(b); });
  document.addEventListener("keydown", function (e) {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    var arrows = { ArrowLeft: "h", ArrowDown: "j", ArrowUp: "k", ArrowRight: "l" };
    var key = arrows[e.key] || e.key;
    if ("hjkl".indexOf(key) >= 0 && key.length === 1) move(key);
    else if (key === "Enter") { if (at) zoom(at); }
    else if (key === "Backspace") back();
    else if (key === "0") reset();
    else if (key === "/") ask();
    else if (key === "n") next(1);
    else if (key === "N") next(-1);
    else if (key === "y") { if (at && navigator.clipboard) navigator.clipboard.writeText(at.name); }
    else if (key === "Escape") { var h = document.getElementById("help"); if (h) help(); else search(""); }
    else if (key === "?") help();
    else return;
    e.preventDefault();
  });
  window.addEventListener("resize", resize);
  // A link may carry a state: #search=regex.
  resize();
  var asked = /[#&]search=([^&]*)/.exec(window.location ? window.location.hash : "");
  if (asked) { try { search(decodeURIComponent(asked[1])); } catch (e) { /* a broken link shows the plain graph */ } }
})();
