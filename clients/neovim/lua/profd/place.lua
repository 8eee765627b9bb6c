--- From a row of a buffer to its source, and from the source to a function.
local M = {}

local client = require('profd.client')
local jump = require('profd.jump')
local log = require('profd.log')
local outside = require('profd.outside')
local protocol = require('profd.protocol')
local session = require('profd.session')

---@class profd.Place
---@field name string whole name
---@field file? string as the profile says
---@field line? integer 1-based; 0: unknown

--- A file that only the profile knows, after asking.
---@param place profd.Place
---@param none string why no file of the workspace is meant
local function beyond(place, none)
  client.request(protocol.methods.source_outside, { profile = session.profile, path = place.file }, function(found)
    local path = found and vim.startswith(found.uri, 'file:') and vim.uri_to_fname(found.uri)
    if not path or not vim.uv.fs_stat(path) then
      return log.info(none)
    end
    outside.ask(path, function()
      jump.beside(path, place.line or 1)
    end)
  end)
end

--- Goes to the source of a function.
---@param place profd.Place
function M.go(place)
  if not place.file or place.file == '' then
    return log.info('the profile does not say where ' .. place.name .. ' is written')
  end
  local line = place.line and place.line > 0 and place.line or nil
  ---@type profd.SourceResolveParams
  local params = { profile = session.profile, path = place.file, line = line }
  client.request(protocol.methods.source_resolve, params, function(result, err)
    if err then
      return log.error(session.sentence(err))
    end
    ---@cast result profd.SourceResolveResult
    local found = result.candidates
    if #found == 0 then
      return beyond(place, result.text)
    elseif #found == 1 then
      return jump.beside(vim.uri_to_fname(found[1].uri), line or 1)
    end
    vim.ui.select(found, {
      prompt = 'Several files fit equally well:',
      kind = 'profd.file',
      format_item = function(candidate)
        return log.one_line(vim.fn.fnamemodify(vim.uri_to_fname(candidate.uri), ':~:.'))
      end,
    }, function(candidate)
      if candidate then
        jump.beside(vim.uri_to_fname(candidate.uri), line or 1)
      end
    end)
  end)
end

---@type table<integer, fun(): profd.Row?> by buffer
local rows = {}

--- Says which row of a buffer of ours is under the cursor.
---@param bufnr integer
---@param row fun(): profd.Row?
function M.set_row(bufnr, row)
  rows[bufnr] = row
end

--- The function under the cursor in a buffer of ours, else the one that costs most on the line of the cursor,
--- by its whole name.
---@param example string what to type where no file stands
---@param done fun(name: string)
function M.function_here(example, done)
  local window = vim.api.nvim_get_current_win()
  local source = vim.api.nvim_win_get_buf(window)
  local row = rows[source] and rows[source]()
  if row then
    return done(row.name)
  end
  session.with_profile(function()
    if not client.attach(source) then
      return log.warn('no file stands here; name a function, for example ' .. example)
    end
    local position = vim.lsp.util.make_position_params(window, client.get().offset_encoding)
    ---@type profd.RangesParams
    local params = {
      profile = session.profile,
      textDocument = position.textDocument,
      position = position.position,
      workspaceFilters = true,
      limit = 1,
    }
    client.request(protocol.methods.ranges, params, function(result, err)
      if err then
        return log.error(session.sentence(err))
      end
      done(result.name)
    end, source)
  end)
end

return M
