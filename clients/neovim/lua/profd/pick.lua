--- The hottest places to choose from: by a picker with a preview where one is there, else by vim.ui.select().
local M = {}

local log = require('profd.log')

---@class profd.PickItem
---@field text string
---@field path string
---@field line integer 1-based
---@field outside boolean of a file outside the workspace, which is not opened unasked

---@alias profd.Picker fun(title: string, items: profd.PickItem[], done: fun(item: profd.PickItem))

---@param item profd.PickItem
---@return string
local function place_of(item)
  return ('%s:%d'):format(log.one_line(vim.fn.fnamemodify(item.path, ':~:.')), item.line)
end

---@type profd.Picker
local function with_select(title, items, done)
  vim.ui.select(items, {
    prompt = title .. ':',
    kind = 'profd.place',
    format_item = function(item)
      return item.text .. '  ' .. place_of(item)
    end,
  }, function(item)
    if item then
      done(item)
    end
  end)
end

---@type profd.Picker
local function with_snacks(title, items, done)
  local rows = {}
  for i, item in ipairs(items) do
    rows[i] = { idx = i, score = 0, text = item.text, file = item.path, pos = { item.line, 0 }, place = item }
  end
  require('snacks').picker.pick({
    title = title,
    items = rows,
    format = function(row)
      return { { row.text }, { '  ' .. place_of(row.place), 'Comment' } }
    end,
    confirm = function(picker, row)
      picker:close()
      if row then
        done(row.place)
      end
    end,
  })
end

---@type profd.Picker
local function with_fzf_lua(title, items, done)
  -- The previewer reads the place from the beginning of the row.
  local rows, item_of = {}, {}
  for i, item in ipairs(items) do
    rows[i] = ('%s:1: %s'):format(place_of(item), item.text)
    item_of[rows[i]] = item
  end
  local function confirm(selected)
    local item = selected and item_of[selected[1]]
    if item then
      done(item)
    end
  end
  require('fzf-lua').fzf_exec(rows, {
    prompt = '> ',
    winopts = { title = (' %s '):format(title) },
    previewer = 'builtin',
    actions = { default = confirm },
  })
end

---@type profd.Picker
local function with_telescope(title, items, done)
  local actions, state = require('telescope.actions'), require('telescope.actions.state')
  local config = require('telescope.config').values
  require('telescope.pickers')
    .new({}, {
      prompt_title = title,
      finder = require('telescope.finders').new_table({
        results = items,
        entry_maker = function(item)
          local text = item.text .. '  ' .. place_of(item)
          return { value = item, display = text, ordinal = text, filename = item.path, lnum = item.line, col = 1 }
        end,
      }),
      sorter = config.generic_sorter({}),
      previewer = config.grep_previewer({}),
      attach_mappings = function(prompt)
        actions.select_default:replace(function()
          local entry = state.get_selected_entry()
          actions.close(prompt)
          if entry then
            done(entry.value)
          end
        end)
        return true
      end,
    })
    :find()
end

---@type {name: string, module: string, pick: profd.Picker}[]
local pickers = {
  { name = 'snacks', module = 'snacks', pick = with_snacks },
  { name = 'fzf-lua', module = 'fzf-lua', pick = with_fzf_lua },
  { name = 'telescope', module = 'telescope', pick = with_telescope },
}

--- What `picker` of the settings says; without it one that is loaded, else one that is installed.
---@return profd.Picker?
local function preferred()
  local wanted = require('profd.config').current.picker
  for _, is_there in ipairs({
    function(module)
      return package.loaded[module] ~= nil
    end,
    function(module)
      return (pcall(require, module))
    end,
  }) do
    for _, picker in ipairs(pickers) do
      if (wanted == nil or wanted == picker.name) and is_there(picker.module) then
        return picker.pick
      end
    end
  end
end

---@param item profd.PickItem
local function go_to(item)
  local jump = require('profd.jump')
  if item.outside then
    return require('profd.outside').ask(item.path, function()
      jump.to(item.path, item.line)
    end)
  end
  jump.to(item.path, item.line)
end

--- `:Profd pick [WHAT]`: as `:Profd hotspots` takes it.
---@param what? string
function M.places(what)
  local hotspots = require('profd.hotspots')
  hotspots.ask(what, function(answer)
    local items = {} ---@type profd.PickItem[]
    for _, item in ipairs(hotspots.items(answer.places, answer.sort)) do
      local path = item.filename or item.user_data.outside
      if path then
        items[#items + 1] = {
          text = item.text,
          path = path,
          line = item.filename and item.lnum or item.user_data.line,
          outside = item.filename == nil,
        }
      end
    end
    local title, without = hotspots.title(answer.what, answer.filters), #answer.places - #items
    if #items == 0 then
      return log.info('no source of these is here; :Profd hotspots lists their names')
    end
    title = without > 0 and ('%s (%d more without a source here)'):format(title, without) or title
    local pick = preferred()
    local ok, problem = pcall(pick or with_select, title, items, go_to)
    if not ok then
      log.add('the picker failed: ' .. tostring(problem))
      with_select(title, items, go_to)
    end
  end)
end

return M
