--- `:Profd correlate`: of records of several contexts, what goes with what.
local M = {}

local client = require('profd.client')
local filters_of = require('profd.filters')
local fit = require('profd.fit')
local jump = require('profd.jump')
local log = require('profd.log')
local protocol = require('profd.protocol')
local session = require('profd.session')
local text_page = require('profd.text_page')

local left, right = fit.left, fit.right
local MOST_PAIRS = 50

---@class profd.CorrelatePage: profd.TextPage
---@field roles table<integer, profd.CorrelateRole> by 1-based line
---@field pairs table<integer, profd.CorrelatePair>

--- As people read it: 1,234.
---@param count integer
---@return string
local function count_text(count)
  local text = tostring(count):reverse():gsub('(%d%d%d)', '%1,'):reverse():gsub('^,', '')
  return text
end

---@param answer profd.CorrelateResult
---@param filters string[]
---@return profd.CorrelatePage
local function compose(answer, filters)
  ---@type profd.CorrelatePage
  local page = { lines = {}, marks = {}, roles = {}, pairs = {} }
  local function add(text, group)
    text_page.add(page, text, group)
  end
  text_page.add_title(page, answer, filters)
  for _, text in ipairs(vim.list_extend({ answer.verdict }, answer.warnings or {})) do
    text_page.add_sentence(page, text, nil, vim.o.columns - 1)
  end
  add('')
  add('Roles', 'ProfdTitle')
  for _, role in ipairs(answer.roles) do
    local records, places = count_text(role.records), count_text(role.contexts)
    add(('  %s  %s records in %s places'):format(left(log.one_line(role.name), 14), records, places))
    page.roles[#page.lines] = role
  end
  add('')
  add(log.one_line(('Pairs of %s and %s'):format(answer.left, answer.right)), 'ProfdTitle')
  local room = math.max(12, math.floor((vim.o.columns - 24) / 3))
  local function name(text)
    return left(fit.beginning(log.one_line(text), room - 2), room)
  end
  add((' '):rep(22) .. name(answer.left) .. name(answer.right) .. 'both called by', 'ProfdHint')
  for _, pair in ipairs(answer.pairs) do
    local cost = ('  %s  %s  '):format(right(pair.amount.shareText or '', 7), right(pair.amount.text, 9))
    add(cost .. name(pair.left.name) .. name(pair.right.name) .. log.one_line(pair.meet or 'nothing'))
    page.pairs[#page.lines] = pair
  end
  if answer.pairCount > #answer.pairs then
    add(('  %s more'):format(count_text(answer.pairCount - #answer.pairs)), 'ProfdHint')
  end
  add('')
  add('<CR> shows a role as a profile, goes to the left of a pair · <Tab> to its right · q closes', 'ProfdHint')
  return page
end

---@param side profd.CorrelateSide
local function go_to(side)
  if not side.uri then
    return log.info(('%s is not in the workspace'):format(log.one_line(side.file or side.name)))
  end
  jump.beside(vim.uri_to_fname(side.uri), side.line)
end

---@param page profd.CorrelatePage
---@param side 'left'|'right'
local function follow(page, side)
  local line = vim.api.nvim_win_get_cursor(0)[1]
  local role, pair = page.roles[line], page.pairs[line]
  if pair then
    go_to(pair[side])
  elseif role and side == 'left' then
    session.open(role.uri)
  else
    log.info('no pair on this line')
  end
end

--- `:Profd correlate [LEFT RIGHT]`
---@param words string[] two roles; without them those that the daemon means
function M.show(words)
  session.with_profile(function()
    filters_of.all(function(filters)
      ---@type profd.CorrelateParams
      local params = {
        profile = session.profile,
        spec = table.concat(vim.list_extend({ 'flat by function' }, filters), ' | '),
        left = words[1],
        right = words[2],
        limit = MOST_PAIRS,
      }
      client.request(protocol.methods.correlate, params, function(result, err)
        if err then
          return log.error(session.sentence(err))
        end
        local page = compose(result, filters)
        local function go(side)
          follow(page, side)
        end
        text_page.show('correlate', 'What goes with what', page, {
          { '<CR>', go, 'a role as a profile; to the left of a pair', with = 'left' },
          { '<Tab>', go, 'to the right of a pair', with = 'right' },
        })
      end)
    end)
  end)
end

return M
