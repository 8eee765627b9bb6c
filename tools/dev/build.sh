# Installing what is missing and building.

packages="g++ cmake ninja-build pkg-config ccache mold git
  protobuf-compiler libprotobuf-dev libprotozero-dev nlohmann-json3-dev libsimdjson-dev libasio-dev libspdlog-dev
  libcli11-dev catch2 libexpected-dev libre2-dev libxxhash-dev libdeflate-dev zlib1g-dev libzstd-dev libtomlplusplus-dev libfmt-dev libexpat1-dev libbz2-dev liblzma-dev"

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
  $sudo apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

cmd_setup() { install_packages $packages; }

# build_preset PRESET [TARGET...]: configure and build, printing only what failed.
build_preset() {
  local preset=$1 log
  shift
  mkdir -p "build/$preset"
  log="build/$preset/build.log"
  cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
  cmake --build "build/$preset" ${1:+--target "$@"} >"$log" 2>&1 || { grep -vE '^\[[0-9]+/' "$log" | tail -n 80 >&2; return 1; }
}

cmd_build() {
  cmd_setup
  build_preset "${1:-release}"
}
