--- What is asked for trees and tables: levels as they are unfolded, the hot path, pages of what is left out.
local M = {}

local client = require('profd.client')
local filters_of = require('profd.filters')
local log = require('profd.log')
local page_of = require('profd.tree_page')
local protocol = require('profd.protocol')
local session = require('profd.session')
local spread = require('profd.spread')
local view = require('profd.tree_view')

local ROWS = 50 -- of a level, until more are asked for

---@param at profd.Tree
---@param asked integer
---@return boolean
local function is_old(at, asked)
  return at.asked ~= asked or (at.bufnr ~= -1 and not vim.api.nvim_buf_is_valid(at.bufnr))
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
  local of_spread = spread.is_aggregate() and not view.is_tree(at)
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
      return M.roots(at) -- it was recorded again meanwhile
    elseif err then
      view.paint(at)
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
  elseif not view.is_tree(at) then
    return spread.fill(nodes, answer)
  end
  local asked = at.asked
  spread.ask(at.profile, at.spec, at.revision, nodes, function(thinned)
    if not is_old(at, asked) then
      at.thinned = thinned
      view.paint(at)
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
    at.opened[view.id_of(node.names)] = true
    ask_spread(at, node.children, answer)
    open_again(at, node.children)
    if at.loading == 0 then
      view.paint(at)
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
    if node.row.expandable and at.opened[view.id_of(node.names)] then
      load_children(at, node)
    end
  end
end

---@param at profd.Tree
---@param node profd.TreeNode
---@param done? fun()
function M.unfold(at, node, done)
  if node.children then
    node.open = true
    at.opened[view.id_of(node.names)] = true
    view.paint(at)
    if done then
      done()
    end
  elseif node.row.expandable then
    load_children(at, node, done)
  end
end

---@param at profd.Tree
---@param node profd.TreeNode
function M.fold(at, node)
  node.open = false
  at.opened[view.id_of(node.names)] = nil
  view.paint(at)
end

--- Opens the hot path below a node, or below the root.
---@param at profd.Tree
---@param from? profd.TreeNode
function M.open_hot(at, from)
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
          return M.unfold(at, node, function()
            follow(node.children, i + 1)
          end)
        end
      end
    end
    if from and not from.children then
      return M.unfold(at, from, function()
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
      view.paint(at)
    end
  end)
end

--- Asks for the roots; `done` runs when it is the newest answer. Without it what is on the screen is drawn anew, once all
--- that was open is there again.
---@param at profd.Tree
---@param done? fun()
function M.roots(at, done)
  at.asked = at.asked + 1
  at.loading = 0
  local asked = at.asked
  filters_of.all(function(filters)
    if is_old(at, asked) then
      return
    end
    at.spec = table.concat(vim.list_extend({ at.shape .. ' by function' }, filters), ' | ')
    request(at, nil, 0, function(answer)
      at.answer, at.revision, at.filters = answer, answer.revision, filters
      at.roots, at.rest = page_of.nodes_of(answer), rest_of(answer, true)
      ask_spread(at, at.roots, answer)
      open_again(at, at.roots)
      if done then
        done()
      elseif at.loading == 0 then
        view.paint(at)
      end
      if at.of then
        ask_focus(at, asked)
      end
      if at.hot and view.is_tree(at) then
        at.hot = false
        M.open_hot(at)
      end
    end)
  end)
end

--- The rows that follow, below those that are there.
---@param at profd.Tree
---@param of? profd.TreeNode
---@param offset integer
function M.more(at, of, offset)
  request(at, of, offset, function(answer)
    local nodes = page_of.nodes_of(answer, of)
    local into = of or at
    vim.list_extend(of and of.children or at.roots, nodes)
    into.rest = rest_of(answer, of == nil)
    ask_spread(at, nodes, answer)
    view.paint(at)
  end)
end

return M
