--- `:Profd tree`, `:Profd callers`, `:Profd callees`: calls as trees that are loaded as they are unfolded, functions as
--- a table.
local M = {}

local cells = require('profd.cells')
local client = require('profd.client')
local filters_of = require('profd.filters')
local keys_of = require('profd.keys')
local log = require('profd.log')
local page_of = require('profd.tree_page')
local place = require('profd.place')
local protocol = require('profd.protocol')
local row_keys = require('profd.row_keys')
local scratch = require('profd.scratch')
local session = require('profd.session')
local spread = require('profd.spread')

local NAME = 'profd://tree'
local RESIZE_DELAY_MS = 60
local ROWS = 50 -- of a level, until more are asked for
local namespace = vim.api.nvim_create_namespace('profd.tree')

---@class profd.Tree what is shown
---@field bufnr integer
---@field profile string
---@field shape string as views have it: `top-down`, `flat`, `callers of "f"`
---@field of? string the function that callers and callees are of
---@field sort string
---@field spec string that was asked for last
---@field revision integer of the keys
---@field filters string[]
---@field answer? profd.TableResult|profd.SpreadResult of the roots
---@field focus? string of callers and callees, what the function comes to
---@field thinned? string of an aggregate
---@field roots profd.TreeNode[]
---@field rest? profd.TreeRest
---@field opened table<string, boolean> which nodes are open, by their names
---@field hot boolean the hot path is opened with the next answer
---@field first boolean the cursor goes to the first row with the next answer
---@field page? profd.TreePage
---@field width integer
---@field asked integer counts requests: only the newest answer is painted
---@field loading integer levels that are on their way

---@type profd.Tree?
local shown
---@type uv.uv_timer_t?
local timer

---@param at profd.Tree
---@return boolean
local function is_tree(at)
  return at.shape ~= 'flat'
end

---@param names string[]
---@return string
local function id_of(names)
  return table.concat(names, '\0')
end

---@param at profd.Tree
---@return string[] the first is the default
local function sorts_of(at)
  if is_tree(at) then
    return { 'total', 'self', 'name' }
  elseif session.is_diff() then
    return { 'change', 'worse', 'better', 'self', 'total', 'name' }
  elseif spread.is_aggregate() then
    return spread.SORTS
  end
  return { 'self', 'total', 'name' }
end

---@param at profd.Tree
---@return 'plain'|'diff'|'diff_flat'|'aggregate'|'aggregate_flat'
local function kind_of(at)
  local kind = at.answer.changes and 'diff' or spread.is_aggregate() and 'aggregate' or 'plain'
  return (kind ~= 'plain' and not is_tree(at)) and kind .. '_flat' or kind
end

