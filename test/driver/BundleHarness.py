"""C programs that run what `sinter compile` has written, made from its description in JSON.

The program reads NAME.in0, ... from its folder, runs the model a number of times, and writes NAME.out0, ... and NAME.state.
All memory ends at a page that nobody may touch; the workspace begins at one, too. The stack is one of the program's own, of
which it measures what is used. A model that runs on several threads gets as many as the variable THREADS of the environment says.
"""
import json
import math
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy

from SinterCommand import CommandTest, DONE

NUMPY = {"f32": "<f4", "i32": "<i4", "i64": "<i8", "i8": "i1", "i1": "?", "f64": "<f8", "f16": "<f2"}

# Threads that are started for each step.
POOL = r"""
#include <pthread.h>

typedef struct task_of_step {
  void (*task)(void *context, size_t index);
  void *context;
  size_t index;
} task_of_step;
static size_t threads = 1, calls;

static void *run_task(void *argument) {
  const task_of_step *of_step = (const task_of_step *)argument;
  of_step->task(of_step->context, of_step->index);
  return NULL;
}

static void run_tasks(void *pool, void (*task)(void *context, size_t index), void *context, size_t count) {
  pthread_t started[64];
  task_of_step of_step[64];
  size_t i;
  check(pool == &calls && count > 1 && count <= threads, "too many tasks");
  ++calls;
  /* The float mode of a thread is not that of another. */
  for (i = 0; i < count; ++i) {
    of_step[i].task = task;
    of_step[i].context = context;
    of_step[i].index = count - 1 - i;
    if (i + 1 < count)
      check(pthread_create(&started[i], NULL, run_task, &of_step[i]) == 0, "no thread");
  }
  run_task(&of_step[count - 1]);
  for (i = 0; i + 1 < count; ++i)
    pthread_join(started[i], NULL);
}

static void take_threads(void) {
  const char *text = getenv("THREADS");
  threads = text ? (size_t)atoi(text) : 1;
  check(threads <= 64, "too many threads");
}
"""

# What main() does around a run, and how it ends.
PROGRAM = r"""
@includes@
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#if defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>
#endif

enum { PAGE = 65536, STACK = 1 << 20 };

static void check(int good, const char *what) {
  if (good)
    return;
  fprintf(stderr, "%s\n", what);
  exit(1);
}

/* SIZE bytes at a multiple of ALIGNMENT, between pages that nobody may touch: as far up as possible. */
static unsigned char *guarded(size_t size, size_t alignment) {
  const size_t inner = (size + PAGE - 1) / PAGE * PAGE;
  unsigned char *all = mmap(NULL, inner + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(all != MAP_FAILED, "no memory");
  check(inner == 0 || mprotect(all + PAGE, inner, PROT_READ | PROT_WRITE) == 0, "no protection");
  return all + PAGE + (inner - size) / alignment * alignment;
}

void get(const char *name, unsigned char *to, size_t size);
void get(const char *name, unsigned char *to, size_t size) {
  FILE *file = fopen(name, "rb");
  check(file != NULL && fread(to, 1, size, file) == size && fgetc(file) == EOF, name);
  fclose(file);
}

static void put(const char *name, const unsigned char *from, size_t size) {
  FILE *file = fopen(name, "wb");
  check(file != NULL && fwrite(from, 1, size, file) == size && fclose(file) == 0, name);
}

static ucontext_t outside, inside;
static int runs, shift;
@pool@

@models@

static void work(void) {
@calls@
}

int main(int argc, char **argv) {
  unsigned char *stack = guarded(STACK, 16);
  size_t untouched = 0;
  check(argc == 4, "usage: RUNS SHIFT own|given");
#if defined(__x86_64__)
  syscall(SYS_arch_prctl, 0x1023L, 18L); /* ARCH_REQ_XCOMP_PERM: AMX, where there is any. */
#endif
  runs = atoi(argv[1]);
  shift = atoi(argv[2]);
  if (strcmp(argv[3], "given") == 0) {
    work();
    return 0;
  }
  memset(stack, 0xA5, STACK);
  getcontext(&inside);
  inside.uc_stack.ss_sp = stack;
  inside.uc_stack.ss_size = STACK;
  inside.uc_link = &outside;
  makecontext(&inside, work, 0);
  swapcontext(&outside, &inside);
  while (untouched < STACK && stack[untouched] == 0xA5)
    ++untouched;
  printf("stack %lu\n", (unsigned long)(STACK - untouched));
  return 0;
}
"""

