package dev.profd.live;

import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** What threads have written, as messages. All of it runs on the agent's thread. */
final class Sender {
    private static final long STATE_NANOSECONDS = 100000000L;
    private static final int STATES_A_ROUND = 32;

    private final List<Lane> lanes = new ArrayList<Lane>();
    private final ArrayDeque<Integer> freeNumbers = new ArrayDeque<Integer>();
    private final Wire body = new Wire();
    private int sessions;
    private int firstSession;
    private int lastNumber;
    private int nextState;
    private long lastStates;
    private long sent;
    private long lostOfEnded;

    // The `events` that is open.
    private boolean open;
    private long ticks;

    void begin() {
        sent = lostOfEnded = 0;
        firstSession = sessions + 1;
        for (Lane lane : lanes) lane.name = null;
    }

    int nextSession() {
        return ++sessions;
    }

    private void endEvents() {
        if (open) body.end();
        open = false;
    }

    private void record(Lane lane, long now, int kind, int more) {
        if (open && body.open() + 32 + more > Stream.MAX_EVENTS_BYTES) endEvents();
        if (!open) {
            body.begin(Stream.EVENTS).varint(lane.number).varint(now);
            ticks = now;
            open = true;
        }
        body.varint((now - ticks) << 2 | kind);
        ticks = now;
        ++sent;
    }

    private void stack(Lane lane, long since, int[] ids, int n) {
        body.begin(Stream.STACK).varint(lane.number).varint(since);
        for (int i = 0; i < n; ++i) body.varint(ids[i]);
        body.end();
    }

    private void gap(Lane lane, long from, long to, long count) {
        body.begin(Stream.GAP).varint(lane.number).varint(from).varint(to).varint(count).end();
    }

    private void thread(Lane lane) {
        Thread thread = lane.thread.get();
        String name = thread == null ? lane.name : thread.getName();
        if (lane.name != null && lane.name.equals(name)) return;
        if (lane.number == 0) {
            Integer free = freeNumbers.poll();
            lane.number = free != null ? free : ++lastNumber;
        }
        lane.name = name == null ? "" : name;
        body.begin(Stream.THREAD).varint(lane.number).varint(0).string(lane.name).varint(lane.flags).end();
    }

    /** One word that is no event, and those behind it; returns how many words it has. */
    private int special(Lane lane, long[] words, int at) {
        long argument = words[at] >>> Lane.TICKS_SHIFT;
        boolean told = lane.readingSession >= firstSession;
        switch ((int) (words[at] >>> 2) & 0xfffff) {
            case Lane.SESSION:
                lane.readingSession = (int) argument;
                return 1;
            case Lane.GAP:
                endEvents();
                if (told) gap(lane, words[at + 1], words[at + 2], argument);
                return 3;
            case Lane.STACK:
                endEvents();
                lane.stackWanted = (int) argument;
                lane.stackTicks = words[at + 1];
                lane.stackSize = 0;
                if (lane.stack == null || lane.stack.length < lane.stackWanted) lane.stack = new int[Math.max(64, lane.stackWanted)];
                return 2;
            case Lane.PART:
                int n = (int) argument;
                for (int i = 0; i < n; ++i) lane.stack[lane.stackSize++] = (int) (words[at + 1 + i / 2] >>> (i % 2 * 32));
                if (lane.stackSize >= lane.stackWanted && told) stack(lane, lane.stackTicks, lane.stack, lane.stackSize);
                return 1 + (n + 1) / 2;
            default: // A mark.
                int length = (int) argument;
                if (told) {
                    byte[] text = new byte[length];
                    for (int i = 0; i < length; ++i) text[i] = (byte) (words[at + 2 + i / 8] >>> 8 * (i % 8));
                    record(lane, words[at + 1], Stream.OTHER, length + 8);
                    body.varint(Stream.MARK).string(new String(text, StandardCharsets.UTF_8));
                }
                return 2 + (length + 7) / 8;
        }
    }

    private void words(Lane lane, Chunk chunk, int used) {
        long[] words = chunk.words;
        long base = chunk.base;
        while (chunk.taken < used) {
            long word = words[chunk.taken];
            int kind = (int) word & 3;
            if (kind == Stream.OTHER) {
                chunk.taken += special(lane, words, chunk.taken);
                continue;
            }
            ++chunk.taken;
            if (lane.readingSession < firstSession) continue;
            record(lane, base + (word >>> Lane.TICKS_SHIFT), kind, 0);
            if (kind == Stream.ENTER) body.varint(word >>> 2 & 0xfffff);
        }
    }

    /** Reads what the thread has published, chunks begun after `until` left for the next time. */
    private void read(Lane lane, long until) {
        for (Chunk chunk = lane.first; chunk != null;) {
            Chunk next = chunk.next;
            words(lane, chunk, chunk.get());
            if (next == null || next.base > until) break;
            lane.first = next;
            chunk.giveBack();
            chunk = next;
        }
        endEvents();
    }

