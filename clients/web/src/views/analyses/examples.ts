// Scripts to start from: each does one thing that scripts can do.

export interface Example {
  readonly title: string;
  readonly text: string;
}

export const EXAMPLES: readonly Example[] = [
  {
    title: "A table of functions",
    text: `-- @title The functions that do most themselves
-- @arg rows integer 10 Rows of the table

local list = profile:functions()
table.sort(list, function(a, b) return a.self > b.self end)
local rows = {}
for i = 1, math.min(args.rows, #list) do
  rows[i] = { list[i].name, list[i].self, list[i].total }
end
show_table {
  title = "Functions",
  columns = { "function", { "self", profile.unit }, { "total", profile.unit } },
  rows = rows,
}
`,
  },
  {
    title: "Without libraries",
    text: `-- @title Frames without a source line are their callers'

profile:visit(function(node)
  if node.line == 0 and not node.is_root then node:elide() end
end)
`,
  },
  {
    title: "Recursion as one call",
    text: `-- @title A function that calls itself is one frame

profile:visit(function(node)
  if node.parent and node.parent.name == node.name then node:elide() end
end)
`,
  },
  {
    title: "Threads side by side",
    text: `-- @title What every thread has

local sums = {}
for sample in profile:samples() do
  local thread = sample.thread or tostring(sample.tid or "no thread")
  sums[thread] = (sums[thread] or 0) + sample:value()
end
local rows = {}
for thread, sum in pairs(sums) do rows[#rows + 1] = { thread, sum } end
table.sort(rows, function(a, b) return a[2] > b[2] end)
show_table { title = "Threads", columns = { "thread", { "value", profile.unit } }, rows = rows }
`,
  },
  {
    title: "Notes on lines",
    text: `-- @title Notes where a line has more than a tenth of everything itself
-- @arg least number 0.1 Least share of a line

local lines = {}
for node in profile:nodes() do
  if node.line > 0 then
    local place = node.file .. ":" .. node.line
    local known = lines[place] or { file = node.file, line = node.line, self = 0 }
    known.self = known.self + node:self()
    lines[place] = known
  end
end
for _, line in pairs(lines) do
  local share = line.self / profile:total()
  if share >= args.least then
    annotate(line.file, line.line, string.format("%.1f %% itself", share * 100))
  end
end
`,
  },
];
