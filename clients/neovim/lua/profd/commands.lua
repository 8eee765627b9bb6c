--- `:Profd`, its subcommands and their completion.
local M = {}

local log = require('profd.log')

---@class profd.Subcommand
---@field help string
---@field run fun(args: string[])
---@field takes? integer arguments at most, 0 by default
---@field spaces? boolean its one argument may have spaces
---@field raw? boolean its argument is all that follows, as it was typed
---@field complete? fun(lead: string, typed: string): string[] `typed`: all that follows the subcommand

---@type string[] metrics of the profile, as far as they are known, for completion
local known_metrics = {}
---@type string[] the open profiles, likewise
local known_profiles = {}

---@param lead string
---@param words string[]
---@return string[]
local function starting_with(lead, words)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
end

--- Completion must answer at once: it asks, and gives what the last answer said.
---@param start fun(done: fun())
local function wait_for_completion(start)
  local done = false
  start(function()
    done = true
  end)
  vim.wait(200, function()
    return done
  end, 5)
end

local function metrics_for_completion()
  local client, session = require('profd.client'), require('profd.session')
  if session.profile and client.get() then
    wait_for_completion(function(done)
      client.request('metric/list', { profile = session.profile }, function(result)
        known_metrics = vim.tbl_map(function(metric)
          return metric.name
        end, result and result.metrics or {})
        done()
      end)
    end)
  end
  return known_metrics
end

local function profiles_for_completion()
  local session = require('profd.session')
  if require('profd.client').get() then
    wait_for_completion(function(done)
      session.profiles(function(entries)
        known_profiles = session.labels(entries)
        done()
      end)
    end)
  end
  return known_profiles
end

--- As a word of the command line, and back.
---@param word string
---@return string
local function escaped(word)
  return (word:gsub('[\\ ]', '\\%0'))
end

---@param word string
---@return string
local function unescaped(word)
  return (word:gsub('\\(.)', '%1'))
end

--- Open profiles and files.
---@param lead string
---@return string[]
local function profile_words(lead)
  local word = unescaped(lead)
  local found = starting_with(word, profiles_for_completion())
  return vim.tbl_map(escaped, vim.list_extend(found, vim.fn.getcompletion(word, 'file')))
end

--- Runs for the current buffer or for all, as the argument says.
---@param name string
---@param scope? string
---@param action fun(bufnr?: integer)
local function scoped(name, scope, action)
  if scope and scope ~= 'buffer' then
    return log.error((':Profd %s takes `buffer`, or nothing: then it is for all'):format(name))
  end
  action(scope and vim.api.nvim_get_current_buf() or nil)
end

---@param bufnr? integer
local function toggle(bufnr)
  local hints = require('profd.hints')
  if hints.is_enabled(bufnr) then
    return hints.set_enabled(false, bufnr)
  end
  require('profd.session').with_profile(function()
    hints.set_enabled(true, bufnr)
  end)
end

---@param lead string
---@return string[]
local function complete_scope(lead)
  return starting_with(lead, { 'buffer' })
end

