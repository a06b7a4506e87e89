/**
 * Modules that tests import to look at an agent's work, and what pytest itself imports. None is a
 * name that anybody gives a piece of work, so that a file of that name in the workspace is there to
 * be loaded in the module's place. Names that ordinary work does have (queue, calendar, types, parser,
 * logging, statistics, test and the like) are left out on purpose: an alarm that is often false is
 * read by nobody (docs/verifier.md).
 */
export const SHADOWED_MODULES =
  "_pytest argparse asyncio base64 codecs collections concurrent configparser contextlib " +
  "csv ctrf ctypes dataclasses datetime decimal difflib doctest encodings filecmp fnmatch " +
  "functools getpass glob gzip hashlib hmac http importlib iniconfig inspect io itertools json " +
  "linecache locale math mimetypes multiprocessing ntpath os packaging pathlib pickle pkgutil pluggy " +
  "posixpath pprint py pytest pytest_asyncio pytest_json_ctrf pytest_timeout random re reprlib runpy " +
  "shlex shutil socket socketserver sqlite3 ssl stat struct subprocess sysconfig tarfile tempfile " +
  "textwrap threading tomllib traceback typing unicodedata unittest urllib uuid warnings " +
  "weakref xdist zipfile zipimport zlib";

/**
 * Shell functions that list what a verifier's programs load by name from folders that an agent may
 * write: run once before the agent and once after it, and compared by `findSuspects`. They only
 * read, bounded whatever lies there: names are ours, at most 1 MB of a file is hashed, 20 kB shown.
 * Files are never followed through a link.
 *
 *   list_modules FOLDER...  `module PATH` for each file that python would import as one of `names`
 *   list_path_modules WORK PYTHONPATH   the same for its folders below the workspace
 *   list_configs WORK       `config NAME HASH` for files that configure builds (spec 11.1 step 9) and
 *                           tests; `settings NAME LF TEXT` for those that can name code to load
 *   list_git WORK           `hook NAME` for each hook that its repository has, and its `settings`
 *   list_frameworks WORK    `framework VERSION-HASH HASH PATH` for test frameworks installed in WORK
 *
 * SITE_WALK is a part of a `find` expression: for each site-packages folder of a tree `site PATH`, and
 * `code PATH` for path files in it that make python run code when it starts.
 */
export const LOADED_FUNCTIONS = String.raw`
names='${SHADOWED_MODULES}'
list_modules() {
  for root; do
    [ -d "$root" ] || continue
    for name in $names; do
      for file in "$name.py" "$name.pyc" "$name.so" "$name.abi3.so" "$name/__init__.py" "$name/__init__.pyc"; do
        [ -f "$root/$file" ] && printf 'module %s\0' "$root/$file"
      done
    done
    # One look at the folder, however large; only where it holds such a file, one for each name.
    for file in "$root"/*.cpython-*.so; do
      [ -f "$file" ] || continue
      for name in $names; do
        for file in "$root/$name".cpython-*.so; do
          [ -f "$file" ] && printf 'module %s\0' "$file"
        done
      done
      break
    done
  done
}
list_path_modules() {
  set -f
  IFS=:
  set -- "$1" $2
  unset IFS
  set +f
  below=$1
  shift
  for folder; do
    case $folder in /*) ;; *) continue ;; esac
    folder=$(cd -P "$folder" 2>/dev/null && pwd -P) || continue
    case $folder in "$below"/*) list_modules "$folder" ;; esac
  done
}
is_plain() { [ -f "$1" ] && [ ! -L "$1" ]; }
hash_of() { printf %.64s "$(head -c 1000000 "$1" | sha256sum)"; }
list_configs() {
  for name in setup.py pyproject.toml setup.cfg tox.ini noxfile.py hatch.toml flit.ini MANIFEST.in \
      requirements.txt requirements-dev.txt Makefile makefile GNUmakefile package.json .npmrc \
      pytest.ini .pytest.ini uv.toml; do
    is_plain "$1/$name" || continue
    printf 'config %s %s\0' "$name" "$(hash_of "$1/$name")"
    case $name in pytest.ini | .pytest.ini | tox.ini | setup.cfg | pyproject.toml | .npmrc)
      printf 'settings %s\n' "$name"
      head -c 20000 "$1/$name" | tr -d '\000'
      printf '\0' ;;
    esac
  done
}
list_frameworks() {
  for package in "$1"/node_modules/jest "$1"/node_modules/mocha "$1"/node_modules/vitest \
      "$1"/node_modules/chai "$1"/node_modules/ava "$1"/node_modules/tap "$1"/node_modules/expect \
      "$1"/.venv/lib/python3*/site-packages/_pytest "$1"/.venv/lib/python3*/site-packages/pluggy \
      "$1"/venv/lib/python3*/site-packages/_pytest "$1"/venv/lib/python3*/site-packages/pluggy; do
    [ -d "$package" ] && [ ! -L "$package" ] || continue
    version=$package/package.json
    [ -f "$version" ] || version=$package/_version.py
    is_plain "$version" || continue
    tree=$(find "$package" -type f ! -name '*.pyc' -size -512 -exec sha256sum {} + | head -n 5000 |
      sort | sha256sum)
    printf 'framework %s %s %s\0' "$(hash_of "$version")" "$(printf %.64s "$tree")" "$package"
  done
}
list_git() {
  [ -d "$1/.git" ] && [ ! -L "$1/.git" ] || return 0
  for hook in applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit \
      prepare-commit-msg commit-msg post-commit pre-rebase post-checkout post-merge pre-push \
      reference-transaction push-to-checkout pre-auto-gc post-rewrite post-index-change; do
    [ -x "$1/.git/hooks/$hook" ] && printf 'hook %s\0' "$hook"
  done
  if is_plain "$1/.git/config"; then
    printf 'settings .git/config\n'
    head -c 20000 "$1/.git/config" | tr -d '\000'
    printf '\0'
  fi
}
`;

export const SITE_WALK = String.raw`-type d -name site-packages -exec sh -c '
    for folder; do
      printf "site %s\0" "$folder"
      for file in "$folder"/*.pth; do
        [ -f "$file" ] && head -c 20000 "$file" | grep -qs "^import[[:blank:]]" &&
          printf "code %s\0" "$file"
      done
    done' sh {} +`;
