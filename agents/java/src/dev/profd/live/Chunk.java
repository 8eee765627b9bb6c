package dev.profd.live;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** Words of one thread. Its number is how many of them the agent's thread may read. */
final class Chunk extends AtomicInteger {
    static final int BYTES = 16384;
    static final int WORDS = (BYTES - 32) / 8;
    static final int MOST = (64 << 20) / BYTES;

    private static final AtomicInteger made = new AtomicInteger();
    private static final ConcurrentLinkedQueue<Chunk> free = new ConcurrentLinkedQueue<Chunk>();

    final long[] words = new long[WORDS];
    volatile Chunk next;
    long base;
    int taken;

    /** A free chunk, null where there is none. */
    static Chunk take() {
        Chunk chunk = free.poll();
        if (chunk != null) return chunk;
        int have = made.get();
        while (have < MOST) {
            if (made.compareAndSet(have, have + 1)) {
                try {
                    return new Chunk();
                } catch (OutOfMemoryError none) {
                    made.decrementAndGet();
                    return null;
                }
            }
            have = made.get();
        }
        return null;
    }

    /** On the agent's thread alone: this allocates. */
    void giveBack() {
        next = null;
        free.offer(this);
    }

    /** Gives the memory of free chunks back. */
    static void shrink() {
        while (free.poll() != null) made.decrementAndGet();
    }
}
