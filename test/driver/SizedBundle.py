"""A shared library of `sinter compile` whose sizes are arguments, called from Python.

All memory of a call ends at a page that nobody may touch, and begins at one, too, where its size is a multiple of its alignment:
one byte outside ends the process.
"""
import ctypes
import mmap
import os
import platform

import numpy

NUMPY = {"i1": "?", "i8": "i1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "ui8": "u1", "ui16": "<u2", "ui32": "<u4", "ui64": "<u8", "f16": "<f2", "f32": "<f4", "f64": "<f8"}
DONE, NULL_POINTER, MISALIGNED, WRONG_WEIGHTS, BAD_SIZES = range(5)
PAGE = mmap.PAGESIZE
# So much that no access misses it.
AROUND = 1 << 26
NO_SIZE = ctypes.c_size_t(-1).value

_C = ctypes.CDLL(None, use_errno=True)
_C.mmap.restype = ctypes.c_void_p
_C.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_C.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_C.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

if platform.machine() == "x86_64":
    # arch_prctl(ARCH_REQ_XCOMP_PERM, 18): AMX, where there is any.
    _C.syscall(158, 0x1023, 18)


class Guarded:
    """SIZE bytes, all ones at first, between pages that nobody may touch: as far up as ALIGNMENT allows."""

    def __init__(self, size, alignment=64):
        inner = -(-size // PAGE) * PAGE
        self.whole = inner + 2 * AROUND
        self.base = _C.mmap(None, self.whole, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        assert self.base not in (None, ctypes.c_void_p(-1).value)
        self.address = self.base + AROUND + (inner - size) // alignment * alignment
        self.size = size
        ctypes.memset(self.address, 0xFF, size)
        _C.mprotect(self.base, AROUND, 0)
        _C.mprotect(self.base + AROUND + inner, AROUND, 0)

    def bytes(self):
        return ctypes.string_at(self.address, self.size)

    def fill(self, content):
        assert len(content) == self.size, (len(content), self.size)
        ctypes.memmove(self.address, content, self.size)

    def __del__(self):
        _C.munmap(self.base, self.whole)


class SizedBundle:
    """The LIBRARY that `sinter compile --json` has described."""

    def __init__(self, library, description):
        self.path, self.library, self.description = library, ctypes.CDLL(library), description
        self.is_sized = bool(description.get("sizes"))
        self.functions = {what: getattr(self.library, name) for what, name in description["functions"].items()}
        for what in {"workspace_size", "input_size", "output_size"} & set(self.functions):
            self.functions[what].restype = ctypes.c_size_t

    def sizes(self, **sizes):
        """The struct of these sizes, by their names."""
        return (ctypes.c_int64 * len(self.description["sizes"]))(*(sizes[size["name"]] for size in self.description["sizes"]))

    def workspace_size(self, **sizes):
        return self.functions["workspace_size"](*self.first(sizes))

    def shape(self, kind, index, **sizes):
        """The shape of input or output INDEX; the status if there is none."""
        if not self.is_sized:
            return self.description[kind + "s"][index]["shape"]
        shape = (ctypes.c_int64 * max(1, len(self.description[kind + "s"][index]["shape"])))()
        status = self.functions[kind + "_shape"](self.sizes(**sizes), index, shape)
        return list(shape[:len(self.description[kind + "s"][index]["shape"])]) if status == DONE else status

    def first(self, sizes):
        """The first argument of functions, if it is the sizes."""
        return [self.sizes(**sizes)] if self.is_sized else []

    def initial_state(self):
        state = Guarded(self.description["state"]["bytes"])
        assert self.functions["state_init"](ctypes.c_void_p(state.address)) == DONE
        return state.bytes()

    def size(self, kind, index, **sizes):
        if not self.is_sized:
            return self.description[kind + "s"][index]["bytes"]
        return self.functions[kind + "_size"](self.sizes(**sizes), index)

    def run(self, inputs, runs=1, shift=0, state=None, **sizes):
        """The arrays of the outputs and the bytes of the state after RUNS runs, from STATE or the initial one on; the status if it
        is not DONE. The workspace begins SHIFT bytes too far up."""
        description, pointer = self.description, ctypes.c_void_p
        made = []
        for i, tensor in enumerate(description["outputs"]):
            made.append(Guarded(self.size("output", i, **sizes), tensor["alignment"]))
        given = []
        for i, (tensor, array) in enumerate(zip(description["inputs"], inputs)):
            assert list(array.shape) == self.shape("input", i, **sizes), (array.shape, self.shape("input", i, **sizes))
            given.append(Guarded(array.nbytes, tensor["alignment"]))
            given[-1].fill(array.tobytes())
        table = lambda memories: (pointer * max(1, len(memories)))(*(memory.address for memory in memories))
        status, workspace = DONE, Guarded(self.workspace_size(**sizes))
        if state is None:
            state = Guarded(description["state"]["bytes"])
            status = self.functions["state_init"](pointer(state.address))
        for _ in range(runs):
            if status == DONE:
                ctypes.memset(workspace.address, 0xFF, workspace.size - shift)
                status = self.functions["run"](*self.first(sizes), table(given), table(made), pointer(state.address), pointer(workspace.address + shift))
        if status != DONE:
            return status
        arrays = [numpy.frombuffer(memory.bytes(), NUMPY[tensor["type"]]).reshape(self.shape("output", i, **sizes))
                  for i, (tensor, memory) in enumerate(zip(description["outputs"], made))]
        return arrays, state.bytes()

    def faults(self, inputs, **arguments):
        """Whether such a run ends its process."""
        child = os.fork()
        if child == 0:
            self.run(inputs, **arguments)
            os._exit(0)
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
