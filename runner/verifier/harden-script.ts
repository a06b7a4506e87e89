import { CACHES_SCRIPT } from "./caches-script.ts";
import { LOADED_FUNCTIONS, SITE_WALK } from "./loaded-script.ts";
import { LIST_TRUSTED, LOOK_AT_FOLDERS } from "./trusted-folders-script.ts";

/**
 * The one shell program that runs between the agent's end and the verifier's start, as root (spec
 * 11.4 steps 2, 5 to 7; sandboxes 6). POSIX sh with the tools that busybox and Debian share, no
 * python. It is data, not a template: parameters come in by environment, and the baseline on stdin
 * as lines `pycache {path}` and `link {path} -> {target}`.
 *
 *   WORKDIR        the workspace as resolved before the agent started
 *   AGENT_UID      whose files are distrusted
 *   AGENT_HOME     the agent's home
 *   VERIFIER_USER  a name or uid; empty for root
 *   TESTS          /tests or /verifier
 *   IMAGE_PATH     the image's PATH, PYTHON_PATH its and the task's PYTHONPATH
 *   KEEP_CONFTESTS 1 leaves conftest.py files of the workspace
 *   CACHES         lines `VARIABLE FOLDER` of download caches that the image's or the task's
 *                  environment names
 *   HAS_BASELINE   1 when there are lines on stdin
 *   SINCE          the baseline's time; empty when the agent was root, who may change all
 *
 * It prints records `kind value`, each ended by NUL, which no file name can hold. What the agent
 * named comes last, from a file and cut at 1 MB, so that it can never push out what comes first.
 */
