/*===- Arrays.c - memory of Python objects as tensors ---------------------===*/

#include "DLPack.h"
#include "Extension.h"

/*===- Element types ------------------------------------------------------===*/

static const struct {
  const char *format;
  size_t size;
  int type;
} formats[] = {
    {"?", 1, SINTER_I1},     {"b", 1, SINTER_I8},   {"B", 1, SINTER_UI8},
    {"h", 2, SINTER_I16},    {"H", 2, SINTER_UI16}, {"i", 4, SINTER_I32},
    {"I", 4, SINTER_UI32},   {"q", 8, SINTER_I64},  {"Q", 8, SINTER_UI64},
    {"l", 8, SINTER_I64},    {"L", 8, SINTER_UI64}, {"e", 2, SINTER_F16},
    {"f", 4, SINTER_F32},    {"d", 8, SINTER_F64},  {"Zf", 8, SINTER_C64},
    {"Zd", 16, SINTER_C128},
};

int type_of_format(const char *format, Py_ssize_t size) {
  if (!format)
    format = "B";
  /* Native order and little-endian are one here. */
  if (*format == '@' || *format == '=' || *format == '<')
    ++format;
  for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); ++i)
    if (strcmp(formats[i].format, format) == 0 &&
        formats[i].size == (size_t)size)
      return formats[i].type;
  return -1;
}

const char *format_of_type(sinter_type type) {
  for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); ++i)
    if (formats[i].type == (int)type)
      return formats[i].format;
  return NULL;
}

static const struct {
  uint8_t code, bits;
  int type;
} dlpack_types[] = {
    {dl_bool, 8, SINTER_I1},        {dl_int, 8, SINTER_I8},
    {dl_int, 16, SINTER_I16},       {dl_int, 32, SINTER_I32},
    {dl_int, 64, SINTER_I64},       {dl_uint, 8, SINTER_UI8},
    {dl_uint, 16, SINTER_UI16},     {dl_uint, 32, SINTER_UI32},
    {dl_uint, 64, SINTER_UI64},     {dl_float, 16, SINTER_F16},
    {dl_float, 32, SINTER_F32},     {dl_float, 64, SINTER_F64},
    {dl_bfloat, 16, SINTER_BF16},   {dl_complex, 64, SINTER_C64},
    {dl_complex, 128, SINTER_C128},
};

enum { dlpack_type_count = sizeof(dlpack_types) / sizeof(dlpack_types[0]) };

static int type_of_dlpack(dl_type type) {
  for (size_t i = 0; i < dlpack_type_count; ++i)
    if (dlpack_types[i].code == type.code &&
        dlpack_types[i].bits == type.bits && type.lanes == 1)
      return dlpack_types[i].type;
  return -1;
}

int dlpack_of_type(sinter_type type, dl_type *to) {
  for (size_t i = 0; i < dlpack_type_count; ++i)
    if (dlpack_types[i].type == (int)type) {
      to->code = dlpack_types[i].code;
      to->bits = dlpack_types[i].bits;
      to->lanes = 1;
      return 0;
    }
  return -1;
}

/*===- Taking and giving back ---------------------------------------------===*/

static int refuse(const char *what, const char *why) {
  PyErr_Format(PyExc_TypeError, "%s: %s", what, why);
  return -1;
}

static int take_buffer(array *taken, PyObject *object, int writable,
                       const char *what) {
  const int flags =
      PyBUF_FORMAT | PyBUF_STRIDES | (writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object, &taken->buffer, flags) < 0)
    return -1;
  taken->has_buffer = 1;
  const Py_buffer *buffer = &taken->buffer;
  const int type = type_of_format(buffer->format, buffer->itemsize);
  if (type < 0) {
    PyErr_Format(PyExc_TypeError,
                 "%s: elements of the format '%s' are not "
                 "supported",
                 what, buffer->format ? buffer->format : "B");
    return -1;
  }
  if (buffer->ndim > SINTER_MOST_DIMENSIONS)
    return refuse(what, "it has more than 64 dimensions");
  taken->tensor.type = (sinter_type)type;
  taken->tensor.rank = buffer->ndim;
  taken->tensor.data = buffer->buf;
  for (int i = 0; i < buffer->ndim; ++i) {
    taken->shape[i] = buffer->shape[i];
    taken->strides[i] = buffer->strides[i];
  }
  return 0;
}

/** The tensor in a DLPack capsule, and whether it may be written; NULL if it is
    none. */
