package dev.profd.live;

import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodTooLargeException;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Puts probes into methods: one behind the start (in constructors behind the call of another), one before each return, one in a
 * handler of everything that is thrown. The frames of a class stay what they were, but for that of the handler, which has no
 * locals and a Throwable: nothing has to be computed, and no other class is loaded for it.
 */
final class Weaver implements ClassFileTransformer {
    private static final int API = Opcodes.ASM9;
    private static final String PROBE = "dev/profd/live/Probe";
    /** What the JVM takes into callers for its size alone (MaxInlineSize): a probe would keep it out and cost more than it. */
    private static final int SMALL = 35;
    private static final int GOTO_W = 200;

    /** Which methods have probes. */
    enum Kinds {
        /** Those that call something and are not small; loops, main and run are never small. */
        LARGE,
        /** Those that call something. */
        CALLING,
        ALL
    }

    static final AtomicInteger woven = new AtomicInteger();
    static final AtomicInteger methods = new AtomicInteger();
    static final AtomicInteger unreadable = new AtomicInteger();
    static final AtomicInteger untouched = new AtomicInteger();
    static final AtomicInteger small = new AtomicInteger();

    /** For a person who asked for it. */
    static String counts() {
        return methods + " methods of " + woven + " classes given probes; " + unreadable + " classes could not be read, "
                + untouched + " methods were left alone, " + small + " were too small";
    }

    private volatile Filter filter;
    private final Kinds kinds;

    Weaver(Filter filter, Kinds kinds) {
        this.filter = filter;
        this.kinds = kinds;
    }

    /** As in the options. */
    String kinds() {
        return kinds.name().toLowerCase(java.util.Locale.ROOT);
    }

    void filter(Filter other) {
        filter = other;
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        try {
            return name == null || !filter.takes(name) ? null : weave(bytes);
        } catch (Throwable unable) {
            unreadable.incrementAndGet();
            return null;
        }
    }

    /** What a look at a method found. */
    private static final class Found {
        int id;
        int line;
        int calls;
        boolean loops;
        boolean refused;
        int behind = -1; // Of a constructor: the how many-eth call of an <init> is that of its own class or the one above.
    }

    /** The class with probes, null where there is nothing to be done. */
    byte[] weave(byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        if ((reader.getAccess() & Opcodes.ACC_MODULE) != 0) return null;
        int[] lengths = kinds == Kinds.LARGE ? lengths(reader) : null;
        if (lengths != null && isZero(lengths)) return null;
        Set<String> large = new HashSet<String>();
        while (true) {
            Map<String, Found> found = look(reader, large, lengths);
            if (found.isEmpty()) return null;
            ClassWriter writer = new ClassWriter(reader, 0);
            try {
                reader.accept(new Put(writer, found), 0);
                byte[] out = writer.toByteArray();
                woven.incrementAndGet();
                methods.addAndGet(found.size());
                return out;
            } catch (MethodTooLargeException one) {
                if (!large.add(one.getMethodName() + one.getDescriptor())) throw one;
                untouched.incrementAndGet();
            }
        }
    }

    private static boolean isZero(int[] lengths) {
        for (int length : lengths) if (length != 0) return false;
        return true;
    }

