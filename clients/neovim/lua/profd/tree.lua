--- `:Profd tree`, `:Profd callers`, `:Profd callees`: calls as trees that are loaded as they are unfolded, functions as
--- a table.
local M = {}

local cells = require('profd.cells')
local filters_of = require('profd.filters')
local levels = require('profd.tree_load')
local log = require('profd.log')
local place = require('profd.place')
local row_keys = require('profd.row_keys')
local scratch = require('profd.scratch')
local session = require('profd.session')
local spread = require('profd.spread')
local view = require('profd.tree_view')
local window = require('profd.view_window')

---@type profd.Tree?
local shown

---@param at profd.Tree
---@return string[] the first is the default
local function sorts_of(at)
  if view.is_tree(at) then
    return { 'total', 'self', 'name' }
  elseif session.is_diff() then
    return { 'change', 'worse', 'better', 'self', 'total', 'name' }
  elseif spread.is_aggregate() then
    return spread.SORTS
  end
  return { 'self', 'total', 'name' }
end

local function toggle()
  local node = view.node_at(shown)
  local more = shown.page.rests[vim.api.nvim_win_get_cursor(0)[1]]
  if node and node.open then
    levels.fold(shown, node)
  elseif node then
    levels.unfold(shown, node)
  elseif more and more.rest.offset then
    levels.more(shown, more.of, more.rest.offset)
  end
end

--- l: unfolds, or goes to the first row below.
local function deeper()
  local node = view.node_at(shown)
  if node and node.open and node.children[1] then
    view.go_to(shown, node.children[1])
  elseif node then
    levels.unfold(shown, node)
  end
end

--- h: folds, or goes to the row above it in the tree.
local function shallower()
  local node = view.node_at(shown)
  if node and node.open then
    return levels.fold(shown, node)
  end
  local line = vim.api.nvim_win_get_cursor(0)[1]
  while node and line >= shown.page.first do
    local other = shown.page.nodes[line]
    if other and other.depth < node.depth then
      return view.go_to(shown, other)
    end
    line = line - 1
  end
end

local function hot()
  levels.open_hot(shown, view.node_at(shown))
end

---@param shape string
local function turn(shape)
  shown.shape, shown.of, shown.opened, shown.focus = shape, nil, {}, nil
  shown.sort = sorts_of(shown)[1]
  shown.hot, shown.first = true, true
  levels.roots(shown)
end

local function next_sort()
  local sorts = sorts_of(shown)
  for i, sort in ipairs(sorts) do
    if sort == shown.sort then
      shown.sort = sorts[i % #sorts + 1]
      break
    end
  end
  levels.roots(shown)
end

---@return profd.Row?
local function row_at()
  local node = shown and view.node_at(shown)
  if not node then
    return nil
  end
  local frames = view.is_tree(shown) and vim.list_slice(node.names) or {}
  local reversed = shown.shape == 'bottom-up' or vim.startswith(shown.shape, 'callers')
  if reversed then
    for i = 1, math.floor(#frames / 2) do
      frames[i], frames[#frames + 1 - i] = frames[#frames + 1 - i], frames[i]
    end
  end
  -- The paths of callers and callees begin at the function that they are of.
  if shown.of then
    table.insert(frames, reversed and #frames + 1 or 1, shown.of)
  end
  return { name = node.names[#node.names], frames = frames, file = node.row.file, line = node.row.line }
end

---@type profd.Key[]
local keys = vim.list_extend({
  { '<CR>', toggle, 'unfold, or fold; of what is left out, show it' },
  { '<Tab>', toggle, '' },
  { '<2-LeftMouse>', toggle, 'the same with the mouse' },
  { 'l', deeper, 'unfold, or the first row below' },
  { 'h', shallower, 'fold, or the row above it' },
  { '*', hot, 'open the hot path below the row' },
  {
    'b',
    function()
      turn(shown.shape == 'top-down' and 'bottom-up' or 'top-down')
    end,
    'bottom-up, or top-down again',
  },
  {
    't',
    function()
      turn('flat')
    end,
    'table of functions',
  },
  { 's', next_sort, 'sort by another column' },
}, row_keys.of(row_at))

---@type profd.ViewWindow
local about = {
  name = 'tree',
  title = 'Tree',
  keys = keys,
  row_at = row_at,
  shown = function()
    return shown
  end,
  tell = function()
    view.tell(shown)
  end,
  refit = function()
    M.refit()
  end,
  refresh = function()
    M.refresh()
  end,
}

--- The window may have another width now.
function M.refit()
  if window.is_seen(shown) and shown.page and shown.width ~= cells.width_of(shown.bufnr) then
    view.paint(shown)
  end
end

--- The metric, filters, the profile or its file are others now.
function M.refresh()
  if not window.is_seen(shown) or not session.profile then
    return
  end
  if shown.profile ~= session.profile then
    shown.profile, shown.opened = session.profile, {}
    shown.sort = sorts_of(shown)[1]
  end
  levels.roots(shown)
end

---@param shape string
---@param of? string the function that callers and callees are of
local function open(shape, of)
  session.with_profile(function()
    ---@type profd.Tree
    local at = {
      bufnr = window.is_seen(shown) and shown.bufnr or -1,
      profile = session.profile,
      shape = of and ('%s of %s'):format(shape, filters_of.quote(of)) or shape,
      of = of,
      sort = '',
      spec = '',
      revision = 0,
      filters = {},
      roots = {},
      opened = {},
      hot = true,
      first = true,
      width = 0,
      asked = 0,
      loading = 0,
    }
    at.sort = sorts_of(at)[1]
    if shown then
      shown.asked = shown.asked + 1 -- its answers come too late
    end
    shown = at
    if window.is_seen(shown) then
      window.enter(at)
      return levels.roots(at)
    end
    levels.roots(at, function()
      at.bufnr = window.open(about)
      vim.wo[0][0].cursorline = true
      scratch.set_height(scratch.most_lines()) -- it grows as it is unfolded
      view.paint(at)
    end)
  end)
end

M.SHAPES = { 'top-down', 'bottom-up', 'flat' }

--- `:Profd tree [SHAPE]`
---@param shape? string
function M.show(shape)
  if shape and not vim.list_contains(M.SHAPES, shape) then
    return log.error((':Profd tree takes %s'):format('top-down, bottom-up or flat'))
  end
  open(shape or 'top-down')
end

--- `:Profd changes`: what became of functions between the two sides of the diff that is shown, or since the run before.
function M.changes()
  session.with_profile(function()
    if session.is_diff() then
      return open('flat')
    end
    require('profd.diff').since_before(function()
      open('flat')
    end)
  end)
end

--- `:Profd callers [FUNCTION]`: who leads to a function; without a name, to the one under the cursor.
---@param name? string whole, or short where one function is called so
function M.callers(name)
  if name then
    return open('callers', name)
  end
  place.function_here(':Profd callers main.work', M.callers)
end

--- `:Profd callees [FUNCTION]`
---@param name? string
function M.callees(name)
  if name then
    return open('callees', name)
  end
  place.function_here(':Profd callees main.work', M.callees)
end

return M
