--- Everything known of a line, in a window beside it.
local M = {}

local client = require('profd.client')
local log = require('profd.log')
local protocol = require('profd.protocol')
local session = require('profd.session')

local namespace = vim.api.nvim_create_namespace('profd.hover')

--- Follows the link under the cursor, or the first one of its line.
---@param links profd.Link[]
local function follow(links)
  local cursor = vim.api.nvim_win_get_cursor(0)
  local target
  for _, link in ipairs(links) do
    if link.line == cursor[1] - 1 then
      target = target or link
      if cursor[2] >= link.from and cursor[2] < link.to then
        target = link
        break
      end
    end
  end
  local uri, lnum = (target and target.uri or ''):match('^(file://.-)#L(%d+)$')
  uri = uri or (target and target.uri:match('^file://.*'))
  if not uri then
    return log.info('no source to go to on this line')
  end
  vim.api.nvim_win_close(0, true)
  require('profd.jump').to(vim.uri_to_fname(uri), tonumber(lnum))
end

--- The hover that is open, and what it was asked for: it follows the numbers.
---@class profd.ShownHover
---@field window integer
---@field source integer buffer
---@field params profd.SourceHoverParams
---@type profd.ShownHover?
local shown

---@return integer?
local function open_hover()
  if shown and not vim.api.nvim_win_is_valid(shown.window) then
    shown = nil
  end
  return shown and shown.window
end

local function max_width()
  return math.floor(vim.o.columns * 0.9)
end

---@param hover profd.HoverPage
---@return profd.Page
local function page_of(hover)
  local pages = require('profd.hover_page')
  return pages.fold(pages.lay_out(hover), max_width())
end

---@param bufnr integer
---@param page profd.Page whose lines stand in the buffer
local function decorate(bufnr, page)
  require('profd.scratch').mark(bufnr, namespace, page.marks)
  vim.keymap.set('n', '<CR>', function()
    follow(page.links)
  end, { buffer = bufnr, desc = 'go to the function' })
end

--- A name that is wider than the window goes on below, and the window is as high as that takes.
---@param winnr integer
local function fit(winnr)
  local wo = vim.wo[winnr]
  wo.wrap, wo.linebreak, wo.breakindent, wo.breakindentopt = true, true, true, 'shift:2'
  local room = math.max(1, vim.o.lines - vim.o.cmdheight - 4)
  local height = vim.api.nvim_win_text_height(winnr, {}).all
  vim.api.nvim_win_set_height(winnr, math.min(height, room))
end

--- A second one goes into the window of the first, as with K.
---@param hover profd.HoverPage
---@param params profd.SourceHoverParams
---@return integer bufnr, integer winnr
function M.open_window(hover, params)
  local before = open_hover()
  if before then
    -- Neovim would go there and keep what it shows, which is of an earlier question.
    vim.api.nvim_win_close(before, true)
  end
  local source = vim.api.nvim_get_current_buf()
  local page = page_of(hover)
  local bufnr, winnr = vim.lsp.util.open_floating_preview(page.lines, 'text', {
    focus_id = 'profd.hover',
    border = vim.fn.has('nvim-0.11') == 1 and vim.o.winborder ~= '' and vim.o.winborder or 'rounded',
    max_width = max_width(),
  })
  shown = { window = winnr, source = source, params = params }
  decorate(bufnr, page)
  fit(winnr)
  if before then
    vim.api.nvim_set_current_win(winnr)
  end
  return bufnr, winnr
end

--- What is open says the numbers of now.
function M.refresh()
  local window = open_hover()
  if not window then
    return
  end
  local asked = shown --[[@as profd.ShownHover]]
  local function close()
    if shown == asked and vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
  end
  if not session.profile then
    return close()
  end
  client.request(protocol.methods.source_hover, asked.params, function(result, err)
    if shown ~= asked or not vim.api.nvim_win_is_valid(window) then
      return
    end
    if err or not result then
      return close()
    end
    local page, bufnr = page_of(result), vim.api.nvim_win_get_buf(window)
    require('profd.scratch').rewrite(bufnr, page.lines)
    decorate(bufnr, page)
    fit(window)
  end, asked.source)
end

---@param bufnr integer
---@param params profd.SourceHoverParams
---@param nothing fun() nothing was measured there
local function ask(bufnr, params, nothing)
  client.request(protocol.methods.source_hover, params, function(result, err)
    if err then
      return log.error(session.sentence(err))
    end
    if vim.api.nvim_get_current_buf() ~= bufnr then
      return
    end
    if result then
      M.open_window(result, params)
    else
      nothing()
    end
  end, bufnr)
end

--- Says that a line has no costs, and what the function around it has.
---@param bufnr integer
---@param params profd.SourceHoverParams
local function tell_nothing(bufnr, params)
  local said = 'nothing was measured on this line'
  ---@type profd.SourceFunctionsParams
  local where = { profile = session.profile, textDocument = params.textDocument, line = params.position.line }
  client.request(protocol.methods.source_functions, where, function(result)
    local around = result and result.functions[1]
    if around then
      local name, total = log.one_line(around.shortName or around.name), around.total
      said = ('%s; all of %s: %s%s'):format(said, name, total.text, total.shareText and ' · ' .. total.shareText or '')
    end
    log.info(said)
  end, bufnr)
end

--- `:Profd hover`
function M.show()
  local window = vim.api.nvim_get_current_win()
  local bufnr = vim.api.nvim_win_get_buf(window)
  if window == open_hover() then
    return -- in the hover itself
  end
  session.with_profile(function()
    if not client.attach(bufnr) then
      return log.warn('no file stands here; open a source file first')
    end
    local here = vim.api.nvim_get_current_win() == window and vim.api.nvim_win_get_buf(window) == bufnr
    if not here then
      return
    end
    local params = vim.lsp.util.make_position_params(window, client.get().offset_encoding)
    ask(bufnr, params, function()
      tell_nothing(bufnr, params)
    end)
  end)
end

--- Other servers that answer hovers in a buffer.
---@param bufnr integer
---@return boolean
local function others_hover(bufnr)
  for _, other in ipairs(vim.lsp.get_clients({ bufnr = bufnr, method = 'textDocument/hover' })) do
    if other.name ~= 'profd' then
      return true
    end
  end
  return false
end

-- The text below an open hover was changed, here or by others: what it says of its line may be another thing now.
vim.api.nvim_create_autocmd('User', {
  group = vim.api.nvim_create_augroup('profd.hover', {}),
  pattern = 'ProfdHints',
  callback = function(event)
    if open_hover() and shown and shown.source == event.data.buf then
      M.refresh()
    end
  end,
})

-- K before 0.11 shows one answer, the last one. A language server's goes before the costs, which :Profd hover shows.
-- What came is a text for any editor; the window is laid out from the parts.
client.handle(protocol.methods.hover, function(_, result, ctx)
  if vim.api.nvim_get_current_buf() ~= ctx.bufnr or others_hover(ctx.bufnr) then
    return
  end
  local function nothing()
    vim.notify('No information available')
  end
  if not result then
    return nothing()
  end
  ask(ctx.bufnr, { textDocument = ctx.params.textDocument, position = ctx.params.position }, nothing)
end)

return M
