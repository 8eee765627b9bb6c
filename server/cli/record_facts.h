// What is known of a machine and a command before a recorder is chosen: looks at files and tries perf.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"
#include "server/cli/record_choice.h"

namespace profd {

// `argv` is not empty. `not_found` when there is no such program. Where perf comes into question it records a
// program that does nothing, once.
Result<RecordFacts> facts_of(const std::vector<std::string>& argv, std::string_view with);

// Whether cargo builds this command's program as a release without lines, as it does where Cargo.toml and the
// environment say nothing of `debug` for it.
bool lacks_line_tables(const std::vector<std::string>& argv);

// Of these programs those that are on the PATH, with their paths.
std::map<std::string, std::string> installed_of(const std::vector<std::string_view>& programs);

// Why this perf may not record, and what helps; "" it may. Tries it, once.
std::string perf_refusal(const std::string& perf);

// What a program is, by its name and the first bytes of its file; `first_line` is what follows "#!" of a
// script, "" of others.
ProgramKind kind_of(const std::vector<std::string>& argv, bool is_elf, std::string_view first_line);

// The interpreter that a script's first line names, and its options: "/usr/bin/env python3 -u" is python3 and
// -u.
std::vector<std::string> interpreter_of(std::string_view first_line);

}  // namespace profd
