/** Times to wait are multiplied by it: for a machine that does more than it can. */
export const PATIENCE = Number(process.env.PROFD_PATIENCE ?? 1);

/** Until `condition` holds; says what was there instead. Other tests may have the machine meanwhile. */
export async function until(what, condition, timeout = 20_000) {
  const end = Date.now() + timeout * PATIENCE;
  let last;
  do {
    try {
      last = await condition();
      if (last) return last;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 40));
  } while (Date.now() < end);
  throw new Error(`never came: ${what}; last: ${last instanceof Error ? last.stack : JSON.stringify(last)}`);
}
