/*===- StringArrays.c - arrays of strings ---------------------------------===*/

#include "Extension.h"

/** Whether OBJECT is an array of texts, of bytes or of objects; without an
    exception. */
static int has_strings(PyObject *object) {
  PyObject *dtype = PyObject_GetAttrString(object, "dtype");
  PyObject *kind = dtype ? PyObject_GetAttrString(dtype, "kind") : NULL;
  const char *text = kind && PyUnicode_Check(kind)
                         ? PyUnicode_AsUTF8AndSize(kind, NULL)
                         : NULL;
  const int found = text && *text && strchr("USO", *text) != NULL;
  Py_XDECREF(kind);
  Py_XDECREF(dtype);
  PyErr_Clear();
  return found;
}

/** Sets STRING to the text of OBJECT, which keeps it. */
static int set_string(sinter_string *string, PyObject *object,
                      const char *what) {
  Py_ssize_t size = 0;
  if (PyUnicode_Check(object)) {
    string->data = PyUnicode_AsUTF8AndSize(object, &size);
  } else if (PyBytes_Check(object)) {
    char *data = NULL;
    if (PyBytes_AsStringAndSize(object, &data, &size) < 0)
      return -1;
    string->data = data;
  } else {
    PyErr_Format(PyExc_TypeError,
                 "%s: an object of the array is no str or bytes but %R", what,
                 (PyObject *)Py_TYPE(object));
    return -1;
  }
  string->size = (size_t)size;
  return string->data ? 0 : -1;
}

/** Sets the sizes of TAKEN to those of OBJECT, an array. */
static int take_shape(array *taken, PyObject *object, const char *what) {
  PyObject *shape = PyObject_GetAttrString(object, "shape");
  const Py_ssize_t rank = shape ? PySequence_Size(shape) : -1;
  int done = rank < 0 ? -1 : 0;
  if (rank > SINTER_MOST_DIMENSIONS) {
    PyErr_Format(PyExc_TypeError, "%s: it has more than 64 dimensions", what);
    done = -1;
  }
  for (Py_ssize_t i = 0; done == 0 && i < rank; ++i) {
    PyObject *size = PySequence_GetItem(shape, i);
    taken->shape[i] = size ? PyLong_AsLongLong(size) : -1;
    Py_XDECREF(size);
    done = PyErr_Occurred() ? -1 : 0;
  }
  Py_XDECREF(shape);
  int64_t stride = sizeof(sinter_string);
  for (Py_ssize_t i = done == 0 ? rank : 0; i-- > 0;) {
    taken->strides[i] = stride;
    stride *= taken->shape[i];
  }
  taken->tensor.rank = (int32_t)rank;
  return done;
}

/** Takes the strings of LIST, which lives as long as TAKEN. */
static int take_list(array *taken, PyObject *list, const char *what) {
  const Py_ssize_t count = PyList_Size(list);
  int64_t wanted = 1;
  for (int i = 0; i < taken->tensor.rank; ++i)
    wanted *= taken->shape[i];
  if (wanted != count) {
    PyErr_Format(PyExc_TypeError,
                 "%s: it has not as many strings as its shape "
                 "says",
                 what);
    return -1;
  }
  PyObject *memory = PyBytes_FromStringAndSize(
      NULL, count * (Py_ssize_t)sizeof(sinter_string));
  if (!memory)
    return -1;
  taken->owner = PyTuple_Pack(2, list, memory);
  Py_DECREF(memory);
  if (!taken->owner)
    return -1;
  taken->tensor.type = SINTER_STRING;
  taken->tensor.data = PyBytes_AsString(memory);
  for (Py_ssize_t i = 0; i < count; ++i) {
    sinter_string string;
    if (set_string(&string, PyList_GetItem(list, i), what) < 0)
      return -1;
    memcpy((char *)taken->tensor.data + i * (Py_ssize_t)sizeof(string), &string,
           sizeof(string));
  }
  return 0;
}

int array_take_strings(array *taken, PyObject *object, const char *what) {
  if (!has_strings(object))
    return 1;
  if (take_shape(taken, object, what) < 0)
    return -1;
  PyObject *flat = PyObject_CallMethod(object, "ravel", NULL);
  PyObject *list = flat ? PyObject_CallMethod(flat, "tolist", NULL) : NULL;
  Py_XDECREF(flat);
  int done = -1;
  if (list && PyList_Check(list))
    done = take_list(taken, list, what);
  else if (list)
    PyErr_Format(PyExc_TypeError, "%s: it is no array of strings", what);
  Py_XDECREF(list);
  return done;
}

PyObject *list_of_strings(const sinter_tensor *tensor) {
  int64_t count = 1;
  for (int i = 0; i < tensor->rank; ++i)
    count *= tensor->shape[i];
  const sinter_string *strings = tensor->data;
  PyObject *list = PyList_New(0);
  for (int64_t i = 0; list && i < count; ++i) {
    /* What is no UTF-8 comes back as it was, by str.encode(). */
    PyObject *text = PyUnicode_DecodeUTF8(
        strings[i].data, (Py_ssize_t)strings[i].size, "surrogateescape");
    if (!text || PyList_Append(list, text) < 0)
      Py_CLEAR(list);
    Py_XDECREF(text);
  }
  return list;
}
