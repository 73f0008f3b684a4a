/* What runs before main() on any Cortex-M: the vectors, the FPU, variables.
 * Firmware mostly has its own. */
#include "semihosting.h"

#include <stdint.h>
#include <string.h>

extern uint32_t data_begin[], data_end[], data_image[], bss_begin[], bss_end[],
    stack_top[];

int main(void);
void reset_handler(void);

void reset_handler(void) {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  /* CPACR: full access to coprocessors 10 and 11, which are the FPU and MVE. */
  volatile uint32_t *const access = (volatile uint32_t *)0xE000ED88;
  *access |= 0xFu << 20;
  __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
  memcpy(data_begin, data_image,
         (size_t)((char *)data_end - (char *)data_begin));
  memset(bss_begin, 0, (size_t)((char *)bss_end - (char *)bss_begin));
  host_exit(main());
}

/* An instruction that the CPU lacks, or an address that is not there. */
static void fault_handler(void) {
  host_write("fault\n");
  host_exit(2);
}

/* The sixteen exceptions of the core; this program uses no interrupts. */
__attribute__((section(".vectors"),
               used)) static const void *const vectors[16] = {
    stack_top,
    (const void *)reset_handler,
    (const void *)fault_handler,
    (const void *)fault_handler,
    (const void *)fault_handler,
    (const void *)fault_handler,
    (const void *)fault_handler};
