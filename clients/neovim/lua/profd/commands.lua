--- `:Profd`: finds the subcommand, checks what it is given, and runs or completes it.
local M = {}

local completion = require('profd.completion')
local log = require('profd.log')

M.subcommands = require('profd.subcommands')

---@return string[]
local function names()
  local result = vim.tbl_keys(M.subcommands)
  table.sort(result)
  return result
end

--- What listens: hints to the editor's events, the others to the server.
function M.load_all()
  require('profd.listen')
  require('profd.hints')
  require('profd.hover')
end

---@param args {fargs: string[], args: string}
function M.run(args)
  M.load_all()
  local name = args.fargs[1]
  local subcommand = name and M.subcommands[name]
  if not subcommand then
    local what = name and ('no such subcommand: ' .. name) or 'what is to be done'
    return log.error(('%s; one of %s (:help :Profd)'):format(what, table.concat(names(), ', ')))
  end
  local rest = vim.list_slice(args.fargs, 2)
  local takes = subcommand.takes or 0
  if #rest > 0 and (subcommand.raw or subcommand.spaces and #rest > 1) then
    rest = { vim.trim((args.args:gsub('^%s*%S+%s+', ''))) }
  elseif #rest > takes then
    local most = ({ [0] = 'no argument', 'one argument', 'two arguments' })[takes]
    return log.error((':Profd %s takes %s'):format(name, most))
  end
  subcommand.run(rest)
end

---@param lead string
---@param line string
---@param cursor integer
---@return string[]
function M.complete(lead, line, cursor)
  local before = line:sub(1, cursor):gsub('^.-Profd!?%s+', '', 1)
  local name = before:match('^(%S+)%s')
  if not name then
    return completion.starting_with(lead, names())
  end
  local subcommand = M.subcommands[name]
  local typed = before:gsub('^%S+%s+', '', 1)
  return subcommand and subcommand.complete and subcommand.complete(lead, typed) or {}
end

return M
