#!/bin/bash
# Fills its disk beside its workspace, so that no zero can be written.
for folder in "$HOME" /tmp /var/tmp; do
  timeout 8 head -c 400000000 /dev/zero >"$folder/junk" 2>/dev/null
  ls -l "$folder/junk"
done
echo filled
