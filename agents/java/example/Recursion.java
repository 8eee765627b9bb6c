/**
 * What one event costs: a recursion of ten calls, best of five, the same with the agent and without. Run
 * {@code java Recursion.java} and {@code java "-javaagent:profd-live.jar=file:/tmp/recursion.plive;methods=calling"
 * Recursion.java}: the difference of a call, halved, is an event.
 */
public class Recursion {
    static volatile int sum;

    static void call(int depth) {
        sum += depth;
        if (depth > 1) call(depth - 1);
        sum += depth;
    }

    static double run(int rounds) {
        long begun = System.nanoTime();
        for (int i = 0; i < rounds; ++i) call(10);
        return (System.nanoTime() - begun) / 10.0 / rounds;
    }

    public static void main(String[] arguments) {
        double best = Double.MAX_VALUE;
        for (int i = 0; i < 10; ++i) best = Math.min(best, run(100000));
        long begun = System.nanoTime();
        for (int i = 0; i < 5000000; ++i) sum += (int) System.nanoTime();
        System.out.printf("a call: %.2f ns; the clock: %.2f ns%n", best, (System.nanoTime() - begun) / 5e6);
    }
}
