#include "native/lines/clone_name.h"

#include "tests/support/catch.h"

using namespace profd::native;

TEST_CASE("what compilers append to clones and parts goes, and nothing else") {
  CHECK(without_clone_suffix("f.constprop.0") == "f");
  CHECK(without_clone_suffix("_Z1fv.part.0.isra.12") == "_Z1fv");
  CHECK(without_clone_suffix("f.cold") == "f");
  CHECK(without_clone_suffix("f.isra.0.cold") == "f");
  CHECK(without_clone_suffix("_ZN1aE.llvm.123456") == "_ZN1aE");
  for (const char* whole : {"main.main", "f.1", "f.", ".cold", ".L1", "a.b.2", "runtime.call16.abi0", ""})
    CHECK(without_clone_suffix(whole) == whole);
}

TEST_CASE("clones of constructors and destructors are one, the deleting destructor is another") {
  CHECK(with_one_structor("_ZN1AC4Ev") == "_ZN1AC1Ev");
  CHECK(with_one_structor("_ZN1AC2ERKS_") == "_ZN1AC1ERKS_");
  CHECK(with_one_structor("_ZN1AD2Ev") == "_ZN1AD1Ev");
  CHECK(with_one_structor("_ZN1AD0Ev") == "_ZN1AD0Ev");
  CHECK(with_one_structor("_ZNSt6vectorIiSaIiEEC2Ev") == "_ZNSt6vectorIiSaIiEEC1Ev");
  CHECK(with_one_structor("_ZNSsC4Ev") == "_ZNSsC1Ev");
  CHECK(with_one_structor("_ZZN1AC4EvENKUlvE_clEv") == "_ZZN1AC1EvENKUlvE_clEv");
  CHECK(with_one_structor("_ZZN1AC4EvENUlvE_C4EOS0_") == "_ZZN1AC1EvENUlvE_C1EOS0_");
  CHECK(with_one_structor("_ZN3ArrILi24EEC4Ev") == "_ZN3ArrILi24EEC1Ev");
}

TEST_CASE("letters of a name that look like a constructor are a name") {
  for (const char* other :
       {"_ZN4AC4E1fEv", "_Z4C4Evv", "C4", "_RNvC4main", "_ZN2C23runEv", "_ZN1AILi4EE1fEv"})
    CHECK(with_one_structor(other) == other);
  // Lengths that lead out of the name.
  CHECK(with_one_structor("_ZN99999999999999999999C4Ev") == "_ZN99999999999999999999C4Ev");
}

TEST_CASE("a bare name is one of a symbol that spells it") {
  CHECK(is_bare_spelling("main", "main"));
  CHECK(is_bare_spelling("mix", "_ZN6shapes3mixEm"));
  CHECK(is_bare_spelling("mix", "_ZN6shapes3mixEm.constprop.0"));
  CHECK(is_bare_spelling("max<int>", "_ZSt3maxIiET_"));
  CHECK(is_bare_spelling("operator()", "_ZZ4mainENKUlvE_clEv"));
  CHECK(is_bare_spelling("~Held", "_ZN4HeldD1Ev"));
  CHECK(is_bare_spelling("dcgettext", "__dcgettext"));
  CHECK_FALSE(is_bare_spelling("mix", "_ZN6shapes5mixedEm"));
  CHECK_FALSE(is_bare_spelling("text", "dcgettext"));
  CHECK_FALSE(is_bare_spelling("main", "other"));
}
