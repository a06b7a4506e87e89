#!/bin/bash
# Leaves 100,000 files, a loop of links and a sparse terabyte to be collected.
cd /logs/artifacts || exit 1
ln -s loop loop
ln -s . self
ln -s /etc passwd-folder
truncate -s 1T sparse 2>/dev/null
mkdir many && cd many || exit 1
for tens in $(seq 0 99); do
  seq -f "%g" $((tens * 1000)) $((tens * 1000 + 999)) | xargs touch 2>/dev/null
done
ls | wc -l
echo flooded
