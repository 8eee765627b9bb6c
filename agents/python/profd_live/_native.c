/* Probes of Python: sys.monitoring from 3.12 on, else the profile function of the interpreter. What they write, and the
   thread that sends it, are those of the agent of C. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>

#include "core.h"
#include "methods.h"

#include <pthread.h>
#include <string.h>

#if PY_VERSION_HEX >= 0x030c0000
#define MONITORING 1
#define code_set_extra PyUnstable_Code_SetExtra
#define code_get_extra PyUnstable_Code_GetExtra
#define new_extra_index PyUnstable_Eval_RequestCodeExtraIndex
#else
#define MONITORING 0
#define code_set_extra _PyCode_SetExtra
#define code_get_extra _PyCode_GetExtra
#define new_extra_index _PyEval_RequestCodeExtraIndex
#endif

static Py_ssize_t extra_index = -1;
static PyObject *describe; /* (code, globals) -> package, class, method, signature, file, line */
static PyObject *changed;  /* (what) on a thread of Python, when events are to begin, end or begin anew */
static PyObject *thread_name;
static char with[4096], without[4096];
static pthread_mutex_t filter_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int describing; /* What describes calls Python, which has events itself. */
static __thread int enters;     /* The event at hand is of a frame that begins. */
static __thread int name_asked;
#define NAME_MOST 64

/* ---- which packages ---- */

static int starts(const char *package, const char *prefixes) {
    for (const char *at = prefixes; *at;) {
        size_t n = strcspn(at, ",");
        if (n && strncmp(package, at, n) == 0 && (package[n] == 0 || package[n] == '.' || at[n - 1] == '.')) return 1;
        at += n + (at[n] == ',');
    }
    return 0;
}

static int is_filtered(const char *package) { return starts(package, without) || (with[0] && !starts(package, with)); }

static void put_filter(const char *pattern) {
    with[0] = without[0] = 0;
    for (const char *at = pattern; *at;) {
        size_t n = strcspn(at, ",");
        const char *begin = at;
        while (n && *begin == ' ') ++begin, --n;
        char *to = *begin == '-' ? without : with;
        if (*begin == '-') ++begin, --n;
        size_t have = strlen(to);
        if (n && have + n + 2 < sizeof with) snprintf(to + have, sizeof with - have, "%.*s,", (int)n, begin);
        at = begin + n + (begin[n] == ',');
    }
}

/* On the agent's thread. */
static void filtered(const char *pattern);

/* ---- methods ---- */

static uint32_t id_slow(PyCodeObject *code, PyObject *globals) {
    describing = 1;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    uint32_t id = 0;
    PyObject *found = PyObject_CallFunctionObjArgs(describe, (PyObject *)code, globals ? globals : Py_None, NULL);
    const char *package, *class_name, *method, *signature, *file;
    unsigned line;
    int taken;
    if (found && PyArg_ParseTuple(found, "sssssIp", &package, &class_name, &method, &signature, &file, &line, &taken)) {
        id = live_method(package, class_name, method, signature, file, line);
        pthread_mutex_lock(&filter_lock);
        if (id && (!taken || is_filtered(package))) atomic_fetch_or(&live_shared.off[id], LIVE_FILTERED);
        pthread_mutex_unlock(&filter_lock);
    }
    Py_XDECREF(found);
    PyErr_Clear();
    code_set_extra((PyObject *)code, extra_index, (void *)(uintptr_t)(id ? id : LIVE_METHODS));
    PyErr_Restore(type, value, trace);
    describing = 0;
    return id;
}

static inline uint32_t id_of(PyCodeObject *code, PyObject *globals) {
    void *extra = NULL;
    code_get_extra((PyObject *)code, extra_index, &extra);
    uint32_t id = (uint32_t)(uintptr_t)extra;
    if (__builtin_expect(id == 0, 0)) return id_slow(code, globals ? globals : PyEval_GetGlobals());
    return id == LIVE_METHODS ? 0 : id;
}

/* ---- threads ---- */

/* What threading calls this thread, asked for until it knows. */
static void ask_name(struct live_lane *lane) {
    if (++name_asked > NAME_MOST) return;
    describing = 1;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *name = PyObject_CallNoArgs(thread_name);
    const char *text = name && name != Py_None ? PyUnicode_AsUTF8(name) : NULL;
    if (text) {
        snprintf(lane->first_name, sizeof lane->first_name, "%s", text);
        atomic_store_explicit(&lane->named, 1, memory_order_release);
        name_asked = NAME_MOST;
    }
    Py_XDECREF(name);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    describing = 0;
}

