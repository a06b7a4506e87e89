/*
 * The program of a relay helper: it shares nothing with a sandbox but its network namespace, listens
 * on that namespace's loopback, and carries each connection over its own stdin and stdout to the
 * process that started it. Built as docs/decisions/2026-11-30-docker-model-relay.md says; the bytes
 * are in relay-code.ts. No library, no global data: one mapping holds all state.
 *
 * A frame is kind, connection and length, 32 bits each, little-endian, then `length` bytes for DATA
 * alone. LISTEN tells the port in `connection`. For TAKEN `length` counts bytes of DATA that their
 * receiver has passed on: no side sends more than WINDOW bytes that were not TAKEN.
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long i64;

enum { LISTEN = 1, OPEN = 2, DATA = 3, END = 4, CUT = 5, TAKEN = 6 };
enum { SLOTS = 256, WINDOW = 131072, PIECE = 32768, HEADER = 12 };
enum { POLLIN = 1, POLLOUT = 4, EAGAIN = 11, EINTR = 4 };

#if defined(__x86_64__)
enum { SYS_read = 0, SYS_write = 1, SYS_close = 3, SYS_mmap = 9, SYS_socket = 41, SYS_sendto = 44, SYS_shutdown = 48,
       SYS_bind = 49, SYS_listen = 50, SYS_getsockname = 51, SYS_setsockopt = 54, SYS_exit = 60,
       SYS_ppoll = 271, SYS_accept4 = 288 };
static i64 call6(i64 n, i64 a, i64 b, i64 c, i64 d, i64 e, i64 f) {
  register i64 r10 __asm__("r10") = d;
  register i64 r8 __asm__("r8") = e;
  register i64 r9 __asm__("r9") = f;
  i64 result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#else
enum { SYS_close = 57, SYS_read = 63, SYS_write = 64, SYS_ppoll = 73, SYS_exit = 93, SYS_socket = 198,
       SYS_bind = 200, SYS_listen = 201, SYS_getsockname = 204, SYS_sendto = 206, SYS_setsockopt = 208,
       SYS_shutdown = 210, SYS_mmap = 222, SYS_accept4 = 242 };
static i64 call6(i64 n, i64 a, i64 b, i64 c, i64 d, i64 e, i64 f) {
  register i64 x8 __asm__("x8") = n;
  register i64 x0 __asm__("x0") = a;
  register i64 x1 __asm__("x1") = b;
  register i64 x2 __asm__("x2") = c;
  register i64 x3 __asm__("x3") = d;
  register i64 x4 __asm__("x4") = e;
  register i64 x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
#endif
#define CALL(n, a, b, c) call6(n, (i64)(a), (i64)(b), (i64)(c), 0, 0, 0)

struct pollfd { int fd; u16 events; u16 revents; };
struct frame { u32 kind, connection, length; };

struct slot {
  int fd;          /* -1: free */
  u32 connection;
  u32 credit;      /* bytes that may still be sent outward */
  u32 from, held;  /* ring of bytes that wait for the socket */
  u8 input_ended;  /* the socket has no more to say */
  u8 output_ended; /* the other side has no more to say */
  u8 shut;
  u8 ring[WINDOW];
};

struct state {
  struct slot slots[SLOTS];
  struct pollfd polls[SLOTS + 2];
  u8 piece[PIECE];
  u8 input[PIECE];
  struct frame frame; /* of which `have` bytes have come */
  u32 have;
  u32 left; /* bytes of its DATA that have not come */
  u32 next;
};

static void leave(int code) { for (;;) CALL(SYS_exit, code, 0, 0); }

static void say_all(const void *bytes, u32 size) {
  const u8 *at = bytes;
  while (size > 0) {
    i64 put = CALL(SYS_write, 1, at, size);
    if (put == -EINTR) continue;
    if (put <= 0) leave(1);
    at += put;
    size -= (u32)put;
  }
}

