package dev.profd.live;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Methods, their ids and names. Texts alone: nothing here keeps a class or a loader alive. */
final class Methods {
    static final class Entry {
        final String owner; // dev/profd/live/Methods$Entry
        final String name;
        final String descriptor;
        final String file;
        final int line;

        Entry(String owner, String name, String descriptor, String file, int line) {
            this.owner = owner;
            this.name = name;
            this.descriptor = descriptor;
            this.file = file;
            this.line = line;
        }
    }

    private static final Map<String, Integer> ids = new HashMap<String, Integer>();
    private static final List<Entry> entries = new ArrayList<Entry>();
    private static final BitSet off = new BitSet();
    private static int told;

    /** The id of a method, the same whenever its class is read; 0 when there are too many. */
    static synchronized int id(String owner, String name, String descriptor, String file, int line) {
        String key = owner + "." + name + descriptor;
        Integer known = ids.get(key);
        if (known != null) return known;
        int id = entries.size() + 1;
        if (id >= Stream.MAX_METHODS) return 0;
        entries.add(new Entry(owner, name, descriptor, file, line));
        ids.put(key, id);
        return id;
    }

    static synchronized boolean isOff(int id) {
        return off.get(id);
    }

    static synchronized int count() {
        return entries.size();
    }

    /** Changes whether methods have probes; returns the names of their classes. Ids that are none are left out. */
    static synchronized Set<String> turn(List<Integer> which, boolean on) {
        Set<String> owners = new HashSet<String>();
        for (int id : which) {
            off.set(id, !on);
            owners.add(entries.get(id - 1).owner);
        }
        return owners;
    }

    /** Names of the classes that ever had probes. */
    static synchronized Set<String> owners() {
        Set<String> owners = new HashSet<String>();
        for (Entry entry : entries) owners.add(entry.owner);
        return owners;
    }

    /** As before the first class. */
    static synchronized void forget() {
        ids.clear();
        entries.clear();
    }

    static synchronized void anew() {
        told = 0;
        off.clear();
    }

    /** Tells the methods that came since, each once. */
    static synchronized void tell(Wire out) {
        while (told < entries.size()) {
            out.begin(Stream.DICT);
            while (told < entries.size() && out.open() < Stream.MAX_FRAME_BYTES / 4) {
                Entry entry = entries.get(told++);
                int slash = entry.owner.lastIndexOf('/');
                String folder = slash < 0 ? "" : entry.owner.substring(0, slash + 1);
                out.varint(told).string(slash < 0 ? "" : entry.owner.substring(0, slash).replace('/', '.'));
                out.string(entry.owner.substring(slash + 1)).string(entry.name);
                out.string(signature(entry.name, entry.descriptor)).string(entry.file == null ? "" : folder + entry.file);
                out.varint(entry.line).varint(0).varint(0);
            }
            out.end();
        }
    }

    /** {@code int drop(int, java.lang.String[])}. */
    static String signature(String name, String descriptor) {
        int[] at = {1};
        StringBuilder parameters = new StringBuilder();
        while (descriptor.charAt(at[0]) != ')') {
            if (parameters.length() > 0) parameters.append(", ");
            parameters.append(type(descriptor, at));
        }
        ++at[0];
        return type(descriptor, at) + " " + name + "(" + parameters + ")";
    }

    private static String type(String descriptor, int[] at) {
        int dimensions = 0;
        while (descriptor.charAt(at[0]) == '[') {
            ++dimensions;
            ++at[0];
        }
        StringBuilder text = new StringBuilder();
        switch (descriptor.charAt(at[0]++)) {
            case 'V': text.append("void"); break;
            case 'Z': text.append("boolean"); break;
            case 'B': text.append("byte"); break;
            case 'C': text.append("char"); break;
            case 'S': text.append("short"); break;
            case 'I': text.append("int"); break;
            case 'J': text.append("long"); break;
            case 'F': text.append("float"); break;
            case 'D': text.append("double"); break;
            default:
                int end = descriptor.indexOf(';', at[0]);
                text.append(descriptor.substring(at[0], end).replace('/', '.'));
                at[0] = end + 1;
        }
        while (dimensions-- > 0) text.append("[]");
        return text.toString();
    }

    private Methods() {}
}
