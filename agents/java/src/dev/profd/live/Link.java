package dev.profd.live;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.instrument.Instrumentation;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The agent's own thread: dials, greets, puts probes in, sends what threads have written, obeys. */
final class Link extends Thread {
    private static final int FIRST_BACKOFF = 250;
    private static final int MOST_BACKOFF = 10000;
    private static final int BUSY = 1 << 20;
    private static final long LATE = 1000000;
    private static final int BATCH = 1000;
    /** The JVM compiles a class that is read anew once more, for seconds: methods that lose their probes are gathered so long. */
    private static final long BETWEEN_BATCHES = 1000000000L;

    private final String target;
    private final String tokenFile;
    private final Instrumentation instrumentation;
    private final Weaver weaver;
    private final boolean verbose;
    private final CountDownLatch tried = new CountDownLatch(1);
    private final ConcurrentLinkedQueue<byte[]> asked = new ConcurrentLinkedQueue<byte[]>();
    private final Wire out = new Wire();
    // Of all links that follow one another: threads keep their lanes.
    private static final Sender sender = new Sender();
    private ThreadMXBean threads;
    private ByteChannel channel;
    private volatile boolean stopping;
    private volatile boolean broken;
    private boolean detached;
    private final List<Integer> demoting = new ArrayList<Integer>();
    private long nextBatch;

    Link(String target, String tokenFile, Instrumentation instrumentation, Weaver weaver, boolean verbose) {
        super(null, null, "profd-live", 0);
        this.target = target;
        this.tokenFile = tokenFile;
        this.instrumentation = instrumentation;
        this.weaver = weaver;
        this.verbose = verbose;
        setDaemon(true);
        setContextClassLoader(null);
    }

    /** Starts, and waits a moment for the first connection, so that the program's first methods are seen. */
    void begin() throws Exception {
        address();
        // What weaving needs is loaded before classes are woven: loading it in between would come back here.
        if (Methods.count() == 0) {
            weaver.weave(new Sample().bytes());
            Weaver.woven.set(0);
            Weaver.methods.set(0);
            Weaver.small.set(0);
            Methods.forget();
        }
        Runtime.getRuntime().addShutdownHook(new Thread(null, null, "profd-live-end", 0) {
            @Override
            public void run() {
                finish();
            }
        });
        start();
        tried.await(1000, TimeUnit.MILLISECONDS);
    }

    private void finish() {
        stopping = true;
        LockSupport.unpark(this);
        try {
            join(1000);
        } catch (InterruptedException ended) {
            return;
        }
    }

    private SocketAddress address() {
        if (target.startsWith("file:")) return null;
        if (target.startsWith("tcp:127.0.0.1:")) {
            int port = Integer.parseInt(target.substring(14));
            return new InetSocketAddress("127.0.0.1", port);
        }
        if (!target.startsWith("unix:"))
            throw new IllegalArgumentException("PROFD_LIVE is unix:PATH, tcp:127.0.0.1:PORT or file:PATH, not " + target);
        try {
            return (SocketAddress) Class.forName("java.net.UnixDomainSocketAddress").getMethod("of", String.class)
                    .invoke(null, target.substring(5));
        } catch (ReflectiveOperationException old) {
            throw new IllegalArgumentException("unix:PATH needs Java 16; take tcp:127.0.0.1:PORT and a token file");
        }
    }

    private ByteChannel dial() throws IOException {
        SocketAddress address = address();
        if (address == null) {
            File file = new File(target.substring(5));
            RandomAccessFile opened = new RandomAccessFile(file, "rw");
            file.setReadable(false, false);
            file.setReadable(true, true);
            opened.setLength(0);
            return opened.getChannel();
        }
        if (target.startsWith("unix:")) {
            // What the program does is told to its own user (or root) alone.
            Path path = Paths.get(target.substring(5));
            Object owner = Files.getAttribute(path, "unix:uid");
            if (!owner.equals(0) && !owner.equals(Files.getAttribute(Paths.get("/proc/self"), "unix:uid")))
                throw new IOException("another user's socket");
        }
        return SocketChannel.open(address);
    }

