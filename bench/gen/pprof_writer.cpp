#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/gen/writer.h"

namespace profd::bench {
namespace {

void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

void put_uint(std::string& out, unsigned field, std::uint64_t value) {
  if (value == 0) return;  // proto3
  put_varint(out, field << 3);
  put_varint(out, value);
}

void put_bytes(std::string& out, unsigned field, std::string_view bytes) {
  put_varint(out, field << 3 | 2);
  put_varint(out, bytes.size());
  out += bytes;
}

// Repeated integers as Go's encoder writes them: packed from three on.
void put_list(std::string& out, unsigned field, const std::vector<std::uint64_t>& values,
              std::string& scratch) {
  if (values.size() <= 2) {
    for (const std::uint64_t value : values) {
      put_varint(out, field << 3);
      put_varint(out, value);
    }
    return;
  }
  scratch.clear();
  for (const std::uint64_t value : values) put_varint(scratch, value);
  put_bytes(out, field, scratch);
}

// profile.proto with its fields in the order of Go's encoder: sample_type, sample, mapping, location,
// function, string_table, and the rest. Locations and functions get ids when a sample first needs them.
class PprofWriter : public Writer {
 public:
  PprofWriter(const Program& program, Sink& sink, int n_metrics)
      : program_(program),
        sink_(sink),
        n_metrics_(n_metrics),
        location_ids_(program.sites.size()),
        function_ids_(program.functions.size()) {
    string_id("");
  }

  void begin_pass(int) override {
    const std::string_view types[][2] = {
        {"samples", "count"}, {"cpu", "nanoseconds"}, {"alloc_objects", "count"}, {"alloc_space", "bytes"}};
    for (int i = 0; i < n_metrics_; ++i) sink_.write(message(1, value_type(types[i][0], types[i][1])));
    endpoint_key_ = string_id("http.route");
    thread_key_ = string_id("thread_id");
    for (const auto name : endpoint_names()) string_id(name);
  }

  void add(const Sample& sample) override {
    values_.clear();
    for (std::size_t i = sample.sites.size(); i > 0; --i) values_.push_back(location_id(sample.sites[i - 1]));
    body_.clear();
    put_list(body_, 1, values_, scratch_);
    values_.assign({sample.count, sample.cpu_ns, sample.allocs, sample.alloc_bytes});
    values_.resize(static_cast<std::size_t>(n_metrics_));
    put_list(body_, 2, values_, scratch_);
    if (sample.endpoint != kNone) add_label(endpoint_key_, 2, string_id(endpoint_names()[sample.endpoint]));
    if (sample.thread_labelled) add_label(thread_key_, 3, sample.thread);
    sink_.write(message(2, body_));
  }

  std::uint64_t projected_size() const override {
    return sink_.bytes() + tables_.size() + functions_.size() + string_bytes_ + 600;
  }

  void finish() override {
    for (std::size_t i = 0; i < program_.modules.size(); ++i) {
      const Module& module = program_.modules[i];
      body_.clear();
      put_uint(body_, 1, i + 1);
      put_uint(body_, 2, module.start);
      put_uint(body_, 3, module.limit);
      put_uint(body_, 5, string_id(module.path));
      put_uint(body_, 6, string_id(module.build_id));
      for (unsigned has = 7; has <= 10; ++has) put_uint(body_, has, 1);
      sink_.write(message(3, body_));
    }
    sink_.write(tables_);
    sink_.write(functions_);
    const std::string period_type = value_type("cpu", "nanoseconds");
    for (const auto& text : strings_) sink_.write(message(6, text));
    body_.clear();
    put_uint(body_, 9, 1'700'000'000'000'000'000);
    put_uint(body_, 10, 30'000'000'000);
    put_bytes(body_, 11, period_type);
    put_uint(body_, 12, kPeriodNs);
    put_uint(body_, 14, string_id("cpu"));
    sink_.write(body_);
  }

 private:
  std::string_view message(unsigned field, std::string_view body) {
    message_.clear();
    put_bytes(message_, field, body);
    return message_;
  }

  std::string value_type(std::string_view type, std::string_view unit) {
    std::string out;
    put_uint(out, 1, string_id(type));
    put_uint(out, 2, string_id(unit));
    return out;
  }

  void add_label(std::uint64_t key, unsigned field, std::uint64_t value) {
    scratch_.clear();
    put_uint(scratch_, 1, key);
    put_uint(scratch_, field, value);
    put_bytes(body_, 3, scratch_);
  }

  std::uint64_t string_id(std::string_view text) {
    const auto [found, is_new] = string_ids_.try_emplace(std::string(text), strings_.size());
    if (is_new) {
      strings_.emplace_back(text);
      string_bytes_ += text.size() + (text.size() < 128 ? 2 : 3);
    }
    return found->second;
  }

  std::uint64_t function_id(std::uint32_t index) {
    std::uint32_t& id = function_ids_[index];
    if (id != 0) return id;
    id = ++n_functions_;
    const Function& function = program_.functions[index];
    std::string body;
    put_uint(body, 1, id);
    put_uint(body, 2, string_id(function.name));
    put_uint(body, 3, string_id(function.name));
    put_uint(body, 4, string_id(program_.files[function.file]));
    put_uint(body, 5, function.start_line);
    put_bytes(functions_, 5, body);
    return id;
  }

  std::uint64_t location_id(std::uint32_t index) {
    std::uint32_t& id = location_ids_[index];
    if (id != 0) return id;
    id = ++n_locations_;
    const Site& site = program_.sites[index];
    std::string body, line;
    put_uint(body, 1, id);
    put_uint(body, 2, program_.functions[site.function].module + 1);
    put_uint(body, 3, site.address);
    for (std::uint32_t i = 0; i <= site.n_inlined; ++i) {
      line.clear();
      put_uint(line, 1, function_id(i < site.n_inlined ? site.inlined[i] : site.function));
      put_uint(line, 2, site.lines[i]);
      put_bytes(body, 4, line);
    }
    put_bytes(tables_, 4, body);
    return id;
  }

  const Program& program_;
  Sink& sink_;
  int n_metrics_;
  std::vector<std::uint32_t> location_ids_, function_ids_;  // 0: not met yet
  std::uint32_t n_locations_ = 0, n_functions_ = 0;
  std::unordered_map<std::string, std::uint64_t> string_ids_;
  std::vector<std::string> strings_;
  std::uint64_t string_bytes_ = 0, endpoint_key_ = 0, thread_key_ = 0;
  std::string tables_, functions_, body_, message_, scratch_;  // tables_: the location messages
  std::vector<std::uint64_t> values_;
};

}  // namespace

std::unique_ptr<Writer> make_pprof_writer(const Program& program, Sink& sink, int n_metrics) {
  return std::make_unique<PprofWriter>(program, sink, n_metrics);
}

}  // namespace profd::bench
