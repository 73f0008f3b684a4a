/*===- Options.c - options of the library from a dictionary ---------------===*/

#include "Extension.h"

/** Calls USER with LINE. What it raises is reported, since nobody waits for
    it. */
static void log_line(void *user, const char *line) {
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject *done = PyObject_CallFunction((PyObject *)user, "s", line);
  if (!done)
    PyErr_WriteUnraisable((PyObject *)user);
  Py_XDECREF(done);
  PyErr_Restore(type, value, trace);
  PyGILState_Release(state);
}

/** Sets option NAME to one string. */
static int set_one(options *taken, const char *name, PyObject *value) {
  const char *text = PyUnicode_AsUTF8AndSize(value, NULL);
  if (!text)
    return -1;
  sinter_error *error = NULL;
  if (sinter_options_set(taken->options, name, text, &error) == SINTER_OK)
    return 0;
  raise_error(error);
  return -1;
}

static int set_option(options *taken, PyObject *key, PyObject *value) {
  const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
  if (!name)
    return -1;
  if (strcmp(name, "log") == 0) {
    if (value == Py_None)
      return 0;
    Py_XDECREF(taken->log);
    taken->log = Py_NewRef(value);
    sinter_error *error = NULL;
    if (sinter_options_set_log(taken->options, log_line, value, &error) ==
        SINTER_OK)
      return 0;
    raise_error(error);
    return -1;
  }
  if (PyUnicode_Check(value))
    return set_one(taken, name, value);
  const Py_ssize_t count = PySequence_Size(value);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *each = PySequence_GetItem(value, i);
    const int done = each ? set_one(taken, name, each) : -1;
    Py_XDECREF(each);
    if (done < 0)
      return -1;
  }
  return count < 0 ? -1 : 0;
}

int options_take(options *taken, PyObject *object) {
  taken->log = NULL;
  taken->options = NULL;
  sinter_error *error = NULL;
  if (sinter_options_new(&taken->options, &error) != SINTER_OK) {
    raise_error(error);
    return -1;
  }
  if (object == Py_None)
    return 0;
  PyObject *key, *value;
  Py_ssize_t position = 0;
  while (PyDict_Next(object, &position, &key, &value))
    if (set_option(taken, key, value) < 0) {
      options_release(taken);
      Py_CLEAR(taken->log);
      return -1;
    }
  return 0;
}

void options_release(options *taken) {
  sinter_options_free(taken->options, NULL);
  taken->options = NULL;
}
