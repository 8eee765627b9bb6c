/** Whether a project file lists profiles. Only the daemon reads the file for what it means. */
export function listsProfiles(text: string): boolean {
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*\[/.test(line)) return false; // `profiles` is a key of the top level
    if (/^\s*"?profiles"?\s*=/.test(line)) return true;
  }
  return false;
}
