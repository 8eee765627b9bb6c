--- The subcommands of `:Profd`: what each does, takes and completes. What does it is loaded when it is used.

local completion = require('profd.completion')
local log = require('profd.log')

---@class profd.Subcommand
---@field help string
---@field run fun(args: string[])
---@field takes? integer arguments at most, 0 by default
---@field spaces? boolean its one argument may have spaces
---@field raw? boolean its argument is all that follows, as it was typed
---@field complete? fun(lead: string, typed: string): string[] `typed`: all that follows the subcommand

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
  return completion.starting_with(lead, { 'buffer' })
end

---@type table<string, profd.Subcommand>
local M = {
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
    complete = completion.profiles_and_files,
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
      require('profd.choose').profile(args[1])
    end,
    complete = function(_, typed)
      -- Names have spaces: what follows the words that are there already.
      return vim.tbl_map(function(label)
        return label:sub(#typed - #typed:match('%S*$') + 1)
      end, completion.starting_with(typed, completion.profiles()))
    end,
  },
  metric = {
    help = 'switch to another metric; without a name, choose one',
    takes = 1,
    run = function(args)
      require('profd.choose').metric(args[1])
    end,
    complete = function(lead)
      return completion.starting_with(lead, completion.metrics())
    end,
  },
  hotspots = {
    help = 'the hottest functions, or lines, in the quickfix list; of a diff what changed most',
    takes = 1,
    run = function(args)
      require('profd.hotspots').show(args[1])
    end,
    complete = function(lead)
      return completion.starting_with(lead, require('profd.hotspots').takes())
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
      return completion.starting_with(lead, require('profd.tree').SHAPES)
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
    complete = completion.profiles_and_files,
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
      return completion.starting_with(lead, require('profd.filters').WORDS[words] or {})
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
      return completion.starting_with(lead, require('profd.sets').names())
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
      return typed:find('%s') and {} or completion.starting_with(lead, require('profd.analyse').names())
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
      return completion.starting_with(lead, require('profd.hotspots').takes())
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
      require('profd.kept').toggle_mine()
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

return M
