#include "protocol/codec.h"

#include <limits>
#include <string>

#include <nlohmann/json.hpp>

#include "protocol/encode.h"
#include "protocol/generated/psp_messages.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::protocol;
using nlohmann::json;

namespace {

template <class T>
std::string error_of(const json& value) {
  T out;
  Path::Root root("params");
  return decode(value, out, root) ? "" : root.error();
}

template <class T>
T decoded(const json& value) {
  T out;
  Path::Root root("params");
  INFO(value.dump());
  const bool ok = decode(value, out, root);
  INFO(root.error());
  REQUIRE(ok);
  return out;
}

}  // namespace

TEST_CASE("codec: errors name the path of the first bad field") {
  using Params = psp::FlameGraphParams;
  const auto with = [](const char* pointer, const json& value) {
    json params = {{"spec", {{"filters", {{{"op", "keep"}, {"by", "function"}}}}}},
                   {"viewport", {{"width", 100}}}};
    params[json::json_pointer(pointer)] = value;
    return error_of<Params>(params);
  };
  CHECK(with("/panelId", "a") == "");
  CHECK(with("/viewport/width", "wide") == "params.viewport.width: expected number");
  CHECK(with("/viewport/width", 0) == "params.viewport.width: must be at least 1");
  CHECK(with("/viewport/maxBoxes", 5001) == "params.viewport.maxBoxes: must be at most 5000");
  CHECK(with("/viewport/maxBoxes", 0.5) == "params.viewport.maxBoxes: expected integer");
  CHECK(with("/viewport/maxBoxes", -1) == "params.viewport.maxBoxes: expected integer from 0 to 2147483647");
  CHECK(with("/viewport", json::array()) == "params.viewport: expected object");
  CHECK(with("/spec/filters/0/op", 7) == "params.spec.filters[0].op: expected string");
  CHECK(with("/spec/filters/1", json::object()) == "params.spec.filters[1].op: missing");
  CHECK(with("/spec", true) == "params.spec: expected string or object");
  CHECK(with("/zoom", "root") == "params.zoom: expected integer, array or object");
  CHECK(with("/zoom", {1, 2, 0.5}) == "params.zoom[2]: expected integer");
  CHECK(error_of<Params>(json::object()) == "params.spec: missing");
  CHECK(error_of<Params>(nullptr) == "params: expected object");
}

TEST_CASE("codec: defaults are there when a field is absent or null") {
  const auto viewport = decoded<psp::FlameViewport>({{"width", 640}, {"minWidth", nullptr}});
  CHECK(viewport.min_width == 0.5);
  CHECK(viewport.max_boxes == 1800);
  CHECK_FALSE(viewport.max_depth);
  const auto spec = decoded<psp::ViewSpec>(json::object());
  CHECK(spec.shape == psp::ViewShape::top_down);
  CHECK(spec.granularity == psp::Granularity::function);
  CHECK(spec.filters.empty());
}

TEST_CASE("codec: unknown values of enumerations are kept and written back") {
  auto spec = decoded<psp::ViewSpec>({{"shape", "helix"}, {"granularity", "module"}});
  CHECK_FALSE(spec.shape.known());
  CHECK(spec.shape == psp::ViewShape::unrecognized);
  CHECK(spec.shape.text() == "helix");
  CHECK(encode(spec).at("shape") == "helix");
  CHECK(spec.granularity.known());
  spec.shape = psp::ViewShape::callers;
  CHECK(encode(spec).at("shape") == "callers");
  CHECK(decoded<psp::ShowMessageParams>({{"type", 77}, {"message", ""}}).type ==
        static_cast<psp::MessageType>(77));
}

TEST_CASE("codec: unions take the alternative that fits") {
  const auto params = [](const json& spec, const json& zoom) {
    return decoded<psp::FlameGraphParams>({{"spec", spec}, {"viewport", {{"width", 9}}}, {"zoom", zoom}});
  };
  CHECK(std::get<std::string>(params("flat", nullptr).spec) == "flat");
  CHECK(std::get<psp::ViewSpec>(params({{"shape", "flat"}}, nullptr).spec).shape == psp::ViewShape::flat);
  CHECK(std::get<std::int64_t>(*params("flat", 12).zoom) == 12);
  CHECK(std::get<std::vector<std::int64_t>>(*params("flat", {1, 2}).zoom) == std::vector<std::int64_t>{1, 2});
  CHECK_FALSE(params("flat", nullptr).zoom);
}

TEST_CASE("codec: null is told from absent where the protocol wants it") {
  CHECK(error_of<psp::SelectionSetParams>(json::object()) == "params.selection: missing");
  const auto none = decoded<psp::SelectionSetParams>({{"selection", nullptr}});
  CHECK_FALSE(none.selection);
  CHECK(encode(none) == json{{"selection", nullptr}});
  CHECK_FALSE(encode(psp::InitializeParams{}).contains("rootUri"));
}

TEST_CASE("codec: metric values are exact where they are integers") {
  const std::int64_t big = std::numeric_limits<std::int64_t>::max();
  psp::Measure measure{big, "much"};
  CHECK(encode(measure).dump() == R"({"text":"much","value":9223372036854775807})");
  CHECK(decoded<psp::Measure>(encode(measure)).value == Number(big));
  CHECK(decoded<psp::Measure>(json::parse(R"({"value":-9223372036854775808,"text":""})")).value.as_int64() ==
        std::numeric_limits<std::int64_t>::min());
  const auto past = decoded<psp::Measure>(json::parse(R"({"value":18446744073709551615,"text":""})")).value;
  CHECK_FALSE(past.is_integer());
  CHECK(past.as_double() == 18446744073709551616.0);
  measure.value = 0.25;
  CHECK(encode(measure).at("value") == 0.25);
}

TEST_CASE("codec: numbers that are not finite are written as null, never as a wrong number") {
  psp::FlameBoxes boxes;
  boxes.x = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()};
  CHECK(nlohmann::json::parse(encode(boxes).dump()).at("x") == json{nullptr, nullptr});
}

TEST_CASE("codec: columns with missing values keep their places") {
  psp::MetricColumns columns;
  columns.self = {Number(1), std::nullopt, Number(2.5)};
  const json encoded = encode(columns);
  CHECK(encoded.at("self") == json{1, nullptr, 2.5});
  CHECK(decoded<psp::MetricColumns>(encoded).self == columns.self);
}

TEST_CASE("codec: an Any shares its value when copied") {
  const Any any(json{{"a", {1, 2, 3}}});
  const Any copy = any;  // NOLINT(performance-unnecessary-copy-initialization): the copy is the point
  CHECK(&copy.get() == &any.get());
  CHECK(Any()->is_null());
}

TEST_CASE("codec: a path is read from the outside in") {
  Path::Root root("params");
  const Path top(root);
  const Path filters = top.field("filters");
  const Path third = filters.index(3);
  CHECK_FALSE(third.field("op").fail("expected string"));
  CHECK_FALSE(top.fail("a later error"));
  CHECK(root.place() == "params.filters[3].op");
  CHECK(root.error() == "params.filters[3].op: expected string");
}
