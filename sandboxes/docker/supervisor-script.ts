/**
 * What runs as PID 1 of every container: a shell script that needs nothing but a POSIX shell (dash,
 * bash and busybox are tested), fed through the container's stdin.
 *
 * PID 1 reaps orphans and starts a pair: `ctl`, which reads our lines and never forks, so that it
 * works while a fork bomb holds every process slot, and `worker`, which runs root's commands one at a
 * time. Nothing inside can signal PID 1; root inside can end the pair, which is then started anew.
 * When our end of stdin goes away, all of it ends: a dead driver leaves no running sandbox.
 *
 * Answers are frames, a record separator and a token that processes inside do not get, written in
 * one piece (PIPE_BUF), so that they can be told from the bytes of commands around them.
 *
 * `@{` stands for the `${` of a shell, which a template literal would take for its own.
 */
const SCRIPT = String.raw`
# Descriptor 3 is the container's stderr; 2 leads nowhere, so that the shell's own complaints do too.
say() { printf '\036%s %s\n' "$TOKEN" "$*" >&3; }

# Fields of /proc/PID/stat behind the name: state, parent, session, threads, start time.
fields() { ST=$1 PP=$2 SE=$4 TH=@{18} BT=@{20}; }

# Calls a function for every process but this pair and PID 1. GONE tells that one ended meanwhile,
# so that the look was no proof.
each() {
  GONE=0
  for D in /proc/[0-9]*; do
    P=@{D#/proc/}
    case $P in 1 | "$ME" | "$WK") ;; *) "$1" ;; esac
  done
}

# look: reads one process; false when it has ended. A zombie counts only while other threads of it run.
# A process that ends after its file was opened makes read fail, and bash then leaves the variable as it
# was: emptied each time, it ends the loop.
look() {
  S=
  while L=; IFS= read -r L || [ -n "$L" ]; do S="$S$L "; done <"$D/stat"
  [ -n "$S" ] || { GONE=1; return 1; }
  fields @{S##*)}
  B=$BT
  case $ST in Z | X) [ "$TH" -gt 1 ] ;; esac
}

# A victim is stopped when it is found: it forks no more, and leaves the processor to this search. One
# that was killed is dying, which gigabytes take their time for: it forks no more either.
victim() {
  case $KILLED in *" $P:$B "*) DY=$((DY + 1)); return ;; esac
  V="$V $P:$B"
  kill -STOP "$P"
}
keep() { K=$((K + 1)); }
ids() { case " $1 $2 $3 $4 " in *" $WANT "*) look && victim ;; *) keep ;; esac; }

# WANT is a uid; real, effective, saved and file system uid count.
by_user() {
  U=
  while IFS= read -r L; do case $L in Uid:*) U=@{L#Uid:}; break ;; esac; done <"$D/status"
  if [ -n "$U" ]; then ids $U; else GONE=1; fi
}

# heir: whether one of KEEPERS is above P, from whose look PP is. Read upwards, so that no order of
# the search matters; where a parent has ended there is nobody above any more.
heir() {
  [ "$KEEPERS" != '  ' ] || return 1
  while [ "$PP" -gt 1 ]; do
    A=$PP S=
    while IFS= read -r L || [ -n "$L" ]; do S="$S$L "; done <"/proc/$A/stat"
    [ -n "$S" ] || return 1
    fields @{S##*)}
    case $KEEPERS in *" $A:$BT "*) return 0 ;; esac
  done
  return 1
}

# WANT lists the processes that may live, KEEPERS those whose descendants may too.
by_age() {
  look || return
  case $WANT in *" $P:$BT "*) keep; return ;; esac
  if heir; then keep; else victim; fi
}

# TREE holds the root and grows; an orphan that is not in the list of older ones is taken for the
# tree's, unless there is no list.
by_tree() {
  look || return
  case $TREE in
    *" $P "*) victim; return ;;
    *" $PP "*) TREE="$TREE$P "; victim; return ;;
  esac
  if [ "$SE" != "$ROOT" ]; then
    [ "$PP" = 1 ] && [ -n "$WANT" ] || { keep; return; }
    case $OTHERS in *" $SE "*) keep; return ;; esac
    case $WANT in *" $P:$BT "*) keep; return ;; esac
  fi
  TREE="$TREE$P "
  victim
}

# purge SEQ PREDICATE ROUNDS ALONE: stops all victims until no new one shows up, then kills them,
# until two looks in a row see none. When that does not catch them and nothing else lives here, one
# kill of everything, which no fork can outrun. Answers: left, rounds, whether everything was killed,
# and how many of those that are left are dying. A crowd's list is too long to be looked up in.
purge() {
  R=0 OLD=x CLEAN=0 ALL=0 KILLED=' '
  while [ $R -lt "$3" ] && [ $CLEAN -lt 2 ]; do
    R=$((R + 1)) V= K=0 DY=0
    each "$2"
    if [ -z "$V" ]; then
      [ $GONE$DY = 00 ] && CLEAN=$((CLEAN + 1)) || CLEAN=0
      continue
    fi
    CLEAN=0
    if [ $R -gt 8 ] && [ $K = 0 ] && [ "$4" = 1 ]; then
      ALL=1
      kill -KILL -1
    elif [ "$V" = "$OLD" ]; then
      OLD=x
      for P in $V; do kill -KILL "@{P%:*}"; done
      [ @{#V} -gt 2000 ] || KILLED="$KILLED@{V# } "
    else OLD=$V
    fi
  done
  SEQ=$1
  set -- $V
  N=$(($# + DY))
  [ $N -gt 0 ] || [ $CLEAN = 2 ] || N=1
  [ $CLEAN -lt 2 ] || N=0
  say "c $SEQ . $N $R $ALL $DY"
}

show() { ! look || say "c $SEQ + $P:$BT"; }
mark() { SEQ=$1; each show; say "c $SEQ ."; }

living() { ! look || keep; }
count() { K=0; each living; say "c $1 . $K"; }

# alive SEQ PID: whether that process runs.
found() { [ "$P" != "$WANT" ] || ! look || K=1; }
alive() { WANT=$2 K=0; each found; say "c $1 . $K"; }

# way SEQ PATH...: the first of the paths that is no plain directory, and what it is instead.
way() {
  SEQ=$1 I=0
  shift
  for P in "$@"; do
    if [ -L "$P" ]; then say "c $SEQ . link $I"; return; fi
    if [ ! -d "$P" ]; then
      if [ -e "$P" ]; then say "c $SEQ . other $I"; else say "c $SEQ . missing $I"; fi
      return
    fi
    I=$((I + 1))
  done
  say "c $SEQ . folder $I"
}

show_file() { while IFS= read -r L; do say "c $SEQ + $1 $L"; done <"$1"; }
files() { SEQ=$1; shift; for P in "$@"; do show_file "$P"; done; say "c $SEQ ."; }

# A process that an earlier command left behind may still hold the worker's output: then the next
# command's output would not be its own. Descriptors that cannot be looked at count as held.
holds() {
  look || return
  for F in "$D"/fd/*; do
    if [ ! -e "$F" ] && [ ! -L "$F" ]; then HELD=1; return; fi
    if [ "$F" -ef "/proc/$WK/fd/1" ] || [ "$F" -ef "/proc/$WK/fd/2" ]; then HELD=1; return; fi
  done
}
remember() { ! look || OLDER="$OLDER$P:$BT "; }
# try JOB: passes the next line on to the worker, and remembers who was there before.
try() {
  IFS= read -r LINE
  HELD=0 OLDER=' '
  each holds
  if [ $HELD = 1 ]; then say "w $1 held"; return; fi
  each remember
  printf '%s\n' "$LINE" || say "w $1 dead"
}

ctl() {
  trap '' PIPE
  IFS=' ' read -r ME L </proc/self/stat
  say "h $ME"
  while IFS= read -r LINE; do eval "$LINE"; done
  echo 'exit 7'
}

# Both streams say where a job's output begins and ends: what came before is someone else's.
begin() { say "b $1"; say "b $1" 3>&1; }
finish() { say "w $1 $2"; say "w $1 $2" 3>&1; }
worker() {
  IFS=' ' read -r ME L </proc/self/stat
  for S in /usr/bin/setsid /bin/setsid /usr/local/bin/setsid ''; do [ ! -x "$S" ] || break; done
  say "k $ME $S"
  while IFS= read -r LINE; do eval "$LINE"; done
}

BENCH_NL='
'
WK=0
unset HOME HOSTNAME TERM OLDPWD PWD SHLVL PATH
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
cd /
exec 3>&2 2>/dev/null
IFS= read -r TOKEN || exit 0
while :; do
  ctl | worker
  [ $? != 7 ] || exit 0
done
`;

/**
 * What stands in the container's command line, for everyone in it to see: a shell that reads its
 * program from stdin, to the line that is a dot.
 */
export const SUPERVISOR_STARTER = `while IFS= read -r L && [ "$L" != . ]; do S="$S$L
"; done; eval "$S"`;

/** The program as it is sent, without the remarks. */
export const SUPERVISOR_PROGRAM = `${SCRIPT.replaceAll("@{", "${")
  .replaceAll(/^\s*#.*\n/gmu, "")
  .trim()}
.
`;
