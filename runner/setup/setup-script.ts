/**
 * The one shell program that makes a sandbox ready for an agent, run as root (spec 11.1 steps 7, 10
 * and 12, 11.2; notes on hardening: sandboxes 6). POSIX sh with the tools that busybox and Debian
 * share; no python, no useradd. It is data, not a template: every parameter comes in by environment
 * (AGENT_NAME, AGENT_UID, WORKDIR), so nothing of a task's is ever read as shell.
 *
 * It prints records `kind value`, each ended by NUL, which no file name can hold; the last is
 * `done`. Kept as text because the runner is bundled into one file.
 */
export const SETUP_SCRIPT = String.raw`
set -u
umask 022
refuse() { wait; printf 'refused %s\0' "$1"; exit 3; }

# --- the agent's user: an image's own user of that name keeps its uid and its files
uid= home= open=
while IFS=: read -r name secret found group _ folder _ || [ -n "$name" ]; do
  [ "$name" = "$AGENT_NAME" ] && uid=$found gid=$group home=$folder
  [ "$secret" = x ] || open=passwd
done </etc/passwd
[ "$uid" = 0 ] && refuse "user $AGENT_NAME is root in this image"
adds_user=
if [ -z "$uid" ]; then
  adds_user=1
  uid=$AGENT_UID gid=$AGENT_UID home=/home/$AGENT_NAME
fi
case $home in /?*) ;; *) home=/home/$AGENT_NAME ;; esac
# What follows gives a home to the agent: one of the system's would be its way to other users.
case $home in
  /bin | /sbin | /lib | /lib64 | /usr | /usr/bin | /usr/sbin | /usr/lib | /usr/lib/* | /usr/games | \
  /usr/local | /usr/local/bin | /usr/local/sbin | /usr/local/lib | /etc | /etc/* | /boot | /dev | \
  /dev/* | /proc | /proc/* | /sys | /sys/* | /run | /var | /var/lib | /logs | /logs/* | /tests | \
  /tests/* | /verifier | /verifier/* | /solution | /solution/* | /oracle | /oracle/*)
    refuse "the home $home of user $AGENT_NAME belongs to the system" ;;
esac

# --- no way to another user: passwords locked, sudo rules that ask for none removed
[ -n "$open" ] && sed -i 's/^\([^:]*\):[^:]*:/\1:x:/' /etc/passwd
if [ -f /etc/shadow ]; then
  open=
  while IFS=: read -r name secret _ || [ -n "$name" ]; do
    case $secret in '!'* | '*'*) ;; *) open=shadow ;; esac
  done </etc/shadow
  [ -n "$open" ] && sed -i 's/^\([^:]*\):[^:]*:/\1:!:/' /etc/shadow
fi
for rules in /etc/sudoers /etc/sudoers.d/*; do
  [ -f "$rules" ] && [ ! -L "$rules" ] && sed -i '/NOPASSWD/d' "$rules"
done

# --- set-id bits go everywhere but where a mount ignores them, and nobody but root writes where
# programs are found. The search goes on beside what follows, which waits for the disk as it does.
own_usr=1
set -- /
while read -r _ mounted _ options _; do
  case $mounted in /usr | /usr/*) own_usr= ;; esac
  case $mounted in / | /proc | /proc/* | /sys | /sys/* | /dev | /dev/* | *\\*) continue ;; esac
  case ,$options, in *,nosuid,*) ;; *) set -- "$@" "$mounted" ;; esac
done </proc/self/mounts
find "$@" -xdev -perm -0002 ! -type l \( -path '/usr/*' -o -path '/etc/*' -o -path '/bin/*' \
    -o -path '/sbin/*' -o -path '/lib*/*' \) -exec chmod ug-s,o-w {} + \
  -o -type f \( -perm -4000 -o -perm -2000 \) -exec chmod ug-s {} + 2>/dev/null &
{
  # Where nearly all of them lie: an overlay copies each to the disk meanwhile.
  [ -n "$own_usr" ] && find /usr/bin /usr/sbin -maxdepth 1 -type f \
    \( -perm -4000 -o -perm -2000 \) -exec chmod ug-s {} +
  find /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin -maxdepth 1 ! -type l -perm -0002 \
    -exec chmod o-w {} +
  find /usr/local /usr/local/bin /usr/local/sbin -prune -type d \
    \( ! -user 0 -o -perm -0020 -o -perm -0002 \) \
    -exec chown 0:0 {} + -exec chmod go-w {} +
} 2>/dev/null &

# --- the agent's user in the image's tables
append() { # file, line; the last line may lack its end
  rest=
  while IFS= read -r rest; do :; done <"$1"
  [ -z "$rest" ] || echo >>"$1"
  printf '%s\n' "$2" >>"$1"
}
if [ -n "$adds_user" ]; then
  shell=/bin/sh
  [ -x /bin/bash ] && shell=/bin/bash
  append /etc/passwd "$AGENT_NAME:x:$uid:$gid::$home:$shell"
  [ -f /etc/group ] && append /etc/group "$AGENT_NAME:x:$gid:"
  [ -f /etc/shadow ] && append /etc/shadow "$AGENT_NAME:!:19000:0:99999:7:::"
fi

# --- the workspace
[ -d "$WORKDIR" ] || mkdir -p "$WORKDIR" || refuse "workdir $WORKDIR cannot be made"
work=$(cd -P "$WORKDIR" && pwd -P) || refuse "workdir $WORKDIR cannot be entered"
case $work in
  / | /bin | /sbin | /lib | /lib64 | /usr | /usr/bin | /usr/sbin | /usr/lib | /usr/local | \
  /usr/local/bin | /usr/local/sbin | /usr/local/lib | /etc | /etc/* | /boot | /boot/* | /dev | \
  /dev/* | /proc | /proc/* | /sys | /sys/* | /run | /logs | /logs/* | /tests | /tests/* | \
  /verifier | /verifier/* | /solution | /solution/* | /oracle | /oracle/*)
    refuse "workdir $WORKDIR belongs to the system" ;;
esac

# --- its home: root's tools that live in dot folders are copied, its keys and caches are not
set --
if [ "$home" != /root ] && [ "$work" != /root ]; then
  for folder in /root/.[!.]*; do
    [ -d "$folder" ] && [ ! -L "$folder" ] || continue
    case $folder in */.ssh | */.gnupg | */.aws | */.cache | */.docker | */.kube) continue ;; esac
    wait # no set-id bit is copied
    [ -d "$home" ] || mkdir -p "$home"
    [ -e "$home/$(basename "$folder")" ] || cp -a "$folder" "$home/"
  done
  set -- /root
fi

# --- logs: the agent owns two folders of it; the verifier's does not exist for the agent
had_logs=
if [ -e /logs ] || [ -L /logs ]; then
  had_logs=1
  if [ -L /logs ] || [ ! -d /logs ]; then rm -f /logs; mkdir /logs; fi
  for folder in /logs/agent /logs/artifacts; do [ -L "$folder" ] && rm -f "$folder"; done
  rm -rf /logs/verifier
fi
reserve=
[ -d /logs/.reserve ] || reserve=/logs/.reserve
mkdir -p "$home" /logs/agent /logs/artifacts $reserve || refuse "/logs or a home cannot be made"
if [ -n "$had_logs" ]; then
  chown 0:0 /logs && chmod 755 /logs /logs/agent /logs/artifacts || refuse "/logs is not root's"
fi

# --- what is root's alone, then what is the agent's
for folder in /oracle /solution /verifier /tests; do
  [ -d "$folder" ] && [ ! -L "$folder" ] || continue
  [ -O "$folder" ] || chown 0:0 "$folder"
  set -- "$@" "$folder"
done
[ -z "$reserve$*" ] || chmod 700 "$@" $reserve
set -- "$home"
case $work in /tmp | /var/tmp) ;; *) set -- "$@" "$work" ;; esac
for folder in /output /outputs; do
  [ -d "$folder" ] && [ ! -L "$folder" ] && set -- "$@" "$folder"
done
if [ -n "$had_logs" ]; then
  chown -h "$uid:$gid" /logs/agent /logs/artifacts || refuse "/logs/agent is not the agent's"
else set -- "$@" /logs/agent /logs/artifacts
fi
chown -R -h "$uid:$gid" "$@" || refuse "the workspace cannot be given to the agent"

# --- room for a verdict, in bytes and in names, whatever the agent does with the disk (attack 21)
if [ -n "$reserve" ]; then
  head -c 2000000 /dev/zero >/logs/.reserve/bytes || refuse "there is no room on the disk"
  for name in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    : >"/logs/.reserve/$name"
  done
fi
wait
printf 'uid %s\0home %s\0workdir %s\0' "$uid" "$home" "$work"
`;
