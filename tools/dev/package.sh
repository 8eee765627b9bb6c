# What programs link or load: the live agents.

# ./dev package: into build/package; an agent whose tools are not here is left out, with a word on stderr.
cmd_package() {
  local out=build/package
  mkdir -p "$out"
  cmake -S agents/c -B build/agents/c >"$out/package.log" 2>&1 && cmake --build build/agents/c >>"$out/package.log" 2>&1 &&
    cmake --install build/agents/c --prefix "$out/c" >>"$out/package.log" 2>&1 ||
    { cat "$out/package.log" >&2; return 1; }
  echo "$out/c: profd_live.h, libprofd-live, libprofd-live-xray, profd-live.pc, profd-live-xray.pc"
  if command -v javac >/dev/null; then
    python3 agents/java/build.py "$out/profd-live.jar" && echo "$out/profd-live.jar" || return 1
  else
    echo "dev: no JDK; the agent of Java is left out" >&2
  fi
  if python3 -m pip --version >/dev/null 2>&1; then
    rm -f "$out"/profd_live-*.whl
    python3 -m pip wheel -q --no-deps -w "$out" ./agents/python >>"$out/package.log" 2>&1 || { cat "$out/package.log" >&2; return 1; }
    ls "$out"/profd_live-*.whl
  else
    echo "dev: no pip; the agent of Python is left out" >&2
  fi
}
