package events;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Enumeration;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** Has the JVM verify every class of JARs, and says how many it took and refused. */
public class Verify {
    public static void main(String[] jars) throws Exception {
        int taken = 0;
        int refused = 0;
        URL[] urls = new URL[jars.length];
        for (int i = 0; i < jars.length; ++i) urls[i] = new File(jars[i]).toURI().toURL();
        try (URLClassLoader loader = new URLClassLoader(urls, null)) {
            for (String jar : jars) {
                try (JarFile file = new JarFile(jar)) {
                    for (Enumeration<JarEntry> each = file.entries(); each.hasMoreElements();) {
                        String name = each.nextElement().getName();
                        if (!name.endsWith(".class") || name.contains("-") || name.startsWith("META-INF/")) continue;
                        try {
                            Class.forName(name.substring(0, name.length() - 6).replace('/', '.'), false, loader).getDeclaredMethods();
                            ++taken;
                        } catch (VerifyError | ClassFormatError wrong) {
                            ++refused;
                            System.out.println(name + ": " + wrong.getMessage());
                        } catch (LinkageError missing) {
                            // What it needs is in another JAR.
                        }
                    }
                }
            }
        }
        System.out.println(taken + " taken, " + refused + " refused");
    }
}