    @Override
    public void run() {
        int backoff = FIRST_BACKOFF;
        while (!stopping && !detached) {
            long began = System.nanoTime();
            try {
                channel = dial();
                boolean again = session();
                if (!again) break;
            } catch (IOException | RuntimeException gone) {
                // Nobody there, or no longer: tried again later.
            } finally {
                close();
                off();
                tried.countDown();
            }
            if (target.startsWith("file:")) break;
            if (System.nanoTime() - began > MOST_BACKOFF * 1000000L) backoff = FIRST_BACKOFF;
            if (!stopping) LockSupport.parkNanos(backoff * 1000000L);
            backoff = Math.min(backoff * 2, MOST_BACKOFF);
        }
        close();
    }

    private void close() {
        try {
            if (channel != null) channel.close();
        } catch (IOException ignored) {
            return;
        }
    }

    private void send() throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(out.bytes, 0, out.size);
        while (bytes.hasRemaining()) channel.write(bytes);
        out.clear();
    }

    private void hello() throws IOException {
        if (target.startsWith("tcp:") && tokenFile != null) {
            try {
                String token = new String(Files.readAllBytes(Paths.get(tokenFile)), StandardCharsets.UTF_8).trim();
                out.begin(Stream.AUTH).string(token).end();
            } catch (IOException none) {
                // Without one the daemon says what is missing.
            }
        }
        String command = System.getProperty("sun.java.command", "java").split(" ")[0];
        out.begin(Stream.HELLO).raw(Stream.MAGIC.getBytes(StandardCharsets.US_ASCII), 5);
        out.varint(Stream.OLDEST_VERSION).varint(Stream.VERSION).varint(pid()).string("java");
        out.string(command.substring(command.lastIndexOf('/') + 1)).string("profd-live-java 0.1.0, methods=" + weaver.kinds());
        out.varint(1000000000L).varint(System.nanoTime()).varint(System.currentTimeMillis() * 1000000L);
        out.varint(Stream.CAN_PAUSE | Stream.CAN_FILTER | Stream.CAN_DEMOTE | Stream.CAN_DETACH).end();
        send();
    }

    private static long pid() {
        try {
            return Long.parseLong(new File("/proc/self").getCanonicalFile().getName());
        } catch (IOException | NumberFormatException elsewhere) {
            String name = ManagementFactory.getRuntimeMXBean().getName();
            return Long.parseLong(name.substring(0, name.indexOf('@')));
        }
    }

    /** Reads what the daemon says, on a thread of its own: the link may be busy sending. */
    private void listen(final ByteChannel from) {
        Thread reader = new Thread(null, null, "profd-live-control", 0) {
            @Override
            public void run() {
                Inbox inbox = new Inbox();
                try {
                    for (byte[] one; (one = inbox.next(from)) != null;) {
                        asked.offer(one);
                        LockSupport.unpark(Link.this);
                    }
                } catch (IOException gone) {
                    // As with the end of the stream.
                }
                broken = true;
                LockSupport.unpark(Link.this);
            }
        };
        reader.setDaemon(true);
        reader.start();
    }

    /** Sends until the connection, the program or the daemon's wish ends it; true: may be tried again. */
    private boolean session() throws IOException {
        out.clear();
        asked.clear();
        demoting.clear();
        nextBatch = System.nanoTime();
        broken = detached = false;
        hello();
        if (!target.startsWith("file:")) {
            listen(channel);
            long since = System.nanoTime();
            byte[] first;
            while ((first = asked.poll()) == null) {
                if (stopping || broken || System.nanoTime() - since > 5000000000L) return !stopping;
                LockSupport.parkNanos(50000000L);
            }
            if (first[0] == Stream.REFUSE) {
                Inbox.Fields fields = new Inbox.Fields(first);
                fields.varint();
                System.err.println("profd-live: " + fields.string());
                return false;
            }
        }
        return stream();
    }

    private boolean stream() throws IOException {
        Methods.anew();
        Lane.paused = false;
        ++Lane.stream;
        sender.begin();
        long begun = System.nanoTime();
        Probe.session = sender.nextSession();
        instrumentation.addTransformer(weaver, true);
        retransform(null);
        if (verbose) System.err.println("profd-live: " + Weaver.counts());
        tried.countDown();
        long nextTick = System.nanoTime();
        while (true) {
            for (byte[] one; (one = asked.poll()) != null;) obey(one);
            if (System.nanoTime() - nextBatch >= 0) demote();
            boolean last = stopping || detached;
            if (last) Probe.session = 0;
            long now = System.nanoTime();
            long tick = 0;
            if (now >= nextTick || last) {
                tick = Math.max(now - LATE, begun);
                nextTick = now + 50000000L;
                if (threads == null) threads = ManagementFactory.getThreadMXBean();
            }
            sender.round(out, tick, threads);
            if (last) sender.bye(out, detached ? "detach" : "exit");
            int bytes = out.size;
            send();
            if (last) {
                if (verbose) System.err.println("profd-live: " + Weaver.counts());
                return false;
            }
            if (broken && !target.startsWith("file:")) return true;
            long wait = nextTick - System.nanoTime();
            if (bytes > BUSY) wait = Math.min(wait, 2000000L);
            if (wait > 0 && asked.isEmpty()) LockSupport.parkNanos(wait);
        }
    }

    /** Takes all probes off. */
    private void off() {
        boolean was = Probe.session != 0 || detached;
        Probe.session = 0;
        if (!instrumentation.removeTransformer(weaver) && !was) return;
        if (!stopping) retransform(Methods.owners());
        sender.discard();
        Chunk.shrink();
    }

    private void obey(byte[] message) {
        if (message[0] != Stream.CONTROL) return;
        Inbox.Fields fields = new Inbox.Fields(message);
        int operation = (int) fields.varint();
        String pattern = fields.string();
        List<Integer> ids = new ArrayList<Integer>();
        for (int count = Methods.count(); fields.more();) {
            long id = fields.varint();
            if (id > 0 && id <= count) ids.add((int) id);
        }
        switch (operation) {
            case Stream.PAUSE:
                Lane.paused = true;
                break;
            case Stream.RESUME:
                if (!Lane.paused) break;
                Probe.session = sender.nextSession();
                Lane.paused = false;
                break;
            case Stream.FILTER:
                demote();
                weaver.filter(new Filter(pattern));
                retransform(null);
                break;
            case Stream.DEMOTE:
                demoting.addAll(ids);
                return;
            case Stream.PROMOTE:
                demote();
                retransform(Methods.turn(ids, true));
                break;
            case Stream.DETACH:
                detached = true;
                break;
            default:
                return;
        }
        answer(operation, operation == Stream.PROMOTE ? ids : Collections.<Integer>emptyList());
    }

    private void answer(int operation, List<Integer> ids) {
        out.begin(Stream.CONTROLLED).varint(operation).varint(System.nanoTime());
        for (int id : ids) out.varint(id);
        out.end();
    }

    private void demote() {
        if (demoting.isEmpty()) return;
        retransform(Methods.turn(demoting, false));
        answer(Stream.DEMOTE, demoting);
        demoting.clear();
        nextBatch = System.nanoTime() + BETWEEN_BATCHES;
    }

    /** Has classes read anew, all that may have probes or those with the names; many at a time: each time the JVM stops. */
    private void retransform(Set<String> names) {
        List<Class<?>> batch = new ArrayList<Class<?>>();
        for (Class<?> one : instrumentation.getAllLoadedClasses()) {
            String name = one.getName().replace('.', '/');
            if (one.isArray() || !Filter.couldTake(name) || (names != null && !names.contains(name))) continue;
            if (!instrumentation.isModifiableClass(one)) continue;
            batch.add(one);
            if (batch.size() == BATCH) readAnew(batch);
        }
        readAnew(batch);
    }

    /** Where that fails for some it is tried with either half, so that the others are read. */
    private void readAnew(List<Class<?>> batch) {
        ArrayDeque<List<Class<?>>> parts = new ArrayDeque<List<Class<?>>>();
        if (!batch.isEmpty()) parts.push(batch);
        while (!parts.isEmpty()) {
            List<Class<?>> part = parts.pop();
            try {
                instrumentation.retransformClasses(part.toArray(new Class<?>[0]));
            } catch (Throwable unable) {
                if (part.size() == 1) {
                    Weaver.unreadable.incrementAndGet();
                    continue;
                }
                parts.push(part.subList(part.size() / 2, part.size()));
                parts.push(part.subList(0, part.size() / 2));
            }
        }
        batch.clear();
    }
}
