package dev.profd.live;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** A class that is woven once before all others, so that everything this needs is there. */
final class Sample {
    private final Object[] some;

    Sample() {
        some = new Object[] {String.valueOf(System.nanoTime() % 2 == 0 ? "a" : "b")};
    }

    byte[] bytes() throws IOException {
        try (InputStream in = ClassLoader.getSystemResourceAsStream("dev/profd/live/Sample.class")) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] part = new byte[4096];
            for (int n; (n = in.read(part)) > 0;) out.write(part, 0, n);
            return some.length == 0 ? null : out.toByteArray();
        }
    }
}