MODEL = r"""
static @name@_inputs @name@_in;
static @name@_outputs @name@_out;
static @name@_state *@name@_kept;
static unsigned char *@name@_workspace@weights_declared@;@sizes@
@declared@

static void run_@name@(void) {
  int i;
  const int mode = fegetround();
#if defined(__x86_64__)
  unsigned control;
  _mm_setcsr(0x1F80 | 0x4000 | 1); /* rounds up, keeps denormals, and a flag is set */
  control = _mm_getcsr();
#else
  fesetround(FE_UPWARD);
#endif
  for (i = 0; i < runs; ++i) {
    /* What an earlier run left must not matter. */
    memset(@name@_workspace + shift, 0xFF, @workspace_size@ - (size_t)shift);
    check(@name@_run(@given@&@name@_in, &@name@_out, @name@_kept, @name@_workspace + shift@weights@@lent@) == @NAME@_DONE, "@name@_run");
  }
#if defined(__x86_64__)
  check(_mm_getcsr() == control, "the float mode has changed");
  _mm_setcsr(0x1F80);
#else
  check(fegetround() == FE_UPWARD, "the rounding has changed");
#endif
  fesetround(mode);
}

static void prepare_@name@(void) {
@prepare@
@check@  check(strcmp(@name@_hash(), @NAME@_HASH) == 0, "the hash");
  @name@_workspace = guarded(@workspace_size@, @NAME@_WORKSPACE_ALIGNMENT);
  @name@_kept = (@name@_state *)(void *)guarded(sizeof(@name@_state), 64);
  check(@name@_state_init(@name@_kept@weights@) == @NAME@_DONE, "@name@_state_init");
}

static void finish_@name@(void) {
@finish@
}
"""


CHECK = """  check(@name@_workspace_size(@one@) == @NAME@_WORKSPACE_SIZE, "the size of the workspace");
"""


def with_sizes_of_one(description):
    """The shapes and bytes of DESCRIPTION where every size that is an argument is 1, as the program below calls it."""
    names = {"floor": math.floor, "min": min, "max": max, **{f"s{i}": 1 for i, _ in enumerate(description.get("sizes", []))}}
    for tensor in description.get("inputs", []) + description.get("outputs", []):
        for axis, size in enumerate(tensor["shape"]):
            if isinstance(size, str):
                for i, each in enumerate(description["sizes"]):
                    size = size.replace(each["name"], f"s{i}")
                tensor["shape"][axis] = eval(size, {}, names)
        if tensor["bytes"] is None:
            tensor["bytes"] = int(numpy.prod(tensor["shape"])) * numpy.dtype(NUMPY[tensor["type"]]).itemsize
    return description


