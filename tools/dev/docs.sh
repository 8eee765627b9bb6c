# What the pages say: links, files that they name, words of the glossary, headings that all formats have, promises with
# their tests, and what is generated.

cmd_docs() {
  local failed=0 check
  cmd_setup
  for check in links named_files glossary format_pages security_page; do
    echo "$check:"
    python3 "tests/tidy/$check.py" || failed=1
  done
  echo "pages of protocol/psp.json:"
  build_preset dev profd-gen
  build/dev/bin/profd-gen --model protocol/psp.json --schema protocol/psp.schema.json --compare . || failed=1
  return $failed
}
