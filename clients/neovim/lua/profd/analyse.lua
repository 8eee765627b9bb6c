--- `:Profd analyse`: a script over the profile; what it gives in a buffer, a profile that it makes shown.
local M = {}

local client = require('profd.client')
local log = require('profd.log')
local profiles = require('profd.profiles')
local protocol = require('profd.protocol')
local session = require('profd.session')
local text_page = require('profd.text_page')

local lines_namespace = vim.api.nvim_create_namespace('profd.analyse.lines')
---@type string[] scripts, as far as they are known, for completion
local known = {}

---@param done fun(analyses: profd.AnalysisInfo[])
local function list(done)
  client.request(protocol.methods.analysis_list, vim.empty_dict(), function(result, err)
    if err then
      return log.error(session.sentence(err))
    end
    for _, problem in ipairs(result.problems or {}) do
      log.warn(log.one_line(problem))
    end
    known = vim.tbl_map(function(analysis)
      return analysis.name
    end, result.analyses)
    done(result.analyses)
  end)
end

---@return string[]
function M.names()
  if client.get() then
    local done = false
    list(function()
      done = true
    end)
    vim.wait(200, function()
      return done
    end, 5)
  end
  return known
end

--- What the last script said of lines, at their ends until the numbers are others.
---@class profd.Notes
---@field by_file table<string, profd.AnalysisAnnotation[]>
---@field painted table<integer, boolean> by buffer
---@field of string what is shown when they were made

---@type profd.Notes?
local notes

---@return string
local function shown_now()
  return ('%s %d'):format(session.profile or '', session.revision)
end

---@param bufnr integer
local function paint_notes(bufnr)
  local list = notes and notes.by_file[vim.uri_from_bufnr(bufnr)]
  if not list or notes.painted[bufnr] or not require('profd.hints').is_enabled() then
    return
  end
  notes.painted[bufnr] = true
  local last = vim.api.nvim_buf_line_count(bufnr)
  for _, note in ipairs(list) do
    if note.line < last then
      vim.api.nvim_buf_set_extmark(bufnr, lines_namespace, note.line, 0, {
        virt_text = { { '  ◂ ' .. log.one_line(note.text), 'ProfdNote' } },
        hl_mode = 'combine',
        invalidate = true,
        undo_restore = true,
        priority = 80, -- behind what the line costs
      })
    end
  end
end

local function wipe_notes()
  for bufnr in pairs(notes and notes.painted or {}) do
    if vim.api.nvim_buf_is_valid(bufnr) then
      vim.api.nvim_buf_clear_namespace(bufnr, lines_namespace, 0, -1)
    end
  end
end

local function paint_all_notes()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].buftype == '' then
      paint_notes(bufnr)
    end
  end
end

---@param annotations profd.AnalysisAnnotation[]
local function take_notes(annotations)
  wipe_notes()
  notes = { by_file = {}, painted = {}, of = shown_now() }
  for _, note in ipairs(annotations) do
    if note.uri then
      notes.by_file[note.uri] = notes.by_file[note.uri] or {}
      table.insert(notes.by_file[note.uri], note)
    end
  end
  paint_all_notes()
end

--- The profile or its file are others now, or hints are off or on again.
function M.refresh()
  if not notes then
    return
  elseif notes.of ~= shown_now() then
    wipe_notes()
    notes = nil
  elseif require('profd.hints').is_enabled() then
    paint_all_notes()
  else
    wipe_notes()
    notes.painted = {}
  end
end

vim.api.nvim_create_autocmd('BufReadPost', {
  group = vim.api.nvim_create_augroup('profd.analyse', {}),
  callback = function(event)
    if notes then
      notes.painted[event.buf] = nil
      paint_notes(event.buf)
    end
  end,
})

---@class profd.AnalysisPage: profd.TextPage
---@field places table<integer, profd.AnalysisAnnotation> by 1-based line

