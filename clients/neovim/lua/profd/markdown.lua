--- The Markdown of the server's hovers as plain lines with highlights: escapes gone, tables aligned, links known.
--- Text stays text: whatever a profile's names hold, nothing of it is read a second time.
local M = {}

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

---@class profd.Span part of a line
---@field from integer byte
---@field to integer byte after the last
---@field group? string
---@field uri? string

--- Where the run of exactly `n` backticks starts that closes a code span; nothing in between is markup.
---@param source string
---@param from integer
---@param n integer
---@return integer?
local function code_end(source, from, n)
  while true do
    local first, last = source:find('`+', from)
    if not first then
      return nil
    end
    if last - first + 1 == n then
      return first
    end
    from = last + 1
  end
end

--- One line without its markup.
---@param source string
---@return string text
---@return profd.Span[]
local function inline(source)
  local out, spans, length = {}, {}, 0
  local strong, emphasis, link ---@type integer?, integer?, integer?
  local at = 1
  local function put(text)
    out[#out + 1] = text
    length = length + #text
  end
  local function close(from, group)
    spans[#spans + 1] = { from = from, to = length, group = group }
  end
  while at <= #source do
    local char = source:sub(at, at)
    if char == '\\' and source:find('^%p', at + 1) then
      put(source:sub(at + 1, at + 1))
      at = at + 2
    elseif char == '`' then
      local fence = source:match('^`+', at)
      local stop = code_end(source, at + #fence, #fence)
      local text = stop and source:sub(at + #fence, stop - 1) or fence
      if stop and text:find('^ .* $') and text:find('[^ ]') then
        text = text:sub(2, -2)
      end
      put(text)
      at = stop and stop + #fence or at + #fence
    elseif source:find('^%*%*', at) then
      if strong then
        close(strong, 'ProfdTitle')
      end
      strong = not strong and length or nil
      at = at + 2
    elseif char == '*' then
      if emphasis then
        close(emphasis, 'ProfdHint')
      end
      emphasis = not emphasis and length or nil
      at = at + 1
    elseif char == '[' and not link then
      link = length
      at = at + 1
    elseif char == ']' and link then
      local uri = source:match('^%]%(([^%s)]*)%)', at)
      if uri then
        spans[#spans + 1] = { from = link, to = length, uri = uri, group = 'ProfdLink' }
        at = at + #uri + 3
      else
        put(char)
        at = at + 1
      end
      link = nil
    else
      local text = source:match('^[^\\`%*%[%]]+', at) or char
      put(text)
      at = at + #text
    end
  end
  return (table.concat(out):gsub('%c', ' ')), spans
end

---@param source string a row of a table
---@return string[] cells, as Markdown
local function cells_of(source)
  local result, from, at = {}, 1, 1
  source = vim.trim(source):gsub('^|', ''):gsub('|$', '')
  while at <= #source do
    local char = source:sub(at, at)
    if char == '\\' then
      at = at + 1
    elseif char == '|' then
      result[#result + 1] = source:sub(from, at - 1)
      from = at + 1
    end
    at = at + 1
  end
  result[#result + 1] = source:sub(from)
  for i, cell in ipairs(result) do
    result[i] = vim.trim(cell):gsub('\\|', '|') -- an escape of the table's, even inside code
  end
  return result
end

---@param sources string[] rows: names, alignments, values
---@param add fun(text: string, spans: profd.Span[])
local function render_table(sources, add)
  local rows, widths, right = {}, {}, {}
  for r, source in ipairs(sources) do
    local cells = cells_of(source)
    if r == 2 then
      for c, cell in ipairs(cells) do
        right[c] = cell:find('^%-+:$') ~= nil
      end
    else
      rows[#rows + 1] = vim.tbl_map(function(cell)
        return (inline(cell))
      end, cells)
      for c, cell in ipairs(rows[#rows]) do
        widths[c] = math.max(widths[c] or 0, vim.api.nvim_strwidth(cell))
      end
    end
  end
  for r, row in ipairs(rows) do
    local parts = {}
    for c, width in ipairs(widths) do
      local cell = row[c] or ''
      local space = (' '):rep(width - vim.api.nvim_strwidth(cell))
      parts[c] = right[c] and space .. cell or cell .. space
    end
    local text = table.concat(parts, '  '):gsub('%s+$', '')
    add(text, r == 1 and { { from = 0, to = #text, group = 'ProfdHint' } } or {})
  end
end

---@param source string
---@return profd.Page
function M.render(source)
  ---@type profd.Page
  local page = { lines = {}, marks = {}, links = {} }
  local function add(text, spans)
    local line = #page.lines
    page.lines[line + 1] = text
    for _, span in ipairs(spans) do
      page.marks[#page.marks + 1] = { line = line, from = span.from, to = span.to, group = span.group }
      if span.uri then
        page.links[#page.links + 1] = { line = line, from = span.from, to = span.to, uri = span.uri }
      end
    end
  end
  local rows = {}
  local function flush()
    if #rows > 0 then
      render_table(rows, add)
      rows = {}
    end
  end
  for _, line in ipairs(vim.split(source, '\n', { trimempty = true })) do
    if line:match('^%s*|') then
      rows[#rows + 1] = line
    else
      flush()
      add(inline(line))
    end
  end
  flush()
  return page
end

local SEPARATOR, INDENT = ' · ', '  '

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
