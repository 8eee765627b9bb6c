-- Neovim's built-in LSP client, without the plugin, over stdio and over the Unix socket.
local h = require('harness')

local function profile_of(root)
  return { command = 'profd.open', arguments = { vim.uri_from_fname(root .. '/cpu.pprof') } }
end

local function request(client, method, params, bufnr)
  local result, err
  if vim.fn.has('nvim-0.11') == 1 then
    err, result = h.await(function(done)
      client:request(method, params, done, bufnr)
    end)
  else
    err, result = h.await(function(done)
      client.request(method, params, done, bufnr)
    end)
  end
  h.equal(err, nil, method)
  return result
end

--- What every transport must give.
local function drive(name, cmd)
  local root = h.project(name)
  local refreshed = 0
  vim.cmd.edit(root .. '/digest.go')
  local bufnr = vim.api.nvim_get_current_buf()
  local id = vim.lsp.start({
    name = name,
    cmd = cmd,
    root_dir = root,
    init_options = { codeLens = true, threshold = 0.02 },
    handlers = {
      ['workspace/inlayHint/refresh'] = function(...)
        refreshed = refreshed + 1
        return vim.lsp.handlers['workspace/inlayHint/refresh'](...)
      end,
    },
  })
  local client = vim.lsp.get_client_by_id(h.truthy(id, 'a client'))
  h.eventually(function()
    return client.initialized
  end, 'initialize')
  h.truthy(client.server_capabilities.inlayHintProvider)
  h.truthy(client.server_capabilities.hoverProvider)
  h.equal(client.server_capabilities.textDocumentSync.change, 2)

  request(client, 'workspace/executeCommand', profile_of(root), bufnr)
  h.eventually(function()
    return refreshed > 0
  end, 'a refresh request')

  -- Painted by Neovim itself.
  vim.lsp.inlay_hint.enable(true, { bufnr = bufnr })
  local hint = h.eventually(function()
    for _, item in ipairs(vim.lsp.inlay_hint.get({ bufnr = bufnr })) do
      if item.client_id == id and item.inlay_hint.position.line == 14 then
        return item.inlay_hint
      end
    end
  end, 'an inlay hint on line 15')
  h.matches(hint.label, '^11%.3 %%  940 ms')
  h.equal(hint.position.character, #vim.fn.getline(15))

  vim.api.nvim_win_set_cursor(0, { 15, 4 })
  local hover =
    request(client, 'textDocument/hover', vim.lsp.util.make_position_params(0, client.offset_encoding), bufnr)
  h.equal(hover.contents.kind, 'markdown')
  h.matches(hover.contents.value, 'main\\?%.sign.*digest\\?%.go\\?:15\n')
  h.matches(hover.contents.value, '940 ms')
  vim.lsp.buf.hover()
  h.eventually(function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= '' then
        vim.api.nvim_win_close(window, true)
        return true
      end
    end
  end, 'the window of the hover')

  vim.lsp.codelens.refresh({ bufnr = bufnr })
  local lens = h.eventually(function()
    for _, item in ipairs(vim.lsp.codelens.get(bufnr)) do
      if item.range.start.line == 10 or item.range.start.line == 11 then
        return item
      end
    end
  end, 'a lens above sign')
  h.matches(lens.command.title, '^total 14%.6 %% · self 0%.2 %%')

  -- An edit moves the hint: the built-in client sends it on its own.
  vim.api.nvim_buf_set_lines(bufnr, 0, 0, false, { '// a', '// b' })
  h.eventually(function()
    for _, item in ipairs(vim.lsp.inlay_hint.get({ bufnr = bufnr })) do
      if item.client_id == id and item.inlay_hint.position.line == 16 then
        return item.inlay_hint.label:find('^11%.3 %%  940 ms')
      end
    end
  end, 'the hint two lines further down')

  local symbols = request(client, 'workspace/symbol', { query = 'sign' }, bufnr)
  h.truthy(#symbols > 0)
  h.matches(symbols[1].name, 'sign')

  vim.lsp.stop_client(id)
  h.eventually(function()
    return client.is_stopped()
  end, 'the end')
  vim.cmd.bwipeout({ bang = true })
end

test('over stdio', function()
  drive('stdio', { 'profd', 'serve', '--stdio' })
end)

test('machine code opens from a lens, with its costs in the text', function()
  local fixtures, root = h.source .. '/tests/fixtures/symbols', h.work .. '/symbols'
  vim.fn.mkdir(root .. '/.git', 'p')
  for _, name in ipairs({ 'app', 'app.c', 'addresses.pprof' }) do
    h.write(root .. '/' .. name, h.read(fixtures .. '/' .. name))
    vim.uv.fs_utime(root .. '/' .. name, 1600000000, 1600000000)
  end
  vim.cmd.edit(root .. '/app.c')
  local bufnr = vim.api.nvim_get_current_buf()
  local id = vim.lsp.start({
    name = 'assembly',
    cmd = { 'profd', 'serve', '--stdio' },
    root_dir = root,
    init_options = { assemblyLens = true },
  })
  local client = vim.lsp.get_client_by_id(h.truthy(id, 'a client'))
  h.eventually(function()
    return client.initialized
  end, 'initialize')
  local arguments = { vim.uri_from_fname(root .. '/addresses.pprof') }
  request(client, 'workspace/executeCommand', { command = 'profd.open', arguments = arguments }, bufnr)
  -- Names come from the binary a moment after the profile, and Neovim resolves what it shows.
  h.eventually(function()
    vim.lsp.codelens.refresh({ bufnr = bufnr })
    vim.wait(100)
    return vim.iter(vim.lsp.codelens.get(bufnr)):any(function(lens)
      return lens.range.start.line == 11
        and lens.command
        and lens.command.title == 'asm 115 B, hottest 60.0 % imul +0x39'
    end)
  end, 'the lens above fill')
  vim.api.nvim_win_set_cursor(0, { 12, 0 })
  vim.lsp.codelens.run()
  local lines = h.eventually(function()
    local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
    return lines[1]:find('^; fill  app%.c:12  samples of addresses%.pprof: self 90%.0 %%') and lines
  end, 'the code')
  h.matches(vim.api.nvim_buf_get_name(0), '/assembly%-%d+%-%d+%.s$')
  h.matches(table.concat(lines, '\n'), '\n  60%.0 %%   60%.0 %% %+0x39 [^\n]*imul +rcx, r8\n')
  local page = vim.api.nvim_buf_get_name(0)
  vim.lsp.stop_client(id)
  h.eventually(function()
    return not vim.uv.fs_stat(page)
  end, 'the page goes with its session')
  vim.cmd.bwipeout({ bang = true })
end)

test('through profd connect', function()
  drive('connect', { 'profd', 'connect', '--idle-timeout', '1' })
end)

--- The file of a socket is there a moment before anybody listens to it.
local function takes_connections(socket)
  local pipe, answer = assert(vim.uv.new_pipe()), nil
  pipe:connect(socket, function(err)
    answer = err or 'connected'
  end)
  h.eventually(function()
    return answer
  end, 'an answer to the attempt to connect')
  pipe:close()
  return answer == 'connected'
end

test('over the Unix socket', function()
  -- The daemon of the test before may still wait for clients: this one has a socket of its own.
  local socket = h.work .. '/own.sock'
  local server = vim.system({ 'profd', 'serve', '--socket', socket })
  h.eventually(function()
    return takes_connections(socket)
  end, 'the socket')
  h.equal(bit.band(vim.uv.fs_stat(socket).mode, 511), 384, 'mode 0600')
  drive('socket', vim.lsp.rpc.connect(socket))

  -- Two editors at one daemon: what the second opens does not change what the first sees.
  local root = h.project('shared')
  local clients = {}
  for _, name in ipairs({ 'first', 'second' }) do
    vim.cmd.edit(root .. '/digest.go')
    local id = vim.lsp.start({ name = name, cmd = vim.lsp.rpc.connect(socket), root_dir = root })
    clients[name] = vim.lsp.get_client_by_id(id)
    h.eventually(function()
      return clients[name].initialized
    end, 'initialize')
  end
  local function open(client, file)
    local arguments = { vim.uri_from_fname(root .. '/' .. file) }
    request(client, 'workspace/executeCommand', { command = 'profd.open', arguments = arguments }, 0)
  end
  local function label(client)
    local params = {
      textDocument = { uri = vim.uri_from_bufnr(0) },
      range = { start = { line = 0, character = 0 }, ['end'] = { line = 44, character = 0 } },
    }
    return vim.iter(request(client, 'textDocument/inlayHint', params, 0)):find(function(hint)
      return hint.position.line == 12
    end).label
  end
  open(clients.first, 'cpu.pprof')
  h.matches(label(clients.second), '^3%.1 %%  260 ms', 'who has opened nothing sees what is open')
  open(clients.second, 'heap.pprof')
  h.matches(label(clients.second), 'MiB')
  h.matches(label(clients.first), '^3%.1 %%  260 ms')
  for _, client in pairs(clients) do
    vim.lsp.stop_client(client.id)
    h.eventually(function()
      return client.is_stopped()
    end, 'the end')
  end

  server:kill('sigterm')
  server:wait(10000)
end)
