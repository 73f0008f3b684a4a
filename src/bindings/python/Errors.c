/*===- Errors.c - the exceptions of sinter --------------------------------===*/

#include "Extension.h"

/** By sinter_status; 0: the base of all. */
static PyObject *exceptions[SINTER_CANCELLED + 1];

static const struct {
  sinter_status status;
  const char *name, *kind;
  const char *doc;
} rows[] = {
    {SINTER_OK, "sinter.Error", "",
     "What is wrong, and where.\n\nAttributes, each '' if it is not known: "
     "kind ('usage', of the class), what, file, node, operator, hint."},
    {SINTER_WRONG_RESULT, "sinter.WrongResultError", "wrong-result",
     "A comparison failed, or a bound does not hold."},
    {SINTER_USAGE, "sinter.UsageError", "usage", "The call makes no sense."},
    {SINTER_INVALID_MODEL, "sinter.InvalidModelError", "invalid-model",
     "The file is not a valid model."},
    {SINTER_UNSUPPORTED, "sinter.UnsupportedError", "unsupported",
     "The model uses what is not supported."},
    {SINTER_SYSTEM, "sinter.SystemError", "system",
     "I/O, memory or the operating system failed."},
    {SINTER_CANCELLED, "sinter.CancelledError", "cancelled",
     "The run was cancelled."},
};

/** The Python exception that the one of STATUS is, too. */
static PyObject *also(sinter_status status) {
  switch (status) {
  case SINTER_USAGE:
  case SINTER_INVALID_MODEL:
    return PyExc_ValueError;
  case SINTER_UNSUPPORTED:
    return PyExc_NotImplementedError;
  case SINTER_SYSTEM:
    return PyExc_OSError;
  default:
    return PyExc_RuntimeError;
  }
}

/** The attributes of the exception of row I that its objects need not have. */
static PyObject *class_attributes(size_t i) {
  return i == 0
             ? Py_BuildValue("{ssssssssssss}", "kind", "", "what", "", "file",
                             "", "node", "", "operator", "", "hint", "")
             : Py_BuildValue("{ss}", "kind", rows[i].kind);
}

int add_errors(PyObject *module) {
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    PyObject *base = i == 0
                         ? Py_NewRef(PyExc_Exception)
                         : PyTuple_Pack(2, exceptions[0], also(rows[i].status));
    PyObject *attributes = class_attributes(i);
    PyObject *made = base && attributes
                         ? PyErr_NewExceptionWithDoc(rows[i].name, rows[i].doc,
                                                     base, attributes)
                         : NULL;
    Py_XDECREF(base);
    Py_XDECREF(attributes);
    if (!made)
      return -1;
    exceptions[rows[i].status] = made;
    if (PyModule_AddObjectRef(module, rows[i].name + sizeof("sinter.") - 1,
                              made) < 0)
      return -1;
  }
  return 0;
}

/** Sets attribute NAME of EXCEPTION to TEXT. */
static int set_text(PyObject *exception, const char *name, const char *text) {
  PyObject *value =
      PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  if (!value)
    return -1;
  const int done = PyObject_SetAttrString(exception, name, value);
  Py_DECREF(value);
  return done;
}

PyObject *raise_error(sinter_error *error) {
  /* A callback of Python may have raised one. */
  if (PyErr_Occurred()) {
    sinter_error_free(error);
    return NULL;
  }
  if (!error)
    return PyErr_NoMemory();
  PyObject *type = exceptions[sinter_error_status(error)];
  PyObject *exception =
      PyObject_CallFunction(type, "s", sinter_error_message(error));
  if (exception && set_text(exception, "what", sinter_error_what(error)) == 0 &&
      set_text(exception, "file", sinter_error_file(error)) == 0 &&
      set_text(exception, "node", sinter_error_node(error)) == 0 &&
      set_text(exception, "operator", sinter_error_operator(error)) == 0 &&
      set_text(exception, "hint", sinter_error_hint(error)) == 0)
    PyErr_SetObject(type, exception);
  Py_XDECREF(exception);
  sinter_error_free(error);
  return NULL;
}
