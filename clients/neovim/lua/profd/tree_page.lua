--- Trees and tables of functions as lines: values in columns, names at the end.
local M = {}

local cells = require('profd.cells')
local fit = require('profd.fit')
local heat = require('profd.heat')
local log = require('profd.log')
local protocol = require('profd.protocol')
local text_page = require('profd.text_page')

local GAP = '  '
local LEAST_NAME = 16

---@class profd.TreeNode
---@field depth integer from 0
---@field keys integer[] its path
---@field names string[] likewise, whole names
---@field row profd.TreeRow
---@field children? profd.TreeNode[] absent: never asked for
---@field open boolean
---@field rest? profd.TreeRest what follows its children

---@class profd.TreeRow
---@field label string
---@field cuts? integer[]
---@field file? string
---@field line integer
---@field flags integer
---@field expandable boolean
---@field share number of the view, 0 to 1
---@field total string
---@field total_share string
---@field self string
---@field self_share string
---@field change? profd.TreeChange of a diff
---@field spread? profd.TreeSpread of an aggregate, once it is known

---@class profd.TreeChange
---@field mark string `[A]`: what became of the total
---@field self_mark string what became of the self value
---@field self_direction integer
---@field direction -1|0|1
---@field text string
---@field before string
---@field after string
---@field self string
---@field self_before string
---@field self_after string

---@class profd.TreeSpread
---@field mean string
---@field range string
---@field deviation string
---@field series number[]
---@field trend? string in a tree
---@field lost? string in a table: what the others wait for the largest
---@field text string in a sentence

---@class profd.TreeRest the rows that follow, or what is on no row
---@field text string
---@field offset? integer of the next page; absent: there are no more

local MARKS = {
  [protocol.ChangeKind.same] = { '[=]', 0 },
  [protocol.ChangeKind.more] = { '[+]', 1 },
  [protocol.ChangeKind.less] = { '[-]', -1 },
  [protocol.ChangeKind.added] = { '[A]', 1 },
  [protocol.ChangeKind.deleted] = { '[D]', -1 },
}

--- What became of the self value of a row. What is there on one side alone says so.
---@param changes profd.ChangeColumns
---@param i integer
---@return {[1]: string, [2]: integer}
local function self_mark(changes, i)
  local kind, before, after = changes.change[i], changes.selfBefore[i], changes.selfAfter[i]
  if kind ~= protocol.ChangeKind.added and kind ~= protocol.ChangeKind.deleted then
    local same = after > before and protocol.ChangeKind.more or protocol.ChangeKind.less
    kind = after == before and protocol.ChangeKind.same or same
  end
  return MARKS[kind]
end

--- The rows of an answer as nodes below a path.
---@param answer profd.TableResult|profd.SpreadResult
---@param parent? profd.TreeNode
---@return profd.TreeNode[]
function M.nodes_of(answer, parent)
  local rows, changes = answer.rows, answer.changes
  local all = answer.viewTotal.value
  local nodes = {}
  for i, index in ipairs(rows.name) do
    local name = answer.names[index + 1]
    local change
    if changes then
      local mark = MARKS[changes.change[i]] or MARKS[0]
      change = {
        mark = mark[1],
        direction = mark[2],
        text = changes.totalChange[i],
        before = changes.totalBeforeText[i],
        after = changes.totalAfterText[i],
        self_mark = self_mark(changes, i)[1],
        self_direction = self_mark(changes, i)[2],
        self = changes.selfChange[i],
        self_before = changes.selfBeforeText[i],
        self_after = changes.selfAfterText[i],
      }
    end
    nodes[i] = {
      depth = parent and parent.depth + 1 or 0,
      keys = vim.list_extend(vim.list_slice(parent and parent.keys or {}), { rows.key[i] }),
      names = vim.list_extend(vim.list_slice(parent and parent.names or {}), { name }),
      open = false,
      row = {
        label = answer.labels[index + 1],
        cuts = answer.cuts and answer.cuts[index + 1],
        file = rows.file[i] >= 0 and answer.files[rows.file[i] + 1] or nil,
        line = rows.line[i],
        flags = rows.flags[i],
        expandable = rows.children[i],
        share = all ~= 0 and math.max(0, math.min(1, rows.total[i] / all)) or 0,
        total = rows.totalText[i],
        total_share = rows.totalShare[i],
        self = rows.selfText[i],
        self_share = rows.selfShare[i],
        change = change,
      },
    }
  end
  return nodes
