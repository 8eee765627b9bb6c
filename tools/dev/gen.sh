# Everything that follows from protocol/psp.json.

cmd_gen() {
  cmd_setup
  build_preset dev profd-gen
  build/dev/bin/profd-gen --model protocol/psp.json --schema protocol/psp.schema.json --out .
  git status --short -- protocol/generated clients docs 2>/dev/null || true
}
