/*===- Tensor.c - sinter.Tensor -------------------------------------------===*
 *
 * A result, in memory of the library, or other memory of Python by the type of
 * its elements. Others look at it without a copy, by the buffer protocol or
 * DLPack.
 *
 *===----------------------------------------------------------------------===*/

#include "DLPack.h"
#include "Extension.h"

#include <stdlib.h>

typedef struct {
  PyObject_VAR_HEAD
      /* What owns the memory, one of both. */
      sinter_value *value;
  array *lent;
  sinter_tensor tensor;
  int read_only;
  Py_ssize_t bytes;
  /* In bytes, for buffers. */
  Py_ssize_t strides[];
} tensor_object;

static PyTypeObject *tensor_type;

/** A new tensor like SHAPED, whose owner is to be set. */
static tensor_object *tensor_like(const sinter_tensor *shaped) {
  tensor_object *made =
      PyObject_NewVar(tensor_object, tensor_type, shaped->rank);
  if (!made)
    return NULL;
  made->value = NULL;
  made->lent = NULL;
  made->tensor = *shaped;
  made->tensor.strides = NULL;
  made->read_only = 0;
  Py_ssize_t bytes = (Py_ssize_t)sinter_type_size(shaped->type);
  for (int i = shaped->rank - 1; i >= 0; --i) {
    made->strides[i] = bytes;
    bytes *= (Py_ssize_t)shaped->shape[i];
  }
  made->bytes = bytes;
  return made;
}

PyObject *tensor_new(sinter_value *value) {
  sinter_tensor tensor = {sizeof(tensor)};
  sinter_error *error = NULL;
  tensor_object *made = NULL;
  if (sinter_value_tensor(value, &tensor, &error) != SINTER_OK)
    raise_error(error);
  else if (tensor.rank > SINTER_MOST_DIMENSIONS)
    PyErr_SetString(PyExc_ValueError, "a result has more than 64 dimensions");
  else
    made = tensor_like(&tensor);
  if (made)
    made->value = value;
  else
    sinter_value_free(value);
  return (PyObject *)made;
}

const sinter_tensor *tensor_of(PyObject *object, int *read_only) {
  if (Py_TYPE(object) != tensor_type)
    return NULL;
  const tensor_object *tensor = (const tensor_object *)object;
  *read_only = tensor->read_only;
  return &tensor->tensor;
}

static void lent_free(array *lent) {
  array_release(lent);
  PyMem_Free(lent);
}

static void tensor_dealloc(tensor_object *self) {
  PyTypeObject *type = Py_TYPE((PyObject *)self);
  sinter_value_free(self->value);
  if (self->lent)
    lent_free(self->lent);
  PyObject_Free(self);
  Py_DECREF(type);
}

/** Whether TENSOR is row-major without gaps. */
static int is_dense(const sinter_tensor *tensor) {
  int64_t stride = (int64_t)sinter_type_size(tensor->type);
  for (int i = tensor->rank - 1; tensor->strides && i >= 0; --i) {
    if (tensor->shape[i] == 0)
      return 1;
    if (tensor->shape[i] != 1 && tensor->strides[i] != stride)
      return 0;
    stride *= tensor->shape[i];
  }
  return 1;
}

