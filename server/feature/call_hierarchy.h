// A hierarchy of the calls that were measured: a function, who called it and whom it called, each with its
// place in the workspace, what it costs, and the lines of the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/engine/document.h"
#include "server/engine/need.h"
#include "server/feature/annotate.h"
#include "server/feature/callers_answer.h"
#include "server/feature/places.h"

namespace profd {

// By path: edits that are not saved move lines.
using OpenDocuments = std::map<std::string, std::shared_ptr<const Document>>;

struct HierarchyRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;
  OpenDocuments documents;
  ViewSpec spec;  // its filters and metric
  Key key = 0;    // by function
  Shape shape = Shape::callers;
  std::size_t limit = 100;
};

// A function of a hierarchy. Its place has no path where the workspace has no source of it.
struct HierarchyItem {
  Place place;
  std::uint32_t line = 0;  // 0-based, in the document as it is now
  std::string detail;      // "62.3 %  1.24 s": of the function whose callers or callees were asked for
};

struct HierarchyCall {
  HierarchyItem item;
  // Of the calls, 0-based, in the document of who calls as it is now; empty: the profile does not know them.
  std::vector<std::uint32_t> lines;
};

struct CallHierarchy {
  HierarchyItem of;                  // its detail is "total 45.0 % · self 3.2 %"
  std::vector<HierarchyCall> calls;  // heaviest first
  std::string left;                  // what the limit left out, a sentence; "" nothing
};

Needs needs_of(const HierarchyRequest& request);
// Fails with `not_found` where the view has no such key.
Result<CallHierarchy> call_hierarchy(Views& views, const HierarchyRequest& request, const StopToken& stop);
// The functions that a line of a document is of, as the roots of hierarchies: the one that costs most on it
// first. `line`: from 0. None where nothing was measured.
Result<std::vector<HierarchyItem>> hierarchy_roots(Views& views, const AnnotateRequest& file,
                                                   std::uint32_t line, const OpenDocuments& documents,
                                                   const StopToken& stop);
// "total 45.0 % · self 3.2 %".
std::string function_detail(const Place& place, const Whole& whole);

}  // namespace profd
