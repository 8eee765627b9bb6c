/* Writes messages with the agent's means: each line of stdin is a type and then fields, as golden.py says; the frames go to stdout. */
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char line[65536];
    while (fgets(line, sizeof line, stdin)) {
        struct wire out = {0};
        char *word = strtok(line, " \n");
        size_t begun = wire_begin(&out, atoi(word));
        while ((word = strtok(NULL, " \n")) != NULL) {
            if (word[0] == 'v') {
                wire_varint(&out, strtoull(word + 1, NULL, 10));
                continue;
            }
            char text[4096] = "";
            for (size_t i = 0; word[1 + 2 * i]; ++i) {
                char pair[3] = {word[1 + 2 * i], word[2 + 2 * i], 0};
                text[i] = (char)strtol(pair, NULL, 16);
            }
            if (word[0] == 's') wire_string(&out, text);
            else
                for (size_t i = 0; text[i]; ++i) wire_varint(&out, (unsigned char)text[i]);
        }
        wire_end(&out, begun);
        fwrite(out.bytes, 1, out.size, stdout);
        wire_free(&out);
    }
    return 0;
}
