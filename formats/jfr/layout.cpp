#include "formats/jfr/layout.h"

#include <bit>

#include <fmt/format.h>

#include "core/support/id.h"

namespace profd::jfr {
namespace {

constexpr std::size_t kMaxSteps = 4096;  // fields of one class, those of inline structures counted in
constexpr unsigned kMaxInline = 16;      // structures in structures
constexpr unsigned kMaxArrayDepth = 16;  // arrays of structures with arrays

bool primitive(std::string_view name, Op& op) {
  if (name == "boolean" || name == "byte") return op = Op::byte, true;
  if (name == "char" || name == "short" || name == "int" || name == "long") return op = Op::integer, true;
  if (name == "float") return op = Op::f32, true;
  if (name == "double") return op = Op::f64, true;
  if (name == "java.lang.String") return op = Op::text, true;
  return false;
}

class Compiling {
 public:
  explicit Compiling(const Metadata& metadata) : metadata_(metadata) {}

  Result<void> append(std::vector<Step>& out, std::uint32_t cls, unsigned depth) {
    const Class& type = metadata_.classes()[cls];
    Op op;
    if (primitive(type.name, op)) {
      out.push_back({op});
      return {};
    }
    if (depth > kMaxInline || out.size() > kMaxSteps)
      return fail(ErrorCode::malformed, fmt::format("the type {} contains itself or too much", type.name));
    for (const Field& field : type.fields) {
      // Structures without fields take no step, and could be met without end.
      if (++n_fields_ > kMaxSteps * 64)
        return fail(ErrorCode::malformed, "the types of a chunk contain too much");
      const std::uint32_t of = metadata_.index_of(field.type);
      if (!field.pooled && of == kNone)
        return fail(ErrorCode::malformed,
                    fmt::format("the field {}.{} has a type that is not described", type.name, field.name));
      if (field.array)
        out.push_back({Op::array, field.pooled ? kReference : of});
      else if (field.pooled)
        out.push_back({Op::integer});
      else
        PROFD_CHECK(append(out, of, depth + 1));
    }
    return {};
  }

 private:
  const Metadata& metadata_;
  std::size_t n_fields_ = 0;
};

void read_step(Wire& in, const Layouts& layouts, Step step, std::uint8_t slot, Row& row) {
  switch (step.op) {
    case Op::integer: {
      const std::uint64_t value = in.varint();
      if (slot != kNoSlot) row.numbers[slot] = value;
      return;
    }
    case Op::byte: {
      const std::uint8_t value = in.byte();
      if (slot != kNoSlot) row.numbers[slot] = value;
      return;
    }
    case Op::f32:
    case Op::f64: {
      const double value = step.op == Op::f32 ? in.f32() : in.f64();
      if (slot != kNoSlot) row.numbers[slot] = std::bit_cast<std::uint64_t>(value);
      return;
    }
    case Op::text: {
      const Text value = in.text();
      if (slot != kNoSlot) row.texts[slot] = value;
      return;
    }
    case Op::array:
      layouts.skip(in, step, 0);
  }
}

}  // namespace

Result<Layouts> Layouts::compile(const Metadata& metadata) {
  Layouts out;
  out.steps_.resize(metadata.classes().size());
  Compiling compiling(metadata);
  for (std::uint32_t cls = 0; cls < out.steps_.size(); ++cls)
    PROFD_CHECK(compiling.append(out.steps_[cls], cls, 0));
  return out;
}

void Layouts::skip(Wire& in, Step step, unsigned depth) const {
  switch (step.op) {
    case Op::integer:
      in.varint();
      return;
    case Op::byte:
      in.skip(1);
      return;
    case Op::f32:
      in.skip(4);
      return;
    case Op::f64:
      in.skip(8);
      return;
    case Op::text:
      in.text();
      return;
    case Op::array: {
      const std::uint64_t n = in.varint();
      if (n > in.left() || depth > kMaxArrayDepth) return in.fail();
      // Items without fields take no bytes: stepping over each would cost a file of arrays the square of its
      // size.
      if (step.elements != kReference && steps_[step.elements].empty()) return;
      for (std::uint64_t i = 0; i < n && in.ok(); ++i) {
        if (step.elements == kReference)
          in.varint();
        else
          skip(in, step.elements, depth + 1);
      }
    }
  }
}

void Layouts::skip(Wire& in, std::uint32_t cls, unsigned depth) const {
  for (const Step& step : steps_[cls]) {
    if (!in.ok()) return;
    skip(in, step, depth);
  }
}

std::vector<Step> RowReader::steps_of(const Metadata& metadata, const Layouts& layouts, const Field& field) {
  const std::uint32_t of = metadata.index_of(field.type);
  if (field.array) return {{Op::array, field.pooled ? kReference : of}};
  if (field.pooled) return {{Op::integer}};
  return {layouts.of(of).begin(), layouts.of(of).end()};
}

void RowReader::read(Wire& in, const Layouts& layouts, Row& row) const {
  for (const auto& [step, slot] : steps_) read_step(in, layouts, step, slot, row);
}

}  // namespace profd::jfr
