// Preact keeps, with each component that renders again by itself, what it showed first: the element stays in the
// properties of its parent, and what is below it there holds nodes that left the page (preact's issue 4909).
import { options, type VNode } from "preact";

/** The names that preact's own packages know its fields by. */
interface Kept extends VNode {
  __c?: { __v?: Kept } | null;
  __k?: unknown;
}

export function letGoOfFirstRenders(): void {
  const replaced = new WeakMap<VNode, Kept>();
  const made = options.vnode?.bind(options);
  const diffed = options.diffed?.bind(options);
  options.vnode = (vnode: Kept) => {
    const before = vnode.__c?.__v;
    if (before !== undefined && before !== vnode) replaced.set(vnode, before);
    made?.(vnode);
  };
  options.diffed = (vnode) => {
    const before = replaced.get(vnode);
    if (before !== undefined) before.__k = null;
    replaced.delete(vnode);
    diffed?.(vnode);
  };
}