static const dl_tensor *tensor_in(PyObject *capsule, int *writable) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    const dl_managed_versioned *managed =
        PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (managed->major != 1)
      return NULL;
    *writable = !(managed->flags & dl_read_only);
    return &managed->tensor;
  }
  if (!PyCapsule_IsValid(capsule, "dltensor"))
    return NULL;
  *writable = 1;
  return &((const dl_managed *)PyCapsule_GetPointer(capsule, "dltensor"))
              ->tensor;
}

static int take_dlpack(array *taken, PyObject *object, int writable,
                       const char *what) {
  /* Its consumer would rename the capsule; one that only looks keeps it, and
     its end frees the tensor. */
  taken->capsule = PyObject_CallMethod(object, "__dlpack__", NULL);
  if (!taken->capsule)
    return -1;
  int may_write = 0;
  const dl_tensor *tensor = tensor_in(taken->capsule, &may_write);
  if (!tensor)
    return refuse(what, "its __dlpack__ gives no tensor of DLPack 1");
  if (tensor->device.device_type != dl_cpu)
    return refuse(what, "it is not in the memory of the CPU");
  if (writable && !may_write)
    return refuse(what, "it is read-only");
  const int type = type_of_dlpack(tensor->type);
  if (type < 0)
    return refuse(what, "elements of its type are not supported");
  if (tensor->ndim < 0 || tensor->ndim > SINTER_MOST_DIMENSIONS)
    return refuse(what, "it has more than 64 dimensions");
  taken->tensor.type = (sinter_type)type;
  taken->tensor.rank = tensor->ndim;
  taken->tensor.data = (char *)tensor->data + tensor->byte_offset;
  const int64_t size = (int64_t)sinter_type_size((sinter_type)type);
  int64_t dense = size;
  for (int i = tensor->ndim - 1; i >= 0; --i) {
    taken->shape[i] = tensor->shape[i];
    if (!tensor->strides)
      taken->strides[i] = dense;
    else if (__builtin_mul_overflow(tensor->strides[i], size,
                                    &taken->strides[i]))
      return refuse(what, "its strides are too large");
    if (__builtin_mul_overflow(dense, tensor->shape[i], &dense))
      return refuse(what, "it is too large");
  }
  return 0;
}

int array_take(array *taken, PyObject *object, int writable, const char *what) {
  taken->has_buffer = 0;
  taken->capsule = NULL;
  taken->tensor.struct_size = sizeof(sinter_tensor);
  taken->tensor.shape = taken->shape;
  taken->tensor.strides = taken->strides;
  int done = -1;
  if (PyObject_CheckBuffer(object))
    done = take_buffer(taken, object, writable, what);
  else if (PyObject_HasAttrString(object, "__dlpack__"))
    done = take_dlpack(taken, object, writable, what);
  else
    PyErr_Format(PyExc_TypeError,
                 "%s: expected an array (with a buffer or __dlpack__), given "
                 "%R",
                 what, (PyObject *)Py_TYPE(object));
  if (done < 0)
    array_release(taken);
  return done;
}

void array_release(array *taken) {
  if (taken->has_buffer)
    PyBuffer_Release(&taken->buffer);
  taken->has_buffer = 0;
  Py_CLEAR(taken->capsule);
}

int arrays_take(arrays *taken, PyObject *sequence, const char *what) {
  *taken = (arrays){0};
  const Py_ssize_t count = PySequence_Size(sequence);
  if (count < 0)
    return -1;
  taken->all = PyMem_Calloc((size_t)count + 1, sizeof(array));
  taken->tensors = PyMem_Calloc((size_t)count + 1, sizeof(sinter_tensor));
  if (!taken->all || !taken->tensors)
    PyErr_NoMemory();
  while (!PyErr_Occurred() && taken->count < (size_t)count) {
    const size_t i = taken->count;
    PyObject *each = PySequence_GetItem(sequence, (Py_ssize_t)i);
    if (each && array_take(&taken->all[i], each, 0, what) == 0)
      taken->tensors[taken->count++] = taken->all[i].tensor;
    Py_XDECREF(each);
  }
  if (!PyErr_Occurred())
    return 0;
  arrays_release(taken);
  return -1;
}

void arrays_release(arrays *taken) {
  for (size_t i = 0; i < taken->count; ++i)
    array_release(&taken->all[i]);
  PyMem_Free(taken->all);
  PyMem_Free(taken->tensors);
  *taken = (arrays){0};
}
