package dev.profd.live;

import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What one thread writes: words of kind (2 bits), id (20) and nanoseconds since the chunk's base (42). The thread alone writes,
 * the agent's thread reads behind it. Where no chunk is free events are counted and dropped; later the stack is told anew.
 */
final class Lane {
    static final int TICKS_SHIFT = 22;
    static final int ARGUMENT_BITS = 42;
    static final int OPEN_MOST = 16384;
    static final int PART_IDS = 4000;

    // Words of kind OTHER: what their id says.
    static final int SESSION = 1;
    static final int GAP = 2;
    static final int STACK = 3;
    static final int PART = 4;
    static final int MARK = 5;

    static final ConcurrentLinkedQueue<Lane> opened = new ConcurrentLinkedQueue<Lane>();
    static volatile boolean paused;
    static volatile int stream;
    static boolean virtualThreads;
    private static final Method IS_VIRTUAL = isVirtual();

    // Of the thread.
    private Chunk chunk;
    private long base;
    private int used = Chunk.WORDS;
    private int published;
    private int over;
    long last;
    int depth;
    int session;
    int ofStream;
    int[] open = new int[256];
    long lostFrom;
    long lostTo;
    private long lostSaid;

    // Of both.
    volatile Chunk first;
    final AtomicLong lost = new AtomicLong();

    // Of the agent's thread.
    final WeakReference<Thread> thread;
    final long javaId;
    final int flags;
    int number;
    String name;
    int readingSession;
    int[] stack;
    int stackWanted;
    int stackSize;
    long stackTicks;
    int lastState = -1;
    long lastCpu = -1;

    private Lane(Thread thread, int flags) {
        this.thread = new WeakReference<Thread>(thread);
        this.flags = flags;
        javaId = thread.getId();
    }

    private static Method isVirtual() {
        try {
            return Thread.class.getMethod("isVirtual");
        } catch (NoSuchMethodException old) {
            return null;
        }
    }

    private static boolean isVirtual(Thread thread) {
        try {
            return IS_VIRTUAL != null && (Boolean) IS_VIRTUAL.invoke(thread);
        } catch (Exception none) {
            return false;
        }
    }

    /** The lane of this thread, up to date with the session; null when nothing is to be written. */
    static Lane slow(Lane lane) {
        int session = Probe.session;
        if (session == 0) return null;
        Thread thread = Thread.currentThread();
        if (lane == null) {
            boolean isVirtual = isVirtual(thread);
            if (thread instanceof Link || (isVirtual && !virtualThreads)) return null;
            int flags = (thread.isDaemon() ? Stream.DAEMON_THREAD : 0) | (isVirtual ? Stream.VIRTUAL_THREAD : 0)
                    | (thread.getId() == 1 ? Stream.FIRST_THREAD : 0);
            lane = new Lane(thread, flags);
            Probe.LANES.set(lane);
            opened.offer(lane);
        }
        int now = stream;
        if (lane.ofStream != now) {
            lane.depth = 0;
            lane.over = 0;
            lane.lost.set(0);
            lane.lostSaid = 0;
            lane.ofStream = now;
        }
        if (lane.tellStack(System.nanoTime(), session)) lane.session = session;
        else lane.lose(System.nanoTime());
        return lane.session == session ? lane : null;
    }

    void enter(int id) {
        int at = depth;
        if (at == open.length && !grow()) return;
        // Written first: where the stack overflows in here, nothing has changed.
        write(Stream.ENTER, id);
        open[at] = id;
        depth = at + 1;
    }

    void exit(int id) {
        int at = depth - 1;
        if (over != 0 || at < 0 || open[at] != id) {
            exitSlow(id);
            return;
        }
        write(Stream.EXIT, 0);
        depth = at;
    }

    private boolean grow() {
        if (open.length == OPEN_MOST) {
            ++over;
            return false;
        }
        open = Arrays.copyOf(open, open.length * 2);
        return true;
    }

