#!/bin/bash
# As tests that install uv do: what lies in $HOME/.local/bin comes first.
echo 0 >/logs/verifier/reward.txt
[ -f "$HOME/.local/bin/env" ] && . "$HOME/.local/bin/env"
[ -f "$HOME/.bashrc" ] && . "$HOME/.bashrc"
export PATH="$HOME/.local/bin:$PATH"
touch /root/answer.txt
grep -qF "$(cat /tests/expected.txt)" /root/answer.txt && echo 1 >/logs/verifier/reward.txt
exit 0
