// What a profile is called where a person reads it: a recording by what ran and when, any other by its file's
// name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profd {

// "words.py" of `python3 -u words.py 3`, "go test ./parser" of `go test -bench . ./parser`. Short, without
// control characters; "" of no words.
std::string short_program(const std::vector<std::string>& argv);

// "words.py · 26 Nov 14:03:06", in local time, for a file in the folder of a recording whose meta.json can be
// read; with the file's name behind it where that is not the profile which the recording shows. Otherwise the
// file's name. Reads the meta.json.
std::string profile_title(const std::string& path);

// Whether the file is the profile of a program that was recorded from its begin to its end, and does as much
// each time: no benchmark that runs for a given time, nothing that was attached to or interrupted. Reads the
// meta.json.
bool is_whole_run(const std::string& path);

// "words.py · 26 Nov 14:03:06 → 14:05:40": what both sides begin with is said once.
std::string sides_title(std::string_view before, std::string_view after);

}  // namespace profd
