/** A message is text with links in it, of commands too; a name in it may look like one and must be none. */
export function plain(text: string): string {
  return text.replaceAll("](", "] (");
}
