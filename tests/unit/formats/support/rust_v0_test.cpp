#include "formats/support/rust_v0.h"

#include "formats/support/demangle.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

std::string name_of(std::string_view symbol) {
  return demangle_rust_v0(symbol).value_or("none");
}

}  // namespace

TEST_CASE("names of the RFC are shown as people write them") {
  CHECK(name_of("_RNvC6_123foo3bar") == "123foo::bar");
  CHECK(name_of("_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y") ==
        "utf8_idents::\u10E1\u10D0\u10ED\u10DB\u10D4\u10DA\u10D0\u10D3_\u10D2\u10D4\u10DB\u10E0\u10D8\u10D4"
        "\u10DA\u10D8_\u10E1\u10D0\u10D3\u10D8\u10DA\u10D8");
  CHECK(name_of("_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_") == "cc::spawn::{closure#0}::{closure#0}");
  CHECK(
      name_of("_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9rposition"
              "NCNgNpB9_6memchr7memrchrs_0E0Bb_") ==
      "<core::slice::Iter<u8> as core::iter::iterator::Iterator>::rposition::<core::slice::memchr::memrchr::"
      "{closure#1}>::{closure#0}");
  CHECK(name_of("_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_ECs1iopQbuBiw2_"
                "3std") == "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>");
}

// As rustc 1.95 writes them; the texts are those of llvm-cxxfilt 14.
TEST_CASE("names of a compiled program are shown as people write them") {
  CHECK(name_of("_RNvMNtCs6xxl1lAjzDf_1au9gre_6ka8iINtB2_u9Strae_oqaKj5_Eu10grer_wna1lB4_") ==
        "<a::gr\u00F6\u00DFe::Stra\u00DFe<5>>::gr\u00F6\u00DFer");
  CHECK(name_of("_RNvMs0_Cs6xxl1lAjzDf_1aINtB5_5FlagsKb0_Kcdf_Kl7fffffff_E3getB5_") ==
        "<a::Flags<false, '\\u{df}', 2147483647>>::get");
  CHECK(name_of("_RNvMs0_Cs6xxl1lAjzDf_1aINtB5_5FlagsKb1_Kc27_Kln7_E3getB5_") ==
        "<a::Flags<true, '\\'', -7>>::get");
  CHECK(
      name_of("_RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_placeINtNtCslNYArtu3iFV_5alloc5boxed3BoxDG0_INtNtNtB4_"
              "3ops8function2FnTRL1_INtNtCsjrHSEGnQ3l9_3std5panic13PanicHookInfoL0_EEEp6OutputuNtNtB4_6marker"
              "4SyncNtB2N_4SendEL_EEB1T_") ==
      "core::ptr::drop_in_place::<alloc::boxed::Box<dyn for<'a, 'b> core::ops::function::Fn<(&'a std::panic::"
      "PanicHookInfo<'b>,), Output = ()> + core::marker::Sync + core::marker::Send>>");
}

TEST_CASE("what compilers add behind a Rust name is not part of it") {
  CHECK(name_of("_RNvC3foo3bar.llvm.12345") == "foo::bar");
  CHECK(name_of("_RNvC3foo3bar.cold") == "foo::bar (.cold)");
  CHECK(demangle("__RNvC3foo3bar") == "foo::bar");
  CHECK(demangle("_RNvC3foo3bar@@V1") == "foo::bar@@V1");
}

TEST_CASE("what is no v0 name stays as it is") {
  for (const char* name :
       {"_R", "_RN", "_R1NvC3foo3bar", "_RNvC3foo4bar", "_RNvC3foo3barX", "_RNvC3foo99999999999999999999bar",
        "_RNvB_3bar", "_RNvC3foou3\u00E4r", "_RNvC3foou4zzzz", "_RINvC1a1bKl0f_E", "_RINvC1a1bKb2_E",
        "_RINvC1a1bKcd800_E", "_RINvC1a1bRL0_hE", "_RNvCszzzzzzzzzzzzzzzz_3foo3bar",
        "_RINvC1a1bFGzzzzzz_uEuE"}) {
    INFO(name);
    CHECK(name_of(name) == "none");
    CHECK(demangle(name) == name);
  }
}

TEST_CASE("a Rust name that nests or repeats itself without end is left as it is") {
  const auto nested = [](std::size_t depth) { return "_RINvC1a1b" + std::string(depth, 'S') + "hE"; };
  CHECK(name_of(nested(100)).ends_with("]>"));
  CHECK(name_of(nested(3000)) == "none");
  // Each pair is of two of the pair before: 2^64 letters.
  std::string twice = "_RINvC1a1bThhE";
  std::size_t before = 8;
  const std::string digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const auto base62 = [&](std::size_t value) {
    std::string text;
    for (--value;; value /= 62) {
      text.insert(text.begin(), digits[value % 62]);
      if (value < 62) return text + "_";
    }
  };
  for (int i = 0; i < 64; ++i) {
    const std::size_t at = twice.size() - 2;
    twice += "TB" + base62(before) + "B" + base62(before) + "E";
    before = at;
  }
  CHECK(name_of(twice + "E") == "none");
}
