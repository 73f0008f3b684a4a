/*===- Options.c - options of the library from a dictionary ---------------===*/

#include "Extension.h"

/*===- Callbacks, by any thread -------------------------------------------===*/

/** The interpreter's lock, and the exception that was on its way. */
typedef struct {
  PyGILState_STATE state;
  PyObject *type, *value, *trace;
} locked;

static void lock(locked *held) {
  held->state = PyGILState_Ensure();
  PyErr_Fetch(&held->type, &held->value, &held->trace);
}

/** Calls USER, a callable, with ARGUMENTS, which are released, and unlocks.
   What it raises is reported, since nobody waits for it. */
static void call_and_unlock(locked *held, void *user, PyObject *arguments) {
  PyObject *done = arguments ? PyObject_CallObject(user, arguments) : NULL;
  if (!done)
    PyErr_WriteUnraisable(user);
  Py_XDECREF(done);
  Py_XDECREF(arguments);
  PyErr_Restore(held->type, held->value, held->trace);
  PyGILState_Release(held->state);
}

static void log_line(void *user, const char *line) {
  locked held;
  lock(&held);
  call_and_unlock(&held, user, Py_BuildValue("(s)", line));
}

static void report_progress(void *user, const char *stage, uint64_t done,
                            uint64_t total) {
  locked held;
  lock(&held);
  call_and_unlock(&held, user,
                  Py_BuildValue("(sKK)", stage, (unsigned long long)done,
                                (unsigned long long)total));
}

static void print_text(void *user, const char *text, size_t size) {
  locked held;
  lock(&held);
  /* A piece may end inside of a character. */
  call_and_unlock(
      &held, user,
      Py_BuildValue("(N)", PyUnicode_DecodeUTF8(text, (Py_ssize_t)size,
                                                "backslashreplace")));
}

/*===- Options ------------------------------------------------------------===*/

/** Sets callback NAME; 1 if there is none of that name, -1 with an exception.
 */
static int set_callback(options *taken, const char *name, PyObject *callable) {
  sinter_error *error = NULL;
  sinter_status status;
  if (strcmp(name, "log") == 0)
    status = sinter_options_set_log(taken->options, log_line, callable, &error);
  else if (strcmp(name, "progress") == 0)
    status = sinter_options_set_progress(taken->options, report_progress,
                                         callable, &error);
  else if (strcmp(name, "print") == 0)
    status =
        sinter_options_set_print(taken->options, print_text, callable, &error);
  else
    return 1;
  if (status == SINTER_OK)
    return PyList_Append(taken->callbacks, callable);
  raise_error(error);
  return -1;
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

/** Sets what ends the call: a sinter._sinter.Cancellation, or None. */
static int set_cancellation(options *taken, PyObject *value) {
  const sinter_cancellation *cancellation;
  if (cancellation_of(value, &cancellation) < 0)
    return -1;
  sinter_error *error = NULL;
  if (sinter_options_set_cancellation(taken->options, cancellation, &error) ==
      SINTER_OK)
    return 0;
  raise_error(error);
  return -1;
}

static int set_option(options *taken, PyObject *key, PyObject *value) {
  const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
  if (!name)
    return -1;
  if (strcmp(name, "cancellation") == 0)
    return set_cancellation(taken, value);
  if (PyCallable_Check(value)) {
    const int done = set_callback(taken, name, value);
    if (done <= 0)
      return done;
    PyErr_Format(PyExc_TypeError, "option '%s' is no callable", name);
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
  taken->options = NULL;
  taken->callbacks = PyList_New(0);
  if (!taken->callbacks)
    return -1;
  sinter_error *error = NULL;
  int done = 0;
  if (sinter_options_new(&taken->options, &error) != SINTER_OK) {
    raise_error(error);
    done = -1;
  }
  PyObject *key, *value;
  Py_ssize_t position = 0;
  while (done == 0 && object != Py_None &&
         PyDict_Next(object, &position, &key, &value))
    done = set_option(taken, key, value);
  if (done < 0) {
    options_release(taken);
    Py_CLEAR(taken->callbacks);
  }
  return done;
}

void options_release(options *taken) {
  sinter_options_free(taken->options, NULL);
  taken->options = NULL;
}

/*===- What keeps callables -----------------------------------------------===*/

void *holder_new(PyTypeObject *type, PyObject *callbacks) {
  holder *made = PyObject_GC_New(holder, type);
  if (made)
    made->callbacks = callbacks;
  else
    Py_XDECREF(callbacks);
  return made;
}

int holder_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((holder *)self)->callbacks);
  return 0;
}

void holder_end(holder *self) {
  PyTypeObject *type = Py_TYPE((PyObject *)self);
  Py_XDECREF(self->callbacks);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}
