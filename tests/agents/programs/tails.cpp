// Calls that are jumps: each function ends as the next one begins.
extern "C" {
volatile int sink;
__attribute__((noinline)) int last(int n) {
  return sink = sink + n;
}
__attribute__((noinline)) int pong(int n);
__attribute__((noinline)) int ping(int n) {
  return n == 0 ? last(1) : pong(n - 1);
}
__attribute__((noinline)) int pong(int n) {
  return n == 0 ? last(2) : ping(n - 1);
}

__attribute__((noinline)) void thrower(int n) {
  if (n == 0) throw 1;
  thrower(n - 1);
  sink = 0;
}
// What it throws into is itself, further out.
__attribute__((noinline)) void catcher(int n) {
  try {
    if (n > 0) catcher(n - 1);
    if (n == 0) thrower(2);
    sink = n;
  } catch (int) {
    if (n < 2) throw;
    last(3);
  }
}
}

int main() {
  for (int i = 0; i < 3; ++i) catcher(3);
  for (int i = 0; i < 4; ++i) sink = ping(5);
  sink = 0;
}
