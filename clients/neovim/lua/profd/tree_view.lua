--- A tree or a table on the screen: its page, what stands around it, and what is under the cursor.
local M = {}

local cells = require('profd.cells')
local changes = require('profd.changes')
local filters_of = require('profd.filters')
local log = require('profd.log')
local page_of = require('profd.tree_page')
local session = require('profd.session')
local spread = require('profd.spread')

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

---@param at profd.Tree
---@return boolean
function M.is_tree(at)
  return at.shape ~= 'flat'
end

---@param names string[]
---@return string
function M.id_of(names)
  return table.concat(names, '\0')
end

---@param at profd.Tree
---@return 'plain'|'diff'|'diff_flat'|'aggregate'|'aggregate_flat'
local function kind_of(at)
  local kind = at.answer.changes and 'diff' or spread.is_aggregate() and 'aggregate' or 'plain'
  return (kind ~= 'plain' and not M.is_tree(at)) and kind .. '_flat' or kind
end

---@param at profd.Tree
---@return {[1]: string, [2]: string}[]
local function head_of(at)
  local answer = at.answer
  local total = at.focus or answer.viewTotal.text
  if #at.filters > 0 then
    total = ('%s of %s'):format(total, answer.total.text)
  end
  local shape = M.is_tree(at) and log.one_line(at.shape) or 'functions'
  local title = ('%s of %s, %s: %s, by %s'):format(answer.metric, session.name, shape, total, at.sort)
  if answer.sides then -- whose totals follow
    title = ('%s of %s, %s by %s'):format(changes.metric(answer.metric), session.name, shape, at.sort)
  end
  local head = { { title, 'ProfdTitle' } }
  local note = filters_of.note(at.filters)
  if note then
    head[#head + 1] = { note, 'ProfdHint' }
  end
  if answer.sides then
    head[#head + 1] = { changes.total(answer.sides), 'ProfdHint' }
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
  local unfold = M.is_tree(at) and '<CR> unfolds or folds · * hot path · b bottom-up · t table · ' or 'b tree · '
  foot[#foot + 1] = unfold .. 's sort · c callers · g source · u undo filter · ? all keys'
  return foot
end

---@param at profd.Tree
---@return profd.TreeNode?
function M.node_at(at)
  if not at.page or vim.api.nvim_get_current_buf() ~= at.bufnr then
    return nil
  end
  return at.page.nodes[vim.api.nvim_win_get_cursor(0)[1]]
end

---@param at profd.Tree
function M.tell(at)
  local node = M.node_at(at)
  cells.tell(at.bufnr, node and page_of.text_of(node) or '<CR> unfolds  g source  c callers  C callees  ? keys')
end

---@param at profd.Tree
---@param node profd.TreeNode
function M.go_to(at, node)
  local window = vim.fn.bufwinid(at.bufnr)
  for line, other in pairs(at.page.nodes) do
    if window ~= -1 and other == node then
      vim.api.nvim_win_set_cursor(window, { line, vim.api.nvim_win_get_cursor(window)[2] })
    end
  end
end

---@param at profd.Tree
function M.paint(at)
  if at.bufnr == -1 or not at.answer then
    return
  end
  local window = vim.fn.bufwinid(at.bufnr)
  local before = at.page and window ~= -1 and at.page.nodes[vim.api.nvim_win_get_cursor(window)[1]]
  at.width = cells.width_of(at.bufnr)
  at.page = page_of.compose(at.roots, at.rest, {
    width = at.width - 1,
    kind = kind_of(at),
    is_tree = M.is_tree(at),
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
  local id = before and M.id_of(before.names)
  for _, node in pairs(before and at.page.nodes or {}) do
    if node == before or M.id_of(node.names) == id then
      M.go_to(at, node)
      break
    end
  end
  if vim.api.nvim_get_current_win() == window then
    M.tell(at)
  end
end

return M
