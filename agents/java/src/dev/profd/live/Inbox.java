package dev.profd.live;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Messages of the daemon. */
final class Inbox {
    /** The fields of a message: its type in the first byte, the payload behind it. What is cut reads as nothing. */
    static final class Fields {
        private final byte[] bytes;
        private int at = 1;

        Fields(byte[] bytes) {
            this.bytes = bytes;
        }

        boolean more() {
            return at < bytes.length;
        }

        long varint() {
            long value = 0;
            for (int shift = 0; shift < 64 && at < bytes.length; shift += 7) {
                byte one = bytes[at++];
                value |= (long) (one & 0x7f) << shift;
                if (one >= 0) return value;
            }
            at = bytes.length;
            return 0;
        }

        String string() {
            long length = varint();
            if (length < 0 || length > bytes.length - at) {
                at = bytes.length;
                return "";
            }
            String text = new String(bytes, at, (int) length, StandardCharsets.UTF_8);
            at += (int) length;
            return text;
        }
    }

    private byte[] have = new byte[4096];
    private int size;

    /** The next message, null when there is none any more or the daemon breaks the rules. */
    byte[] next(ByteChannel from) throws IOException {
        while (true) {
            int length = 0;
            int at = 1;
            boolean whole = false;
            for (int shift = 0; at < size && at < 6 && !whole; shift += 7) {
                byte one = have[at++];
                length |= (one & 0x7f) << shift;
                whole = one >= 0;
            }
            if (at >= 6 && !whole || length < 0 || length > Stream.MAX_FRAME_BYTES) return null;
            if (whole && size - at >= length) {
                byte[] message = new byte[1 + length];
                message[0] = have[0];
                System.arraycopy(have, at, message, 1, length);
                System.arraycopy(have, at + length, have, 0, size - at - length);
                size -= at + length;
                return message;
            }
            if (have.length - size < 4096) have = Arrays.copyOf(have, have.length * 2);
            ByteBuffer more = ByteBuffer.wrap(have, size, have.length - size);
            int n = from.read(more);
            if (n < 0) return null;
            size += n;
        }
    }
}