/** view(array, dtype): a Tensor of DTYPE over the memory of ARRAY. */
static PyObject *view(PyObject *module, PyObject *arguments) {
  PyObject *object;
  const char *name;
  if (!PyArg_ParseTuple(arguments, "Os:view", &object, &name))
    return NULL;
  const int type = type_of_name(name);
  if (type < 0)
    return PyErr_Format(PyExc_ValueError, "there is no element type '%s'",
                        name);
  if (type == SINTER_STRING) {
    PyErr_SetString(PyExc_ValueError, "strings are no view of other elements");
    return NULL;
  }
  array *lent = PyMem_Malloc(sizeof(array));
  if (!lent)
    return PyErr_NoMemory();
  if (array_take(lent, object, 0, "an array") < 0) {
    PyMem_Free(lent);
    return NULL;
  }
  tensor_object *made = NULL;
  if (lent->tensor.type == SINTER_STRING)
    PyErr_SetString(PyExc_ValueError, "strings have no view of other elements");
  else if (sinter_type_size(lent->tensor.type) !=
           sinter_type_size((sinter_type)type))
    PyErr_Format(PyExc_ValueError,
                 "elements of type %s and %s are not of one size",
                 sinter_type_name(lent->tensor.type), name);
  else if (!is_dense(&lent->tensor))
    PyErr_SetString(PyExc_ValueError,
                    "the array is not row-major without gaps; use "
                    "numpy.ascontiguousarray()");
  else {
    lent->tensor.type = (sinter_type)type;
    made = tensor_like(&lent->tensor);
  }
  if (!made) {
    lent_free(lent);
    return NULL;
  }
  made->lent = lent;
  made->read_only = lent->read_only;
  return (PyObject *)made;
}

static int tensor_get_buffer(tensor_object *self, Py_buffer *buffer,
                             int flags) {
  const char *format = format_of_type(self->tensor.type);
  if (!format && flags & PyBUF_FORMAT) {
    PyErr_Format(PyExc_BufferError,
                 "elements of type %s have no buffer; use __dlpack__, "
                 "sinter.view() or tobytes()",
                 sinter_type_name(self->tensor.type));
    return -1;
  }
  if (self->read_only && flags & PyBUF_WRITABLE) {
    PyErr_SetString(PyExc_BufferError, "the tensor is read-only");
    return -1;
  }
  static char nothing;
  buffer->buf = self->tensor.data ? self->tensor.data : &nothing;
  buffer->obj = Py_NewRef((PyObject *)self);
  buffer->len = self->bytes;
  buffer->itemsize = (Py_ssize_t)sinter_type_size(self->tensor.type);
  buffer->readonly = self->read_only;
  buffer->ndim = self->tensor.rank;
  buffer->format = flags & PyBUF_FORMAT ? (char *)format : NULL;
  buffer->shape = flags & PyBUF_ND ? (Py_ssize_t *)self->tensor.shape : NULL;
  buffer->strides =
      (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->strides : NULL;
  buffer->suboffsets = NULL;
  buffer->internal = NULL;
  return 0;
}

/*===- DLPack -------------------------------------------------------------===*/

/** What a capsule holds: either struct, whose context is this. */
typedef struct {
  dl_managed old;
  dl_managed_versioned versioned;
  PyObject *owner;
  /* In elements; then, if it is a copy, the elements. */
  int64_t strides[];
} exported;

static void export_free(exported *held) {
  /* A consumer may end it without the interpreter's lock. */
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF(held->owner);
  PyGILState_Release(state);
  free(held);
}

static void delete_old(dl_managed *managed) { export_free(managed->context); }
static void delete_versioned(dl_managed_versioned *managed) {
  export_free(managed->context);
}

/** Frees what nobody has taken: a consumer renames the capsule. */
static void capsule_end(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor"))
    delete_old(PyCapsule_GetPointer(capsule, "dltensor"));
  else if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
    delete_versioned(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
}

/** Whether MAX_VERSION, (major, minor) or None, is 1 or more. */
static int wants_versioned(PyObject *max_version) {
  if (!max_version || max_version == Py_None)
    return 0;
  PyObject *major = PySequence_GetItem(max_version, 0);
  if (!major)
    return -1;
  const long number = PyLong_AsLong(major);
  Py_DECREF(major);
  return number == -1 && PyErr_Occurred() ? -1 : number >= 1;
}

/** Whether DEVICE, (type, number) or None, is the CPU; else an exception. */
static int check_device(PyObject *device) {
  if (!device || device == Py_None)
    return 0;
  int type, number;
  if (!PyTuple_Check(device)) {
    PyErr_SetString(PyExc_TypeError, "dl_device is (type, number)");
    return -1;
  }
  if (!PyArg_ParseTuple(device, "ii;dl_device is (type, number)", &type,
                        &number))
    return -1;
  if (type == dl_cpu)
    return 0;
  PyErr_SetString(PyExc_BufferError, "the tensor is in the memory of the CPU");
  return -1;
}

/** The tensor for a capsule, in memory of its own if COPIES is not 0; NULL with
    an exception. */
static exported *export_of(tensor_object *self, int copies) {
  dl_tensor tensor = {
      self->tensor.data, {dl_cpu, 0}, self->tensor.rank, {0}, NULL, NULL, 0};
  if (dlpack_of_type(self->tensor.type, &tensor.type) < 0) {
    PyErr_Format(PyExc_BufferError, "DLPack has no elements of type %s",
                 sinter_type_name(self->tensor.type));
    return NULL;
  }
  /* Elements are aligned to 256 bytes, as DLPack asks. */
  enum { alignment = 256 };
  const size_t size = sizeof(exported) + (size_t)tensor.ndim * sizeof(int64_t);
  exported *held =
      malloc(size + (copies ? (size_t)self->bytes + alignment - 1 : 0));
  if (!held) {
    PyErr_NoMemory();
    return NULL;
  }
  if (copies) {
    const uintptr_t free_at = (uintptr_t)held + size;
    tensor.data = (void *)((free_at + alignment - 1) / alignment * alignment);
    if (self->bytes)
      memcpy(tensor.data, self->tensor.data, (size_t)self->bytes);
  }
  const Py_ssize_t bytes = (Py_ssize_t)sinter_type_size(self->tensor.type);
  for (int i = 0; i < tensor.ndim; ++i)
    held->strides[i] = self->strides[i] / bytes;
  tensor.shape = (int64_t *)self->tensor.shape;
  tensor.strides = held->strides;
  const uint64_t flags = copies            ? dl_is_copied
                         : self->read_only ? dl_read_only
                                           : 0;
  held->old = (dl_managed){tensor, held, delete_old};
  held->versioned =
      (dl_managed_versioned){1, 1, held, delete_versioned, flags, tensor};
  held->owner = Py_NewRef((PyObject *)self);
  return held;
}

static PyObject *tensor_dlpack(tensor_object *self, PyObject *arguments,
                               PyObject *keywords) {
  static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
  PyObject *stream = NULL, *max_version = NULL, *device = NULL, *copy = NULL;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|$OOOO:__dlpack__",
                                   names, &stream, &max_version, &device,
                                   &copy) ||
      check_device(device) < 0)
    return NULL;
  const int versioned = wants_versioned(max_version);
  if (versioned < 0)
    return NULL;
  const int copies = copy == Py_True;
  if (self->read_only && !versioned && !copies) {
    PyErr_SetString(PyExc_BufferError,
                    "the tensor is read-only, which takes DLPack 1");
    return NULL;
  }
  exported *held = export_of(self, copies);
  if (!held)
    return NULL;
  PyObject *capsule =
      versioned
          ? PyCapsule_New(&held->versioned, "dltensor_versioned", capsule_end)
          : PyCapsule_New(&held->old, "dltensor", capsule_end);
  if (!capsule)
    export_free(held);
  return capsule;
}

