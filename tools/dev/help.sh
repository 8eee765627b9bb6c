cmd_help() {
  cat <<'T'
./dev run [ARGS]       build profd and show a bundled profile; with ARGS, run profd with them
./dev build [PRESET]   build (default: release, leaves build/release/profd)
./dev test [ARGS]      build with warnings as errors and run every test; --asan, --tsan, --bless, or ctest arguments
./dev lint [--fix]     formatting, clang-tidy, layering
./dev fuzz TARGET [S]  run a fuzz target for S seconds of CPU time
./dev fuzz --all       run every fuzz target for its time, with a table of what came of it
./dev gen              regenerate everything that follows from protocol/psp.json
./dev docs             check the pages: links, glossary, headings, promises, what is generated
./dev bench [ARGS]     measure speed and memory beside the peers; --quick takes a minute, --help tells more
./dev soak [MINUTES]   play hostile clients, files and projects against the daemon; --scene NAME, --asan, --tsan, --help tells more
./dev package          the live agents of C, Java and Python, into build/package
./dev setup            only install what is missing
T
}