    private void close(Lane lane, boolean told) {
        Chunk chunk = lane.first;
        lane.first = null;
        if (chunk != null) chunk.giveBack();
        if (lane.ofStream != Lane.stream) return;
        if (told && lane.untold() > 0) gap(lane, lane.lostFrom, lane.lostTo, lane.untold());
        lostOfEnded += lane.lost.get();
        if (told && lane.number != 0) body.begin(Stream.THREAD_END).varint(lane.number).varint(Math.max(lane.last, System.nanoTime())).end();
    }

    private long lost() {
        long lost = lostOfEnded;
        for (Lane lane : lanes) if (lane.ofStream == Lane.stream) lost += lane.lost.get();
        return lost;
    }

    private static boolean waits(Thread thread) {
        Thread.State state = thread.getState();
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING || state == Thread.State.BLOCKED;
    }

    private void states(ThreadMXBean beans) {
        long now = System.nanoTime();
        if (now - lastStates < STATE_NANOSECONDS) return;
        lastStates = now;
        int count = lanes.size();
        for (int i = 0; i < count && i < STATES_A_ROUND; ++i) {
            Lane lane = lanes.get((nextState + i) % count);
            Thread thread = lane.thread.get();
            if (thread == null || lane.number == 0 || lane.name == null) continue;
            thread(lane);
            int state = waits(thread) ? Stream.WAITS : Stream.RUNS;
            long cpu = 0;
            if ((lane.flags & Stream.VIRTUAL_THREAD) == 0) {
                try {
                    cpu = Math.max(0, beans.getThreadCpuTime(lane.javaId));
                } catch (UnsupportedOperationException none) {
                    cpu = 0;
                }
            }
            if (state == lane.lastState && cpu == lane.lastCpu) continue;
            lane.lastState = state;
            lane.lastCpu = cpu;
            body.begin(Stream.STATE).varint(lane.number).varint(now).varint(state).varint(cpu).end();
        }
        nextState = count == 0 ? 0 : (nextState + STATES_A_ROUND) % count;
    }

    /** What a thread that waits has open when its stack is asked for: it would tell only when it goes on. */
    private void tellFor(Lane lane) {
        Thread thread = lane.thread.get();
        if (lane.readingSession < firstSession || lane.readingSession == sessions || thread == null || !waits(thread)) return;
        Chunk first = lane.first;
        int used = first == null ? 0 : first.get();
        int depth = lane.depth;
        int[] ids = java.util.Arrays.copyOf(lane.open, Math.min(depth, lane.open.length));
        if (!waits(thread) || first != lane.first || (first != null && used != first.get()) || depth != lane.depth) return;
        lane.readingSession = sessions;
        stack(lane, System.nanoTime(), ids, ids.length);
    }

    /** Appends what is new to `out`, and a tick if that is not 0. */
    void round(Wire out, long tick, ThreadMXBean beans) {
        body.clear();
        long until = System.nanoTime();
        for (Lane lane; (lane = Lane.opened.poll()) != null;) lanes.add(lane);
        for (Iterator<Lane> each = lanes.iterator(); each.hasNext();) {
            Lane lane = each.next();
            Thread thread = lane.thread.get();
            boolean ended = thread == null || !thread.isAlive();
            if (lane.name == null && lane.ofStream == Lane.stream && lane.first != null) thread(lane);
            read(lane, ended ? Long.MAX_VALUE : until);
            if (ended) {
                close(lane, true);
                if (lane.number != 0) freeNumbers.offer(lane.number);
                each.remove();
            } else if (tick != 0) {
                tellFor(lane);
            }
        }
        if (tick != 0) states(beans);
        // Methods are known before the first word that names them is published: what is read now has all of them.
        Methods.tell(out);
        out.append(body);
        if (tick != 0) out.begin(Stream.TICK).varint(tick).varint(sent).varint(lost()).end();
    }

    void bye(Wire out, String reason) {
        out.begin(Stream.BYE).varint(System.nanoTime()).varint(sent).varint(lost()).string(reason).end();
    }

    /** Throws away what threads have written for a stream that is no more. */
    void discard() {
        firstSession = Integer.MAX_VALUE;
        body.clear();
        for (Lane lane; (lane = Lane.opened.poll()) != null;) lanes.add(lane);
        for (Iterator<Lane> each = lanes.iterator(); each.hasNext();) {
            Lane lane = each.next();
            Thread thread = lane.thread.get();
            boolean ended = thread == null || !thread.isAlive();
            read(lane, Long.MAX_VALUE);
            if (!ended) continue;
            close(lane, false);
            if (lane.number != 0) freeNumbers.offer(lane.number);
            each.remove();
        }
        body.clear();
    }
}
