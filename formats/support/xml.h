// XML read as a stream of elements (expat underneath): no tree, no entities from outside, bounded depth.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/support/result.h"
#include "core/support/stop.h"
#include "formats/reader.h"

namespace profd {

struct XmlAttribute {
  std::string_view name, value;
};

// The attribute's value, or "" when it is not there.
std::string_view attribute(std::span<const XmlAttribute> attributes, std::string_view name);

// What a reader wants to be told. Views live for the call only. An error ends the parsing and is given back
// with the offset of the place when it has none.
class XmlHandler {
 public:
  virtual ~XmlHandler() = default;
  virtual Result<void> start(std::string_view name, std::span<const XmlAttribute> attributes,
                             std::uint64_t offset) = 0;
  virtual Result<void> end(std::string_view name) = 0;
  // Text between tags, in any number of pieces; entities and CDATA are resolved.
  virtual Result<void> text(std::string_view text) {
    static_cast<void>(text);
    return {};
  }
};

// Encodings: what expat knows (UTF-8, UTF-16, Latin-1, ASCII). Depth above limits.nesting is `limit`. A text
// that ends inside an element is `truncated`, unless context.partial: what came before stands and is
// reported.
Result<void> parse_xml(std::span<const std::byte> bytes, ReadContext& context, XmlHandler& handler);

// For sniffing: the name of the outermost element, after declaration, comments and doctype; "" when `prefix`
// does not begin as XML.
std::string_view xml_root(std::string_view prefix);

}  // namespace profd
