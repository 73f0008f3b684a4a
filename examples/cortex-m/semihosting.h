/* What a debugger or an emulator does for the program: print, read and write
 * files of the host, end. */
#ifndef SEMIHOSTING_H
#define SEMIHOSTING_H

#include <stddef.h>

void host_write(const char *text);
void host_write_number(unsigned long number);
/* SIZE bytes of a file of the host, all or none: 1 if done. */
int host_read_file(const char *name, void *to, size_t size);
int host_write_file(const char *name, const void *from, size_t size);
/* Ends the program with that exit code. */
void host_exit(int code);

#endif
