/*===- Arrays.c - memory of Python objects as tensors ---------------------===*/

#include "DLPack.h"
#include "Extension.h"

/*===- Element types ------------------------------------------------------===*/

static const struct {
  const char *format;
  size_t size;
  int type;
} formats[] = {
    /* The most frequent first. */
    {"f", 4, SINTER_F32},    {"q", 8, SINTER_I64},  {"l", 8, SINTER_I64},
    {"?", 1, SINTER_I1},     {"b", 1, SINTER_I8},   {"B", 1, SINTER_UI8},
    {"h", 2, SINTER_I16},    {"H", 2, SINTER_UI16}, {"i", 4, SINTER_I32},
    {"I", 4, SINTER_UI32},   {"Q", 8, SINTER_UI64}, {"L", 8, SINTER_UI64},
    {"e", 2, SINTER_F16},    {"d", 8, SINTER_F64},  {"Zf", 8, SINTER_C64},
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
    {dl_bool, 8, SINTER_I1},
    {dl_int, 8, SINTER_I8},
    {dl_int, 16, SINTER_I16},
    {dl_int, 32, SINTER_I32},
    {dl_int, 64, SINTER_I64},
    {dl_uint, 8, SINTER_UI8},
    {dl_uint, 16, SINTER_UI16},
    {dl_uint, 32, SINTER_UI32},
    {dl_uint, 64, SINTER_UI64},
    {dl_float, 16, SINTER_F16},
    {dl_float, 32, SINTER_F32},
    {dl_float, 64, SINTER_F64},
    {dl_bfloat, 16, SINTER_BF16},
    {dl_complex, 64, SINTER_C64},
    {dl_complex, 128, SINTER_C128},
    {dl_f8_e4m3, 8, SINTER_F8E4M3},
    {dl_f8_e4m3b11fnuz, 8, SINTER_F8E4M3B11FNUZ},
    {dl_f8_e4m3fn, 8, SINTER_F8E4M3FN},
    {dl_f8_e4m3fnuz, 8, SINTER_F8E4M3FNUZ},
    {dl_f8_e5m2, 8, SINTER_F8E5M2},
    {dl_f8_e5m2fnuz, 8, SINTER_F8E5M2FNUZ},
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

/** What ml_dtypes calls elements that neither numpy's buffers nor its DLPack
    have. */
static const struct {
  const char *name, *bits;
  int type;
} array_types[] = {
    {"bfloat16", "u2", SINTER_BF16},
    {"float8_e4m3", "u1", SINTER_F8E4M3},
    {"float8_e4m3fn", "u1", SINTER_F8E4M3FN},
    {"float8_e4m3fnuz", "u1", SINTER_F8E4M3FNUZ},
    {"float8_e4m3b11fnuz", "u1", SINTER_F8E4M3B11FNUZ},
    {"float8_e5m2", "u1", SINTER_F8E5M2},
    {"float8_e5m2fnuz", "u1", SINTER_F8E5M2FNUZ},
    {"int2", "u1", SINTER_I2},
    {"int4", "u1", SINTER_I4},
    {"uint2", "u1", SINTER_UI2},
    {"uint4", "u1", SINTER_UI4},
};

int type_of_name(const char *name) {
  for (int type = 0; sinter_type_name((sinter_type)type); ++type)
    if (strcmp(sinter_type_name((sinter_type)type), name) == 0)
      return type;
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
  taken->read_only = buffer->readonly;
  taken->tensor.type = (sinter_type)type;
  taken->tensor.rank = buffer->ndim;
  taken->tensor.data = buffer->buf;
  for (int i = 0; i < buffer->ndim; ++i) {
    taken->shape[i] = buffer->shape[i];
    taken->strides[i] = buffer->strides[i];
  }
  return 0;
}

/** The capsule of OBJECT: of DLPack 1 if its __dlpack__ knows of versions. */
static PyObject *dlpack_capsule(PyObject *object) {
  PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
  PyObject *none = PyTuple_New(0);
  PyObject *version = Py_BuildValue("{s(ii)}", "max_version", 1, 1);
  PyObject *capsule = NULL;
  if (method && none && version) {
    capsule = PyObject_Call(method, none, version);
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
      PyErr_Clear();
      capsule = PyObject_CallNoArgs(method);
    }
  }
  Py_XDECREF(method);
  Py_XDECREF(none);
  Py_XDECREF(version);
  return capsule;
}

/** The tensor in a DLPack capsule, and whether it is read-only; NULL if there
    is none. */
static const dl_tensor *tensor_in(PyObject *capsule, int *read_only) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    const dl_managed_versioned *managed =
        PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (managed->major != 1)
      return NULL;
    *read_only = (managed->flags & dl_read_only) != 0;
    return &managed->tensor;
  }
  if (!PyCapsule_IsValid(capsule, "dltensor"))
    return NULL;
  *read_only = 0;
  return &((const dl_managed *)PyCapsule_GetPointer(capsule, "dltensor"))
              ->tensor;
}

