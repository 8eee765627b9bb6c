#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/conformance/tar_bytes.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string document(const std::string& data, const std::string& version = "2.0") {
  return "<?xml version=\"1.0\"?><HPCToolkitExperiment version=\"" + version +
         "\"><SecCallPathProfile i=\"0\" n=\"a\"><SecHeader><MetricTable><Metric i=\"0\" n=\"CPUTIME "
         "(usec):Sum (E)\" "
         "t=\"exclusive\"/></MetricTable><MetricDBTable><MetricDB i=\"0\" n=\"CPUTIME (usec) (E)\" "
         "t=\"exclusive\" "
         "db-id=\"0\"/></MetricDBTable><ProcedureTable><Procedure i=\"1\" "
         "n=\"main\"/></ProcedureTable></SecHeader>"
         "<SecCallPathProfileData>" +
         data + "</SecCallPathProfileData></SecCallPathProfile></HPCToolkitExperiment>";
}

std::string metric_db(std::uint32_t nodes, std::uint32_t metrics, std::size_t n_bytes) {
  std::string out = "HPCPROF-metricdb__00.10b";
  for (const std::uint32_t n : {nodes, metrics})
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(n >> shift);
  return out + std::string(n_bytes, '\0');
}

const std::string kMain = "<PF i=\"1\" n=\"1\" l=\"3\"><S i=\"2\" l=\"4\"><M n=\"0\" v=\"5\"/></S></PF>";

}  // namespace

TEST_CASE("hpctoolkit-v3: bad input is refused or counted") {
  const auto with_db = [](const std::string& db) {
    return tar_bytes({{"experiment.xml", document(kMain)}, {"1.a-000000-000-0-1-0.metric-db", db}});
  };
  check_bad_inputs(
      "hpctoolkit-v3",
      {
          {"other XML", "<html></html>", "error malformed: no experiment.xml"},
          {"cut off", document(kMain).substr(0, 300), "error truncated: inside an element"},
          {"version 9", document(kMain, "9.0"), "error unsupported: version 9.0"},
          {"a statement outside a procedure", document("<S i=\"2\" l=\"4\"/>"),
           "error malformed: outside a procedure"},
          {"no metric", "<HPCToolkitExperiment version=\"2.0\"/>", "error malformed: no metric"},
          {"a flat profile", "<HPCToolkitExperiment version=\"2.0\"><SecFlatProfile/></HPCToolkitExperiment>",
           "error unsupported: flat profile"},
          {"an entity", "<!DOCTYPE a [<!ENTITY x \"y\">]><HPCToolkitExperiment version=\"2.0\"/>",
           "error unsupported: entities"},
          {"a metric-db alone", metric_db(1, 1, 8), "error not_found: open that folder"},
          {"values cut off", with_db(metric_db(4, 1, 8)), "error truncated: ends before"},
          {"four billion contexts", with_db(metric_db(0xFFFFFFFF, 0xFFFFFFFF, 8)),
           "error truncated: ends before"},
          {"no columns", with_db(metric_db(4, 0, 8)), "error truncated: ends before"},
          {"no metric-db", with_db("something else"), "error malformed: no metric-db begins"},
          {"a value that is no number",
           document("<PF i=\"1\" n=\"1\"><S i=\"2\" l=\"4\"><M n=\"0\" v=\"x\"/></S></PF>"),
           "report malformed-value"},
          {"a metric that is not declared",
           document("<PF i=\"1\" n=\"1\"><S i=\"2\" l=\"4\"><M n=\"7\" v=\"1\"/></S></PF>"),
           "report unknown-metric"},
          {"a procedure that is not declared",
           document("<PF i=\"1\" n=\"9\"><S i=\"2\" l=\"4\"><M n=\"0\" v=\"1\"/></S></PF>"),
           "report unknown-procedure"},
      });
}

TEST_CASE("hpctoolkit-v3: calls 20,000 deep are read") {
  std::string data, end;
  for (int i = 0; i < 20'000; ++i) {
    data += "<PF i=\"" + std::to_string(2 * i + 1) + "\" n=\"1\"><C i=\"" + std::to_string(2 * i + 2) +
            "\" l=\"5\">";
    end += "</C></PF>";
  }
  const ReadOutcome read = read_with("hpctoolkit-v3", document(data + kMain + end));
  REQUIRE(read.error == "");
  CHECK(total_of(*read.profiles[0], "CPUTIME") == 5);
  CHECK(read.profiles[0]->tree().size() == 20'002);
}