end

---@class profd.TreeColumn
---@field title string
---@field text fun(row: profd.TreeRow): string
---@field group? fun(row: profd.TreeRow): string? its highlight
---@field left? boolean flush left

---@param row profd.TreeRow
---@return string
local function warmth(row)
  return 'ProfdNumber' .. heat.level(math.sqrt(row.share))
end

---@param to integer
---@return string
local function look_of(to)
  return to > 0 and 'ProfdMoreSign' or to < 0 and 'ProfdLessSign' or 'ProfdQuiet'
end

---@param row profd.TreeRow
---@return string
local function direction(row)
  return look_of(row.change.direction)
end

---@param row profd.TreeRow
---@return string
local function self_direction(row)
  return look_of(row.change.self_direction)
end

---@param field string
---@return fun(row: profd.TreeRow): string
local function of(field)
  return function(row)
    return row[field]
  end
end

---@param field string
---@return fun(row: profd.TreeRow): string
local function of_change(field)
  return function(row)
    return row.change[field]
  end
end

---@param field string
---@return fun(row: profd.TreeRow): string
local function of_spread(field)
  return function(row)
    local spread = row.spread
    if not spread then
      return '…'
    end
    local value = spread[field]
    return type(value) == 'table' and cells.sparkline(value) or value
  end
end

---@type table<string, profd.TreeColumn[]>
local columns_of = {
  plain = {
    { title = 'Total %', text = of('total_share'), group = warmth },
    { title = 'Total', text = of('total') },
    { title = 'Self %', text = of('self_share') },
    { title = 'Self', text = of('self') },
  },
  diff = {
    { title = '', text = of_change('mark'), group = direction },
    { title = 'Total, change', text = of_change('text'), group = direction },
    { title = 'before', text = of_change('before') },
    { title = 'after', text = of_change('after') },
  },
  -- Lists are by what a function does itself.
  diff_flat = {
    { title = '', text = of_change('self_mark'), group = self_direction },
    { title = 'Self, change', text = of_change('self'), group = self_direction },
    { title = 'before', text = of_change('self_before') },
    { title = 'after', text = of_change('self_after') },
    { title = 'Total, change', text = of_change('text'), group = direction },
  },
  aggregate = {
    { title = 'Total %', text = of('total_share'), group = warmth },
    { title = 'Total', text = of('total') },
    { title = 'Mean', text = of_spread('mean') },
    { title = 'Least – most', text = of_spread('range') },
    { title = '±', text = of_spread('deviation') },
    { title = 'Each', text = of_spread('series'), left = true },
    { title = 'Trend', text = of_spread('trend') },
  },
  aggregate_flat = {
    { title = 'Self %', text = of('self_share'), group = warmth },
    { title = 'Self', text = of('self') },
    { title = 'Mean', text = of_spread('mean') },
    { title = 'Least – most', text = of_spread('range') },
    { title = '±', text = of_spread('deviation') },
    { title = 'Waited', text = of_spread('lost') },
    { title = 'Each', text = of_spread('series'), left = true },
  },
}

