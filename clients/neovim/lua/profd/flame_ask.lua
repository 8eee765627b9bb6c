--- What is asked for a flame graph: the layout, and what a search has that is not in it.
local M = {}

local client = require('profd.client')
local filters_of = require('profd.filters')
local log = require('profd.log')
local page_of = require('profd.flame_page')
local protocol = require('profd.protocol')
local session = require('profd.session')
local view = require('profd.flame_view')

local MOST_BOXES = 5000 -- as many as the daemon gives at once

--- The view and the revision that keys are good for.
---@param at profd.Flame
---@return string
function M.keys_basis(at)
  return ('%s\n%s\n%d'):format(at.profile, at.spec, at.answer and at.answer.revision or 0)
end

---@param at profd.Flame
---@param by_names boolean
---@return profd.FlameGraphParams
local function params_of(at, by_names)
  local width, per_cell = view.room_of(at)
  local zoom, revision
  if at.zoom and not by_names and at.zoom.of == M.keys_basis(at) then
    zoom, revision = at.zoom.keys, at.answer.revision
  elseif at.zoom then
    zoom = { names = at.zoom.names }
  end
  return {
    profile = at.profile,
    spec = at.spec,
    viewport = { width = width * per_cell, minWidth = 1, maxBoxes = MOST_BOXES },
    zoom = zoom,
    revision = revision,
    search = at.search,
    details = true,
    nodes = false,
    colorSpread = vim.startswith(session.uri or '', 'aggregate:') and 'variation' or nil,
    panelId = 'flame',
  }
end

--- What of a search has no box of its own: asked for when the picture is there, which does not wait for it.
---@param at profd.Flame
---@param asked integer
---@param params profd.FlameGraphParams
local function ask_hidden(at, asked, params)
  params.panelId = 'flame-hidden'
  client.request(protocol.methods.hidden_matches, params, function(result)
    if result and at.asked == asked and vim.api.nvim_buf_is_valid(at.bufnr) then
      at.hidden = result
      view.paint(at)
    end
  end)
end

--- Asks for what is to be looked at; `done` runs when it is the newest answer.
---@param at profd.Flame
---@param done fun()
function M.picture(at, done)
  at.asked = at.asked + 1
  local asked = at.asked
  local function is_old()
    return at.asked ~= asked or (at.bufnr ~= -1 and not vim.api.nvim_buf_is_valid(at.bufnr))
  end
  filters_of.all(function(filters)
    if is_old() then
      return
    end
    at.spec = table.concat(vim.list_extend({ at.shape .. ' by function' }, filters), ' | ')
    local function request(by_names)
      local params = params_of(at, by_names)
      client.request(protocol.methods.flame_graph, params, function(result, err)
        if is_old() then
          return
        elseif err and type(params.zoom) == 'table' and not params.zoom.names then
          return request(true) -- the profile was recorded again, or the box is gone: names still say where it was
        elseif err then
          at.search = at.searched -- it may be no expression
          return log.error(session.sentence(err))
        end
        ---@cast result profd.FlameGraphResult
        at.answer, at.hidden, at.filters, at.searched = result, nil, filters, at.search
        if at.zoom then
          local keys = result.zoomPath or at.zoom.keys
          local names = page_of.first_names(result, #keys)
          at.zoom = #keys > 0 and { keys = keys, names = names, of = M.keys_basis(at), before = at.zoom.before } or nil
        end
        done()
        if at.search then
          ask_hidden(at, asked, params)
        end
      end)
    end
    request(false)
  end)
end

return M