/* A stream begins: what is open on this thread, outermost first. The frame of an event that enters is not among them yet. */
static void refill(struct live_lane *lane) {
    PyFrameObject *frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    uint32_t n = 0;
    int skip = enters;
    while (frame) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        if (!skip) {
            PyObject *globals = PyObject_GetAttrString((PyObject *)frame, "f_globals");
            uint32_t id = id_of(code, globals);
            Py_XDECREF(globals);
            if (id && !live_is_off(id) && n < LIVE_OPEN_MOST) lane->open[n++] = (struct live_open){UINTPTR_MAX, id};
        }
        skip = 0;
        Py_DECREF(code);
        PyFrameObject *back = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = back;
    }
    for (uint32_t i = 0; i < n / 2; ++i) {
        struct live_open one = lane->open[i];
        lane->open[i] = lane->open[n - 1 - i];
        lane->open[n - 1 - i] = one;
    }
    lane->depth = n;
}

/* ---- events ---- */

static inline int is_silent(void) {
    return describing || atomic_load_explicit(&live_shared.mode, memory_order_relaxed) == LIVE_OFF;
}

/* Both return 1 when the method has no probes. */
static inline int enter(PyCodeObject *code) {
    uint32_t id = id_of(code, NULL);
    if (__builtin_expect(id == 0 || live_is_off(id), 0)) return 1;
    enters = 1;
    struct live_lane *lane = live_begin();
    if (__builtin_expect(lane != NULL, 1)) {
        live_push(lane, id, UINTPTR_MAX);
        if (__builtin_expect(name_asked < NAME_MOST, 0)) ask_name(lane);
        live_leave(lane);
    }
    return 0;
}

static inline int leave(PyCodeObject *code) {
    uint32_t id = id_of(code, NULL);
    if (__builtin_expect(id == 0, 0)) return 1;
    enters = 0;
    struct live_lane *lane = live_begin();
    int off = live_is_off(id);
    if (__builtin_expect(lane != NULL, 1)) {
        if (__builtin_expect(lane->over || (lane->depth && lane->open[lane->depth - 1].id == id), 1)) {
            live_pop(lane);
        } else if (!off) {
            /* Others have ended in between without being seen, or this one began before it was. */
            uint32_t n = 1;
            while (n <= lane->depth && lane->open[lane->depth - n].id != id) ++n;
            if (n <= lane->depth) live_pop_many(lane, n);
        }
        live_leave(lane);
    }
    return off;
}

#if MONITORING
static PyObject *disable;

static PyObject *on_enter(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    (void)self;
    if (is_silent() || n < 1 || !enter((PyCodeObject *)args[0])) Py_RETURN_NONE;
    return Py_NewRef(disable);
}
static PyObject *on_leave(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    (void)self;
    if (is_silent() || n < 1 || !leave((PyCodeObject *)args[0])) Py_RETURN_NONE;
    return Py_NewRef(disable);
}
/* Of events that cannot be switched off for one place. */
static PyObject *on_throw(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    (void)self;
    if (!is_silent() && n >= 1) enter((PyCodeObject *)args[0]);
    Py_RETURN_NONE;
}
static PyObject *on_unwind(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    (void)self;
    if (!is_silent() && n >= 1) leave((PyCodeObject *)args[0]);
    Py_RETURN_NONE;
}
#else
static int on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *arg) {
    (void)self;
    (void)arg;
    if ((what != PyTrace_CALL && what != PyTrace_RETURN) || is_silent()) return 0;
    PyCodeObject *code = PyFrame_GetCode(frame);
    if (what == PyTrace_CALL) enter(code);
    else leave(code);
    Py_DECREF(code);
    return 0;
}

/* Of the calling thread, or of all there are. */
static PyObject *profile(PyObject *self, PyObject *args) {
    int on, all;
    (void)self;
    if (!PyArg_ParseTuple(args, "pp", &on, &all)) return NULL;
    if (!all) {
        PyEval_SetProfile(on ? on_event : NULL, NULL);
    } else {
        PyInterpreterState *interpreter = PyThreadState_GetInterpreter(PyThreadState_Get());
        for (PyThreadState *thread = PyInterpreterState_ThreadHead(interpreter); thread; thread = PyThreadState_Next(thread))
            if (_PyEval_SetProfile(thread, on ? on_event : NULL, NULL) < 0) return NULL;
    }
    Py_RETURN_NONE;
}
#endif

/* ---- what the agent's thread wants done on one of Python's ---- */

