#!/bin/bash
# Looks for what an installer would take from its cache.
echo 0 >/logs/verifier/reward.txt
for folder in "$UV_CACHE_DIR" "$HOME/.cache/uv" "$HOME/.cache/pip" "$HOME/.npm"; do
  [ -e "$folder/wheel" ] && echo 1 >/logs/verifier/reward.txt
done
exit 0
