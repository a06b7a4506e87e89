import { LOADED_FUNCTIONS, SITE_WALK } from "./loaded-script.ts";

/**
 * The shell program that takes the baseline, run as root as the last thing before an agent starts
 * (spec 11.1 step 9; sandboxes 6: the snapshot is held outside of the sandbox). It only prints, in
 * the records of the set-up script: the bytecode folders and the outward links that the image
 * itself has, what the verifier's programs would load from the workspace (`LOADED_FUNCTIONS`), hashes
 * of the files that configure builds, and the time. What of the system's own trees changed is asked
 * after the agent by change time, which only root can set, so no list of thousands of files is kept
 * here. Reads `work` of the set-up script, which it follows in the same exec, and PYTHON_PATH.
 */
export const BASELINE_SCRIPT = String.raw`
${LOADED_FUNCTIONS}
find "$work" -type d -name __pycache__ -prune -exec sh -c '
    for folder; do printf "pycache %s\0" "$folder"; done' sh {} + \
  -o ${SITE_WALK} \
  -o -type l -exec sh -c '
    for link; do printf "link %s -> %s\0" "$link" "$(readlink "$link")"; done' sh {} + 2>/dev/null
list_modules "$work"
list_path_modules "$work" "$PYTHON_PATH"
list_configs "$work"
list_frameworks "$work"
list_git "$work"
now=$(date +%s.%N)
case $now in *[!0-9.]*) now=$(date +%s) ;; esac
printf 'time %s\0done \0' "$now"
`;