def model_text(description):
    name, is_sized = description["name"], bool(description["sizes"])
    given = f"&{name}_given" if is_sized else ""
    text = MODEL.replace("@check@", "" if is_sized else CHECK).replace("@workspace_size@", f"@name@_workspace_size({given}{', ' if given and description['parallel'] else ''}@threads@)").replace("@given@", given and given + ", ")
    text = text.replace("@sizes@", "" if not is_sized else f"\nstatic const {name}_sizes {name}_given = {{{', '.join('1' for _ in description['sizes'])}}};")
    in_file = description["weights"]["file"] is not None
    prepare, finish = [], []
    if in_file:
        prepare += [f'  {name}_weights = guarded({name.upper()}_WEIGHTS_SIZE, 64);',
                    f'  get("{name}.weights", {name}_weights, {name.upper()}_WEIGHTS_SIZE);']
    for kind, short in ("input", "in"), ("output", "out"):
        for i, tensor in enumerate(description[kind + "s"]):
            macro = f"{name.upper()}_{kind.upper()}_{tensor['field'].upper()}"
            target = f"{name}_{short}.{tensor['field']}"
            size = f"{name}_{kind}_size({given}, {macro}_INDEX)" if is_sized else f"{macro}_SIZE"
            prepare.append(f"  {target} = (void *)guarded({size}, {macro}_ALIGNMENT);")
            if kind == "input":
                prepare.append(f'  get("{name}.in{i}", (unsigned char *){target}, {size});')
            else:
                finish.append(f'  put("{name}.out{i}", (const unsigned char *){target}, {size});')
    finish.append(f'  put("{name}.state", (const unsigned char *){name}_kept, {name.upper()}_STATE_SIZE);')
    is_parallel = description["parallel"]
    if is_parallel:
        prepare.insert(0, f"  {name}_lent.count = threads;\n  {name}_lent.run = run_tasks;\n  {name}_lent.pool = &calls;")
    if is_parallel and not is_sized:
        # Sizes that no memory has are the largest number.
        prepare.append(f'  check({name}_workspace_size(0) == {name.upper()}_WORKSPACE_SIZE, "the workspace of no thread");')
        if description["workspace"]["thread_bytes"] > 1:
            prepare.append(f'  check({name}_workspace_size((size_t)-2) == (size_t)-1, "the workspace of too many threads");')
    if is_parallel:
        finish.append(f'  printf("{name} called %lu\\n", (unsigned long)calls);')
    parallel = {"one": "1", "threads": "threads", "lent": f", &{name}_lent", "declared": f"static {name}_threads {name}_lent;"} if is_parallel else {}
    return (text.replace("@prepare@", "\n".join(prepare)).replace("@finish@", "\n".join(finish))
            .replace("@one@", parallel.get("one", "")).replace("@threads@", parallel.get("threads", ""))
            .replace("@lent@", parallel.get("lent", "")).replace("@declared@", parallel.get("declared", ""))
            .replace("@weights_declared@", ", *@name@_weights" if in_file else "").replace("@weights@", f", {name}_weights" if in_file else "").replace("@name@", name).replace("@NAME@", name.upper()))


def program_text(descriptions):
    """The program that runs the models of these descriptions, one after the other."""
    names = [each["name"] for each in descriptions]
    calls = [f"  {step}_{name}();" for step in ("prepare", "run", "finish") for name in names]
    is_parallel = any(each["parallel"] for each in descriptions)
    if is_parallel:
        calls.insert(0, "  take_threads();")
    return (PROGRAM.replace("@includes@", "\n".join(f'#include "{name}.h"' for name in names))
            .replace("@pool@", POOL if is_parallel else "").replace("@models@", "".join(map(model_text, descriptions))).replace("@calls@", "\n".join(calls)))


def build(folder, descriptions, objects, compiler=("cc",), standard="c99"):
    """Compiles and links that program in FOLDER, which has the headers. Returns its path."""
    source, program = os.path.join(folder, "harness.c"), os.path.join(folder, "harness")
    with open(source, "w") as file:
        file.write(program_text(descriptions))
    subprocess.run([*compiler, f"-std={standard}", "-D_GNU_SOURCE=1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-cast-qual", "-frounding-math", "-I", folder,
                    source, *objects, "-o", program, "-lm", "-pthread"], check=True)
    return program


def run(program, runs=1, shift=0, launcher=(), stack="own", threads=1):
    """Runs it in its folder, on a stack of its own or on the one that the system has given. Returns what has ended, with what it
    used of its own as `stack` if all went well."""
    done = subprocess.run([*launcher, program, str(runs), str(shift), stack], cwd=os.path.dirname(program), capture_output=True, text=True, timeout=300,
                          env={**os.environ, "THREADS": str(threads)})
    if done.returncode == 0 and stack == "own":
        done.stack = int(done.stdout.split()[-1])
    return done


