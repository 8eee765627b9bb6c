#define _GNU_SOURCE
#include "modules.h"

#include "core.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct module {
    uintptr_t base, low, high; /* `high` is behind its last byte. */
    char path[512], build_id[2 * 64 + 1];
    int told, loaded;
};
static struct module *modules;
static uint32_t count, room;
static unsigned long long loads_seen, unloads_seen;

static void read_build_id(const struct dl_phdr_info *info, char *text) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *part = info->dlpi_phdr + i;
        if (part->p_type != PT_NOTE) continue;
        const unsigned char *at = (const unsigned char *)(info->dlpi_addr + part->p_vaddr), *end = at + part->p_memsz;
        while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
            ElfW(Nhdr) note;
            memcpy(&note, at, sizeof note);
            size_t name = (note.n_namesz + 3u) & ~3u, bytes = (note.n_descsz + 3u) & ~3u;
            at += sizeof note;
            if (name > (size_t)(end - at) || bytes > (size_t)(end - at) - name) return;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(at, "GNU", 4) == 0 && note.n_descsz <= 64) {
                for (size_t k = 0; k < note.n_descsz; ++k) sprintf(text + 2 * k, "%02x", at[name + k]);
                return;
            }
            at += name + bytes;
        }
    }
}

static int see(struct dl_phdr_info *info, size_t size, void *changed) {
    (void)size;
    int *looks_again = changed;
    if (loads_seen == info->dlpi_adds && unloads_seen == info->dlpi_subs && count > 0) return 1;
    if (!*looks_again) {
        *looks_again = 1;
        for (uint32_t i = 0; i < count; ++i) modules[i].loaded = 0;
    }
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *part = info->dlpi_phdr + i;
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        uintptr_t from = info->dlpi_addr + part->p_vaddr;
        if (from < low) low = from;
        if (from + part->p_memsz > high) high = from + part->p_memsz;
    }
    if (high == 0) return 0;
    char path[512] = "";
    if (info->dlpi_name && info->dlpi_name[0]) {
        char *whole = realpath(info->dlpi_name, NULL);
        snprintf(path, sizeof path, "%s", whole ? whole : info->dlpi_name);
        free(whole);
    } else {
        ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        path[n > 0 ? n : 0] = 0;
    }
    for (uint32_t i = 0; i < count; ++i)
        if (modules[i].base == info->dlpi_addr && modules[i].low == low && modules[i].high == high && strcmp(modules[i].path, path) == 0) {
            modules[i].loaded = 1;
            return 0;
        }
    if (count == room) {
        struct module *more = realloc(modules, sizeof *modules * (room ? room * 2 : 16));
        if (!more) return 0;
        modules = more;
        room = room ? room * 2 : 16;
    }
    if (count >= LIVE_MODULES - 1) return 0;
    struct module *module = modules + count++;
    memset(module, 0, sizeof *module);
    module->base = info->dlpi_addr;
    module->low = low;
    module->high = high;
    module->loaded = 1;
    memcpy(module->path, path, sizeof path);
    read_build_id(info, module->build_id);
    return 0;
}

static int remember(struct dl_phdr_info *info, size_t size, void *nothing) {
    (void)size;
    (void)nothing;
    loads_seen = info->dlpi_adds;
    unloads_seen = info->dlpi_subs;
    return 1;
}

void modules_tell(struct wire *out, int anew) {
    int looks_again = 0;
    dl_iterate_phdr(see, &looks_again);
    dl_iterate_phdr(remember, NULL);
    for (uint32_t i = 0; i < count; ++i) {
        if (anew) modules[i].told = 0;
        if (modules[i].told || !modules[i].loaded) continue;
        modules[i].told = 1;
        size_t begun = wire_begin(out, LIVE_MODULE);
        wire_varint(out, i + 1);
        wire_string(out, modules[i].path);
        wire_string(out, modules[i].build_id);
        wire_varint(out, modules[i].base);
        wire_end(out, begun);
    }
}

int modules_find(uintptr_t address, uint32_t *module, uint64_t *within) {
    for (uint32_t i = 0; i < count; ++i)
        if (modules[i].loaded && address >= modules[i].low && address < modules[i].high) {
            *module = i + 1;
            *within = address - modules[i].base;
            return 1;
        }
    return 0;
}

const char *modules_program(void) {
    static char path[512];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
