import java.io.*;
import java.net.*;
import java.nio.file.*;
import java.util.*;
import java.util.zip.*;

/**
 * Loads and links the classes of a JAR, then works in rounds of some milliseconds: a line of nanoseconds for each, the word
 * after it which step it belongs to. Steps begin by lines on standard input.
 */
public class Loaded {
    static volatile int sink;

    static int work(int depth) {
        int sum = depth;
        for (int i = 0; i < 50; ++i) sum += step(i, sum);
        return depth > 0 ? work(depth - 1) + sum : sum;
    }

    static int step(int i, int sum) {
        return (sum >>> 3) ^ i;
    }

    public static void main(String[] arguments) throws Exception {
        int loaded = 0, refused = 0, invalid = 0;
        URL url = Paths.get(arguments[0]).toUri().toURL();
        URLClassLoader loader = new URLClassLoader(new URL[] {url}, ClassLoader.getPlatformClassLoader());
        List<Class<?>> classes = new ArrayList<>();
        try (ZipFile jar = new ZipFile(arguments[0])) {
            for (ZipEntry entry : Collections.list(jar.entries())) {
                String name = entry.getName();
                if (!name.endsWith(".class") || name.startsWith("META-INF") || name.equals("module-info.class")) continue;
                try {
                    classes.add(Class.forName(name.substring(0, name.length() - 6).replace('/', '.'), false, loader));
                    ++loaded;
                } catch (VerifyError error) {
                    ++invalid;
                } catch (Throwable error) {
                    ++refused;
                }
            }
        }
        System.out.println("loaded " + loaded + " refused " + refused + " invalid " + invalid);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String step; (step = in.readLine()) != null && !step.equals("end");) {
            if (step.equals("verify")) {
                // Initialising verifies what the agent has made of the methods; whatever else fails is the program's own.
                int errors = 0, initialised = 0;
                for (Class<?> one : classes) {
                    try {
                        Class.forName(one.getName(), true, loader);
                        ++initialised;
                    } catch (VerifyError error) {
                        ++errors;
                        System.err.println(error);
                    } catch (Throwable error) {
                        // Needs what is not here.
                    }
                }
                System.out.println("verified " + initialised + " errors " + errors);
                continue;
            }
            for (int i = 0; i < 400; ++i) {
                long from = System.nanoTime();
                for (int n = 0; n < 200; ++n) sink += work(8);
                if (i >= 200) System.out.println(step + " " + (System.nanoTime() - from));
            }
            System.out.println("done " + step);
        }
        System.exit(0);
    }
}