static PyObject *tensor_dlpack_device(tensor_object *self, PyObject *ignored) {
  return Py_BuildValue("(ii)", dl_cpu, 0);
}

/*===- Attributes ---------------------------------------------------------===*/

static PyObject *tensor_shape(tensor_object *self, void *ignored) {
  PyObject *shape = PyTuple_New(self->tensor.rank);
  for (int i = 0; shape && i < self->tensor.rank; ++i) {
    PyObject *size = PyLong_FromLongLong(self->tensor.shape[i]);
    if (!size || PyTuple_SetItem(shape, i, size) < 0)
      Py_CLEAR(shape);
  }
  return shape;
}

static PyObject *tensor_dtype(tensor_object *self, void *ignored) {
  return PyUnicode_FromString(sinter_type_name(self->tensor.type));
}

static PyObject *tensor_tobytes(tensor_object *self, PyObject *ignored) {
  if (self->tensor.type == SINTER_STRING) {
    PyErr_SetString(PyExc_TypeError, "strings have no bytes of equal size; use "
                                     "tolist()");
    return NULL;
  }
  return PyBytes_FromStringAndSize(self->tensor.data, self->bytes);
}

static PyObject *tensor_tolist(tensor_object *self, PyObject *ignored) {
  if (self->tensor.type == SINTER_STRING)
    return list_of_strings(&self->tensor);
  PyErr_SetString(PyExc_TypeError, "the elements are no strings");
  return NULL;
}

