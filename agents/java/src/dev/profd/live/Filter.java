package dev.profd.live;

import java.util.ArrayList;
import java.util.List;

/** Which classes have probes. */
final class Filter {
    private static final String[] NEVER = {"java/", "javax/", "jdk/", "sun/", "com/sun/", "dev/profd/live/", "[",
            "org/graalvm/", "com/oracle/"};
    // Made while the program runs: proxies, lambdas, accessors.
    private static final String[] MADE = {"$Proxy", "$$Lambda", "$$EnhancerBy", "$$FastClassBy", "_$$_", "$ByteBuddy$",
            "GeneratedMethodAccessor", "GeneratedConstructorAccessor"};

    private final List<String> with = new ArrayList<String>();
    private final List<String> without = new ArrayList<String>();

    /** Packages by prefix with commas between, a minus before one leaves it out. */
    Filter(String pattern) {
        for (String part : pattern.split(",")) {
            String one = part.trim().replace('.', '/');
            if (one.startsWith("-")) without.add(one.substring(1));
            else if (!one.isEmpty()) with.add(one);
        }
    }

    static boolean couldTake(String name) {
        for (String prefix : NEVER) if (name.startsWith(prefix)) return false;
        for (String part : MADE) if (name.contains(part)) return false;
        return true;
    }

    /** Of {@code dev/profd/live/Filter}. */
    boolean takes(String name) {
        if (!couldTake(name)) return false;
        for (String prefix : without) if (starts(name, prefix)) return false;
        for (String prefix : with) if (starts(name, prefix)) return true;
        return with.isEmpty();
    }

    private static boolean starts(String name, String prefix) {
        return name.startsWith(prefix)
                && (name.length() == prefix.length() || prefix.endsWith("/") || "/$".indexOf(name.charAt(prefix.length())) >= 0);
    }
}
