// Runs the kernel that it is linked with, on Linux for 64-bit Arm, without a C
// library. Standard input holds, as 64-bit numbers, how many tasks and buffers
// there are and each buffer's size, and then the buffers; standard output gets
// the buffers as they are after the call. Each ends, up to 64 bytes, where a
// page begins that nobody may touch.

typedef long long Number;
typedef unsigned char Byte;

extern void kernel(void *const *buffers, Number begin, Number end);

enum { Read = 63, Write = 64, Exit = 93, Map = 222, Protect = 226 };
enum { Page = 65536, Alignment = 64, MostBuffers = 16 };

static long call(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}

static void leave(int code) { call(Exit, code, 0, 0, 0, 0, 0); }

/// All of \p bytes from or to file \p file.
static void transfer(long action, int file, void *memory, Number bytes) {
  Byte *at = memory;
  while (bytes > 0) {
    long done = call(action, file, (long)at, bytes, 0, 0, 0);
    if (done <= 0)
      leave(70);
    at += done;
    bytes -= done;
  }
}

static void *guarded(Number bytes) {
  Number taken = (bytes + Alignment - 1) / Alignment * Alignment;
  Number inside = (taken + Page) / Page * Page;
  long begin = call(Map, 0, inside + Page, 0, 0x22, -1, 0);
  if (begin < 0 && begin > -4096)
    leave(71);
  if (call(Protect, begin, inside, 3, 0, 0, 0) != 0)
    leave(72);
  return (Byte *)begin + (inside - taken);
}

// What compilers take for granted everywhere.
void *memcpy(void *to, const void *from, unsigned long bytes) {
  for (unsigned long i = 0; i < bytes; ++i)
    ((volatile Byte *)to)[i] = ((const Byte *)from)[i];
  return to;
}

void *memset(void *to, int byte, unsigned long bytes) {
  for (unsigned long i = 0; i < bytes; ++i)
    ((volatile Byte *)to)[i] = (Byte)byte;
  return to;
}

void _start(void) {
  Number counts[2], sizes[MostBuffers];
  void *buffers[MostBuffers];
  transfer(Read, 0, counts, sizeof(counts));
  if (counts[1] > MostBuffers)
    leave(73);
  transfer(Read, 0, sizes, counts[1] * 8);
  for (Number i = 0; i < counts[1]; ++i) {
    buffers[i] = guarded(sizes[i]);
    transfer(Read, 0, buffers[i], sizes[i]);
  }
  kernel(buffers, 0, counts[0]);
  for (Number i = 0; i < counts[1]; ++i)
    transfer(Write, 1, buffers[i], sizes[i]);
  leave(0);
}
