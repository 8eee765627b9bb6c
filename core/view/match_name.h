// What a name says of a function in any run and any build of a program: without the numbers and hashes that
// tools give anew each time. Profiles are compared by these (joint_keys.h); what is shown is the name itself.
//
//   Java      `$$Lambda$14/0x0000000800c03000` (JDK 8 to 20), `$$Lambda/0x00007f...` (from 21),
//             and in recordings of the JVM itself `$$Lambda$14+0x00007f4f38007a08.937773018`;
//             `LambdaForm$DMH/0x...`, `GeneratedMethodAccessor12` and its kin, `$Proxy14`
//   gcc, clang  `.isra.0`, `.part.1`, `.constprop.0`, `.cold`, `.llvm.123`, `.lto_priv.0` at the end, alone
//             or as ` [clone .isra.0]`
//   Rust      `::h0123456789abcdef` at the end, and in linker names `17h0123456789abcdefE`
//
// Closures are numbered in the order they stand in: Go's `f.func1`, Rust's `f::{closure#0}`, C++'s
// `f::{lambda(int)#1}`, Java's `lambda$f$0`. Of several in one function, numbers tell which is which; of one
// alone, the number says nothing. So they are given apart.
#pragma once

#include <string>
#include <string_view>

namespace profd {

struct MatchName {
  std::string text;     // with closures as if unnumbered
  std::string numbers;  // of its closures, in order; "" without
};
MatchName match_name(std::string_view name);

// The same of a path: what bundlers put into the names of scripts, `main.3f2a9c1b.js`, `chunk-5HXW3KJQ.js`,
// is their content's hash; of classes that a JVM makes, `$Proxy14.java`, the number.
std::string match_path(std::string_view path);

}  // namespace profd