static PyObject *tensor_repr(tensor_object *self) {
  PyObject *shape = tensor_shape(self, NULL);
  PyObject *sizes = shape ? PySequence_List(shape) : NULL;
  PyObject *text =
      sizes ? PyUnicode_FromFormat("<sinter.Tensor %s%R>",
                                   sinter_type_name(self->tensor.type), sizes)
            : NULL;
  Py_XDECREF(shape);
  Py_XDECREF(sizes);
  return text;
}

static PyMethodDef tensor_methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))tensor_dlpack,
     METH_VARARGS | METH_KEYWORDS,
     "The tensor for other libraries, by DLPack."},
    {"__dlpack_device__", (PyCFunction)tensor_dlpack_device, METH_NOARGS,
     "Where it is: the CPU."},
    {"tobytes", (PyCFunction)tensor_tobytes, METH_NOARGS,
     "A copy of the elements, row-major."},
    {"tolist", (PyCFunction)tensor_tolist, METH_NOARGS,
     "The elements, row-major, as a list of str, where they are strings. What "
     "is no UTF-8 is in surrogate escapes."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef tensor_attributes[] = {
    {"shape", (getter)tensor_shape, NULL, "The sizes, a tuple.", NULL},
    {"dtype", (getter)tensor_dtype, NULL, "The element type, 'f32' say.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot tensor_slots[] = {
    {Py_tp_dealloc, tensor_dealloc},
    {Py_tp_methods, tensor_methods},
    {Py_tp_repr, tensor_repr},
    {Py_tp_getset, tensor_attributes},
    {Py_bf_getbuffer, tensor_get_buffer},
    {Py_tp_doc,
     "A tensor of any element type, row-major: a result, or what view() "
     "gives.\n"
     "\n"
     "numpy.asarray() and from_dlpack() look at it without a copy.\n"
     "\n"
     "    >>> sinter.view(numpy.zeros((2, 3), numpy.uint16), 'bf16')\n"
     "    <sinter.Tensor bf16[2, 3]>\n"},
    {0, NULL}};

static PyType_Spec tensor_spec = {
    "sinter.Tensor", sizeof(tensor_object), sizeof(Py_ssize_t),
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
        Py_TPFLAGS_IMMUTABLETYPE,
    tensor_slots};

static PyMethodDef functions[] = {
    {"view", view, METH_VARARGS,
     "view(array, dtype, /)\n--\n\n"
     "A Tensor over the memory of `array`, row-major without gaps, whose "
     "elements are of the type `dtype` of the same size.\n"
     "\n"
     "So numpy's integers are the bits of types that numpy lacks, and the "
     "other way round. TypeError for what is no array, ValueError for other "
     "sizes and strides.\n"
     "\n"
     "    >>> bits = numpy.array([0x3f80, 0xc000], numpy.uint16)\n"
     "    >>> ones = sinter.view(bits, 'bf16')\n"
     "    >>> ones.dtype, ones.shape\n"
     "    ('bf16', (2,))\n"
     "    >>> numpy.shares_memory(numpy.asarray(sinter.view(ones, 'ui16')), "
     "bits)\n"
     "    True\n"},
    {NULL, NULL, 0, NULL}};

int add_tensor_type(PyObject *module) {
  tensor_type = (PyTypeObject *)PyType_FromSpec(&tensor_spec);
  return tensor_type && PyModule_AddFunctions(module, functions) == 0
             ? PyModule_AddObjectRef(module, "Tensor", (PyObject *)tensor_type)
             : -1;
}
