/**
 * The parts of the hardening script that decide where a verifier's programs, modules and pytest plugins
 * may come from (spec 11.4 step 7): real folders that only root can write, up to the root. The first
 * looks at the folders in the background, into files of `scratch`; the second, behind a `wait`, prints
 * `path`, `pythonpath`, `plugin` and `distrusted` records, and `fedora` where pip needs to know.
 */
export const LOOK_AT_FOLDERS = String.raw`# --- where programs and modules may come from: real folders that only root can write, up to /
[ "$WORKDIR" = / ] && fail "the workspace is /"
line_feed='
'
resolve() { # the folders of a colon list as they really are, each once, line by line
  seen=$line_feed
  IFS=:
  for each in $1; do
    case $each in
      *"$line_feed"*) ;;
      /*)
        # A program of its own for each would cost more than all the rest.
        cd -P "$each" 2>/dev/null || continue
        case $seen in *"$line_feed$PWD$line_feed"*) continue ;; esac
        seen=$seen$PWD$line_feed
        printf '%s\n' "$PWD" ;;
    esac
  done
}
set -f
programs=$(resolve "$IMAGE_PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
modules=$(resolve "$PYTHON_PATH")
IFS=$line_feed
ancestors=$(
  for folder in $programs $modules; do
    IFS=/ above=
    for part in $folder; do
      [ -n "$part" ] && above=$above/$part && printf '%s\n' "$above"
    done
  done
)
{
  find / $ancestors -prune \( ! -user 0 -o -perm -0020 ! -group 0 -o -perm -0002 \) >"$scratch/bad"
  # A folder that holds a program which the agent may write is no better than one that is its own.
  find $programs -maxdepth 1 ! -type l ! -type d \( -user "$AGENT_UID" -o -perm -0002 \) >"$scratch/own"
} 2>/dev/null &
unset IFS
set +f
`;

export const LIST_TRUSTED = String.raw`set -f
IFS=$line_feed
bad=
while read -r each; do bad=$bad$each$line_feed; done <"$scratch/bad"
own=
while read -r each; do own=$own$each$line_feed; done <"$scratch/own"
trusted() {
  case $2/ in
    "$WORKDIR"/*) [ "$1" = pythonpath ]; return ;;
    /tmp/* | /var/tmp/* | /dev/* | /proc/* | /sys/* | /logs/* | /testbed/* | "$AGENT_HOME"/*)
      return 1 ;;
  esac
  for above in $bad; do
    case $2/ in "$above"/*) return 1 ;; esac
    [ "$above" = / ] && return 1
  done
  [ "$1" = pythonpath ] || case $line_feed$own in *"$line_feed$2/"*) return 1 ;; esac
}
prefixes=
list() { # kind, then the folders it may hold
  kind=$1
  shift
  for real; do
    if trusted "$kind" "$real"; then
      printf '%s %s\0' "$kind" "$real"
      case $kind:$real in path:*/bin) prefixes=$prefixes$real$line_feed ;; esac
    else printf 'distrusted %s\0' "$real"; fi
  done
}
list path $programs
list pythonpath $modules
unset IFS
set +f
# pytest plugins of each python on that PATH, from files that only root can write
IFS=$line_feed
set --
for prefix in $prefixes; do
  for file in "$prefix"/../lib/python3*/*-packages/*-info/entry_points.txt; do
    [ -f "$file" ] && set -- "$@" "$file"
  done
done
unset IFS
if [ $# -gt 0 ]; then
  grep -ls '^\[pytest11\]' "$@" | while IFS= read -r file; do
    [ -n "$(find "$file" -prune -type f -user 0 ! -perm -0002)" ] || continue
    section=
    while IFS= read -r line || [ -n "$line" ]; do
      case $line in
        '[pytest11]'*) section=1 ;;
        '['*) section= ;;
        *=*) [ -n "$section" ] && IFS='=' && set -- $line && unset IFS && printf 'plugin %s\0' "$1" ;;
      esac
    done <"$file"
  done
fi
if [ -f /etc/os-release ]; then
  while read -r line; do
    case $line in ID=*fedora* | ID_LIKE=*fedora* | ID=*rhel* | ID_LIKE=*rhel*) printf 'fedora \0' ;; esac
  done </etc/os-release
fi
`;
