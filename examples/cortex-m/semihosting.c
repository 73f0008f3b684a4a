/* Arm, "Semihosting for AArch32 and AArch64": a breakpoint whose number is the
 * operation. */
#include "semihosting.h"

#include <stdint.h>
#include <string.h>

enum {
  SYS_OPEN = 0x01,
  SYS_CLOSE = 0x02,
  SYS_WRITE0 = 0x04,
  SYS_WRITE = 0x05,
  SYS_READ = 0x06,
  SYS_EXIT_EXTENDED = 0x20
};
enum { ADP_STOPPED_APPLICATION_EXIT = 0x20026 };
/* Of fopen(): "rb" and "wb". */
enum { READ_BINARY = 1, WRITE_BINARY = 5 };

static int call(int operation, const void *argument) {
  register int number __asm__("r0") = operation;
  register const void *block __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xAB" : "+r"(number) : "r"(block) : "memory");
  return number;
}

void host_write(const char *text) { call(SYS_WRITE0, text); }

void host_write_number(unsigned long number) {
  char digits[11];
  char *first = digits + sizeof digits - 1;
  *first = '\0';
  do {
    *--first = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  host_write(first);
}

/* Reads or writes a whole file: each call leaves the number of bytes that were
 * not. */
static int transfer(int operation, const char *name, int mode,
                    const void *memory, size_t size) {
  const uintptr_t open[3] = {(uintptr_t)name, (uintptr_t)mode, strlen(name)};
  const int file = call(SYS_OPEN, open);
  uintptr_t block[3];
  int left;
  if (file < 0)
    return 0;
  block[0] = (uintptr_t)file;
  block[1] = (uintptr_t)memory;
  block[2] = size;
  left = size == 0 ? 0 : call(operation, block);
  return call(SYS_CLOSE, block) == 0 && left == 0;
}

int host_read_file(const char *name, void *to, size_t size) {
  return transfer(SYS_READ, name, READ_BINARY, to, size);
}

int host_write_file(const char *name, const void *from, size_t size) {
  return transfer(SYS_WRITE, name, WRITE_BINARY, from, size);
}

void host_exit(int code) {
  const uintptr_t block[2] = {ADP_STOPPED_APPLICATION_EXIT, (uintptr_t)code};
  for (;;)
    call(SYS_EXIT_EXTENDED, block);
}
