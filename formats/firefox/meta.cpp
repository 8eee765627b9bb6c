#include "formats/firefox/meta.h"

#include <algorithm>

namespace profd::firefox {
namespace {

std::vector<Category> read_categories(JsonCursor& in) {
  std::vector<Category> out;
  std::string_view key;
  for (in.begin_array(); in.next_element();) {
    Category category;
    if (in.kind() != JsonKind::object) {
      in.skip();
      out.push_back(std::move(category));
      continue;
    }
    for (in.begin_object(); in.next_key(key);) {
      if (key == "name") {
        category.name = read_word(in);
      } else if (key == "subcategories" && in.kind() == JsonKind::array) {
        for (in.begin_array(); in.next_element();) category.subcategories.push_back(read_word(in));
      } else {
        in.skip();
      }
    }
    out.push_back(std::move(category));
  }
  return out;
}

std::uint64_t read_address(JsonCursor& in) {
  if (in.kind() != JsonKind::number) {
    in.skip();
    return 0;
  }
  const JsonNumber number = in.number();
  return number.is_integer && number.integer > 0 ? static_cast<std::uint64_t>(number.integer) : 0;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

void read_library(JsonCursor& in, ProfileBuilder& builder, std::vector<Library>& out) {
  std::string path, name, code_id, breakpad_id;
  Library library;
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key == "path")
      path = read_word(in);
    else if (key == "name")
      name = read_word(in);
    else if (key == "codeId")
      code_id = read_word(in);
    else if (key == "breakpadId")
      breakpad_id = read_word(in);
    else if (key == "start")
      library.start = read_address(in);
    else if (key == "end")
      library.end = read_address(in);
    else if (key == "offset")
      library.offset = read_address(in);
    else
      in.skip();
  }
  const std::string build_id = lower(code_id.empty() ? breakpad_id : code_id);
  ModuleSpec module;
  module.name = path.empty() ? name : path;
  module.build_id = build_id;
  module.addresses = AddressKind::image_offset;
  if (library.end > library.start) {
    module.start = library.start;
    module.limit = library.end;
    module.offset = library.offset;
  }
  library.module = builder.module(module);
  library.name = name.empty() ? path.substr(path.find_last_of("/\\") + 1) : name;
  out.push_back(std::move(library));
}

}  // namespace

Meta read_meta(JsonCursor& in, Roundings& roundings) {
  Meta meta;
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    const JsonKind kind = in.kind();
    const bool number = kind == JsonKind::number;
    std::uint64_t ignored = 0;
    if (key == "version" && number) {
      meta.version = read_scaled(in, 0, ignored);
    } else if (key == "preprocessedProfileVersion" && number) {
      meta.processed_version = read_scaled(in, 0, ignored);
    } else if (key == "interval" && number) {
      meta.interval_ns = read_scaled(in, 6, roundings.n_times);
    } else if (key == "startTime" && number) {
      meta.start_ns = read_scaled(in, 6, ignored);
    } else if (key == "profilingStartTime" && number) {
      meta.profiling_start = read_scaled(in, 6, ignored);
    } else if (key == "profilingEndTime" && number) {
      meta.profiling_end = read_scaled(in, 6, ignored);
    } else if (key == "categories" && kind == JsonKind::array) {
      meta.categories = read_categories(in);
    } else if (key == "product") {
      meta.product = read_word(in);
    } else if (key == "importedFrom") {
      meta.imported_from = read_word(in);
    } else if (key == "symbolicated" && kind == JsonKind::boolean) {
      meta.symbolicated = in.boolean();
    } else if (key == "sampleUnits" && kind == JsonKind::object) {
      for (in.begin_object(); in.next_key(key);) {
        if (key == "threadCPUDelta")
          meta.cpu_unit = read_word(in);
        else
          in.skip();
      }
    } else if (kind == JsonKind::string) {
      std::string name(key);
      std::string value(in.string());
      if (value.size() < 4096) meta.properties.emplace_back(std::move(name), std::move(value));
    } else {
      in.skip();
    }
  }
  return meta;
}

void add_categories(Meta& meta, Recording& recording) {
  ProfileBuilder& builder = recording.builder;
  for (Category& category : meta.categories) {
    category.first_label = static_cast<std::uint32_t>(recording.category_labels.size());
    std::vector<Label> labels(1);
    labels[0].key = builder.string("category");
    labels[0].text = builder.string(category.name);
    recording.category_labels.push_back(builder.label_set(labels));
    if (category.name == "Idle") recording.idle_labels.push_back(recording.category_labels.back());
    // The first subcategory is "Other": no more than the category.
    labels.emplace_back();
    for (std::size_t i = 1; i < category.subcategories.size(); ++i) {
      labels[1].key = builder.string("subcategory");
      labels[1].text = builder.string(category.subcategories[i]);
      recording.category_labels.push_back(builder.label_set(labels));
      if (category.name == "Idle") recording.idle_labels.push_back(recording.category_labels.back());
    }
  }
}

std::uint32_t label_of(const Meta& meta, std::uint32_t category, std::uint32_t subcategory) {
  if (category >= meta.categories.size()) return kNone;
  const Category& c = meta.categories[category];
  return c.first_label + (subcategory < c.subcategories.size() ? subcategory : 0);
}

void describe(const Meta& meta, Recording& recording) {
  ProfileInfo& info = recording.builder.info();
  recording.interval_ns = meta.interval_ns.value_or(0);
  if (recording.interval_ns < 0) recording.interval_ns = 0;
  recording.cpu_unit = meta.cpu_unit == "ns" ? CpuUnit::nanoseconds
                       : meta.cpu_unit == "\u00b5s" || meta.cpu_unit == "\u03bcs" || meta.cpu_unit == "us"
                           ? CpuUnit::microseconds
                       : meta.cpu_unit == "variable CPU cycles" ? CpuUnit::cycles
                                                                : CpuUnit::none;
  info.format = "firefox";
  info.producer = meta.imported_from.empty() ? "Gecko profiler" : meta.imported_from;
  info.program = meta.product;
  info.time_ns = meta.start_ns;
  std::int64_t duration = 0;
  if (meta.profiling_start && meta.profiling_end &&
      !__builtin_sub_overflow(*meta.profiling_end, *meta.profiling_start, &duration) && duration > 0)
    info.duration_ns = duration;
  if (recording.interval_ns > 0) {
    info.period = recording.interval_ns;
    info.period_type = "time";
    info.period_unit = "nanoseconds";
  }
  info.properties = meta.properties;
}

std::vector<Library> read_libraries(JsonCursor& in, ProfileBuilder& builder) {
  std::vector<Library> out;
  if (in.kind() == JsonKind::string) {
    const std::uint64_t place = in.offset();
    const std::string inner(in.string());
    JsonCursor nested(inner);
    if (nested.kind() == JsonKind::array) out = read_libraries(nested, builder);
    if (!nested.ok()) in.fail_at(place, ErrorCode::malformed, "the text of libs is no list of libraries");
    return out;
  }
  if (in.kind() != JsonKind::array) {
    in.skip();
    return out;
  }
  for (in.begin_array(); in.next_element();) {
    if (in.kind() == JsonKind::object)
      read_library(in, builder, out);
    else
      in.skip();
  }
  return out;
}

}  // namespace profd::firefox
