--- `:Profd sets`: how much of the profile is of which kind of work, or of sets of one's own.
local M = {}

local client = require('profd.client')
local filters_of = require('profd.filters')
local fit = require('profd.fit')
local kept = require('profd.kept')
local log = require('profd.log')
local protocol = require('profd.protocol')
local session = require('profd.session')
local text_page = require('profd.text_page')
local window = require('profd.view_window')

local left, right = fit.left, fit.right
local BAR_WIDTH = 16

---@class profd.Sets what is shown
---@field bufnr integer
---@field words string[]
---@field sets table<integer, profd.SetShare> by 1-based line

---@type profd.Sets?
local shown
---@type string[] kinds of work, as far as they are known, for completion
local known = {}

---@return string[]
function M.names()
  return known
end

--- `NAME=EXPRESSION`, `NAME=CALLER > CALLEE`, or the name of a set, as `profd sets --set` takes them.
---@param word string
---@return profd.NamedSet
local function set_of(word)
  local name, meant = word:match('^([^=]*)=(.*)$')
  if not name then
    return { name = word, set = word }
  end
  name = vim.trim(name)
  if meant:find(' > ', 1, true) then
    return { name = name, frames = vim.tbl_map(vim.trim, vim.split(meant, ' > ', { plain = true })) }
  end
  return { name = name, pattern = vim.trim(meant) }
end

---@class profd.SetsPage: profd.TextPage
---@field sets table<integer, profd.SetShare>

---@param answer profd.SetsResult
---@param kinds boolean
---@param filters string[]
---@return profd.SetsPage
local function compose(answer, kinds, filters)
  ---@type profd.SetsPage
  local page = { lines = {}, marks = {}, sets = {} }
  local function add(text, group, from, to)
    text_page.add(page, text, group, from, to)
  end
  text_page.add_title(page, answer, filters)
  for _, note in ipairs({ answer.excluded and answer.excluded.text or false, answer.estimated or false }) do
    if note then
      add(log.one_line(note), 'ProfdHint')
    end
  end
  if #answer.sets == 0 then
    add('no stack belongs to a kind of work that profd knows')
    return page
  end
  local widths = { #'kind of work', #'stacks through it', #'coloured' }
  for _, set in ipairs(answer.sets) do
    widths[1] = math.max(widths[1], vim.api.nvim_strwidth(log.one_line(set.title)))
  end
  local function amount_text(amount)
    return right(('%s  %7s'):format(amount.text, amount.shareText or ''), widths[2])
  end
  local function row_text(title, amount, first)
    local coloured = kinds and right(first and first.shareText or '', widths[3] + 2) or ''
    return left(title, widths[1]) .. '  ' .. amount_text(amount) .. coloured
  end
  add('')
  local what = left(kinds and 'kind of work' or 'set', widths[1])
  add(what .. '  ' .. right('stacks through it', widths[2]) .. (kinds and '  coloured' or ''), 'ProfdHint')
  for _, set in ipairs(answer.sets) do
    local part = math.max(0, math.min(1, math.abs(set.amount.share or 0)))
    local bar = ('█'):rep(math.floor(part * BAR_WIDTH + 0.5))
    local text = row_text(log.one_line(set.title), set.amount, set.first)
    local is_kept = kinds and set.name == kept.kind
    local mark = is_kept and '  kept' or ''
    add(text .. '  ' .. bar .. mark, 'ProfdBar', #text + 2, #text + 2 + #bar)
    page.sets[#page.lines] = set
  end
  if #answer.sets > 1 then
    add(row_text('together', answer.anyOf) .. (kinds and '  without whose code it is' or ''))
  end
  add('')
  for _, warning in ipairs(answer.warnings or {}) do
    add(log.one_line(warning), 'ProfdHint')
  end
  add((kinds and '<CR> keeps a kind of work everywhere, or lets it go · ' or '') .. 'q closes', 'ProfdHint')
  return page
end

---@param words string[]
---@param done fun(page: profd.SetsPage)
local function ask(words, done)
  filters_of.all(function(filters)
    ---@type profd.SetsParams
    local params = {
      profile = session.profile,
      spec = table.concat(vim.list_extend({ 'flat' }, filters), ' | '),
      sets = #words > 0 and vim.tbl_map(set_of, words) or nil,
    }
    client.request(protocol.methods.sets, params, function(result, err)
      if err then
        return log.error(session.sentence(err))
      end
      ---@cast result profd.SetsResult
      if #words == 0 then
        known = vim.tbl_map(function(set)
          return set.name
        end, result.sets)
      end
      done(compose(result, #words == 0, filters))
    end)
  end)
end

--- <CR>: the kind of work as a filter of everything, or not any more.
local function keep()
  local set = shown and #shown.words == 0 and shown.sets[vim.api.nvim_win_get_cursor(0)[1]]
  if not set then
    return log.info('no kind of work on this line')
  end
  kept.keep_kind(set.name)
end

--- The metric, filters, the profile or its file are others now.
function M.refresh()
  window.renew(function()
    return shown
  end, function(at, done)
    ask(at.words, done)
  end, function(at, page)
    at.sets = page.sets
    text_page.write(at.bufnr, page)
  end)
end

--- `:Profd sets [NAME[=PATTERN]...]`
---@param words string[]
function M.show(words)
  session.with_profile(function()
    ask(words, function(page)
      local bufnr = text_page.show('sets', 'Kinds of work', page, {
        { '<CR>', keep, 'keep a kind of work everywhere, or let it go' },
      })
      shown = { bufnr = bufnr, words = words, sets = page.sets }
      local first = next(page.sets) and vim.fn.min(vim.tbl_keys(page.sets)) or 1
      vim.api.nvim_win_set_cursor(0, { first, 0 })
    end)
  end)
end

return M
