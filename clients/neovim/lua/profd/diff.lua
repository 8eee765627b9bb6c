--- `:Profd diff`: what became of a profile, opened as a profile.
local M = {}

local client = require('profd.client')
local log = require('profd.log')
local profiles = require('profd.profiles')
local protocol = require('profd.protocol')
local session = require('profd.session')

--- A file that is there goes before an open profile that is called the same.
---@param name string a path, a URI, the name or handle of an open profile
---@param entries profd.ProfileListEntry[]
---@return profd.ComposedPart
function M.part_of(name, entries)
  if not vim.uv.fs_stat(name) then
    local labels = profiles.labels(entries)
    for i, entry in ipairs(entries) do
      if name == labels[i] or name == entry.profile then
        return { profile = entry.profile }
      end
    end
  end
  return { uri = session.uri_of(name) }
end

--- Both totals, the change, whose, and what speaks against comparing them.
---@param summary profd.ProfileSummary
local function tell(summary)
  ---@type profd.TableParams
  local params = { profile = summary.profile, spec = 'flat by function', limit = 1 }
  client.request(protocol.methods.table, params, function(result, err)
    if err then
      return log.error(session.sentence(err))
    end
    local sides = result.sides
    local doubtful = #sides.warnings > 0
    local notes = vim.list_extend(vim.list_slice(sides.warnings), { sides.scale })
    local say = doubtful and log.warn or log.info
    say(('%s: %s; %s'):format(require('profd.changes').total(sides), summary.name, table.concat(notes, '; ')))
  end)
end

---@param before profd.ComposedPart
---@param after profd.ComposedPart
local function compare(before, after)
  session.open_diff(before, after, tell)
end

--- Asks for one of those that are open, of which diffs are none, or a file.
---@param prompt string
---@param entries profd.ProfileListEntry[]
---@param labels string[]
---@param without? string the handle of one that is not offered
---@param again? profd.RecordedAgainResult the recording before this one is offered first
---@param done fun(part: profd.ComposedPart|'previous')
local function pick(prompt, entries, labels, without, again, done)
  local items = again and { 'previous' } or {} ---@type (integer|'file'|'previous')[]
  for i, entry in ipairs(entries) do
    if entry.profile ~= without and entry.format ~= 'diff' then
      items[#items + 1] = i
    end
  end
  items[#items + 1] = 'file'
  vim.ui.select(items, {
    prompt = prompt,
    kind = 'profd.profile',
    format_item = function(i)
      if i == 'file' then
        return 'A file …'
      elseif i == 'previous' then
        return session.name .. ' before it was recorded again'
      end
      local total = entries[i].total
      return labels[i] .. (total and ('  %s %s'):format(total.text, log.one_line(entries[i].metric or '')) or '')
    end,
  }, function(i)
    if i == 'file' then
      vim.ui.input({ prompt = prompt .. ' ', completion = 'file' }, function(path)
        if path and path ~= '' then
          done(M.part_of(path, entries))
        end
      end)
    elseif i == 'previous' then
      done(i)
    elseif i then
      done({ profile = entries[i].profile })
    end
  end)
end

--- What was recorded by `profd record` names the run before of its command; other files are what they were before.
---@param done fun(before: profd.ComposedPart)
local function find_before(done)
  client.request(protocol.methods.recording_list, vim.empty_dict(), function(result)
    for _, recording in ipairs(result and result.recordings or {}) do
      if recording.uri == session.uri and recording.before then
        return done({ uri = recording.before })
      end
    end
    client.request(protocol.methods.recorded_again, { profile = session.profile }, function(again, err)
      if err then
        return log.warn(('no run before %s is known; :Profd diff compares any two'):format(session.name))
      end
      done({ uri = again.before, member = again.member })
    end)
  end)
end

--- Opens what became of the run before the profile that is shown.
---@param done fun()
function M.since_before(done)
  find_before(function(before)
    session.open_diff(before, { profile = session.profile }, function(summary)
      tell(summary)
      done()
    end)
  end)
end

--- `:Profd diff [BEFORE AFTER]`
---@param before? string
---@param after? string
function M.show(before, after)
  profiles.list(function(entries)
    if before and after then
      return compare(M.part_of(before, entries), M.part_of(after, entries))
    end
    local labels = profiles.labels(entries)
    local again = session.recorded_again
    pick('Before:', entries, labels, nil, again, function(first)
      if again and first == 'previous' then
        return compare({ uri = again.before, member = again.member }, { profile = again.profile })
      end
      ---@cast first profd.ComposedPart
      pick('After:', entries, labels, first.profile, nil, function(second)
        compare(first, second)
      end)
    end)
  end)
end

return M
