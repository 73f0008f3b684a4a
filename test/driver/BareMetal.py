"""Firmware that runs what `sinter compile` has written on a board without an operating system, with the start-up file and the
linker scripts of examples/cortex-m, in an emulator of the board.

It reads NAME.in0, ... of its folder by semihosting, runs the model a number of times, and writes NAME.out0, ... and NAME.state.
"""
import os
import subprocess
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "cortex-m"

# By board: the script, the target and the CPU that the model is compiled for, and how GCC calls that CPU.
BOARDS = {
    "microbit": ("microbit", "thumbv6m-none-eabi", "cortex-m0", "-mcpu=cortex-m0 -mfloat-abi=soft"),
    "mps2-an385": ("mps2-an385", "thumbv7m-none-eabi", "cortex-m3", "-mcpu=cortex-m3 -mfloat-abi=soft"),
    "mps2-an386": ("mps2-an385", "thumbv7em-none-eabihf", "cortex-m4", "-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16"),
    "mps2-an500": ("mps2-an385", "thumbv7em-none-eabihf", "cortex-m7", "-mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-d16"),
    "mps2-an505": ("mps2-an505", "thumbv8m.main-none-eabihf", "cortex-m33", "-mcpu=cortex-m33 -mfloat-abi=hard -mfpu=fpv5-sp-d16"),
    "mps3-an547": ("mps3-an547", "thumbv8.1m.main-none-eabihf", "cortex-m55", "-mcpu=cortex-m55 -mfloat-abi=hard -mfpu=auto"),
}

PROGRAM = r"""
#include "@name@.h"
#include "semihosting.h"

#include <stdint.h>
#include <string.h>

@memory@
static @NAME@_ALIGNED unsigned char workspace[@NAME@_WORKSPACE_SIZE + 64];
static @name@_state state;

extern unsigned char stack_end[];
enum { MARK = 0xA5 };

static uint32_t float_mode(void) {
#if defined(__ARM_FP)
  uint32_t mode;
  __asm__ volatile("vmrs %0, fpscr" : "=r"(mode));
  return mode;
#else
  return 0;
#endif
}

static unsigned char *stack_pointer(void) {
  unsigned char *address;
  __asm__ volatile("mov %0, sp" : "=r"(address));
  return address;
}

static size_t run(int *status) {
  const @name@_inputs inputs = {@inputs@};
  const @name@_outputs outputs = {@outputs@};
  const uint32_t mode = float_mode();
  unsigned char *byte = stack_end, *const limit = stack_pointer() - 64;
  while (byte < limit)
    *byte++ = MARK;
  memset(workspace, 0xFF, sizeof workspace);
  memset(workspace + @NAME@_WORKSPACE_SIZE, MARK, 64);
  *status = @name@_run(&inputs, &outputs, &state, workspace);
  if (float_mode() != mode)
    *status = 100;
  for (byte = workspace + @NAME@_WORKSPACE_SIZE; byte < workspace + @NAME@_WORKSPACE_SIZE + 64; ++byte)
    if (*byte != MARK)
      *status = 101;
  byte = stack_end;
  while (byte < limit && *byte == MARK)
    ++byte;
  return (size_t)(limit - byte);
}

int main(void) {
  size_t stack = 0;
  int i, status = @name@_state_init(&state);
  if (@name@_workspace_size() != @NAME@_WORKSPACE_SIZE || strcmp(@name@_hash(), @NAME@_HASH) != 0)
    return 3;
@read@
  for (i = 0; i < @runs@ && status == @NAME@_DONE; ++i)
    stack = run(&status);
  if (status != @NAME@_DONE)
    return 1;
@write@
  host_write("stack ");
  host_write_number(stack);
  host_write("\n");
  return 0;
}
"""


def program_text(description, runs):
    name = description["name"]
    memory, read, write, fields = [], [], [], {"input": [], "output": []}
    for kind, short in ("input", "in"), ("output", "out"):
        for i, tensor in enumerate(description[kind + "s"]):
            array = f"{kind}_{tensor['field']}"
            fields[kind].append(f"(void *){array}")
            memory.append(f"static {name.upper()}_ALIGNED unsigned char {array}[{max(1, tensor['bytes'])}];")
            file = f'"{name}.{short}{i}", {array}, {tensor["bytes"]}'
            if kind == "input":
                read.append(f"  if (!host_read_file({file}))\n    return 4;")
            else:
                write.append(f"  if (!host_write_file({file}))\n    return 5;")
    if description["state"]["bytes"]:
        write.append(f'  if (!host_write_file("{name}.state", &state, sizeof state))\n    return 5;')
    text = PROGRAM
    for key, value in {"memory": "\n".join(memory), "inputs": ", ".join(fields["input"]) or "0", "outputs": ", ".join(fields["output"]) or "0",
                       "read": "\n".join(read), "write": "\n".join(write), "runs": str(runs), "name": name, "NAME": name.upper()}.items():
        text = text.replace(f"@{key}@", value)
    return text


def build(folder, description, board, runs=1):
    """The firmware for BOARD, in FOLDER, which has the bundle."""
    script, _, _, cpu = BOARDS[board]
    source, firmware = os.path.join(folder, "firmware.c"), os.path.join(folder, "firmware.elf")
    with open(source, "w") as file:
        file.write(program_text(description, runs))
    subprocess.run(["arm-none-eabi-gcc", *cpu.split(), "-mthumb", "-Os", "-Wall", "-Wextra", "-Werror", "-I", folder, "-I", EXAMPLE, source, EXAMPLE / "startup.c",
                    EXAMPLE / "semihosting.c", os.path.join(folder, description["name"] + ".o"), "-nostartfiles", "--specs=nano.specs",
                    "-Wl,--gc-sections", "-Wl,-z,noexecstack", "-T", EXAMPLE / "boards" / f"{script}.ld", "-L", EXAMPLE, f"-Wl,--defsym=stack_bytes={description['stack_bytes'] + 1024}",
                    "-lm", "-o", firmware], check=True, cwd=folder)
    return firmware


def run(firmware, board):
    """Runs it in its folder. Returns what has ended, with the bytes of stack that the model used as `stack` if all went well."""
    done = subprocess.run(["qemu-system-arm", "-M", board, "-kernel", firmware, "-nographic", "-monitor", "none", "-serial", "none",
                           "-semihosting-config", "enable=on,target=native"], cwd=os.path.dirname(firmware), capture_output=True, text=True, timeout=300)
    output = done.stdout + done.stderr
    if done.returncode == 0 and "stack " in output:
        done.stack = int(output.split("stack ")[1].split()[0])
    return done
