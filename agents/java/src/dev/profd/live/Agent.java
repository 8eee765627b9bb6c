package dev.profd.live;

import java.io.File;
import java.lang.instrument.Instrumentation;
import java.util.jar.JarFile;

/** What the JVM starts. It puts the agent's JAR before all class loaders, so that every class sees its probes, and hands over. */
public final class Agent {
    public static void premain(String options, Instrumentation instrumentation) throws Exception {
        begin(options, instrumentation);
    }

    public static void agentmain(String options, Instrumentation instrumentation) throws Exception {
        begin(options, instrumentation);
    }

    private static void begin(String options, Instrumentation instrumentation) throws Exception {
        File jar = new File(Agent.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        instrumentation.appendToBootstrapClassLoaderSearch(new JarFile(jar));
        Class.forName("dev.profd.live.Main", true, null)
                .getMethod("begin", String.class, Instrumentation.class)
                .invoke(null, options, instrumentation);
    }

    private Agent() {}
}