static int take_dlpack(array *taken, PyObject *object, int writable,
                       const char *what) {
  /* Its consumer would rename the capsule; one that only looks keeps it, and
     its end frees the tensor. */
  taken->owner = dlpack_capsule(object);
  if (!taken->owner)
    return -1;
  const dl_tensor *tensor = tensor_in(taken->owner, &taken->read_only);
  if (!tensor)
    return refuse(what, "its __dlpack__ gives no tensor of DLPack 1");
  if (tensor->device.device_type != dl_cpu)
    return refuse(what, "it is not in the memory of the CPU");
  if (writable && taken->read_only)
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

static void take_tensor(array *taken, PyObject *object,
                        const sinter_tensor *tensor) {
  taken->owner = Py_NewRef(object);
  taken->tensor = *tensor;
}

/** The row of what OBJECT says that its elements are: dtype.name; -1 if it says
    nothing, or something else. */
static int named_type(PyObject *object) {
  PyObject *dtype = PyObject_GetAttrString(object, "dtype");
  PyObject *name = dtype ? PyObject_GetAttrString(dtype, "name") : NULL;
  const char *text = name && PyUnicode_Check(name)
                         ? PyUnicode_AsUTF8AndSize(name, NULL)
                         : NULL;
  int found = -1;
  for (size_t i = 0; text && i < sizeof(array_types) / sizeof(array_types[0]);
       ++i)
    if (strcmp(array_types[i].name, text) == 0)
      found = (int)i;
  Py_XDECREF(name);
  Py_XDECREF(dtype);
  PyErr_Clear();
  return found;
}

/** Takes the elements of row ROW as the bits that they are. */
static int take_bits(array *taken, PyObject *object, int row, int writable,
                     const char *what) {
  PyObject *bits =
      PyObject_CallMethod(object, "view", "s", array_types[row].bits);
  const int done = bits ? take_buffer(taken, bits, writable, what) : -1;
  Py_XDECREF(bits);
  if (done == 0)
    taken->tensor.type = (sinter_type)array_types[row].type;
  return done;
}

/** Takes what the method __array__ of OBJECT gives, to read it. */
static int take_converted(array *taken, PyObject *object, const char *what) {
  PyObject *converted = PyObject_CallMethod(object, "__array__", NULL);
  const int done = converted ? take_buffer(taken, converted, 0, what) : -1;
  Py_XDECREF(converted);
  return done;
}

static int take(array *taken, PyObject *object, int writable,
                const char *what) {
  const sinter_tensor *own = tensor_of(object, &taken->read_only);
  if (own) {
    if (writable && taken->read_only)
      return refuse(what, "it is read-only");
    take_tensor(taken, object, own);
    return 0;
  }
  const int has_buffer = PyObject_CheckBuffer(object);
  const int has_dlpack =
      !has_buffer && PyObject_HasAttrString(object, "__dlpack__");
  if (has_buffer && take_buffer(taken, object, writable, what) == 0)
    return 0;
  if (has_dlpack && take_dlpack(taken, object, writable, what) == 0)
    return 0;
  const int was_taken = taken->has_buffer || taken->owner != NULL;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (!writable) {
    array_release(taken);
    const int done = array_take_strings(taken, object, what);
    if (done <= 0) {
      Py_XDECREF(type);
      Py_XDECREF(value);
      Py_XDECREF(trace);
      return done;
    }
  }
  if (was_taken) {
    PyErr_Restore(type, value, trace);
    return -1;
  }
  const int row = named_type(object);
  const int converts = row < 0 && !has_buffer && !writable &&
                       !PyType_Check(object) &&
                       PyObject_HasAttrString(object, "__array__");
  if (row < 0 && !converts && type) {
    PyErr_Restore(type, value, trace);
    return -1;
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  if (row >= 0)
    return take_bits(taken, object, row, writable, what);
  if (converts)
    return take_converted(taken, object, what);
  PyErr_Format(PyExc_TypeError,
               "%s: expected an array (with a buffer or __dlpack__), given %R",
               what, (PyObject *)Py_TYPE(object));
  return -1;
}

int array_take(array *taken, PyObject *object, int writable, const char *what) {
  taken->has_buffer = 0;
  taken->owner = NULL;
  taken->read_only = 0;
  taken->tensor.struct_size = sizeof(sinter_tensor);
  taken->tensor.shape = taken->shape;
  taken->tensor.strides = taken->strides;
  const int done = take(taken, object, writable, what);
  if (done < 0)
    array_release(taken);
  return done;
}

void array_release(array *taken) {
  if (taken->has_buffer)
    PyBuffer_Release(&taken->buffer);
  taken->has_buffer = 0;
  Py_CLEAR(taken->owner);
}

int arrays_take(arrays *taken, PyObject *sequence, const char *what) {
  *taken = (arrays){0};
  const Py_ssize_t count = PySequence_Size(sequence);
  if (count < 0)
    return -1;
  taken->all = PyMem_Malloc(((size_t)count + 1) * sizeof(array));
  taken->tensors = PyMem_Calloc((size_t)count + 1, sizeof(sinter_tensor));
  int done = 0;
  if (!taken->all || !taken->tensors) {
    PyErr_NoMemory();
    done = -1;
  }
  while (done == 0 && taken->count < (size_t)count) {
    const size_t i = taken->count;
    PyObject *each = PySequence_GetItem(sequence, (Py_ssize_t)i);
    done = each ? array_take(&taken->all[i], each, 0, what) : -1;
    Py_XDECREF(each);
    if (done == 0)
      taken->tensors[taken->count++] = taken->all[i].tensor;
  }
  if (done < 0)
    arrays_release(taken);
  return done;
}

void arrays_release(arrays *taken) {
  for (size_t i = 0; i < taken->count; ++i)
    array_release(&taken->all[i]);
  PyMem_Free(taken->all);
  PyMem_Free(taken->tensors);
  *taken = (arrays){0};
}