static void say(u32 kind, u32 connection, u32 length) {
  struct frame frame = {kind, connection, length};
  say_all(&frame, HEADER);
}

static void drop(struct slot *slot) {
  CALL(SYS_close, slot->fd, 0, 0);
  slot->fd = -1;
}

/* A connection that broke must not look as if it had ended: the close becomes a reset. */
static void break_off(struct slot *slot) {
  int linger[2] = {1, 0};
  call6(SYS_setsockopt, slot->fd, 1 /* SOCKET */, 13 /* LINGER */, (i64)linger, sizeof linger, 0);
  drop(slot);
}

static void cut(struct slot *slot) {
  say(CUT, slot->connection, 0);
  break_off(slot);
}

/* Both directions have ended, and all that came was passed on. */
static void end_if_over(struct slot *slot) {
  if (slot->output_ended && slot->held == 0 && !slot->shut) {
    slot->shut = 1;
    CALL(SYS_shutdown, slot->fd, 1, 0);
  }
  if (slot->input_ended && slot->shut) drop(slot);
}

static void flush(struct slot *slot) {
  u32 taken = 0;
  while (slot->held > 0) {
    u32 run = WINDOW - slot->from;
    if (run > slot->held) run = slot->held;
    i64 put = call6(SYS_sendto, slot->fd, (i64)(slot->ring + slot->from), run, 0x4000 /* NOSIGNAL */, 0, 0);
    if (put == -EINTR) continue;
    if (put == -EAGAIN) break;
    if (put <= 0) { cut(slot); return; }
    slot->from = (slot->from + (u32)put) % WINDOW;
    slot->held -= (u32)put;
    taken += (u32)put;
  }
  if (taken > 0) say(TAKEN, slot->connection, taken);
  end_if_over(slot);
}

static void take(struct state *state, struct slot *slot) {
  u32 most = slot->credit < PIECE ? slot->credit : PIECE;
  i64 got = CALL(SYS_read, slot->fd, state->piece, most);
  if (got == -EAGAIN || got == -EINTR) return;
  if (got < 0) { cut(slot); return; }
  if (got == 0) {
    slot->input_ended = 1;
    say(END, slot->connection, 0);
    end_if_over(slot);
    return;
  }
  slot->credit -= (u32)got;
  say(DATA, slot->connection, (u32)got);
  say_all(state->piece, (u32)got);
}

static void welcome(struct state *state, int listener) {
  i64 fd = call6(SYS_accept4, listener, 0, 0, 04000 /* SOCK_NONBLOCK */, 0, 0);
  if (fd < 0) return;
  int one = 1;
  call6(SYS_setsockopt, fd, 6 /* TCP */, 1 /* NODELAY */, (i64)&one, sizeof one, 0);
  for (int i = 0; i < SLOTS; i++) {
    struct slot *slot = &state->slots[i];
    if (slot->fd != -1) continue;
    slot->fd = (int)fd;
    slot->connection = ++state->next;
    slot->credit = WINDOW;
    slot->from = slot->held = 0;
    slot->input_ended = slot->output_ended = slot->shut = 0;
    say(OPEN, slot->connection, 0);
    return;
  }
  CALL(SYS_close, fd, 0, 0);
}

static struct slot *find(struct state *state, u32 connection) {
  for (int i = 0; i < SLOTS; i++)
    if (state->slots[i].fd != -1 && state->slots[i].connection == connection) return &state->slots[i];
  return 0;
}

static void obey(struct state *state) {
  struct slot *slot = find(state, state->frame.connection);
  state->left = 0;
  switch (state->frame.kind) {
    case DATA:
      state->left = state->frame.length;
      if (slot != 0 && state->left > WINDOW - slot->held) leave(2);
      return;
    case END:
      if (slot != 0) { slot->output_ended = 1; end_if_over(slot); }
      return;
    case CUT:
      if (slot != 0) break_off(slot);
      return;
    case TAKEN:
      if (slot != 0) slot->credit += state->frame.length;
      return;
    default:
      leave(2);
  }
}

