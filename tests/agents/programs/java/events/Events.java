package events;

import dev.profd.live.Live;
import java.util.ArrayList;
import java.util.List;

/** What probes of Java have to bear; java_test.py knows how often everything is called. */
public class Events {
    static volatile int sink;

    static int leaf(int n) {
        return sink = Math.abs(sink + n);
    }

    static int deep(int n) {
        return n == 0 ? leaf(1) : deep(n - 1) + 1;
    }

    static void thrower(int n) {
        if (n == 0) throw new IllegalStateException("x");
        thrower(n - 1);
    }

    static void catcher() {
        try {
            thrower(3);
        } catch (IllegalStateException expected) {
            leaf(1);
        } finally {
            leaf(1);
        }
    }

    static void finallyThrows() {
        try {
            leaf(1);
            return;
        } finally {
            leaf(1);
        }
    }

    static synchronized int locked() {
        synchronized (Events.class) {
            return leaf(1);
        }
    }

    static class Base {
        final int made;

        Base(int n) {
            made = leaf(n);
        }

        Base(String text) {
            this(text == null ? new Base(1).made : new ArrayList<String>(List.of(text)).size());
        }
    }

    static class Derived extends Base {
        Derived(boolean which) {
            super(which ? new StringBuilder("a").append("b").toString() : null);
            if (made < 0) throw new IllegalStateException();
            leaf(1);
        }
    }

    static class Thrower extends Base {
        Thrower() {
            super(1);
            thrower(0);
        }
    }

    static void makes() {
        new Derived(true);
        new Derived(false);
        try {
            new Thrower();
        } catch (IllegalStateException expected) {
            leaf(1);
        }
    }

    static void lambdas() {
        Runnable one = () -> leaf(1);
        one.run();
        for (int i : new int[] {1, 2, 3}) {
            Runnable each = () -> leaf(i);
            each.run();
        }
    }

    static int overflows(int n) {
        return overflows(n + 1) + 1;
    }

    static void overflow() {
        try {
            overflows(0);
        } catch (StackOverflowError expected) {
            leaf(1);
        }
    }

    static void inThread(int n) {
        for (int i = 0; i < n; ++i) leaf(1);
    }

    static void events() throws Exception {
        for (int i = 0; i < 3; ++i) deep(5);
        catcher();
        finallyThrows();
        locked();
        makes();
        lambdas();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; ++i) threads.add(new Thread(() -> inThread(100), "worker-" + i));
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        Live.mark("half time ä");
    }

    static void waitsForever() throws Exception {
        Object never = new Object();
        synchronized (never) {
            never.wait();
        }
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments.length == 0 ? "events" : arguments[0]) {
            case "events":
                events();
                break;
            case "overflow":
                for (int i = 0; i < 3; ++i) overflow();
                leaf(1);
                break;
            case "run": // calls, calls between two sleeps of a millisecond
                Thread waiter = new Thread(() -> {
                    try {
                        waitsForever();
                    } catch (Exception ended) {
                        return;
                    }
                }, "waiter");
                waiter.setDaemon(true);
                waiter.start();
                runs(Long.parseLong(arguments[1]), Long.parseLong(arguments[2]));
                break;
            default:
                throw new IllegalArgumentException(arguments[0]);
        }
        System.out.println("done");
        System.exit(3);
    }

    static void runs(long calls, long between) throws Exception {
        for (long i = 0; calls == 0 || i < calls; ++i) {
            deep(3);
            if (calls != 0 && i == calls / 2) System.out.println("half");
            if (between != 0 && i % between == 0) Thread.sleep(1);
        }
    }
}
