"use strict";
(function () {
  var svg = document.getElementById("profd"), ns = "http://www.w3.org/2000/svg";
  var row = +svg.dataset.row, side = +svg.dataset.side, inverted = svg.dataset.inverted === "1";
  // A document of its own, not a part of another page.
  var alone = document.documentElement === svg || svg.dataset.alone === "1";
  var drawing = document.getElementById("boxes");
  var boxes = [].map.call(drawing.querySelectorAll(".b"), function (g, i) {
    // The name, where it is when that is known, what it costs.
    var title = g.querySelector("title").textContent.split("\n"), text = g.querySelector("text");
    return g.box = { g: g, rect: g.querySelector("rect"), text: text, k: +g.dataset.k, s: +g.dataset.s, w: +g.dataset.w,
      label: text.getAttribute("data-n"), cuts: (text.getAttribute("data-c") || "").split(" ").filter(Boolean), name: title[0], place: title.slice(1, -1).join(" "),
      value: title[title.length - 1], more: g.classList.contains("r"), on: true };
  });
  if (!boxes.length) return;

  // Fractions are printed with nine digits: neighbours may overlap by less than this.
  var eps = 2e-9;
  function within(a, b) { return a.s >= b.s - eps && a.s + a.w <= b.s + b.w + eps; }
  var rows = [];
  boxes.forEach(function (b) { (rows[b.k] = rows[b.k] || []).push(b); });
  rows.forEach(function (r, k) {
    r.sort(function (a, b) { return a.s - b.s; });
    var above = rows[k - 1] || [], at = 0;
    r.forEach(function (b) {
      while (at < above.length && (above[at].more || above[at].s + above[at].w < b.s + b.w - eps)) ++at;
      b.parent = at < above.length && within(b, above[at]) ? above[at] : null;
    });
  });
  var root = rows[0][0];
  function childrenOf(b) { return (rows[b.k + 1] || []).filter(function (c) { return c.parent === b; }); }

  // What fills the width: a part of the whole, and the box it was asked for by.
  var view = { s: root.s, w: root.w, box: root }, trail = [];
  var at = null, hits = [], hitAt = -1, pattern = "";
  var width = 1200, pending = 0;

  // The page: a head, the graph, which scrolls, and a line of details. Texts are text nodes, never markup.
  function add(parent, name, id, text) {
    var e = document.createElementNS("http://www.w3.org/1999/xhtml", name);
    if (id) e.id = id;
    if (text) e.textContent = text;
    parent.appendChild(e);
    return e;
  }
  function whole(id) {
    var e = document.getElementById(id);
    return e ? e.getAttribute("data-full") : "";
  }
  var page = document.createElementNS(ns, "foreignObject");
  page.id = "page";
  var shell = add(page, "div", "shell"), head = add(shell, "div", "head"), line = add(head, "div", "line");
  add(line, "div", "title", whole("sname")).title = whole("sname");
  var tools = add(line, "div", "tools");
  add(head, "div", "sub", whole("ssub")).title = whole("ssub");
  if (whole("snotes")) add(head, "div", "notes", whole("snotes")).title = whole("snotes");
  // What colours mean, as it is drawn.
  var scale = document.getElementById("scale");
  if (scale) {
    var legend = document.createElementNS(ns, "svg");
    legend.id = "legend";
    scale.setAttribute("transform", "translate(" + -side + "," + (13 - scale.querySelector("text").getAttribute("y")) + ")");
    legend.appendChild(scale);
    head.appendChild(legend);
  }
  var share = add(tools, "span", "share"), find = add(tools, "input", "find");
  find.type = "search";
  find.placeholder = "Search names";
  find.setAttribute("aria-label", "Search names by a regular expression");
  find.spellcheck = false;
  share.setAttribute("role", "status");
  function button(id, label, title, act) {
    var b = add(tools, "button", id, label);
    b.type = "button";
    b.title = title;
    b.addEventListener("click", act);
    return b;
  }
  var resetButton = button("reset", "Reset zoom", "Show everything (0)", function () { reset(); scroll.focus(); });
  button("keys", "?", "Keys", function () { help(); });
  var scroll = add(shell, "div", "scroll"), bar = add(shell, "div", "bar");
  scroll.tabIndex = 0;
  var what = add(bar, "span", "what"), amount = add(bar, "span", "amount");
  var graph = document.createElementNS(ns, "svg");
  graph.id = "graph";
  scroll.appendChild(graph);

  // Widths of characters as the browser draws them: labels end inside their boxes.
  var charWidth = new Map(), known = new Map();
  function measure() {
    var chars = new Set(["\u2026"]), at = 0;
    boxes.forEach(function (b) { Array.from(b.label).forEach(function (c) { chars.add(c); }); });
    var all = Array.from(chars), probe = document.createElementNS(ns, "text");
    probe.textContent = all.join(" ");
    graph.appendChild(probe);
    all.forEach(function (c) {
      var w = 12;
      try { w = probe.getSubStringLength(at, c.length); } catch (e) { /* hidden */ }
      charWidth.set(c, w);
      at += c.length + 1;
    });
    graph.removeChild(probe);
  }
  function measured(label) {
    var m = known.get(label);
    if (!m) {
      var sum = 0, chars = Array.from(label);
      m = { chars: chars, ends: chars.map(function (c) { return sum += charWidth.get(c); }) };
      m.width = sum;
      known.set(label, m);
    }
    return m;
  }
  // The longest form that fits: the beginning may be left out at `cuts`. Of the shortest as much as does.
  function fit(label, cuts, room) {
    if (room < 18) return "";
    for (var i = 0; measured(label).width > room && i < cuts.length; ++i) label = label.slice(cuts[i] - (i ? cuts[i - 1] : 0));
    var m = measured(label);
    if (m.width <= room) return label;
    var low = 0, high = m.ends.length, dots = charWidth.get("\u2026");
    while (low < high) {
      var middle = (low + high + 1) >> 1;
      if (m.ends[middle - 1] + dots <= room) low = middle; else high = middle - 1;
    }
    return low < 2 ? "" : m.chars.slice(0, low).join("") + "\u2026";
  }

  function soon() { if (!pending) pending = window.requestAnimationFrame(draw); }
  function draw() {
    pending = 0;
    var inner = width - 2 * side, scale = inner / view.w, deepest = 0, end = view.s + view.w;
    boxes.forEach(function (b) {
      b.left = Math.max(b.s, view.s);
      b.px = (Math.min(b.s + b.w, end) - b.left) * scale;
      if (b.px >= 0.3) deepest = Math.max(deepest, b.k);
    });
    var fromEnd = scroll.scrollHeight - scroll.scrollTop;
    var height = (deepest + 1) * row + 4;
    if (alone) height = Math.max(height, scroll.clientHeight);
    boxes.forEach(function (b) {
      var on = b.px >= 0.3;
      if (on !== b.on) b.g.style.display = on ? "" : "none";
      b.on = on;
      if (!on) return;
      var x = side + (b.left - view.s) * scale, y = inverted ? height - (b.k + 1) * row : b.k * row;
      b.g.classList.toggle("faded", b.k < view.box.k);
      b.rect.setAttribute("x", x);
      b.rect.setAttribute("width", Math.max(b.px - 0.5, 0.3));
      if (b.y !== y) {
        b.rect.setAttribute("y", y);
        b.text.setAttribute("y", y + 13);
        b.y = y;
      }
      b.text.setAttribute("x", x + 3);
      b.text.textContent = fit(b.label, b.cuts, b.px - 6.5);
    });
    graph.setAttribute("width", width);
    graph.setAttribute("height", height);
    if (inverted) scroll.scrollTop = scroll.scrollHeight - fromEnd;
    resetButton.disabled = view.s === root.s && view.w === root.w;
    status();
    // A scroll bar that came or went has changed the room.
    if (scroll.clientWidth && scroll.clientWidth !== width) { width = scroll.clientWidth; soon(); }
  }
  function resize() {
    var w = alone ? window.innerWidth : svg.clientWidth || 1200;
    svg.setAttribute("width", w);
    if (alone) {
      svg.setAttribute("height", window.innerHeight);
    } else {
      scroll.style.overflow = "visible";
      svg.setAttribute("height", head.offsetHeight + rows.length * row + 4 + bar.offsetHeight);
    }
    width = scroll.clientWidth || w;
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
  // Boxes too small to draw have no name here.
  function mayMiss() {
    return boxes.some(function (b) {
      if (!b.more) return false;
      for (var p = b.parent; p; p = p.parent) if (p.hit) return false;
      return true;
    });
  }
  function percent(part) {
    if (part === 0) return "0 %";
    if (part >= 1 - 1e-9) return "100 %";
    if (part < 0.001) return "<0.1 %";
    return Math.min(99.9, part * 100).toFixed(1) + " %";
  }
  function status() {
    var b = at || (view.box !== root ? view.box : null);
    what.textContent = !b ? "Click zooms, Ctrl+wheel zooms at the pointer, / searches, ? shows the keys"
      : b.name + (b.place ? "  \u00b7  " + b.place : "");
    what.title = b ? b.name : "";
    amount.textContent = b ? b.value : "";
  }

  function go(s, w, box) {
    if (s === view.s && w === view.w) return;
    trail.push(view);
    if (trail.length > 200) trail.shift();
    view = { s: s, w: w, box: box };
    draw();
  }
  function zoom(b) {
    if (b.more) b = b.parent || root;
    go(b.s, b.w, b);
  }
  function back() { if (trail.length) { view = trail.pop(); draw(); } }
  function reset() { trail = []; view = { s: root.s, w: root.w, box: root }; select(null); draw(); }
  function select(b) {
    if (at) at.g.classList.remove("at");
    at = b;
    if (at) at.g.classList.add("at");
    status();
  }
  function reveal(b) {
    if (b.y < scroll.scrollTop) scroll.scrollTop = b.y;
    else if (b.y + row > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = b.y + row - scroll.clientHeight;
  }

  // At the pointer: what is under it stays under it.
  var lastWheel = -1e9;
  function wheel(e) {
    var unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 400 : 1, inner = width - 2 * side;
    var sideways = e.shiftKey ? e.deltaX || e.deltaY : Math.abs(e.deltaX) > Math.abs(e.deltaY) ? e.deltaX : 0;
    var s = view.s, w = view.w;
    if (e.ctrlKey) {
      var pointer = Math.min(1, Math.max(0, (e.clientX - scroll.getBoundingClientRect().left - side) / inner));
      var factor = Math.exp(Math.max(-30, Math.min(30, e.deltaY * unit)) * 0.01);
      w = Math.min(root.w, Math.max(1e-5 * root.w, view.w * factor));
      s = view.s + pointer * (view.w - w);
    } else if (sideways && view.w < root.w) {
      s = view.s + sideways * unit * view.w / inner;
    } else {
      return; // the browser scrolls
    }
    e.preventDefault();
    s = Math.min(root.s + root.w - w, Math.max(root.s, s));
    if (s === view.s && w === view.w) return;
    if (e.timeStamp - lastWheel > 600) trail.push(view);
    lastWheel = e.timeStamp;
    var box = view.box;
    while (box.parent && !within({ s: s, w: w }, box)) box = box.parent;
    view = { s: s, w: w, box: box };
    soon();
  }

  function search(text) {
    var re = null;
    pattern = text;
    find.classList.remove("bad");
    share.title = "";
    if (pattern) {
      // As in profd: case matters when the pattern has an upper-case letter.
      try { re = new RegExp(pattern, /[A-Z]/.test(pattern) ? "" : "i"); } catch (e) { share.title = e.message; find.classList.add("bad"); }
    }
    hits = [];
    hitAt = -1;
    boxes.forEach(function (b) {
      b.hit = !!re && b.k > 0 && !b.more && re.test(b.name);
      b.g.classList.toggle("hit", b.hit);
      if (b.hit) hits.push(b);
    });
    graph.classList.toggle("searching", !!re);
    share.textContent = !pattern ? "" : !re ? "not an expression"
      : (mayMiss() ? hits.length ? "at least " : "none drawn, " : "") + percent(matchedShare()) + " in " + hits.length + (hits.length === 1 ? " box" : " boxes");
  }
  function next(step) {
    if (!hits.length) return;
    hitAt = hitAt < 0 && step < 0 ? hits.length - 1 : (hitAt + step + hits.length) % hits.length;
    var b = hits[hitAt];
    if (b.px < 4) {
      // Too narrow to be seen: its widest ancestor in which it is not.
      for (var p = b; p.parent && b.w / p.parent.w * (width - 2 * side) >= 24;) p = p.parent;
      go(p.s, p.w, p);
    }
    select(b);
    reveal(b);
  }
  function move(key) {
    if (!at) { select(view.box); return; }
    var to = null, line = rows[at.k].filter(function (b) { return b.on; });
    if (key === (inverted ? "j" : "k")) to = at.parent;
    if (key === (inverted ? "k" : "j")) to = childrenOf(at).sort(function (a, b) { return b.w - a.w; })[0];
    if (key === "h") to = line[line.indexOf(at) - 1];
    if (key === "l") to = line[line.indexOf(at) + 1];
    if (to && to.on) { select(to); reveal(to); }
  }
  function invert() {
    inverted = !inverted;
    draw();
    scroll.scrollTop = inverted ? scroll.scrollHeight : 0;
  }
  function help() {
    var old = document.getElementById("help");
    if (old) { shell.removeChild(old); return; }
    var table = add(shell, "table", "help"), body = add(table, "tbody");
    [["h j k l, arrows", "move"], ["Enter, click", "zoom"], ["Ctrl+wheel", "zoom at the pointer"], ["Shift+wheel", "sideways"],
      ["Backspace", "back"], ["0", "reset"], ["/", "search; Enter, n and N: next, previous"], ["i", "turn upside down"],
      ["y", "copy the name"], ["Esc", "clear the search"], ["?", "these keys"]].forEach(function (k) {
      var tr = add(body, "tr");
      add(tr, "td", "", k[0]);
      add(tr, "td", "", k[1]);
    });
    table.addEventListener("click", help);
  }

  function over(e) {
    var g = e.target.closest ? e.target.closest(".b") : null;
    return g ? g.box : null;
  }
  graph.addEventListener("click", function (e) { var b = over(e); if (b) zoom(b); });
  graph.addEventListener("mouseover", function (e) { var b = over(e); if (b) select(b); });
  scroll.addEventListener("wheel", wheel, { passive: false });
  find.addEventListener("input", function () { search(find.value); });
  function clear() { find.value = ""; search(""); }
  document.addEventListener("keydown", function (e) {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    var key = e.key;
    if (e.target === find) {
      if (key === "Enter") next(e.shiftKey ? -1 : 1);
      else if (key === "Escape") { clear(); scroll.focus(); }
      else return;
      e.preventDefault();
      return;
    }
    if (e.target.tagName.toLowerCase() === "button" && key === "Enter") return;
    var arrows = { ArrowLeft: "h", ArrowDown: "j", ArrowUp: "k", ArrowRight: "l" };
    key = arrows[key] || key;
    if ("hjkl".indexOf(key) >= 0 && key.length === 1) move(key);
    else if (key === "Enter") { if (at) zoom(at); }
    else if (key === "Backspace") back();
    else if (key === "0") reset();
    else if (key === "/") { find.focus(); find.select(); }
    else if (key === "n") next(1);
    else if (key === "N") next(-1);
    else if (key === "i") invert();
    else if (key === "y") { if (at && navigator.clipboard) navigator.clipboard.writeText(at.name); }
    else if (key === "Escape") { if (document.getElementById("help")) help(); else clear(); }
    else if (key === "?") help();
    else return;
    e.preventDefault();
  });
  window.addEventListener("resize", resize);

  svg.classList.add("live");
  svg.removeAttribute("viewBox");
  page.setAttribute("width", "100%");
  page.setAttribute("height", "100%");
  svg.appendChild(page);
  graph.appendChild(drawing);
  measure();
  resize();
  if (inverted) scroll.scrollTop = scroll.scrollHeight;
  if (alone) scroll.focus({ preventScroll: true });
  // A link may carry a state: #search=regex.
  var asked = /[#&]search=([^&]*)/.exec(window.location ? window.location.hash : "");
  if (asked) { try { find.value = decodeURIComponent(asked[1]); search(find.value); } catch (e) { /* a broken link shows the plain graph */ } }
})();
