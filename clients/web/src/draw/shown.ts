// Names are data: what would move, hide or reverse the text around it is made visible before anything is drawn.

// eslint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

function picture(ch: string): string {
  const code = ch.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return "\\u" + code.toString(16).padStart(4, "0");
}

export function shown(name: string): string {
  return name.replace(UNSAFE, picture);
}
