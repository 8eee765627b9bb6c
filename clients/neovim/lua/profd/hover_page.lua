--- What the server says of a line as lines with highlights: numbers aligned, links known, lists folded to the window.
--- Text stays text: nothing of it is read.
local M = {}

local log = require('profd.log')

---@class profd.Mark
---@field line integer 0-based
---@field from integer byte
---@field to integer byte after the last
---@field group string

---@class profd.Link
---@field line integer 0-based
---@field from integer byte
---@field to integer byte after the last
---@field uri string

---@class profd.Page
---@field lines string[]
---@field marks profd.Mark[]
---@field links profd.Link[]

local SEPARATOR, INDENT = ' · ', '  '

--- Puts a page together, piece by piece.
---@return profd.Page
---@return fun(pieces: profd.Piece[]) add a line
local function new_page()
  ---@type profd.Page
  local page = { lines = {}, marks = {}, links = {} }
  return page,
    function(pieces)
      local text, line = '', #page.lines
      for _, piece in ipairs(pieces) do
        local from = #text
        text = text .. log.one_line(piece.text)
        if piece.group then
          page.marks[#page.marks + 1] = { line = line, from = from, to = #text, group = piece.group }
        end
        if piece.uri then
          page.links[#page.links + 1] = { line = line, from = from, to = #text, uri = piece.uri }
        end
      end
      page.lines[line + 1] = text
    end
end

---@class profd.Piece part of a line
---@field text string
---@field group? string
---@field uri? string

--- The metrics as a table: the name on the left, numbers on the right.
---@param rows profd.HoverRow[]
---@param add fun(pieces: profd.Piece[])
local function add_rows(rows, add)
  local of_diff = rows[1].change ~= nil
  local head = of_diff and { 'metric', 'before', 'after', 'change' } or { 'metric', 'self', 'total', 'share' }
  local cells, widths = { head }, { 0, 0, 0, 0 }
  local function add_cells(row)
    cells[#cells + 1] = vim.tbl_map(log.one_line, row)
  end
  for _, row in ipairs(rows) do
    local change = row.change
    if change then
      add_cells({ row.metric, change.totalBefore, row.total, change.totalChange })
      add_cells({ row.metric .. ' self', change.selfBefore, row.self, change.selfChange })
    else
      add_cells({ row.metric, row.self, row.total, row.share })
    end
  end
  for _, row in ipairs(cells) do
    for c, cell in ipairs(row) do
      widths[c] = math.max(widths[c], vim.api.nvim_strwidth(cell))
    end
  end
  for r, row in ipairs(cells) do
    local parts = {}
    for c, cell in ipairs(row) do
      local space = (' '):rep(widths[c] - vim.api.nvim_strwidth(cell))
      parts[c] = c == 1 and cell .. space or space .. cell
    end
    add({ { text = table.concat(parts, '  '), group = r == 1 and 'ProfdHint' or nil } })
  end
end

---@param list profd.HoverList
---@return profd.Piece[]
local function list_pieces(list)
  local pieces = { { text = list.title .. ': ' } }
  for i, entry in ipairs(list.entries) do
    local link = entry.uri and (entry.line and ('%s#L%d'):format(entry.uri, entry.line) or entry.uri)
    pieces[#pieces + 1] = { text = i > 1 and SEPARATOR or '' }
    pieces[#pieces + 1] = { text = entry.name, group = link and 'ProfdLink' or nil, uri = link }
    pieces[#pieces + 1] = { text = ' ' .. entry.share }
  end
  if list.more > 0 then
    pieces[#pieces + 1] = { text = ('%s%d more'):format(SEPARATOR, list.more) }
  end
  return pieces
end

---@param hover profd.HoverPage
---@return profd.Page
function M.lay_out(hover)
  local page, add = new_page()
  --- Parts stand apart.
  local function part(pieces)
    if #page.lines > 0 then
      add({})
    end
    if pieces then
      add(pieces)
    end
  end
  if hover.name then
    local place = hover.place .. (hover.inlined and ' (inlined)' or '')
    local others = hover.others > 0 and (' and %d more here'):format(hover.others) or ''
    part({ { text = hover.name, group = 'ProfdTitle' }, { text = ' ' .. place .. others } })
  end
  for _, note in ipairs(hover.notes) do
    part({ { text = note } })
  end
  if #hover.rows > 0 then
    part()
    add_rows(hover.rows, add)
  end
  for _, remark in ipairs(hover.remarks) do
    part({ { text = remark } })
  end
  for _, list in ipairs(hover.lists) do
    part(list_pieces(list))
  end
  for _, tip in ipairs(hover.tips or {}) do
    part({ { text = 'Tip: ', group = 'ProfdTitle' }, { text = tip } })
  end
  part({ { text = hover.foot, group = 'ProfdHint' } })
  return page
end

--- Where a line that is too wide goes on below: after the last item of its list that fits, or the first one.
---@param text string
---@param width integer
---@return integer? from, integer? to bytes of what is left out there
local function fold_at(text, width)
  local best_from, best_to
  local at = 1
  while true do
    local from, to = text:find(SEPARATOR, at, true)
    if not from or (best_from and vim.api.nvim_strwidth(text:sub(1, from + 2)) > width) then
      return best_from, best_to
    end
    best_from, best_to = from - 1, to
    at = to + 1
  end
end

--- The page with lists that are wider than the window going on below, between their items.
---@param page profd.Page
---@param width integer in columns
---@return profd.Page
function M.fold(page, width)
  ---@type profd.Page
  local out = { lines = {}, marks = {}, links = {} }
  for number, text in ipairs(page.lines) do
    -- What begins at `start` of the line as it was stands `shift` bytes further right.
    local start, shift = 0, 0
    while text do
      local from, to
      if vim.api.nvim_strwidth(text) > width then
        from, to = fold_at(text, width)
      end
      local line = #out.lines
      out.lines[line + 1] = from and text:sub(1, from) .. ' ·' or text
      local stop = from and start + from - shift or math.huge
      for _, list in ipairs({ 'marks', 'links' }) do
        for _, span in ipairs(page[list]) do
          if span.line == number - 1 and span.from >= start and span.from < stop then
            local moved = vim.deepcopy(span)
            moved.line = line
            moved.from = span.from - start + shift
            moved.to = math.min(span.to - start + shift, #out.lines[line + 1])
            table.insert(out[list], moved)
          end
        end
      end
      if not from then
        break
      end
      start, text, shift = start + to - shift, INDENT .. text:sub(to + 1), #INDENT
    end
  end
  return out
end

return M
