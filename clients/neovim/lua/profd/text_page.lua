--- Pages of text: lines with their highlights, and the buffer that they stand in.
local M = {}

local fit = require('profd.fit')
local keys_of = require('profd.keys')
local log = require('profd.log')
local scratch = require('profd.scratch')
local session = require('profd.session')

local namespace = vim.api.nvim_create_namespace('profd.text_page')

---@class profd.TextPage
---@field lines string[]
---@field marks profd.Mark[]

---@class profd.Amounted an answer that says what its numbers are of
---@field metric string
---@field viewTotal profd.Amount

---@param page profd.TextPage
---@param text string of one line
---@param group? string
---@param from? integer bytes of the text that have the highlight; absent: all
---@param to? integer
function M.add(page, text, group, from, to)
  if group and text ~= '' then
    page.marks[#page.marks + 1] = { line = #page.lines, from = from or 0, to = to or #text, group = group }
  end
  page.lines[#page.lines + 1] = text
end

--- A sentence, in as many lines as it takes.
---@param page profd.TextPage
---@param text string
---@param group? string
---@param width integer
---@param indent? string
function M.add_sentence(page, text, group, width, indent)
  for _, line in ipairs(fit.sentence(log.one_line(text), width - #(indent or ''))) do
    M.add(page, (indent or '') .. line, group)
  end
end

--- What the numbers below are of.
---@param page profd.TextPage
---@param answer profd.Amounted
---@param filters string[]
function M.add_title(page, answer, filters)
  local parts = { ('%s of %s: %s'):format(answer.metric, session.name, answer.viewTotal.text) }
  M.add(page, log.one_line(table.concat(vim.list_extend(parts, filters), ' | ')), 'ProfdTitle')
end

--- Writes a page into its buffer; what was there goes.
---@param bufnr integer
---@param page profd.TextPage
function M.write(bufnr, page)
  scratch.rewrite(bufnr, page.lines)
  scratch.mark(bufnr, namespace, page.marks)
end

--- Shows a page in a buffer of its own, below the code.
---@param name string of the buffer, behind `profd://`
---@param title string of the list of its keys
---@param page profd.TextPage
---@param keys profd.Key[]
---@return integer bufnr
function M.show(name, title, page, keys)
  local bufnr = scratch.show('profd://' .. name, page.lines, { filetype = 'profd-' .. name })
  scratch.mark(bufnr, namespace, page.marks)
  keys_of.map(bufnr, title, keys)
  return bufnr
end

return M