---@param page profd.AnalysisPage
---@param made profd.AnalysisTable
local function add_table(page, made)
  local widths, numbers = {}, {}
  for column, about in ipairs(made.columns) do
    widths[column] = vim.api.nvim_strwidth(about.title)
    numbers[column] = #made.rows > 0
    for _, row in ipairs(made.rows) do
      widths[column] = math.max(widths[column], vim.api.nvim_strwidth(row.cells[column]))
      local value = row.values[column]
      if (value == nil or value == vim.NIL) and row.cells[column] ~= '' then
        numbers[column] = false
      end
    end
  end
  local function line(cells)
    local out = {}
    for column, cell in ipairs(cells) do
      local padding = (' '):rep(widths[column] - vim.api.nvim_strwidth(cell))
      out[column] = numbers[column] and padding .. cell or cell .. padding
    end
    return (table.concat(out, '  '):gsub('%s+$', ''))
  end
  page.lines[#page.lines + 1] = ''
  if made.title ~= '' then
    text_page.add(page, made.title, 'ProfdTitle')
  end
  page.lines[#page.lines + 1] = line(vim.tbl_map(function(about)
    return about.title
  end, made.columns))
  for _, row in ipairs(made.rows) do
    page.lines[#page.lines + 1] = line(row.cells)
  end
  if made.left > 0 then
    page.lines[#page.lines + 1] = ('%d more rows'):format(made.left)
  end
end

---@param result profd.AnalysisRunResult
---@return profd.AnalysisPage
function M.compose(result)
  ---@type profd.AnalysisPage
  local page = { lines = {}, marks = {}, places = {} }
  local of = result.opened and ': ' .. log.one_line(result.opened.summary.name) or ''
  text_page.add(page, result.name .. of, 'ProfdTitle')
  for _, text in ipairs(result.text ~= '' and vim.split((result.text:gsub('\n$', '')), '\n') or {}) do
    page.lines[#page.lines + 1] = log.one_line(text)
  end
  for _, made in ipairs(result.tables) do
    add_table(page, made)
  end
  if #result.annotations > 0 then
    page.lines[#page.lines + 1] = ''
  end
  for _, note in ipairs(result.annotations) do
    page.lines[#page.lines + 1] = ('%s:%d: %s'):format(note.file, note.line + 1, note.text)
    page.places[#page.lines] = note
  end
  if result.left > 0 then
    page.lines[#page.lines + 1] = ('%d more notes on lines'):format(result.left)
  end
  page.lines[#page.lines + 1] = ''
  page.lines[#page.lines + 1] = next(page.places) and '<CR> goes to the line of a note · q closes' or 'q closes'
  return page
end

---@param result profd.AnalysisRunResult
local function show(result)
  local page = M.compose(result)
  local function go()
    local note = page.places[vim.api.nvim_win_get_cursor(0)[1]]
    if not note then
      return log.info('no note on this line')
    elseif not note.uri then
      return log.info(('%s is not in the workspace'):format(log.one_line(note.file)))
    end
    require('profd.jump').beside(vim.uri_to_fname(note.uri), note.line + 1)
  end
  text_page.show('analysis', 'Analysis', page, { { '<CR>', go, 'to the line of a note' } })
end

---@param params profd.AnalysisRunParams
local function run(params)
  client.request(protocol.methods.analysis_run, params, function(result, err)
    if err then
      return log.error(session.sentence(err))
    end
    ---@cast result profd.AnalysisRunResult
    if not result.ask then
      if result.opened then
        session.adopt(result.opened)
      end
      take_notes(result.annotations)
      return show(result)
    end
    local yes = 'run it'
    vim.ui.select({ yes, 'no' }, { prompt = log.one_line(result.ask.text), kind = 'profd.analysis' }, function(choice)
      if choice == yes then
        params.trust = result.ask.hash
        run(params)
      end
    end)
  end)
end

--- `NAME [PROFILE...] [ARGUMENT=VALUE...]`: the profile that is shown is the last of those it is of.
---@param analysis profd.AnalysisInfo
---@param words string[]
local function start(analysis, words)
  profiles.list(function(entries)
    local labels = profiles.labels(entries)
    local takes = {}
    for _, argument in ipairs(analysis.arguments) do
      takes[argument.name] = true
    end
    ---@type profd.AnalysisRunParams
    local params = { name = analysis.name, of = {}, arguments = {} }
    for _, word in ipairs(words) do
      local name, value = word:match('^([%w_]+)=(.*)$')
      if name and (takes[name] or not vim.uv.fs_stat(word)) then
        table.insert(params.arguments, { name = name, value = value })
      else
        local part = { uri = session.uri_of(word) }
        for i, entry in ipairs(vim.uv.fs_stat(word) and {} or entries) do
          if word == labels[i] or word == entry.profile then
            part = { profile = entry.profile }
          end
        end
        table.insert(params.of, part)
      end
    end
    if #params.of < analysis.maxProfiles then
      table.insert(params.of, { profile = session.profile })
    end
    run(params)
  end)
end

--- `:Profd analyse [NAME ...]`
---@param words string[]
function M.show(words)
  session.with_profile(function()
    list(function(analyses)
      if words[1] then
        for _, analysis in ipairs(analyses) do
          if analysis.name == words[1] then
            return start(analysis, vim.list_slice(words, 2))
          end
        end
        return log.error(('there is no analysis %s; :Profd analyse lists those there are'):format(words[1]))
      end
      vim.ui.select(analyses, {
        prompt = 'Analysis:',
        kind = 'profd.analysis',
        format_item = function(analysis)
          return ('%s  %s'):format(analysis.name, log.one_line(analysis.title))
        end,
      }, function(analysis)
        if analysis then
          start(analysis, {})
        end
      end)
    end)
  end)
end

return M