class BundleTest(CommandTest):
    """Tests that compile bundles and run them."""

    def setUp(self):
        super().setUp()
        # What was measured of the machine decides between kernels: here nothing was.
        cache = tempfile.TemporaryDirectory()
        self.addCleanup(cache.cleanup)
        self.cache_home = cache.name

    def sinter(self, *arguments, **environment):
        return super().sinter(*arguments, **{"XDG_CACHE_HOME": self.cache_home, **environment})

    def compile(self, model, folder="net", *arguments, name="net"):
        """Compiles MODEL to FOLDER; returns the description, for sizes of one where sizes are arguments."""
        return with_sizes_of_one(self.described(model, folder, *arguments, name=name))

    def described(self, model, folder="net", *arguments, name="net"):
        """Compiles MODEL to FOLDER; returns the description."""
        done = self.sinter("compile", model, "-o", self.path(folder) + "/", "--name", name, *arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(self.path(f"{folder}/{name}.json")) as file:
            return json.load(file)

    def random_inputs(self, description, seed=7, **fixed):
        """An array for each input: that of FIXED, or random."""
        generator = numpy.random.default_rng(seed)
        arrays = []
        for tensor in description["inputs"]:
            values = fixed.get(tensor["field"])
            if values is None:
                values = generator.standard_normal(tensor["shape"]) if tensor["type"][0] == "f" else generator.integers(0, 2, tensor["shape"])
            arrays.append(numpy.ascontiguousarray(values, dtype=NUMPY[tensor["type"]]).reshape(tensor["shape"]))
        return arrays

    def run_in_command(self, model, description, inputs, *arguments, runs=1):
        """The bytes of the outputs and of the states that `sinter run` gives."""
        out = self.path("expected")
        shutil.rmtree(out, ignore_errors=True)
        given = []
        for tensor, array in zip(description["inputs"], inputs):
            path = self.path(tensor["field"] + ".npy")
            numpy.save(path, array)
            given += ["--input", f"{tensor['name']}={path}"]
        done = self.sinter("run", model, *given, "--output-dir", out, "--repeat", str(runs), "--threads", "1", "--no-cache", *arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        load = lambda name: numpy.load(os.path.join(out, name + ".npy"))
        return ([load(tensor["name"]) for tensor in description["outputs"]],
                [load("state_" + tensor["name"]) for tensor in description["state"]["tensors"]])

    def write_inputs(self, folder, description, inputs):
        for i, array in enumerate(inputs):
            self.write(f"{folder}/{description['name']}.in{i}", array.tobytes())

    def read_outputs(self, folder, description):
        outputs = []
        for i, tensor in enumerate(description["outputs"]):
            content = Path(self.path(f"{folder}/{description['name']}.out{i}")).read_bytes()
            outputs.append(numpy.frombuffer(content, dtype=NUMPY[tensor["type"]]).reshape(tensor["shape"]))
        return outputs

    def expect_same(self, model, folder, description, inputs, runs=1, launcher=(), program=None, also=(), stack="own", threads=1):
        """What the compiled code computes has the bits of what the command does."""
        self.write_inputs(folder, description, inputs)
        program = program or build(self.path(folder), [description], [self.path(f"{folder}/{description['name']}.o")])
        done = run(program, runs, launcher=launcher, stack=stack, threads=threads)
        self.assertEqual(done.returncode, 0, done.stderr)
        outputs, states = self.run_in_command(model, description, inputs, *also, runs=runs)
        for tensor, expected, got in zip(description["outputs"], outputs, self.read_outputs(folder, description)):
            self.assertEqual(got.tobytes(), expected.tobytes(), f"{model}: {tensor['name']}: {got} is not {expected}")
        kept = Path(self.path(f"{folder}/{description['name']}.state")).read_bytes()
        for tensor, expected in zip(description["state"]["tensors"], states):
            self.assertEqual(kept[tensor["offset"]:][:tensor["bytes"]], expected.tobytes(), tensor["name"])
        return done
