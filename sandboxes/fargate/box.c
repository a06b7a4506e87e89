/*
 * The first program of a task's container, and the last step before each of its commands. Static and without
 * a library, so that nothing of the task's image (LD_PRELOAD, /etc/ld.so.preload, its libc) runs in it.
 *
 *   box init PROGRAM ARG...      as PID 1: takes the platform's variables out of its own environment, where the
 *                                address of the task's keys is, gives up two capabilities, starts PROGRAM, reaps
 *                                orphans, and ends all with it
 *   box run UID CWD PROGRAM ARG... changes folder and user, then becomes PROGRAM; "cwd" or "go" on descriptor 3
 *   box fifo PATH...             named pipes that anyone may open
 *   box end UID                  kills every process of the uid in one call
 *
 * cc -Os -static -nostdlib -ffreestanding -fno-stack-protector -fno-asynchronous-unwind-tables -fno-pie -no-pie \
 *    -Wl,--build-id=none,-z,norelro,-z,noseparate-code,-s -o box box.c
 */
typedef long word;
typedef unsigned long bits;

static word call(word n, word a, word b, word c, word d) {
  register word r10 __asm__("r10") = d;
  register word r8 __asm__("r8") = 0; /* prctl refuses what is left in it */
  word out;
  __asm__ volatile("syscall" : "=a"(out) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
  return out;
}
enum { WRITE = 1, CLOSE = 3, SIGMASK = 14, FORK = 57, EXECVE = 59, EXIT = 60, WAIT4 = 61, KILL = 62, CHDIR = 80, UMASK = 95,
  SETUID = 105, SETGID = 106, SETGROUPS = 116, MKNOD = 133, PRCTL = 157, SIGWAIT = 128, CHMOD = 90 };
enum { SIGKILL = 9, SIGTERM = 15, SIGCHLD = 17, NO_NEW_PRIVS = 38, DROP_BOUND = 24, NET_RAW = 13, MAKE_NODES = 27, WNOHANG = 1, FIFO = 010000, ENOENT = 2, ENOTDIR = 20 };

static word length(const char *s) { word n = 0; while (s[n]) n++; return n; }
static int begins(const char *s, const char *with) { while (*with) if (*s++ != *with++) return 0; return 1; }
static int same(const char *a, const char *b) { return begins(a, b) && length(a) == length(b); }
static word number(const char *s) { word n = 0; while (*s >= '0' && *s <= '9') n = n * 10 + (*s++ - '0'); return n; }
static void leave(int code) { for (;;) call(EXIT, code, 0, 0, 0); }
static void say(int fd, const char *s) { call(WRITE, fd, (word)s, length(s), 0); }

/* Tries each folder of PATH, as execvp(3) does. Ends with 127 for a missing program, 126 for one that may not run. */
static void become(char **argv, char **env) {
  static char path[4096];
  const char *name = argv[0], *from = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  int code = 127, slash = 0;
  for (const char *s = name; *s; s++) if (*s == '/') slash = 1;
  if (slash) {
    word e = call(EXECVE, (word)name, (word)argv, (word)env, 0);
    leave(e == -ENOENT || e == -ENOTDIR ? 127 : 126);
  }
  for (char **e = env; *e; e++) if (begins(*e, "PATH=")) from = *e + 5;
  while (*name) {
    word n = 0;
    while (*from && *from != ':' && n < 3000) path[n++] = *from++;
    if (n == 0) path[n++] = '.';
    path[n++] = '/';
    for (const char *s = name; *s && n < 4095; s++) path[n++] = *s;
    path[n] = 0;
    word e = call(EXECVE, (word)path, (word)argv, (word)env, 0);
    if (e != -ENOENT && e != -ENOTDIR) code = 126;
    if (!*from) break;
    from++;
  }
  leave(code);
}

static int is_platforms(const char *entry) {
  return begins(entry, "AWS_") || begins(entry, "ECS_") || begins(entry, "LD_") || begins(entry, "NODE_") ||
    begins(entry, "GLIBC_TUNABLES=") || begins(entry, "GCONV_PATH=");
}

static void init(char **argv, char **env) {
  char **kept = env;
  for (char **e = env; *e; e++) {
    if (is_platforms(*e)) for (char *s = *e; *s; s++) *s = 0; /* what /proc/1/environ shows */
    else *kept++ = *e;
  }
  *kept = 0;
  /* What Docker's list holds and no task needs (attack 19); it binds whatever is started from here. */
  call(PRCTL, DROP_BOUND, NET_RAW, 0, 0);
  call(PRCTL, DROP_BOUND, MAKE_NODES, 0, 0);
  bits wanted = 1UL << (SIGTERM - 1) | 1UL << (SIGCHLD - 1), none = 0;
  call(SIGMASK, 2, (word)&wanted, 0, 8);
  word child = call(FORK, 0, 0, 0, 0);
  if (child == 0) {
    call(SIGMASK, 2, (word)&none, 0, 8);
    become(argv, env);
  }
  for (;;) {
    word got = call(SIGWAIT, (word)&wanted, 0, 0, 8), pid;
    if (got == SIGTERM) break;
    while ((pid = call(WAIT4, -1, 0, WNOHANG, 0)) > 0) if (pid == child) goto end;
  }
end:
  call(KILL, -1, SIGKILL, 0, 0);
  leave(0); /* its end is no failure: result.json says how the trial went */
}

static void run(char **argv, char **env) {
  word uid = number(argv[0]);
  call(UMASK, 022, 0, 0, 0);
  if (call(SETGROUPS, 0, 0, 0, 0) || call(SETGID, uid, 0, 0, 0) || call(SETUID, uid, 0, 0, 0)) leave(125);
  if (uid && call(PRCTL, NO_NEW_PRIVS, 1, 0, 0)) leave(125);
  if (call(CHDIR, (word)argv[1], 0, 0, 0)) { say(3, "cwd\n"); leave(127); }
  say(3, "go\n");
  call(CLOSE, 3, 0, 0, 0);
  become(argv + 2, env);
}

void start(word *stack) {
  word argc = stack[0];
  char **argv = (char **)(stack + 1), **env = argv + argc + 1;
  if (argc > 2 && same(argv[1], "init")) init(argv + 2, env);
  if (argc > 4 && same(argv[1], "run")) run(argv + 2, env);
  if (argc > 2 && same(argv[1], "fifo")) {
    for (char **p = argv + 2; *p; p++)
      if (call(MKNOD, (word)*p, FIFO | 0666, 0, 0) || call(CHMOD, (word)*p, 0666, 0, 0)) leave(1);
    leave(0);
  }
  if (argc > 2 && same(argv[1], "end")) {
    word uid = number(argv[2]);
    if (uid == 0 || call(SETUID, uid, 0, 0, 0)) leave(125);
    call(KILL, -1, SIGKILL, 0, 0);
    leave(0);
  }
  leave(2);
}
__asm__(".globl _start\n_start:\n mov %rsp, %rdi\n and $-16, %rsp\n call start\n");
