/* Recognises one glyph, and says what that took. */
#include "glyph.h"
#include "glyphs.h"
#include "semihosting.h"

#include <stdint.h>

static GLYPHS_ALIGNED float image[GLYPHS_INPUT_IMAGE_ELEMENTS];
static GLYPHS_ALIGNED float probabilities[GLYPHS_OUTPUT_PROBABILITIES_ELEMENTS];
static GLYPHS_ALIGNED unsigned char workspace[GLYPHS_WORKSPACE_SIZE];

static const char labels[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* Between what variables end with and what this function has: the memory that
 * the run's stack grows into. */
extern unsigned char stack_end[];
enum { MARK = 0xA5 };

static unsigned char *stack_pointer(void) {
  unsigned char *address;
  __asm__ volatile("mov %0, sp" : "=r"(address));
  return address;
}

static size_t run(int *status) {
  const glyphs_inputs inputs = {image};
  const glyphs_outputs outputs = {probabilities};
  unsigned char *byte = stack_end, *const limit = stack_pointer() - 64;
  while (byte < limit)
    *byte++ = MARK;
  *status = glyphs_run(&inputs, &outputs, NULL, workspace);
  byte = stack_end;
  while (byte < limit && *byte == MARK)
    ++byte;
  return (size_t)(limit - byte);
}

int main(void) {
  char label[2] = "";
  size_t i, best = 0, stack;
  int status;
  for (i = 0; i < GLYPHS_INPUT_IMAGE_ELEMENTS; ++i)
    image[i] = (float)glyph[i] / 255.0f;
  stack = run(&status);
  if (status != GLYPHS_DONE)
    return 1;
  for (i = 1; i < GLYPHS_OUTPUT_PROBABILITIES_ELEMENTS; ++i)
    if (probabilities[i] > probabilities[best])
      best = i;
  label[0] = labels[best];
  host_write(label);
  host_write(", ");
  host_write_number((unsigned long)(100 * probabilities[best] + 0.5f));
  host_write(" %; workspace ");
  host_write_number(GLYPHS_WORKSPACE_SIZE);
  host_write(" bytes, stack ");
  host_write_number(stack);
  host_write(" of at most ");
  host_write_number(GLYPHS_STACK_SIZE);
  host_write("\n");
  return 0;
}