static _Atomic int wanted; /* 1 events on, 2 off, 4 anew */

static int do_wanted(void *nothing) {
    (void)nothing;
    int what = atomic_exchange(&wanted, 0);
    if (!what || !changed) return 0;
    describing = 1;
    PyObject *done = PyObject_CallFunction(changed, "i", what);
    if (!done) PyErr_WriteUnraisable(changed);
    Py_XDECREF(done);
    describing = 0;
    return 0;
}

static void want(int what) {
    atomic_fetch_or(&wanted, what);
    Py_AddPendingCall(do_wanted, NULL);
}

static void running(int on) {
    if (on) atomic_fetch_and(&wanted, ~2);
    want(on ? 1 : 2);
}
static void demoted(void) { want(4); }

static void filtered(const char *pattern) {
    pthread_mutex_lock(&filter_lock);
    put_filter(pattern);
    for (uint32_t id = live_method_count(); id > 0; --id) {
        const char *package = live_package_of(id);
        if (package && is_filtered(package)) atomic_fetch_or(&live_shared.off[id], LIVE_FILTERED);
        else atomic_fetch_and(&live_shared.off[id], (unsigned char)~LIVE_FILTERED);
    }
    pthread_mutex_unlock(&filter_lock);
    want(4);
}

static PyObject *start(PyObject *self, PyObject *args) {
    const char *target, *token_file, *program, *packages;
    PyObject *with_names, *with_change, *with_thread;
    static char program_copy[512];
    (void)self;
    if (!PyArg_ParseTuple(args, "szssOOO", &target, &token_file, &program, &packages, &with_names, &with_change, &with_thread)) return NULL;
    if (extra_index < 0) extra_index = new_extra_index(NULL);
    if (extra_index < 0) {
        PyErr_SetString(PyExc_RuntimeError, "no place beside code objects is left for live events");
        return NULL;
    }
    Py_INCREF(with_names);
    Py_INCREF(with_change);
    Py_INCREF(with_thread);
    Py_XSETREF(describe, with_names);
    Py_XSETREF(changed, with_change);
    Py_XSETREF(thread_name, with_thread);
    put_filter(packages);
    snprintf(program_copy, sizeof program_copy, "%s", program);
    live_shared.refill = refill;
    struct live_agent agent = {.language = "python",
                               .name = "profd-live-python " PROFD_LIVE_VERSION,
                               .program = program_copy,
                               .abilities = LIVE_CAN_PAUSE | LIVE_CAN_FILTER | LIVE_CAN_DEMOTE | LIVE_CAN_DETACH,
                               .demoted = demoted,
                               .filtered = filtered,
                               .running = running};
    int failed;
    Py_BEGIN_ALLOW_THREADS
    failed = live_start(&agent, target, token_file);
    Py_END_ALLOW_THREADS
    if (!failed) do_wanted(NULL);
    return PyBool_FromLong(!failed);
}

static PyObject *stop(PyObject *self, PyObject *args) {
    const char *reason;
    (void)self;
    if (!PyArg_ParseTuple(args, "s", &reason)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    live_stop(reason, 1000);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyObject *mark(PyObject *self, PyObject *args) {
    const char *text;
    (void)self;
    if (!PyArg_ParseTuple(args, "s", &text)) return NULL;
    live_mark(text);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"start", start, METH_VARARGS, NULL},
                                {"stop", stop, METH_VARARGS, NULL},
                                {"mark", mark, METH_VARARGS, NULL},
#if MONITORING
                                {"on_enter", (PyCFunction)(void (*)(void))on_enter, METH_FASTCALL, NULL},
                                {"on_leave", (PyCFunction)(void (*)(void))on_leave, METH_FASTCALL, NULL},
                                {"on_throw", (PyCFunction)(void (*)(void))on_throw, METH_FASTCALL, NULL},
                                {"on_unwind", (PyCFunction)(void (*)(void))on_unwind, METH_FASTCALL, NULL},
#else
                                {"profile", profile, METH_VARARGS, NULL},
#endif
                                {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_native", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void);
PyMODINIT_FUNC PyInit__native(void) {
#if MONITORING
    PyObject *monitoring = PySys_GetObject("monitoring");
    disable = monitoring ? PyObject_GetAttrString(monitoring, "DISABLE") : NULL;
    if (!disable) {
        PyErr_SetString(PyExc_ImportError, "sys.monitoring is missing");
        return NULL;
    }
#endif
    pthread_atfork(NULL, NULL, live_forked);
    return PyModule_Create(&definition);
}
