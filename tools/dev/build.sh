# Installing what is missing and building.

packages="g++ cmake python3 ninja-build pkg-config ccache mold git
  protobuf-compiler libprotobuf-dev libprotozero-dev nlohmann-json3-dev libsimdjson-dev libboost-dev libspdlog-dev
  libcli11-dev catch2 libexpected-dev libre2-dev libxxhash-dev libdeflate-dev zlib1g-dev libzstd-dev libtomlplusplus-dev libfmt-dev libexpat1-dev libbz2-dev liblzma-dev liblz4-dev
  libzydis-dev libllvm14 liblua5.4-dev"

# install_packages NAME...: apt-get what dpkg does not have yet; quiet, and silent when nothing is missing.
install_packages() {
  local missing=()
  for p in "$@"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
  done
  [ ${#missing[@]} -eq 0 ] && return
  echo "dev: installing ${missing[*]}" >&2
  local sudo=""
  [ "$(id -u)" -eq 0 ] || sudo=sudo
  local bounded="-o Acquire::Retries=1 -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30"
  $sudo apt-get $bounded update -qq >&2
  DEBIAN_FRONTEND=noninteractive $sudo apt-get $bounded install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

cmd_setup() { install_packages $packages; }

# need_room GIGABYTES WHAT: a disk that is full halfway looks like failing tests, so it is said before.
need_room() {
  local free
  free=$(df --output=avail -BM . | tail -n 1 | tr -dc 0-9)
  [ "$free" -ge $(($1 * 1024)) ] && return
  echo "dev: $2 needs $1 GB on the disk of $PWD and $free MB are free: make room (build/ may be deleted) and try again" >&2
  return 1
}

# build_preset PRESET [TARGET...]: configure and build, printing how far it is and only what failed.
build_preset() {
  local preset=$1 log
  shift
  mkdir -p "build/$preset"
  log="build/$preset/build.log"
  cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
  : >"$log"
  if ! NINJA_STATUS='[%f/%t] ' cmake --build "build/$preset" ${1:+--target "$@"} 2>&1 | tee -a "$log" | show_progress "$preset"; then
    grep -vE '^\[[0-9]+/' "$log" | tail -n 80 >&2
    return 1
  fi
}

# show_progress WHAT: of what ninja prints, one line that is written over on a terminal; elsewhere a line for every
# fifth of the work, and none where there is next to nothing to do.
show_progress() {
  local line done total fifths=0
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    done=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
    if [ -t 2 ]; then
      printf '\r\033[Kdev: building %s: %d of %d, %d s' "$1" "$done" "$total" "$SECONDS" >&2
    elif [ "$total" -ge 10 ] && [ $((done * 5 / total)) -gt $fifths ]; then
      fifths=$((done * 5 / total))
      echo "dev: building $1: $done of $total, $SECONDS s" >&2
    fi
  done
  [ ! -t 2 ] || printf '\r\033[K' >&2
}

# The views for browsers and editors: clients/web/dist, which the daemon embeds. A machine without Node, or without a way
# to npm's packages, builds the rest.
build_web() {
  have_node || return 0
  install_node_modules clients/web
  [ -d clients/web/node_modules ] || { echo "dev: the views for browsers are left out" >&2; return 0; }
  local newest
  newest=$(find clients/web/src clients/web/static clients/web/tools clients/web/package-lock.json clients/shared/ts/psp.ts \
    -newer clients/web/dist/app.js -print -quit 2>/dev/null || true)
  [ -f clients/web/dist/app.js ] && [ -z "$newest" ] && return 0
  echo "dev: building the views for browsers" >&2
  (cd clients/web && npm run --silent build >&2) || { echo "dev: the views for browsers could not be built" >&2; return 1; }
}

# The extension for VS Code: clients/vscode/dist/profd.vsix, without a daemon. Left out where build_web is.
build_vscode() {
  [ -f clients/web/dist/app.js ] || return 0
  install_node_modules clients/vscode
  [ -d clients/vscode/node_modules ] || { echo "dev: the extension for VS Code is left out" >&2; return 0; }
  local vsix=clients/vscode/dist/profd.vsix newest
  newest=$(find clients/vscode/{src,media,tools,package.json,package-lock.json,README.md} clients/web/dist clients/web/src/state clients/shared/ts/psp.ts \
    -path clients/vscode/media/web -prune -o -newer "$vsix" -print -quit 2>/dev/null || true)
  [ -f "$vsix" ] && [ -z "$newest" ] && return 0
  echo "dev: building the extension for VS Code" >&2
  (cd clients/vscode && npm run --silent package >dist.log 2>&1) || { cat clients/vscode/dist.log >&2; rm -f clients/vscode/dist.log; return 1; }
  rm -f clients/vscode/dist.log
}

cmd_build() {
  cmd_setup
  install_node
  build_web
  build_vscode
  build_preset "${1:-release}"
}
