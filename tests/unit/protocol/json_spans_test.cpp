#include "protocol/json_spans.h"

#include "protocol/message.h"
#include "tests/support/catch.h"

using namespace profd::protocol;

TEST_CASE("members stand where the text has them, whatever their values hold") {
  const std::string text = R"( { "a" : [1,{"a":2}], "b}":"x\\\"{[", "c":-1.50e3 , "d":null,"a":{"k":"]"} } )";
  CHECK(json_member(text, "a") == R"({"k":"]"})");  // the last of a name
  CHECK(json_member(text, "b}") == R"("x\\\"{[")");
  CHECK(json_member(text, "c") == "-1.50e3");
  CHECK(json_member(text, "d") == "null");
  CHECK(json_member(text, "e").empty());
  CHECK(json_member("[1]", "a").empty());
  CHECK(json_member("", "a").empty());
}

TEST_CASE("what is cut or no JSON gives what stands before the cut, and ends") {
  const std::string whole = R"({"a":1,"b":"x\"y","c":[{"d":"]"}]})";
  for (std::size_t n = 0; n + 1 < whole.size(); ++n) {
    const std::string cut = whole.substr(0, n);
    CHECK((json_member(cut, "a") == "1" || n < 6));
    CHECK(json_member(cut, "c").empty());
  }
  for (const char* text :
       {"{]", "{\"a\":}", "{\"a\"", "{,}", "[,]", "{{{{", "[[[[", "}{", "\"", "{\"a\":\"\\"}) {
    CHECK(json_member(text, "a").empty());
    JsonItems items(text);
    int n = 0;
    while (items.next()) ++n;
    CHECK(n <= 1);
  }
  CHECK(json_member(std::string(1'000'000, '['), "a").empty());
}

TEST_CASE("a member is set, replaced and taken out, and all else stays as it was written") {
  CHECK(with_json_member(R"({"x": 1.0 , "y":2})", "x", "[3]") == R"({"x": [3] , "y":2})");
  CHECK(with_json_member(R"({"x": 1.0})", "z", "true") == R"({"x": 1.0,"z":true})");
  CHECK(with_json_member("{ }", "z", "true") == R"({ "z":true})");
  CHECK(without_json_member(R"({"x": 1.0 , "y":2})", "x") == R"({"y":2})");
  CHECK(without_json_member("{}", "x") == "{}");
}

TEST_CASE("arrays are joined as they are written") {
  CHECK(joined_json_arrays("[1.0, 2]", "[ {\"a\":[]} ]") == "[1.0, 2, {\"a\":[]} ]");
  CHECK(joined_json_arrays("null", "[1]") == "[1]");
  CHECK(joined_json_arrays("[]", "[1]") == "[1]");
  CHECK(joined_json_arrays("[1]", "[ ]") == "[1]");
  CHECK(joined_json_arrays("", "") == "[]");
}

TEST_CASE("ids are found without the rest of a message") {
  CHECK(find_request_id(R"({"jsonrpc":"2.0","id":7,"method":"x"})") == RequestId(7));
  CHECK(find_request_id(R"({"params":{"id":1},"id":"a\"b"})") == RequestId(std::string("a\"b")));
  CHECK(find_request_id(R"({"id":7,"params":[[[)") == RequestId(7));
  CHECK(!find_request_id(R"({"id":null})"));
  CHECK(!find_request_id(R"({"id":1.5})"));
  CHECK(!find_request_id("nonsense"));
}
