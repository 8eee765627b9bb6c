// What opening is asked for, and what it gives.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/open.h"
#include "server/engine/open_profile.h"
#include "server/engine/script_maps.h"
#include "server/engine/symbol_files.h"

namespace profd {

struct OpenRequest {
  std::string uri;  // of any scheme that Origins knows
  OpenOptions options;
  bool attach = true;            // annotate sources from it
  bool make_default = true;      // the client means it where it names none: it asked for it itself
  bool watch = true;             // reload it when the file changes
  std::string metric;            // default metric; "" the file's own. One that it does not have is an error
  std::string preferred_metric;  // the same without `metric`, where the file has it: a project's
  std::string name;              // for people; "" the file's name
  std::shared_ptr<const SymbolPlaces> symbols;  // where its binaries are looked for; null: they are not
  std::string member;   // which profile of the file is meant: name or number from 1; "" the first
  ScriptRoots scripts;  // whose source maps are applied
};

struct OpenAnswer {
  OpenProfilePtr profile;                // the one meant
  std::vector<OpenProfilePtr> profiles;  // all of the origin, in its order
  bool already_open = false;
};

}  // namespace profd
