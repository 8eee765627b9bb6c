import java.lang.management.*;
import java.nio.file.*;
import java.util.*;
import java.util.zip.*;
import org.objectweb.asm.*;

/**
 * Rewrites the classes of a JAR with ASM, again and again: for each round a line of the seconds before it and its milliseconds,
 * both of the thread's processor time, which other programs do not lengthen.
 */
public class Rewrite {
    static byte[] rewritten(byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
                return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, name, descriptor, signature, exceptions)) {
                    @Override
                    public void visitMaxs(int stack, int locals) {
                        super.visitMaxs(stack + 1, locals);
                    }
                };
            }
        }, 0);
        return writer.toByteArray();
    }

    public static void main(String[] arguments) throws Exception {
        List<byte[]> classes = new ArrayList<>();
        try (ZipFile jar = new ZipFile(arguments[0])) {
            for (ZipEntry entry : Collections.list(jar.entries()))
                if (entry.getName().endsWith(".class") && classes.size() < 3000) classes.add(jar.getInputStream(entry).readAllBytes());
        }
        System.out.println("classes " + classes.size());
        double seconds = Double.parseDouble(arguments[1]);
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long begun = threads.getCurrentThreadCpuTime(), sum = 0;
        for (long from = begun; from - begun < seconds * 1e9;) {
            for (byte[] one : classes) sum += rewritten(one).length;
            long now = threads.getCurrentThreadCpuTime();
            System.out.printf(Locale.ROOT, "%.3f %.3f%n", (from - begun) / 1e9, (now - from) / 1e6);
            from = now;
        }
        System.out.println("sum " + (sum != 0));
    }
}
