# Everything that follows from protocol/psp.json.

# What the protocol's tests run in other languages.
packages="$packages luajit python3"
command -v npm >/dev/null || packages="$packages nodejs npm"

# The TypeScript compiler, as clients/shared/ts/package-lock.json has it.
install_node_modules() {
  local folder=$1
  [ "$folder/node_modules/.package-lock.json" -nt "$folder/package-lock.json" ] && return
  echo "dev: npm ci in $folder" >&2
  (cd "$folder" && npm ci --silent --no-audit --no-fund) || echo "dev: npm failed; the tests that need it are not run" >&2
}

cmd_gen() {
  cmd_setup
  build_preset dev profd-gen
  build/dev/bin/profd-gen --model protocol/psp.json --schema protocol/psp.schema.json --out .
  git status --short -- protocol/generated clients docs 2>/dev/null || true
}