export const HARDEN_SCRIPT = String.raw`
set -u
umask 022
${LOADED_FUNCTIONS}
fail() { printf 'failed %s\0' "$1"; exit 3; }

# --- room: what the set-up kept back is given free; on a disk that is still nearly full the agent
# loses what it parked beside its work
rm -rf /logs/.reserve
room() { # whether 16 MiB are free: the figure before the percentage, whatever the name
  set -f
  free= has_room=1
  for word in $(df -Pk /logs 2>/dev/null); do
    case $word in [0-9]*%) [ "$free" -ge 16384 ] && has_room=0 ;; esac
    free=$word
  done
  set +f
  return $has_room
}
state=
if ! room; then
  for folder in "$AGENT_HOME" /tmp /var/tmp /dev/shm; do
    case $WORKDIR in "$folder" | "$folder"/*) continue ;; esac
    find "$folder" -xdev -type f -user "$AGENT_UID" -size +128 -exec rm -f {} + 2>/dev/null
  done
  state=freed
  room || state=full
fi
[ -n "$state" ] && printf '%s \0' "$state"

# --- who verifies
uid=0 gid=0 home=/root
if [ -n "$VERIFIER_USER" ]; then
  uid=
  while IFS=: read -r name _ found group _ folder _; do
    case $VERIFIER_USER in
      "$name" | "$found") [ -z "$uid" ] && uid=$found gid=$group home=$folder ;;
    esac
  done </etc/passwd
  [ -n "$uid" ] || case $VERIFIER_USER in
    *[!0-9]*) fail "the verifier's user $VERIFIER_USER is not in this image" ;;
    *) uid=$VERIFIER_USER gid=$VERIFIER_USER home=/ ;;
  esac
fi
# A workspace at /root makes root's home the agent's: the verifier gets an empty one.
case /root in
  "$WORKDIR" | "$WORKDIR"/*)
    if [ "$uid" = 0 ]; then
      home=/run/verifier-home
      rm -rf "$home" && mkdir -p /run && mkdir -m 700 "$home" || fail "no home for the verifier"
    fi ;;
esac
printf 'uid %s\0home %s\0' "$uid" "$home"

# --- an empty folder for the verdict, which never existed for the agent
if [ -L /logs ] || [ ! -d /logs ]; then
  rm -rf /logs
  mkdir -m 755 /logs || fail "no /logs"
fi
for folder in /tests /verifier; do [ -L "$folder" ] && rm -f "$folder"; done
scratch=/run/verifier-walk
[ -d /run ] || mkdir /run
for folder in /logs/verifier "$scratch"; do
  if [ -e "$folder" ] || [ -L "$folder" ]; then rm -rf "$folder"; fi
done
set -- /logs/verifier "$scratch"
[ -d "$TESTS" ] || set -- "$@" "$TESTS"
mkdir -m 700 "$@" || fail "$* cannot be made new"
[ "$uid" = 0 ] || chown "$uid:$gid" /logs/verifier || fail "/logs/verifier is not the verifier's"
[ "$uid" = 0 ] || chown "$uid:$gid" "$TESTS"
[ "$TESTS" = /verifier ] && [ ! -e /tests ] && ln -s /verifier /tests
[ -d /app ] || [ -e /app ] || mkdir /app

${LOOK_AT_FOLDERS}
# --- walks
if [ "$HAS_BASELINE" = 1 ]; then cat >"$scratch/baseline"; else : >"$scratch/baseline"; fi
export scratch WORKDIR
# Jobs that would run as somebody else, or later.
for folder in /var/spool/cron /var/spool/cron/crontabs /var/spool/at /var/spool/cron/atjobs; do
  [ -d "$folder" ] && find "$folder" -type f -user "$AGENT_UID" -exec sh -c '
    for job; do rm -f "$job" && printf "job %s\0" "$job"; done' sh {} +
done >"$scratch/report" 2>/dev/null
if [ -L "$WORKDIR" ] || [ ! -d "$WORKDIR" ]; then
  printf 'workspace %s\0' "$WORKDIR" >>"$scratch/report"
  rm -f "$WORKDIR"; mkdir -p "$WORKDIR" || fail "the workspace is gone"
fi
# A name that matches nothing stands where the change time cannot be asked for.
newer='-name .'
[ -n "$SINCE" ] && find / -prune -newerct "@$SINCE" >/dev/null 2>&1 && newer="-newerct @$SINCE"
drop='for planted; do rm -rf "$planted" && printf "planted %s\0" "$planted"; done'
# Trees that are mounts of their own, as this machine's are in a local sandbox, are too large to walk
# for each trial; what the agent could write there was closed by the set-up.
while read -r _ mounted _; do
  case $mounted in
    /usr | /bin | /sbin | /lib | /lib64 | /opt | /etc | /root) printf 'unwatched %s\0' "$mounted" ;;
  esac
done </proc/self/mounts
[ -n "$SINCE" ] && [ "$newer" = '-name .' ] && printf 'unwatched /\0'
# An -exec + is always true, so the impossible name after it lets the other tests have their turn.
find / -xdev -type d \( -path "$WORKDIR" -o -path /tmp -o -path /var/tmp -o -path /proc -o -path /sys \
    -o -path /dev -o -path /tests -o -path /verifier -o -path /run \) -prune \
  -o $newer \( -path '/usr/*' -o -path '/etc/*' -o -path '/bin/*' -o -path '/sbin/*' \
    -o -path '/lib*' -o -path '/root/*' \) ! -path /etc/hosts ! -path /etc/hostname \
    ! -path /etc/resolv.conf ! -path /etc/mtab -exec sh -c '
      for changed; do printf "changed %s\0" "$changed"; done' sh {} + -name . \
  -o \( -name conftest.py -o -name sitecustomize.py -o -name usercustomize.py -o -name '*.pth' \) \
    \( -user "$AGENT_UID" -o ! -type l -perm -0002 \) -exec sh -c "$drop" sh {} + \
  >"$scratch/system" 2>"$scratch/system-errors" &
${CACHES_SCRIPT}
conftest=conftest.py
[ "$KEEP_CONFTESTS" = 1 ] && conftest=sitecustomize.py
find "$WORKDIR" -type d -name __pycache__ -prune -exec sh -c '
    kept=$(cat "$scratch/baseline")
    for folder; do
      case "
$kept
" in *"
pycache $folder
"*) ;; *) rm -rf "$folder" && printf "pycache %s\0" "$folder" ;; esac
    done' sh {} + \
  -o \( -name "$conftest" -o -name sitecustomize.py -o -name usercustomize.py \
      -o -path '*/hooks/post-index-change' \) -prune \
    -exec sh -c "$drop" sh {} + \
  -o ${SITE_WALK} \
  -o -type l -exec sh -c '
    kept=$(cat "$scratch/baseline")
    for link; do
      target=$(readlink -f "$link")
      case $target/ in
        "$WORKDIR"/*) continue ;;
        /usr/* | /bin/* | /sbin/* | /lib/* | /lib64/* | /opt/*) [ -e "$link" ] && continue ;;
      esac
      case "
$kept
" in *"
link $link -> $(readlink "$link")
"*) ;; *) rm -f "$link" && printf "link %s\0" "$link" ;; esac
    done' sh {} + >>"$scratch/report" 2>"$scratch/errors"
# Tests write files here under fixed names: an agent's link would lead them elsewhere, as to the verdict.
set --
for folder in /tmp /var/tmp /dev/shm; do [ -d "$folder" ] && set -- "$@" "$folder"; done
[ $# -gt 0 ] && find "$@" -path "$WORKDIR" -prune -o -type l -user "$AGENT_UID" -exec sh -c '
    for link; do case $(readlink -f "$link")/ in "$WORKDIR"/*) ;;
      *) rm -f "$link" && printf "link %s\0" "$link" ;; esac; done' sh {} + \
  -o ! -type d \( -name '*.py' -o -name '*.pth' -o -type p -user "$AGENT_UID" \) \
  -exec sh -c "$drop" sh {} + >>"$scratch/report" 2>>"$scratch/errors"
wait
${LIST_TRUSTED}
chown -R -h "$uid:$gid" "$WORKDIR" || fail "the workspace cannot be made the verifier's"
# What python would load from here goes out before anything whose length an agent decides.
printf 'report \0'
list_modules "$WORKDIR"
list_path_modules "$WORKDIR" "$PYTHON_PATH"
list_configs "$WORKDIR"
list_frameworks "$WORKDIR"
list_git "$WORKDIR"
cd "$scratch"
[ -s errors ] || [ -s system-errors ] && cat errors system-errors | head -n 10 |
  while IFS= read -r line; do printf 'skipped %.300s\0' "$line"; done
printf 'found \0'
[ -s report ] || [ -s system ] && cat system report | head -c 1000000
cd /
printf '\0done \0'
rm -rf "$scratch"
`;