---@type table<string, profd.Subcommand>
M.subcommands = {
  open = {
    help = 'open a profile and show its costs beside the code',
    takes = 1,
    spaces = true,
    run = function(args)
      if not args[1] then
        return log.error(':Profd open needs a file, for example :Profd open cpu.pprof')
      end
      require('profd.session').open(args[1])
    end,
    complete = function(lead)
      return vim.fn.getcompletion(lead, 'file')
    end,
  },
  diff = {
    help = 'what became of a profile: before, after; without them, choose',
    takes = 2,
    run = function(args)
      if #args == 1 then
        return log.error(':Profd diff takes two profiles, before and after, or none: then you choose')
      end
      require('profd.diff').show(args[1], args[2])
    end,
    complete = profile_words,
  },
  close = {
    help = 'close the profile',
    run = function()
      require('profd.session').close()
    end,
  },
  select = {
    help = 'show another of the open profiles; without a name, choose one',
    takes = 1,
    spaces = true,
    run = function(args)
      require('profd.session').select(args[1])
    end,
    complete = function(_, typed)
      -- Names have spaces: what follows the words that are there already.
      return vim.tbl_map(function(label)
        return label:sub(#typed - #typed:match('%S*$') + 1)
      end, starting_with(typed, profiles_for_completion()))
    end,
  },
  metric = {
    help = 'switch to another metric; without a name, choose one',
    takes = 1,
    run = function(args)
      require('profd.session').set_metric(args[1])
    end,
    complete = function(lead)
      return starting_with(lead, metrics_for_completion())
    end,
  },
  hotspots = {
    help = 'the hottest functions, or lines, in the quickfix list; of a diff what changed most',
    takes = 1,
    run = function(args)
      require('profd.hotspots').show(args[1])
    end,
    complete = function(lead)
      return starting_with(lead, require('profd.hotspots').takes())
    end,
  },
  hover = {
    help = 'all costs, callers and callees of the line',
    run = function()
      require('profd.hover').show()
    end,
  },
  annotate = {
    help = 'a function as instructions, with what each costs; without a name, the one the cursor is in',
    takes = 1,
    spaces = true,
    run = function(args)
      require('profd.annotate').show(args[1])
    end,
  },
  report = {
    help = 'functions and where within them their cost is, as a report; with a name, that function alone',
    takes = 1,
    spaces = true,
    run = function(args)
      require('profd.report').show(args[1])
    end,
  },
  within = {
    help = 'where within a function its own cost is; without a name, the one the cursor is in',
    takes = 1,
    spaces = true,
    run = function(args)
      require('profd.report').within(args[1])
    end,
  },
  flame = {
    help = 'a flame graph as wide as the window',
    run = function()
      require('profd.flame').show()
    end,
  },
  tree = {
    help = 'calls as a tree: top-down, bottom-up; functions as a table: flat',
    takes = 1,
    run = function(args)
      require('profd.tree').show(args[1])
    end,
    complete = function(lead)
      return starting_with(lead, require('profd.tree').SHAPES)
    end,
  },
  callers = {
    help = 'who leads to a function, as a tree; without a name, to the one under the cursor',
    takes = 1,
    spaces = true,
    run = function(args)
      require('profd.tree').callers(args[1])
    end,
  },
  callees = {
    help = 'where a function leads, as a tree; without a name, the one under the cursor',
    takes = 1,
    spaces = true,
    run = function(args)
      require('profd.tree').callees(args[1])
    end,
  },
  changes = {
    help = 'the functions by what became of them since the run before, or in a diff, both sides beside each other',
    run = function()
      require('profd.tree').changes()
    end,
  },
  aggregate = {
    help = 'several profiles of one program as one, with how their values lie',
    takes = math.huge,
    run = function(args)
      require('profd.aggregate').show(args)
    end,
    complete = profile_words,
  },
  filter = {
    help = 'look through a filter everywhere; without one, choose which to let go',
    takes = 1,
    spaces = true,
    run = function(args)
      require('profd.filters').run(args[1])
    end,
    complete = function(lead, typed)
      local words = #vim.split(typed, '%s+')
      return starting_with(lead, require('profd.filters').WORDS[words] or {})
    end,
  },
  undo = {
    help = 'take the last change of the filters back',
    run = function()
      require('profd.filters').undo()
    end,
  },
  redo = {
    help = 'make the change again that was taken back',
    run = function()
      require('profd.filters').redo()
    end,
  },
  timeline = {
    help = 'when things ran: the load of every thread, flame charts over time',
    run = function()
      require('profd.timeline').show()
    end,
  },
  sets = {
    help = 'how much is of which kind of work, or of sets of your own: NAME=PATTERN, or a name',
    takes = math.huge,
    run = function(args)
      require('profd.sets').show(args)
    end,
    complete = function(lead)
      return starting_with(lead, require('profd.sets').names())
    end,
  },
  correlate = {
    help = 'of records of several contexts, what goes with what; with two names, of these roles',
    takes = 2,
    run = function(args)
      if #args == 1 then
        return log.error(':Profd correlate takes two roles, or none: then it takes the last two')
      end
      require('profd.correlate').show(args)
    end,
  },
  analyse = {
    help = 'run a script over the profile; without a name, choose one',
    takes = math.huge,
    run = function(args)
      require('profd.analyse').show(args)
    end,
    complete = function(lead, typed)
      return typed:find('%s') and {} or starting_with(lead, require('profd.analyse').names())
    end,
  },
  summary = {
    help = 'the first glance at the profile',
    run = function()
      require('profd.summary').show()
    end,
  },
  clear = {
    help = 'take the hints off the code; `buffer`: of this buffer alone',
    takes = 1,
    run = function(args)
      scoped('clear', args[1], function(bufnr)
        require('profd.hints').set_enabled(false, bufnr)
      end)
    end,
    complete = complete_scope,
  },
  toggle = {
    help = 'hints off, or on again; `buffer`: in this buffer alone',
    takes = 1,
    run = function(args)
      scoped('toggle', args[1], toggle)
    end,
    complete = complete_scope,
  },
  next = {
    help = 'to the next line with a hint',
    run = function()
      require('profd.jump').hot_line(1)
    end,
  },
  prev = {
    help = 'to the line with a hint before this one',
    run = function()
      require('profd.jump').hot_line(-1)
    end,
  },
  hottest = {
    help = 'to the hottest line of the file',
    run = function()
      require('profd.jump').hottest_line()
    end,
  },
  pick = {
    help = 'the hottest functions, or lines, of a diff what changed most, to choose from and go to',
    takes = 1,
    run = function(args)
      require('profd.pick').places(args[1])
    end,
    complete = function(lead)
      return starting_with(lead, require('profd.hotspots').takes())
    end,
  },
  record = {
    help = 'run a command under a profiler and show what it costs; `again`, or record!: the last one once more',
    takes = 1,
    raw = true,
    run = function(args)
      require('profd.record').run(args[1])
    end,
    complete = function(lead, typed)
      return vim.fn.getcompletion(lead, typed:find('%s') and 'file' or 'shellcmd')
    end,
  },
  ['record!'] = {
    help = 'run the command that was recorded last once more',
    run = function()
      require('profd.record').again()
    end,
  },
  recordings = {
    help = 'what was recorded here, to choose from',
    run = function()
      require('profd.record').pick()
    end,
  },
  mine = {
    help = 'my code only, or all of it again',
    run = function()
      require('profd.session').toggle_mine()
    end,
  },
  reload = {
    help = 'read the profile again',
    run = function()
      require('profd.session').reload()
    end,
  },
  log = {
    help = 'what profd said',
    run = function()
      log.show()
    end,
  },
}

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
    return starting_with(lead, names())
  end
  local subcommand = M.subcommands[name]
  local typed = before:gsub('^%S+%s+', '', 1)
  return subcommand and subcommand.complete and subcommand.complete(lead, typed) or {}
end

return M
