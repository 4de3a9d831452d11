#!/bin/sh
set -eu
for value in false true; do
  LF_FLAG_OVERRIDE="$value" python -m pytest -q "$1"
done
