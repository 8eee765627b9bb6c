// What a page holds, after everything that nobody refers to is gone.
import { processMemory } from "./harness.mjs";

/** The process that runs the page: in a browser with one page the one that has worked most. */
async function rendererOf(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  return processInfo.filter(({ type }) => type === "renderer").sort((a, b) => b.cpuTime - a.cpuTime)[0]?.id;
}

const onThePage = () => {
  const walk = document.createTreeWalker(document, NodeFilter.SHOW_ALL);
  let count = 1;
  while (walk.nextNode()) ++count;
  return count;
};

/** Gives a function that tells bytes of the heap and of the process, and nodes: those on the page, and others held. */
export async function gaugeOf(browser, page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  return async () => {
    // Twice: what is held from both of the browser's heaps goes only then.
    await session.send("HeapProfiler.collectGarbage");
    await session.send("HeapProfiler.collectGarbage");
    const { metrics } = await session.send("Performance.getMetrics");
    const metric = (name) => metrics.find((each) => each.name === name).value;
    const shown = await page.evaluate(onThePage);
    return {
      heap: metric("JSHeapUsedSize"),
      shown,
      left: metric("Nodes") - shown,
      listeners: metric("JSEventListeners"),
      process: processMemory(await rendererOf(browser)).own,
    };
  };
}