---@param at profd.Tree
---@return {[1]: string, [2]: string}[]
local function head_of(at)
  local answer = at.answer
  local total = at.focus or answer.viewTotal.text
  if #at.filters > 0 then
    total = ('%s of %s'):format(total, answer.total.text)
  end
  local shape = is_tree(at) and log.one_line(at.shape) or 'functions'
  local title = ('%s of %s, %s: %s, by %s'):format(answer.metric, session.name, shape, total, at.sort)
  local head = { { title, 'ProfdTitle' } }
  local note = filters_of.note(at.filters)
  if note then
    head[#head + 1] = { note, 'ProfdHint' }
  end
  if answer.sides then
    head[#head + 1] = { require('profd.changes').total(answer.sides), 'ProfdHint' }
  end
  return head
end

---@param at profd.Tree
---@return string[]
local function foot_of(at)
  local answer, foot = at.answer, {}
  if #at.roots == 0 then
    local none = at.of and 'it has none' or 'nothing was measured'
    foot[1] = #at.filters > 0 and 'nothing passes the filters; u takes the last one back' or none
  end
  local unchanged = answer.unchanged
  for _, note in ipairs({
    unchanged and ('nothing became of %s'):format(unchanged.text) or '',
    answer.thinned or at.thinned or '',
    answer.note or '',
    answer.estimated or '',
    answer.excluded and answer.excluded.text or '',
  }) do
    foot[#foot + 1] = note ~= '' and note or nil
  end
  vim.list_extend(foot, answer.warnings or {})
  local unfold = is_tree(at) and '<CR> unfolds or folds · * hot path · b bottom-up · t table · ' or 'b tree · '
  foot[#foot + 1] = unfold .. 's sort · c callers · g source · u undo filter · ? all keys'
  return foot
end

---@param at profd.Tree
---@return profd.TreeNode?
local function node_at(at)
  if not at.page or vim.api.nvim_get_current_buf() ~= at.bufnr then
    return nil
  end
  return at.page.nodes[vim.api.nvim_win_get_cursor(0)[1]]
end

---@param at profd.Tree
local function tell(at)
  local node = node_at(at)
  cells.tell(at.bufnr, node and page_of.text_of(node) or '<CR> unfolds  g source  c callers  C callees  ? keys')
end

---@param at profd.Tree
---@param node profd.TreeNode
local function go_to(at, node)
  local window = vim.fn.bufwinid(at.bufnr)
  for line, other in pairs(at.page.nodes) do
    if window ~= -1 and other == node then
      vim.api.nvim_win_set_cursor(window, { line, vim.api.nvim_win_get_cursor(window)[2] })
    end
  end
end

---@param at profd.Tree
local function paint(at)
  if at.bufnr == -1 or not at.answer then
    return
  end
  local window = vim.fn.bufwinid(at.bufnr)
  local before = at.page and window ~= -1 and at.page.nodes[vim.api.nvim_win_get_cursor(window)[1]]
  at.width = cells.width_of(at.bufnr)
  at.page = page_of.compose(at.roots, at.rest, {
    width = at.width - 1,
    kind = kind_of(at),
    is_tree = is_tree(at),
    head = head_of(at),
    foot = foot_of(at),
  })
  cells.paint(at.bufnr, namespace, at.page)
  if at.first and window ~= -1 then
    at.first, before = false, nil
    vim.api.nvim_win_set_cursor(window, { math.min(at.page.first, #at.page.lines), 0 })
    vim.api.nvim_win_call(window, function()
      vim.fn.winrestview({ topline = 1 })
    end)
  end
  -- Rows above come and go: the cursor stays with its own.
  local id = before and id_of(before.names)
  for _, node in pairs(before and at.page.nodes or {}) do
    if node == before or id_of(node.names) == id then
      go_to(at, node)
      break
    end
  end
  if vim.api.nvim_get_current_win() == window then
    tell(at)
  end
end

---@param at profd.Tree
---@param asked integer
---@return boolean
local function is_old(at, asked)
  return shown ~= at or at.asked ~= asked or (at.bufnr ~= -1 and not vim.api.nvim_buf_is_valid(at.bufnr))
end

---@param answer profd.TableResult|profd.SpreadResult
---@param is_root boolean
---@return profd.TreeRest?
local function rest_of(answer, is_root)
  if answer.remainder then
    return { text = answer.remainder.text .. ', <CR> shows more', offset = answer.remainder.offset }
  end
  local left = answer.rowCount - answer.offset - #answer.rows.name
  if left > 0 then -- of lists by spread
    return { text = ('%d more, <CR> shows them'):format(left), offset = answer.offset + #answer.rows.name }
  end
  -- Below a row it is what that row has as its self.
  return is_root and answer.own and answer.own.value ~= 0 and { text = ('%s on no row'):format(answer.own.text) } or nil
end

---@param at profd.Tree
---@param node? profd.TreeNode absent: the roots
---@param offset integer
---@param done fun(answer: profd.TableResult|profd.SpreadResult)
local function request(at, node, offset, done)
  local asked = at.asked
  local of_spread = spread.is_aggregate() and not is_tree(at)
  at.loading = at.loading + 1
  ---@type table
  local params = { profile = at.profile, spec = at.spec, sort = at.sort, offset = offset, limit = ROWS }
  if at.sort == 'name' then
    params.descending = false
  end
  if vim.list_contains({ 'change', 'worse', 'better' }, at.sort) then
    params.changedOnly = true
  end
  if node then
    params.expand, params.revision = node.keys, at.revision
  end
  local method = of_spread and protocol.methods.spread or protocol.methods.table
  client.request(method, params, function(result, err)
    if is_old(at, asked) then
      return
    end
    at.loading = at.loading - 1
    if err and err.code == protocol.ErrorCodes.contentModified then
      return M.refresh() -- it was recorded again meanwhile
    elseif err then
      return log.error(session.sentence(err))
    end
    done(result)
  end)
end

--- What an aggregate's inputs have of each node of a level.
---@param at profd.Tree
---@param nodes profd.TreeNode[]
---@param answer profd.TableResult|profd.SpreadResult
local function ask_spread(at, nodes, answer)
  if not spread.is_aggregate() then
    return
  elseif not is_tree(at) then
    return spread.fill(nodes, answer)
  end
  local asked = at.asked
  spread.ask(at.profile, at.spec, at.revision, nodes, function(thinned)
    if not is_old(at, asked) then
      at.thinned = thinned
      paint(at)
    end
  end)
end

local open_again

---@param at profd.Tree
---@param node profd.TreeNode
---@param done? fun()
local function load_children(at, node, done)
  request(at, node, 0, function(answer)
    node.children = page_of.nodes_of(answer, node)
    node.rest = rest_of(answer, false)
    node.open = true
    at.opened[id_of(node.names)] = true
    ask_spread(at, node.children, answer)
    open_again(at, node.children)
    if at.loading == 0 then
      paint(at)
    end
    if done then
      done()
    end
  end)
end

--- Opens those nodes of a level that were open before it was asked for anew.
---@param at profd.Tree
---@param nodes profd.TreeNode[]
open_again = function(at, nodes)
  for _, node in ipairs(nodes) do
    if node.row.expandable and at.opened[id_of(node.names)] then
      load_children(at, node)
    end
  end
end

---@param at profd.Tree
---@param node profd.TreeNode
---@param done? fun()
local function unfold(at, node, done)
  if node.children then
    node.open = true
    at.opened[id_of(node.names)] = true
    paint(at)
    if done then
      done()
    end
  elseif node.row.expandable then
    load_children(at, node, done)
  end
end

---@param at profd.Tree
---@param node profd.TreeNode
local function fold(at, node)
  node.open = false
  at.opened[id_of(node.names)] = nil
  paint(at)
end

--- Opens the hot path below a node, or below the root.
---@param at profd.Tree
---@param from? profd.TreeNode
local function open_hot(at, from)
  local asked = at.asked
  ---@type profd.HotPathParams
  local params = { profile = at.profile, spec = at.spec, panelId = 'tree-hot' }
  if from then
    params.from, params.revision = from.keys, at.revision
  end
  client.request(protocol.methods.hot_path, params, function(result, err)
    if is_old(at, asked) then
      return
    elseif err then
      return log.error(session.sentence(err))
    end
    local keys = result.rows.key
    -- Where it divides, into what is told too.
    local last = result['end'] == protocol.HotPathEnd.spread and #keys or #keys - 1
    local function follow(nodes, i)
      for _, node in ipairs(nodes) do
        if node.keys[#node.keys] == keys[i] and node.row.expandable and i <= last then
          return unfold(at, node, function()
            follow(node.children, i + 1)
          end)
        end
      end
    end
    if from and not from.children then
      return unfold(at, from, function()
        follow(from.children, 1)
      end)
    elseif from then
      from.open = true
    end
    follow(from and from.children or at.roots, 1)
  end)
end

--- What the function of callers and callees comes to: the root of the same view as a picture.
---@param at profd.Tree
---@param asked integer
local function ask_focus(at, asked)
  ---@type profd.FlameGraphParams
  local params = {
    profile = at.profile,
    spec = at.spec,
    viewport = { width = 1, minWidth = 1, maxBoxes = 1 },
    nodes = false,
  }
  client.request(protocol.methods.flame_graph, params, function(result)
    if result and not is_old(at, asked) then
      at.focus = result.boxes.text[1]
      paint(at)
    end
  end)
end

--- Asks for the roots; `done` runs when it is the newest answer.
---@param at profd.Tree
---@param done fun()
local function ask(at, done)
  at.asked = at.asked + 1
  at.loading = 0
  local asked = at.asked
  session.filters(function(filters)
    if is_old(at, asked) then
      return
    end
    at.spec = table.concat(vim.list_extend({ at.shape .. ' by function' }, filters), ' | ')
    request(at, nil, 0, function(answer)
      at.answer, at.revision, at.filters = answer, answer.revision, filters
      at.roots, at.rest = page_of.nodes_of(answer), rest_of(answer, true)
      ask_spread(at, at.roots, answer)
      open_again(at, at.roots)
      done()
      if at.of then
        ask_focus(at, asked)
      end
      if at.hot and is_tree(at) then
        at.hot = false
        open_hot(at)
      end
    end)
  end)
end

local function ask_and_paint()
  local at = shown
  ask(at, function()
    if at.loading == 0 then
      paint(at)
    end
  end)
end

--- The rows that follow, below those that are there.
---@param at profd.Tree
---@param of? profd.TreeNode
---@param offset integer
local function load_more(at, of, offset)
  request(at, of, offset, function(answer)
    local nodes = page_of.nodes_of(answer, of)
    local into = of or at
    vim.list_extend(of and of.children or at.roots, nodes)
    into.rest = rest_of(answer, of == nil)
    ask_spread(at, nodes, answer)
    paint(at)
  end)
end

local function toggle()
  local node = node_at(shown)
  local more = shown.page.rests[vim.api.nvim_win_get_cursor(0)[1]]
  if node and node.open then
    fold(shown, node)
  elseif node then
    unfold(shown, node)
  elseif more and more.rest.offset then
    load_more(shown, more.of, more.rest.offset)
  end
end

--- l: unfolds, or goes to the first row below.
local function deeper()
  local node = node_at(shown)
  if node and node.open and node.children[1] then
    go_to(shown, node.children[1])
  elseif node then
    unfold(shown, node)
  end
end

--- h: folds, or goes to the row above it in the tree.
local function shallower()
  local node = node_at(shown)
  if node and node.open then
    return fold(shown, node)
  end
  local line = vim.api.nvim_win_get_cursor(0)[1]
  while node and line >= shown.page.first do
    local other = shown.page.nodes[line]
    if other and other.depth < node.depth then
      return go_to(shown, other)
    end
    line = line - 1
  end
end

local function hot()
  open_hot(shown, node_at(shown))
end

---@param shape string
local function turn(shape)
  shown.shape, shown.of, shown.opened, shown.focus = shape, nil, {}, nil
  shown.sort = sorts_of(shown)[1]
  shown.hot, shown.first = true, true
  ask_and_paint()
end

local function next_sort()
  local sorts = sorts_of(shown)
  for i, sort in ipairs(sorts) do
    if sort == shown.sort then
      shown.sort = sorts[i % #sorts + 1]
      break
    end
  end
  ask_and_paint()
end

---@return profd.Row?
local function row_at()
  local node = shown and node_at(shown)
  if not node then
    return nil
  end
  local frames = is_tree(shown) and vim.list_slice(node.names) or {}
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

---@param bufnr integer
local function prepare(bufnr)
  keys_of.map(bufnr, 'Tree', keys, function()
    return shown ~= nil and shown.page ~= nil
  end)
  place.set_row(bufnr, row_at)
  local group = vim.api.nvim_create_augroup('profd.tree', {})
  vim.api.nvim_create_autocmd('CursorMoved', {
    group = group,
    buffer = bufnr,
    callback = function()
      if shown and shown.page and shown.bufnr == bufnr then
        tell(shown)
      end
    end,
  })
  -- What happened while it was not to be seen.
  vim.api.nvim_create_autocmd('BufWinEnter', { group = group, buffer = bufnr, callback = M.refresh })
  vim.api.nvim_create_autocmd({ 'WinResized', 'VimResized' }, {
    group = group,
    callback = function()
      timer = timer or assert(vim.uv.new_timer())
      timer:start(RESIZE_DELAY_MS, 0, vim.schedule_wrap(M.refit))
    end,
  })
end

---@return boolean
local function on_screen()
  return shown ~= nil and vim.api.nvim_buf_is_valid(shown.bufnr) and vim.fn.bufwinid(shown.bufnr) ~= -1
end

--- The window may have another width now.
function M.refit()
  if on_screen() and shown.page and shown.width ~= cells.width_of(shown.bufnr) then
    paint(shown)
  end
end

--- The metric, filters, the profile or its file are others now.
function M.refresh()
  if not on_screen() or not session.profile then
    return
  end
  if shown.profile ~= session.profile then
    shown.profile, shown.opened = session.profile, {}
    shown.sort = sorts_of(shown)[1]
  end
  ask_and_paint()
end

---@param shape string
---@param of? string the function that callers and callees are of
local function open(shape, of)
  session.with_profile(function()
    ---@type profd.Tree
    local at = {
      bufnr = on_screen() and shown.bufnr or -1,
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
    shown = at
    if on_screen() then
      vim.api.nvim_set_current_win(vim.fn.bufwinid(at.bufnr))
      return ask_and_paint()
    end
    ask(at, function()
      at.bufnr = scratch.show(NAME, { '' }, { filetype = 'profd-tree' })
      vim.bo[at.bufnr].undolevels = -1
      vim.wo[0][0].cursorline = true
      prepare(at.bufnr)
      -- As high as it may be: it grows as it is unfolded.
      if not vim.w.profd_before then
        vim.api.nvim_win_set_height(0, math.max(5, math.floor(vim.o.lines * 0.6)))
      end
      paint(at)
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

--- `:Profd changes`: what became of functions between the two sides of the diff that is shown.
function M.changes()
  session.with_profile(function()
    if not session.is_diff() then
      return log.warn(session.name .. ' is no comparison; :Profd diff BEFORE AFTER makes one')
    end
    open('flat')
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
