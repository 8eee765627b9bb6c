package dev.profd.live;

import java.lang.instrument.Instrumentation;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Options, and how the agent begins. */
public final class Main {
    private static final List<String> OPTIONS = Arrays.asList("packages", "methods", "token", "virtual", "verbose");
    private static Link link;

    /** {@code unix:PATH;packages=a.b,-a.b.c;methods=all;token=FILE;virtual=yes;verbose=yes}; PROFD_LIVE says what is not said here. */
    public static synchronized void begin(String text, Instrumentation instrumentation) {
        try {
            if (link != null && link.isAlive()) {
                System.err.println("profd-live: this program is attached already");
                return;
            }
            Map<String, String> options = parse(text == null ? "" : text);
            String target = options.get("to");
            if (target == null) target = System.getenv("PROFD_LIVE");
            if (target == null || target.isEmpty()) return;
            if (options.get("token") == null) options.put("token", System.getenv("PROFD_LIVE_TOKEN_FILE"));
            Lane.virtualThreads = "yes".equals(options.get("virtual"));
            String pattern = options.get("packages");
            Weaver weaver = new Weaver(new Filter(pattern == null ? "" : pattern), kinds(options.get("methods")));
            link = new Link(target, options.get("token"), instrumentation, weaver, "yes".equals(options.get("verbose")));
            link.begin();
        } catch (IllegalArgumentException wrong) {
            System.err.println("profd-live: " + wrong.getMessage());
        } catch (Throwable unable) {
            System.err.println("profd-live: the program runs on without live events: " + unable);
        }
    }

    private static Weaver.Kinds kinds(String methods) {
        if (methods == null || methods.equals("large")) return Weaver.Kinds.LARGE;
        if (methods.equals("calling")) return Weaver.Kinds.CALLING;
        if (methods.equals("all")) return Weaver.Kinds.ALL;
        throw new IllegalArgumentException("methods is large, calling or all, not " + methods);
    }

    /** Names and values, with an equals sign between or a colon: jcmd takes what stands behind the former for its own. */
    static Map<String, String> parse(String text) {
        Map<String, String> options = new HashMap<String, String>();
        for (String part : text.split(";")) {
            if (part.trim().isEmpty()) continue;
            String[] both = part.trim().split("[=:]", 2);
            if (both[0].equals("unix") || both[0].equals("tcp") || both[0].equals("file")) options.put("to", part.trim());
            else if (both.length == 2 && OPTIONS.contains(both[0])) options.put(both[0], both[1].trim());
            else throw new IllegalArgumentException("no option of the agent: " + part);
        }
        return options;
    }

    private Main() {}
}
