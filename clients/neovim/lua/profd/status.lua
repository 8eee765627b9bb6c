--- A line about what is shown, for status lines. It is asked for at every redraw: it looks at what is known, and asks nobody.
local M = {}

---@class profd.StatusOpts
---@field line? boolean what the line of the cursor costs, as its hint says

--- The hint of the line that the cursor is on.
---@return string?
local function line_text()
  local bufnr, cursor = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1]
  for _, hot in ipairs(require('profd.hints').lines(bufnr, cursor)) do
    return hot.text
  end
end

--- What is recorded, else the profile, its metric, the filters that were set here; '' when there is nothing to say.
---@param opts? profd.StatusOpts
---@return string
function M.text(opts)
  local session = package.loaded['profd.session']
  if not session then
    return '' -- nothing has been shown yet, and to say so loads nothing
  end
  local parts = {} ---@type string[]
  local record = package.loaded['profd.record']
  parts[1] = record and record.running()
  if session.profile then
    parts[#parts + 1] = session.name
    parts[#parts + 1] = session.metric
    local kept = package.loaded['profd.kept'] or {}
    parts[#parts + 1] = kept.window and kept.window.clause
    parts[#parts + 1] = kept.kind
    local filters = package.loaded['profd.filters'] and require('profd.filters').list() or {}
    parts[#parts + 1] = #filters > 1 and ('%d filters'):format(#filters) or filters[1]
    parts[#parts + 1] = require('profd.client').mine and 'my code' or nil
    parts[#parts + 1] = type(opts) == 'table' and opts.line == true and line_text() or nil
  end
  return require('profd.log').one_line(table.concat(parts, ' · '))
end

return M