--- The nodes that are to be seen, from top to bottom, and what follows open ones.
---@param roots profd.TreeNode[]
---@param rest? profd.TreeRest of the roots
---@return {node?: profd.TreeNode, rest?: profd.TreeRest, of?: profd.TreeNode, depth: integer}[]
local function seen(roots, rest)
  local lines, stack = {}, {}
  local function push(nodes, rest_of, parent)
    if rest_of then
      stack[#stack + 1] = { rest = rest_of, of = parent, depth = parent and parent.depth + 1 or 0 }
    end
    for i = #nodes, 1, -1 do
      stack[#stack + 1] = { node = nodes[i], depth = nodes[i].depth }
    end
  end
  push(roots, rest)
  while #stack > 0 do
    local line = table.remove(stack)
    lines[#lines + 1] = line
    if line.node and line.node.open and line.node.children then
      push(line.node.children, line.node.rest, line.node)
    end
  end
  return lines
end

---@class profd.TreePage: profd.CellPage
---@field nodes table<integer, profd.TreeNode> by 1-based line
---@field rests table<integer, {rest: profd.TreeRest, of?: profd.TreeNode}> likewise
---@field first integer line of the first row

---@class profd.TreeAbout
---@field width integer
---@field kind 'plain'|'diff'|'diff_flat'|'aggregate'|'aggregate_flat'
---@field is_tree boolean
---@field head {[1]: string, [2]: string}[]
---@field foot string[]

--- The file and the line, short.
---@param row profd.TreeRow
---@return string
local function place_of(row)
  if not row.file or row.file == '' then
    return ''
  end
  local base = row.file:match('[^/\\]+$') or row.file
  return log.one_line(row.line > 0 and ('%s:%d'):format(base, row.line) or base)
end

---@param roots profd.TreeNode[]
---@param rest? profd.TreeRest
---@param about profd.TreeAbout
---@return profd.TreePage
function M.compose(roots, rest, about)
  ---@type profd.TreePage
  local page = { lines = {}, marks = {}, nodes = {}, rests = {}, first = 0 }
  for _, line in ipairs(about.head) do
    text_page.add_sentence(page, line[1], line[2], about.width)
  end
  local lines, columns = seen(roots, rest), columns_of[about.kind]
  local texts, widths = {}, {}
  for c, column in ipairs(columns) do
    texts[c], widths[c] = {}, vim.api.nvim_strwidth(column.title)
    for i, line in ipairs(lines) do
      if line.node then
        texts[c][i] = log.one_line(column.text(line.node.row))
        widths[c] = math.max(widths[c], vim.api.nvim_strwidth(texts[c][i]))
      end
    end
  end
  local function in_column(c, text)
    return columns[c].left and fit.left(text, widths[c]) or fit.right(text, widths[c])
  end
  local title, margin = {}, 0
  for c, column in ipairs(columns) do
    title[c] = in_column(c, column.title)
    margin = margin + widths[c] + #GAP
  end
  local head, head_done = cells.new_line(page)
  head(table.concat(title, GAP) .. GAP .. (about.is_tree and '  ' or '') .. 'Function', 'ProfdHint')
  head_done()
  page.first = #page.lines + 1
  for i, line in ipairs(lines) do
    local piece, finish = cells.new_line(page)
    local indent = ('  '):rep(line.depth)
    if line.node then
      local row = line.node.row
      for c, column in ipairs(columns) do
        piece(in_column(c, texts[c][i]), column.group and column.group(row))
        piece(GAP)
      end
      local fold = not about.is_tree and '' or not row.expandable and '  ' or line.node.open and '▾ ' or '▸ '
      local room = math.max(LEAST_NAME, about.width - margin - #indent - vim.api.nvim_strwidth(fold))
      local where = place_of(row)
      local name = fit.name(log.one_line(row.label), row.cuts, room)
      piece(indent)
      piece(fold, 'ProfdHint')
      piece(name)
      if where ~= '' and vim.api.nvim_strwidth(name) + #GAP + vim.api.nvim_strwidth(where) <= room then
        piece(GAP)
        piece(where, 'ProfdQuiet')
      end
      page.nodes[#page.lines + 1] = line.node
    else
      piece((' '):rep(margin) .. indent .. (about.is_tree and '  ' or ''))
      piece(log.one_line(line.rest.text), 'ProfdHint')
      page.rests[#page.lines + 1] = { rest = line.rest, of = line.of }
    end
    finish()
  end
  page.lines[#page.lines + 1] = ''
  for _, line in ipairs(about.foot) do
    text_page.add_sentence(page, line, 'ProfdHint', about.width)
  end
  return page
end

--- What a row is, in a line.
---@param node profd.TreeNode
---@return string
function M.text_of(node)
  local row = node.row
  local parts = { node.names[#node.names] }
  if row.file and row.file ~= '' then
    parts[2] = row.line > 0 and ('%s:%d'):format(row.file, row.line) or row.file
  end
  if row.change then
    local change = row.change
    parts[#parts + 1] = ('%s → %s: %s'):format(change.before, change.after, change.text)
    parts[#parts + 1] = ('self %s → %s: %s'):format(change.self_before, change.self_after, change.self)
  else
    parts[#parts + 1] = ('%s · %s'):format(row.total, row.total_share)
    parts[#parts + 1] = ('self %s · %s'):format(row.self, row.self_share)
  end
  if row.spread then
    parts[#parts + 1] = row.spread.text
  end
  return table.concat(parts, ', ')
end

return M