    /** `lengths` is null where small methods have probes. */
    private Map<String, Found> look(ClassReader reader, final Set<String> large, final int[] lengths) {
        final Map<String, Found> found = new HashMap<String, Found>();
        final String owner = reader.getClassName();
        final String[] file = {null};
        reader.accept(new ClassVisitor(API) {
            private int read;

            @Override
            public void visitSource(String source, String debug) {
                file[0] = source;
            }

            @Override
            public MethodVisitor visitMethod(int access, final String name, final String descriptor, String signature, String[] thrown) {
                final int length = lengths == null ? Integer.MAX_VALUE : lengths[read++];
                if ((access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE | Opcodes.ACC_BRIDGE)) != 0 || name.equals("<clinit>")
                        || length == 0 || large.contains(name + descriptor)) return null;
                final boolean isSmall = length <= SMALL && !isEntry(name);
                final Found one = new Found();
                final Set<Label> passed = isSmall ? new HashSet<Label>() : null;
                final boolean constructor = name.equals("<init>");
                return new MethodVisitor(API) {
                    private int made;
                    private int inits;

                    @Override
                    public void visitLineNumber(int line, Label start) {
                        if (one.line == 0) one.line = line;
                    }

                    @Override
                    public void visitLabel(Label label) {
                        if (passed != null) passed.add(label);
                    }

                    @Override
                    public void visitJumpInsn(int opcode, Label to) {
                        one.loops |= passed != null && passed.contains(to);
                    }

                    @Override
                    public void visitTypeInsn(int opcode, String type) {
                        if (opcode == Opcodes.NEW) ++made;
                    }

                    @Override
                    public void visitMethodInsn(int opcode, String type, String called, String descriptor, boolean isInterface) {
                        if (constructor && one.behind < 0) {
                            // An <init> for each NEW; the first without one is that of the object itself.
                            if (!called.equals("<init>")) return;
                            if (made == 0) one.behind = inits;
                            else --made;
                            ++inits;
                            return;
                        }
                        ++one.calls;
                    }

                    @Override
                    public void visitInvokeDynamicInsn(String called, String descriptor, org.objectweb.asm.Handle handle, Object... more) {
                        ++one.calls;
                    }

                    @Override
                    public void visitFrame(int type, int locals, Object[] local, int depth, Object[] stack) {
                        if (one.behind < 0 || type != Opcodes.F_FULL) return;
                        for (int i = 0; i < locals; ++i) one.refused |= local[i] == Opcodes.UNINITIALIZED_THIS;
                    }

                    @Override
                    public void visitEnd() {
                        if (one.refused || (constructor && one.behind < 0)) {
                            untouched.incrementAndGet();
                            return;
                        }
                        if (one.calls == 0 && kinds != Kinds.ALL) return;
                        if (isSmall && !one.loops) {
                            small.incrementAndGet();
                            return;
                        }
                        one.id = Methods.id(owner, name, descriptor, file[0], one.line);
                        if (one.id != 0 && !Methods.isOff(one.id)) found.put(name + descriptor, one);
                    }
                };
            }
        }, 0);
        return found;
    }

    /** Of each method, in the order of the class, bytes of code; 0 where it is small beyond doubt, or has none. */
    private static int[] lengths(ClassReader reader) {
        // Behind access, name and superclass.
        int at = reader.header + 6;
        at += 2 + 2 * reader.readUnsignedShort(at);
        char[] text = new char[reader.getMaxStringLength()];
        int[] lengths = {};
        // Fields and methods are laid out alike.
        for (int table = 0; table < 2; ++table) {
            lengths = new int[reader.readUnsignedShort(at)];
            at += 2;
            for (int i = 0; i < lengths.length; ++i) {
                int method = at;
                at += 8;
                for (int attributes = reader.readUnsignedShort(method + 6); attributes > 0; --attributes) {
                    if ("Code".equals(reader.readUTF8(at, text))) {
                        int length = reader.readInt(at + 10);
                        if (length > SMALL || mayLoop(reader, at + 14, length) || isEntry(reader.readUTF8(method + 2, text)))
                            lengths[i] = length;
                        else small.incrementAndGet();
                    }
                    at += 6 + reader.readInt(at + 2);
                }
            }
        }
        return lengths;
    }

    /** False where no instruction can jump back: behind no byte that could be a jump begins a negative number. */
    private static boolean mayLoop(ClassReader reader, int code, int length) {
        for (int at = code; at + 1 < code + length; ++at) {
            int opcode = reader.readByte(at);
            boolean jumps = (opcode >= Opcodes.IFEQ && opcode <= Opcodes.GOTO) || opcode == Opcodes.IFNULL
                    || opcode == Opcodes.IFNONNULL || opcode == GOTO_W;
            if (jumps && reader.readByte(at + 1) >= 0x80) return true;
        }
        return false;
    }

    /** Where programs and threads begin: there is no caller that would have the time. */
    private static boolean isEntry(String name) {
        return name.equals("main") || name.equals("run");
    }

    private static final class Put extends ClassVisitor {
        private final Map<String, Found> found;
        private boolean frames;

        Put(ClassVisitor next, Map<String, Found> found) {
            super(API, next);
            this.found = found;
        }

        @Override
        public void visit(int version, int access, String name, String signature, String above, String[] interfaces) {
            frames = (version & 0xffff) >= Opcodes.V1_6;
            super.visit(version, access, name, signature, above, interfaces);
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] thrown) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, thrown);
            Found one = found.get(name + descriptor);
            return one == null ? next : new Body(next, one, frames);
        }
    }

    private static final class Body extends MethodVisitor {
        private final Found found;
        private final boolean frames;
        private final Label begin = new Label();
        private boolean begun;
        private int inits;

        Body(MethodVisitor next, Found found, boolean frames) {
            super(API, next);
            this.found = found;
            this.frames = frames;
        }

        private void probe(String which) {
            int id = found.id;
            if (id <= Byte.MAX_VALUE) super.visitIntInsn(Opcodes.BIPUSH, id);
            else if (id <= Short.MAX_VALUE) super.visitIntInsn(Opcodes.SIPUSH, id);
            else super.visitLdcInsn(id);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, PROBE, which, "(I)V", false);
        }

        private void begin() {
            probe("enter");
            super.visitLabel(begin);
            begun = true;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            if (found.behind < 0) begin();
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
            if (!begun && name.equals("<init>") && inits++ == found.behind) begin();
        }

        @Override
        public void visitInsn(int opcode) {
            if (begun && opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) probe("exit");
            super.visitInsn(opcode);
        }

        @Override
        public void visitMaxs(int stack, int locals) {
            Label end = new Label();
            super.visitLabel(end);
            // Behind the handlers that the method has itself: it gets what they leave.
            super.visitTryCatchBlock(begin, end, end, null);
            if (frames) super.visitFrame(Opcodes.F_FULL, 0, null, 1, new Object[] {"java/lang/Throwable"});
            probe("exit");
            super.visitInsn(Opcodes.ATHROW);
            // A probe has its id above what the method has, and in the handler above what was thrown.
            super.visitMaxs(Math.max(stack + 1, 2), locals);
        }
    }
}
