/**
 * Environment variables that name a download cache: what lies there is installed into the verifier's
 * own environment, by tools that ask nobody whether it is what was downloaded.
 */
export const CACHE_VARIABLES: readonly string[] = [
  "UV_CACHE_DIR",
  "PIP_CACHE_DIR",
  "npm_config_cache",
  "NPM_CONFIG_CACHE",
  "YARN_CACHE_FOLDER",
  "XDG_CACHE_HOME",
  "GOMODCACHE",
  "GOCACHE",
];

/**
 * The part of the hardening script that takes poisoned download caches from the verifier. A cache that
 * an image filled for tests without network stays, as long as no agent could touch it or none did.
 * Prints `cache VARIABLE` for each that is replaced by an empty folder, `/run/verifier-cache/VARIABLE`.
 */
export const CACHES_SCRIPT = String.raw`# Download caches that the agent could write, and that changed while it ran or may have.
check_cache() { # variable, folder
  [ -e "$2" ] || [ -L "$2" ] || return 0
  [ -n "$(find "$2" "$2"/ \( -user "$AGENT_UID" -o ! -type l -perm -0002 \) 2>/dev/null | head -n 1)" ] || return 0
  if [ "$newer" != '-name .' ]; then
    [ -n "$(find "$2" "$2"/ $newer 2>/dev/null | head -n 1)" ] || return 0
  fi
  mkdir -p /run/verifier-cache && mkdir -m 700 "/run/verifier-cache/$1" &&
    chown "$uid:$gid" "/run/verifier-cache/$1" || fail "no folder for the verifier's $1"
  printf 'cache %s\0' "$1"
}
if [ -n "$SINCE" ]; then
  rm -rf /run/verifier-cache
  [ "$uid" = 0 ] || CACHES="$CACHES
UV_CACHE_DIR $home/.cache/uv
PIP_CACHE_DIR $home/.cache/pip
npm_config_cache $home/.npm"
  [ -n "$CACHES" ] && printf '%s\n' "$CACHES" | while read -r name folder; do
    [ -z "$name" ] || [ -e "/run/verifier-cache/$name" ] || check_cache "$name" "$folder"
  done
fi
`;
