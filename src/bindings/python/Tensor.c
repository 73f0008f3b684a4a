/*===- Tensor.c - sinter.Tensor -------------------------------------------===*
 *
 * A result: memory of the library that others look at without a copy, by the
 * buffer protocol or DLPack.
 *
 *===----------------------------------------------------------------------===*/

#include "DLPack.h"
#include "Extension.h"

#include <stdlib.h>

typedef struct {
  PyObject_HEAD sinter_value *value;
  sinter_tensor tensor;
  /* In bytes, for buffers. */
  Py_ssize_t shape[SINTER_MOST_DIMENSIONS], strides[SINTER_MOST_DIMENSIONS];
  Py_ssize_t bytes;
} tensor_object;

static PyTypeObject *tensor_type;

PyObject *tensor_new(sinter_value *value) {
  tensor_object *made = PyObject_New(tensor_object, tensor_type);
  if (!made) {
    sinter_value_free(value);
    return NULL;
  }
  made->value = value;
  made->tensor.struct_size = sizeof(sinter_tensor);
  sinter_error *error = NULL;
  if (sinter_value_tensor(value, &made->tensor, &error) != SINTER_OK) {
    Py_DECREF(made);
    return raise_error(error);
  }
  if (made->tensor.rank > SINTER_MOST_DIMENSIONS) {
    Py_DECREF(made);
    PyErr_SetString(PyExc_ValueError, "a result has more than 64 dimensions");
    return NULL;
  }
  Py_ssize_t bytes = (Py_ssize_t)sinter_type_size(made->tensor.type);
  for (int i = made->tensor.rank - 1; i >= 0; --i) {
    made->shape[i] = (Py_ssize_t)made->tensor.shape[i];
    made->strides[i] = bytes;
    bytes *= made->shape[i];
  }
  made->bytes = bytes;
  return (PyObject *)made;
}

static void tensor_dealloc(tensor_object *self) {
  PyTypeObject *type = Py_TYPE((PyObject *)self);
  sinter_value_free(self->value);
  PyObject_Free(self);
  Py_DECREF(type);
}

static int tensor_get_buffer(tensor_object *self, Py_buffer *buffer,
                             int flags) {
  const char *format = format_of_type(self->tensor.type);
  if (!format) {
    PyErr_Format(PyExc_BufferError,
                 "elements of type %s have no buffer; use __dlpack__ or "
                 "tobytes()",
                 sinter_type_name(self->tensor.type));
    return -1;
  }
  static char nothing;
  buffer->buf = self->tensor.data ? self->tensor.data : &nothing;
  buffer->obj = Py_NewRef((PyObject *)self);
  buffer->len = self->bytes;
  buffer->itemsize = (Py_ssize_t)sinter_type_size(self->tensor.type);
  buffer->readonly = 0;
  buffer->ndim = self->tensor.rank;
  buffer->format = flags & PyBUF_FORMAT ? (char *)format : NULL;
  buffer->shape = flags & PyBUF_ND ? self->shape : NULL;
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

static PyObject *tensor_dlpack(tensor_object *self, PyObject *arguments,
                               PyObject *keywords) {
  static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
  PyObject *stream = NULL, *max_version = NULL, *device = NULL, *copy = NULL;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|$OOOO:__dlpack__",
                                   names, &stream, &max_version, &device,
                                   &copy))
    return NULL;
  if (copy == Py_True) {
    PyErr_SetString(PyExc_BufferError, "a copy is for whoever takes it");
    return NULL;
  }
  const int versioned = wants_versioned(max_version);
  if (versioned < 0)
    return NULL;
  dl_tensor tensor = {self->tensor.data,
                      {dl_cpu, 0},
                      self->tensor.rank,
                      {0, 0, 1},
                      NULL,
                      NULL,
                      0};
  if (dlpack_of_type(self->tensor.type, &tensor.type) < 0) {
    PyErr_Format(PyExc_BufferError, "DLPack has no elements of type %s",
                 sinter_type_name(self->tensor.type));
    return NULL;
  }
  tensor.shape = (int64_t *)self->tensor.shape;
  exported *held = calloc(1, sizeof(exported));
  if (!held)
    return PyErr_NoMemory();
  held->owner = Py_NewRef((PyObject *)self);
  held->old.tensor = held->versioned.tensor = tensor;
  held->old.context = held->versioned.context = held;
  held->old.deleter = delete_old;
  held->versioned.deleter = delete_versioned;
  held->versioned.major = 1;
  held->versioned.minor = 1;
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
    PyObject *size = PyLong_FromSsize_t(self->shape[i]);
    if (!size || PyTuple_SetItem(shape, i, size) < 0)
      Py_CLEAR(shape);
  }
  return shape;
}

static PyObject *tensor_dtype(tensor_object *self, void *ignored) {
  return PyUnicode_FromString(sinter_type_name(self->tensor.type));
}

static PyObject *tensor_tobytes(tensor_object *self, PyObject *ignored) {
  return PyBytes_FromStringAndSize(self->tensor.data, self->bytes);
}

static PyMethodDef tensor_methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))tensor_dlpack,
     METH_VARARGS | METH_KEYWORDS,
     "The tensor for other libraries, by DLPack."},
    {"__dlpack_device__", (PyCFunction)tensor_dlpack_device, METH_NOARGS,
     "Where it is: the CPU."},
    {"tobytes", (PyCFunction)tensor_tobytes, METH_NOARGS,
     "A copy of the elements, row-major."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef tensor_attributes[] = {
    {"shape", (getter)tensor_shape, NULL, "The sizes, a tuple.", NULL},
    {"dtype", (getter)tensor_dtype, NULL, "The element type, 'f32' say.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot tensor_slots[] = {
    {Py_tp_dealloc, tensor_dealloc},
    {Py_tp_methods, tensor_methods},
    {Py_tp_getset, tensor_attributes},
    {Py_bf_getbuffer, tensor_get_buffer},
    {Py_tp_doc, "A tensor of the library: numpy.asarray() and from_dlpack() "
                "look at it without a copy."},
    {0, NULL}};

static PyType_Spec tensor_spec = {
    "sinter._sinter.Tensor", sizeof(tensor_object), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
        Py_TPFLAGS_IMMUTABLETYPE,
    tensor_slots};

int add_tensor_type(PyObject *module) {
  tensor_type = (PyTypeObject *)PyType_FromSpec(&tensor_spec);
  return tensor_type
             ? PyModule_AddObjectRef(module, "Tensor", (PyObject *)tensor_type)
             : -1;
}
