#!/bin/sh
# ccache, for all but precompiled headers. One that came from another checkout would not know our headers again: the
# compiler tells files of `#pragma once` by their time, too, and would read them twice.
for argument; do
  [ "$argument" = c++-header ] && exec "$@"
done
exec ccache "$@"