static void listen_to_owner(struct state *state) {
  i64 got = CALL(SYS_read, 0, state->input, PIECE);
  if (got == -EINTR || got == -EAGAIN) return;
  if (got <= 0) leave(0);
  for (u32 at = 0; at < (u32)got;) {
    if (state->left > 0) {
      u32 run = (u32)got - at < state->left ? (u32)got - at : state->left;
      /* Looked up anew: what the connection was in may have been dropped, and be another one's. */
      struct slot *slot = find(state, state->frame.connection);
      if (slot != 0)
        for (u32 i = 0; i < run; i++)
          slot->ring[(slot->from + slot->held + i) % WINDOW] = state->input[at + i];
      if (slot != 0) slot->held += run;
      at += run;
      state->left -= run;
      if (slot != 0 && state->left == 0) flush(slot);
      continue;
    }
    ((u8 *)&state->frame)[state->have++] = state->input[at++];
    if (state->have < HEADER) continue;
    state->have = 0;
    obey(state);
  }
}

static void serve(struct state *state, int listener) {
  for (;;) {
    int room = 0;
    for (int i = 0; i < SLOTS; i++) {
      struct slot *slot = &state->slots[i];
      struct pollfd *poll = &state->polls[i];
      poll->revents = 0;
      poll->events = (slot->input_ended || slot->credit == 0 ? 0 : POLLIN) | (slot->held > 0 ? POLLOUT : 0);
      /* A hang-up is told whatever is asked for, and would be told for ever. */
      poll->fd = poll->events == 0 ? -1 : slot->fd;
      if (slot->fd == -1) room = 1;
    }
    state->polls[SLOTS].fd = 0;
    state->polls[SLOTS].events = POLLIN;
    state->polls[SLOTS].revents = 0;
    state->polls[SLOTS + 1].fd = room ? listener : -1;
    state->polls[SLOTS + 1].events = POLLIN;
    state->polls[SLOTS + 1].revents = 0;
    i64 ready = call6(SYS_ppoll, (i64)state->polls, SLOTS + 2, 0, 0, 0, 0);
    if (ready == -EINTR) continue;
    if (ready < 0) leave(1);
    for (int i = 0; i < SLOTS; i++) {
      struct slot *slot = &state->slots[i];
      u16 what = state->polls[i].revents;
      if (what == 0 || slot->fd != state->polls[i].fd || slot->fd == -1) continue;
      if (slot->held > 0 && (what & ~POLLIN) != 0) flush(slot);
      if (slot->fd == -1 || slot->input_ended || slot->credit == 0) continue;
      if ((what & ~POLLOUT) != 0) take(state, slot);
    }
    if (state->polls[SLOTS].revents != 0) listen_to_owner(state);
    if (state->polls[SLOTS + 1].revents != 0) welcome(state, listener);
  }
}

__attribute__((section(".text.start"), noreturn)) void _start(void) {
  struct { u16 family, port; u32 address; u8 zero[8]; } name = {2, 0, 0x0100007f, {0}};
  u32 size = sizeof name;
  i64 listener = CALL(SYS_socket, 2, 1, 0);
  if (listener < 0 || CALL(SYS_bind, listener, &name, sizeof name) < 0) leave(1);
  if (CALL(SYS_listen, listener, SLOTS, 0) < 0 || CALL(SYS_getsockname, listener, &name, &size) < 0) leave(1);
  i64 memory = call6(SYS_mmap, 0, sizeof(struct state), 3, 0x22, -1, 0);
  if (memory < 0 && memory > -4096) leave(1);
  struct state *state = (struct state *)memory;
  for (int i = 0; i < SLOTS; i++) state->slots[i].fd = -1;
  say(LISTEN, (u32)(u16)(name.port << 8 | name.port >> 8), 0);
  serve(state, (int)listener);
  leave(0);
  __builtin_unreachable();
}