    /** An exit of a method that is not the innermost: others ended without one, or it was entered before it had probes. */
    private void exitSlow(int id) {
        if (over > 0) {
            --over;
            return;
        }
        int at = depth - 1;
        while (at >= 0 && open[at] != id) --at;
        if (at < 0) return;
        while (depth > at) {
            write(Stream.EXIT, 0);
            --depth;
        }
    }

    private void write(int kind, int id) {
        if (paused) return;
        long now = System.nanoTime();
        if (now < last) now = last;
        if (used >= Chunk.WORDS || (now - base) >>> ARGUMENT_BITS != 0) {
            if (!room(now)) return;
        }
        int at = used;
        chunk.words[at] = (now - base) << TICKS_SHIFT | (long) id << 2 | kind;
        chunk.lazySet(at + 1);
        last = now;
        used = published = at + 1;
    }

    private void lose(long now) {
        long have = lost.get();
        if (have == lostSaid) lostFrom = last;
        lostTo = last = Math.max(now, last);
        lost.lazySet(have + 1);
    }

    private boolean room(long now) {
        if (lost.get() != lostSaid) {
            if (tellStack(now, 0)) return true;
            lose(now);
            return false;
        }
        Chunk fresh = Chunk.take();
        if (fresh == null) {
            lose(now);
            return false;
        }
        begin(fresh, now);
        return true;
    }

    private void begin(Chunk fresh, long now) {
        fresh.taken = 0;
        fresh.base = base = now;
        fresh.set(0);
        Chunk old = chunk;
        chunk = fresh;
        used = published = 0;
        if (old == null) first = fresh;
        else old.next = fresh;
    }

    private void word(int what, long argument) {
        chunk.words[used++] = argument << TICKS_SHIFT | (long) what << 2 | Stream.OTHER;
    }

    /** Tells what was lost (if anything) and what is open now, in chunks of its own; false when there are too few. */
    private boolean tellStack(long now, int session) {
        try {
            return tellStack(now, session, lost.get());
        } catch (StackOverflowError deep) {
            used = published; // What is half written is written over.
            return false;
        }
    }

    private boolean tellStack(long now, int session, long have) {
        int parts = depth / PART_IDS + 1;
        Chunk[] chunks = new Chunk[parts];
        for (int i = 0; i < parts; ++i) {
            chunks[i] = Chunk.take();
            if (chunks[i] != null) continue;
            while (--i >= 0) chunks[i].giveBack();
            return false;
        }
        now = Math.max(now, last);
        begin(chunks[0], now);
        if (session != 0) word(SESSION, session);
        if (have > lostSaid) {
            word(GAP, have - lostSaid);
            chunk.words[used++] = lostFrom;
            chunk.words[used++] = lostTo;
        }
        word(STACK, depth);
        chunk.words[used++] = now;
        for (int part = 0, done = 0; part < parts; ++part) {
            if (part > 0) begin(chunks[part], now);
            int n = Math.min(depth - done, PART_IDS);
            word(PART, n);
            for (int i = 0; i < n; i += 2)
                chunk.words[used++] = open[done + i] | (i + 1 < n ? (long) open[done + i + 1] << 32 : 0);
            done += n;
            chunk.lazySet(used);
            published = used;
            lostSaid = have;
        }
        last = now;
        return true;
    }

    /** What was lost and is not told yet; read when the thread is no more. */
    long untold() {
        return lost.get() - lostSaid;
    }

    void mark(byte[] text) {
        int words = 2 + (text.length + 7) / 8;
        long now = Math.max(System.nanoTime(), last);
        if (paused || (used + words > Chunk.WORDS && !room(now))) return;
        word(MARK, text.length);
        chunk.words[used++] = now;
        for (int i = 0; i < text.length; i += 8) {
            long eight = 0;
            for (int k = 0; k < 8 && i + k < text.length; ++k) eight |= (text[i + k] & 0xffL) << 8 * k;
            chunk.words[used++] = eight;
        }
        chunk.lazySet(used);
        published = used;
        last = now;
    }
}
