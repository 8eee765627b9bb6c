--- The first glance at a profile, in a buffer.
local M = {}

local client = require('profd.client')
local fit = require('profd.fit')
local jump = require('profd.jump')
local log = require('profd.log')
local protocol = require('profd.protocol')
local session = require('profd.session')
local text_page = require('profd.text_page')

local left, right = fit.left, fit.right
local BAR_WIDTH = 20

---@class profd.SummaryPage: profd.TextPage
---@field places table<integer, profd.HotFunction> by 1-based line

---@param list table[]
---@param text fun(item: table): string
---@return integer
local function widest(list, text)
  local width = 0
  for _, item in ipairs(list) do
    width = math.max(width, vim.api.nvim_strwidth(text(item)))
  end
  return width
end

---@param part number of the longest bar, 0 to 1
---@return string
local function bar(part)
  local eighths = math.floor(math.max(math.min(part, 1), 0) * BAR_WIDTH * 8 + 0.5)
  local parts = { '▏', '▎', '▍', '▌', '▋', '▊', '▉' }
  local text = ('█'):rep(math.floor(eighths / 8)) .. (parts[eighths % 8] or '')
  return left(text, BAR_WIDTH)
end

local ARROW, DOTS = ' → ', '… → '

--- The end of a path, which is where the cost is, as far as it fits; at least the last frame, and the one at `telling`.
---@param frames string[]
---@param width integer
---@param telling? integer
---@return string
local function tail_of(frames, width, telling)
  local strwidth = vim.api.nvim_strwidth
  local text, first = frames[#frames] or '', #frames
  local head = telling and telling < #frames and DOTS .. frames[telling] .. ARROW or ''
  if telling == 1 and head ~= '' then
    head = frames[1] .. ARROW
  end
  while first > 1 do
    local longer = frames[first - 1] .. ARROW .. text
    local before = first == 2 and '' or (telling and telling < first - 1 and head or '') .. DOTS
    if strwidth(before .. longer) > width then
      break
    end
    text, first = longer, first - 1
  end
  if first == 1 then
    return text
  elseif head == '' or telling >= first then
    return DOTS .. text
  end
  return head .. (telling < first - 1 and DOTS or '') .. text
end

--- Paths as lines that differ where the paths do.
---@param paths string[][]
---@param width integer
---@return string[]
function M.path_lines(paths, width)
  local lines, same = {}, {}
  for i, frames in ipairs(paths) do
    lines[i] = tail_of(frames, width)
    same[lines[i]] = same[lines[i]] or {}
    table.insert(same[lines[i]], i)
  end
  for _, rows in pairs(same) do
    local tail = 0 -- frames that all of them end in
    local function all_have(n)
      for _, row in ipairs(rows) do
        local frames = paths[row]
        if not frames[#frames - n + 1] or frames[#frames - n + 1] ~= paths[rows[1]][#paths[rows[1]] - n + 1] then
          return false
        end
      end
      return true
    end
    while #rows > 1 and all_have(tail + 1) do
      tail = tail + 1
    end
    for _, row in ipairs(#rows > 1 and rows or {}) do
      if #paths[row] > tail then
        lines[row] = tail_of(paths[row], width, #paths[row] - tail)
      end
    end
  end
  return lines
end

---@param summary profd.ProfileSummary
---@param tips? profd.Tip[]
---@return profd.SummaryPage
function M.compose(summary, tips)
  ---@type profd.SummaryPage
  local page = { lines = {}, places = {}, marks = {} }
  local clean = log.one_line
  local function add(text, group)
    text_page.add(page, text, group)
  end

  local function add_sentence(indent, text, group)
    text_page.add_sentence(page, text, group, vim.o.columns - 1, indent)
  end

  add(clean(('%s  %s'):format(summary.name, summary.format.text)), 'ProfdTitle')
  local facts = {}
  local function fact(label, value)
    if value and value ~= '' then
      facts[#facts + 1] = clean(label == '' and value or label .. ' ' .. value)
    end
  end
  fact('', summary.program)
  fact('by', summary.profiler)
  fact('', summary.when and summary.when.text)
  fact('for', summary.duration and summary.duration.text)
  add(table.concat(facts, ' · '))
  local counts = {}
  if summary.records.value > 0 then
    counts[1] = summary.records.text .. (summary.records.value == 1 and ' record' or ' records')
  end
  if summary.threads.value > 0 then
    counts[#counts + 1] = summary.threads.text .. ' threads'
  end
  counts[#counts + 1] = summary.functions.text .. ' functions'
  counts[#counts + 1] = summary.contexts.text .. ' contexts'
  add(table.concat(counts, ' · '))
  add('')

  add('Total', 'ProfdTitle')
  local name_width = widest(summary.metrics, function(metric)
    return clean(metric.title or metric.name)
  end)
  local value_width = widest(summary.metrics, function(metric)
    return metric.text
  end)
  for _, metric in ipairs(summary.metrics) do
    local mark = metric.name == summary.metric and '  ← shown' or ''
    add('  ' .. left(clean(metric.title or metric.name), name_width) .. '  ' .. right(metric.text, value_width) .. mark)
  end
  add('')

  -- The totals are of the whole profile, the lists of what the filters leave, as the hints are.
  local passed = clean(table.concat(vim.list_extend({ '' }, summary.filters or {}), ' | '))
  add('Hottest, by self ' .. clean(summary.metric) .. passed, 'ProfdTitle')
  local self_width = widest(summary.hottest, function(hot)
    return hot.self.text
  end)
  for _, hot in ipairs(summary.hottest) do
    local longest = summary.hottest[1].self.value
    local drawn = bar(longest ~= 0 and math.abs(hot.self.value / longest) or 0)
    local cost = ('  %s  %7s  %s  '):format(drawn, hot.self.shareText or '', right(hot.self.text, self_width))
    local room = vim.o.columns - vim.api.nvim_strwidth(cost) - 1
    local row = cost .. fit.name(clean(hot.shortName or hot.name), hot.cuts, room)
    text_page.add(page, row, 'ProfdBar', 2, 2 + #drawn)
    if (hot.uri or hot.outside) and hot.line then
      page.places[#page.lines] = hot
    end
  end
  add('')

  add('Heaviest paths' .. passed, 'ProfdTitle')
  if summary.estimated then
    add_sentence('  ', summary.estimated, 'ProfdHint')
  end
  local path_width = widest(summary.heaviest, function(path)
    return path.amount.text
  end)
  local paths = vim.tbl_map(function(path)
    return vim.tbl_map(clean, path.labels or path.frames)
  end, summary.heaviest)
  local path_lines = M.path_lines(paths, vim.o.columns - path_width - 14)
  for i, path in ipairs(summary.heaviest) do
    add(('  %7s  %s  %s'):format(path.amount.shareText or '', right(path.amount.text, path_width), path_lines[i]))
  end
  if tips and #tips > 0 then
    add('')
    add('Tips' .. passed, 'ProfdTitle')
    for _, tip in ipairs(tips) do
      add_sentence('  ', tip.text .. (tip.boundText and ' ' .. tip.boundText or ''))
      if tip.advice ~= '' then
        add_sentence('    ', tip.advice, 'ProfdHint')
      end
    end
  end
  if summary.missing and #summary.missing > 0 then
    add('')
    add('Missing', 'ProfdTitle')
    for _, part in ipairs(summary.missing) do
      if math.abs(part.amount.share or 0) >= 0.01 then
        add_sentence('  ', part.text)
        add_sentence('    ', part.advice, 'ProfdHint')
      end
    end
  end
  if #summary.report > 0 then
    add('')
    add('In reading it', 'ProfdTitle')
    for _, row in ipairs(summary.report) do
      add_sentence('  ', row.message, row.severity ~= 'info' and 'WarningMsg' or nil)
    end
  end
  add('')
  add('<CR> goes to the source of a function · q closes', 'ProfdHint')
  return page
end

---@param summary profd.ProfileSummary
---@param tips profd.Tip[]
local function show(summary, tips)
  local page = M.compose(summary, tips)
  local function go()
    local place = page.places[vim.api.nvim_win_get_cursor(0)[1]]
    if place and place.uri then
      jump.beside(vim.uri_to_fname(place.uri), place.line)
    elseif place then
      require('profd.outside').ask(place.outside, function()
        jump.beside(place.outside, place.line)
      end)
    else
      log.info('no source to go to on this line')
    end
  end
  text_page.show('summary', 'First glance', page, { { '<CR>', go, 'to the source of a function' } })
end

--- `:Profd summary`
function M.show()
  session.with_profile(function()
    ---@type profd.ProfileSummaryParams
    local params = { profile = session.profile, workspaceFilters = true }
    client.request(protocol.methods.profile_summary, params, function(result, err)
      if err then
        return log.error(session.sentence(err))
      end
      client.request(protocol.methods.tips, { profile = session.profile, workspaceFilters = true }, function(answer)
        show(result, answer and answer.tips or {})
      end)
    end)
  end)
end

return M
