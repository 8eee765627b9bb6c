package dev.profd.live;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** Writes messages with the agent's means: lines of stdin are as golden.py says. */
public class Golden {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Wire out = new Wire();
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            out.begin(Integer.parseInt(words[0]));
            for (int i = 1; i < words.length; ++i) {
                String rest = words[i].substring(1);
                if (words[i].charAt(0) == 'v') {
                    out.varint(Long.parseLong(rest));
                    continue;
                }
                byte[] text = new byte[rest.length() / 2];
                for (int k = 0; k < text.length; ++k) text[k] = (byte) Integer.parseInt(rest.substring(2 * k, 2 * k + 2), 16);
                if (words[i].charAt(0) == 's') out.string(new String(text, StandardCharsets.UTF_8));
                else out.raw(text, text.length);
            }
            out.end();
        }
        System.out.write(out.bytes, 0, out.size);
        System.out.flush();
    }
}
