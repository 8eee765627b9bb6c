/** Known ROUNDS: as known.c. */
public final class Known {
    private static volatile int sum;

    static void heavy() {
        for (int i = 0; i < 2000000; ++i) sum += i;
    }

    static void light() {
        for (int i = 0; i < 100000; ++i) sum += i;
    }

    static void waits() throws InterruptedException {
        Thread.sleep(5);
    }

    public static void main(String[] arguments) throws Exception {
        System.in.read();
        for (int done = 0; done < Integer.parseInt(arguments[0]); ++done) {
            long begun = System.nanoTime();
            heavy();
            long one = System.nanoTime();
            light();
            long two = System.nanoTime();
            waits();
            long end = System.nanoTime();
            System.out.println("heavy " + (one - begun) + " light " + (two - one) + " waits " + (end - two));
        }
        System.out.println("done");
        System.exit(3);
    }
}
