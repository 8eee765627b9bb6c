vim9script
# The connection to the daemon: LSP on the standard streams of `profd connect`, on Vim's own channel.

# What is called with what the daemon asks or tells, by method: (params) => result.
var handlers: dict<func> = {}
# What is called with an answer, by the number of its request. Vim's own callbacks take a request of the daemon for the answer to the
# request of Vim that has the same number.
var pending: dict<func(dict<any>)> = {}
var last_id = 0
var job: job
var state = 'off' # off, starting, on
# What waits until `initialize` was answered.
var waiting: list<func> = []
var problem = ''

export def Nothing(_: any)
enddef

export def Running(): bool
  return state != 'off'
enddef

export def On(method: string, Handler: func)
  handlers[method] = Handler
enddef

def Received(of: channel, message: dict<any>)
  if !Current(of)
    return
  elseif !has_key(message, 'method')
    const id = string(get(message, 'id', 0))
    if has_key(pending, id)
      call(remove(pending, id), [message])
    endif
    return
  endif
  const Handler = get(handlers, message.method, null_function)
  const result = Handler == null_function ? v:null : call(Handler, [get(message, 'params', {})])
  if has_key(message, 'id')
    ch_sendexpr(job, {id: message.id, result: result})
  endif
enddef

def Ended(ended: job, _status: number)
  # One that was stopped may end after the next was started.
  if ended != job
    return
  endif
  const was = state
  state = 'off'
  waiting = []
  pending = {}
  if was != 'off'
    call(handlers['profd.vim/ended'], [{reason: problem}])
  endif
enddef

# An answer that comes after its connection was given up is nobody's.
def Current(of: channel): bool
  return state != 'off' && of == job_getchannel(job)
enddef

# `AnsweredBy` is called with the answer, as it came.
def Send(method: string, params: dict<any>, AnsweredBy: func(dict<any>))
  last_id += 1
  pending[string(last_id)] = AnsweredBy
  ch_sendexpr(job, {id: last_id, method: method, params: params})
enddef

def Initialized(Ready: func(dict<any>), answer: dict<any>)
  if has_key(answer, 'error')
    problem = answer.error.message
    job_stop(job)
    return
  endif
  ch_sendexpr(job, {method: 'initialized', params: {}})
  state = 'on'
  Ready(answer.result)
  const actions = waiting
  waiting = []
  for Action in actions
    Action()
  endfor
enddef

def Complained(_channel: channel, line: string)
  problem = line
enddef

export def Start(command: list<string>, root: string, initialize: dict<any>, Ready: func(dict<any>))
  state = 'starting'
  problem = ''
  pending = {}
  job = job_start(command, {in_mode: 'lsp', out_mode: 'lsp', err_mode: 'nl', noblock: true, cwd: root,
    out_cb: Received, err_cb: Complained, exit_cb: Ended})
  if job_status(job) != 'run'
    problem = $'{command[0]} cannot be started: is it on $PATH?'
    Ended(job, 1)
    return
  endif
  Send('initialize', initialize, function(Initialized, [Ready]))
enddef

def WhenOn(Action: func)
  if state == 'on'
    Action()
  elseif state == 'starting'
    add(waiting, Action)
  endif
enddef

def SendNotice(method: string, params: dict<any>)
  ch_sendexpr(job, {method: method, params: params})
enddef

export def Notify(method: string, params: dict<any>)
  WhenOn(function(SendNotice, [method, params]))
enddef

def Answered(Then: func, Failed: func, answer: dict<any>)
  if has_key(answer, 'error')
    Failed(answer.error.message)
  else
    Then(get(answer, 'result', v:null))
  endif
enddef

def SendRequest(method: string, params: dict<any>, Then: func, Failed: func)
  Send(method, params, function(Answered, [Then, Failed]))
enddef

# Then(result) when it is answered, Failed(message) when it is refused.
export def Request(method: string, params: dict<any>, Then: func(any), Failed: func(any) = Nothing)
  WhenOn(function(SendRequest, [method, params, Then, Failed]))
enddef

export def Stop()
  if state == 'off'
    return
  endif
  state = 'off'
  waiting = []
  pending = {}
  # At the end of its input the daemon lets its client go.
  ch_close_in(job)
enddef

defcompile
