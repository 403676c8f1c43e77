// The compiled loops of sheetarray: over bytes of files, and over digits of numbers.
//
// No rule of the exchange format stands here, and no content raises an error: where a loop meets anything odd, it stops
// and says where, and Python's plain way takes over. Every byte is read through a `Cursor`, which knows its end. Memory
// grows with what was read, never with what a file says.
//
// Sections: results; doubles; the module. One section for each grammar stands between the last two.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using std::string_view;

// A place in some bytes that never passes their end: beyond it stand NUL bytes, which no grammar takes.
class Cursor {
 public:
  explicit Cursor(string_view text, size_t place = 0) : text_(text), place_(place < text.size() ? place : text.size()) {}

  bool done() const { return place_ == text_.size(); }
  size_t place() const { return place_; }
  size_t left() const { return text_.size() - place_; }
  char peek() const { return done() ? '\0' : text_[place_]; }
  char peek(size_t ahead) const { return ahead < left() ? text_[place_ + ahead] : '\0'; }
  string_view rest() const { return text_.substr(place_); }
  string_view since(size_t start) const { return text_.substr(start, place_ - start); }

  void skip(size_t count = 1) { place_ += count < left() ? count : left(); }
  bool take(char wanted) {
    if (done() || text_[place_] != wanted) return false;
    ++place_;
    return true;
  }
  bool take(string_view wanted) {
    if (left() < wanted.size() || std::memcmp(text_.data() + place_, wanted.data(), wanted.size()) != 0) return false;
    place_ += wanted.size();
    return true;
  }
  // Go to the next `wanted` and return true; false, with no step taken, if it does not come.
  bool find(char wanted) {
    const void *found = done() ? nullptr : std::memchr(text_.data() + place_, wanted, left());
    if (!found) return false;
    place_ = static_cast<size_t>(static_cast<const char *>(found) - text_.data());
    return true;
  }

 private:
  string_view text_;
  size_t place_;
};

// ---- Results: arrays of numbers, and columns of text --------------------------------------------------------------

struct Module {  // what belongs to one import of this module
  PyTypeObject *buffer, *texts;
};
Module *module_state(PyObject *module) { return static_cast<Module *>(PyModule_GetState(module)); }

// Bytes that Python wraps without a copy: `np.frombuffer(buffer, dtype)`.
struct Buffer {
  PyObject_HEAD
  std::shared_ptr<void> *owner;
  void *data;
  Py_ssize_t size;
};

int buffer_get(PyObject *self, Py_buffer *view, int flags) {
  auto *buffer = reinterpret_cast<Buffer *>(self);
  return PyBuffer_FillInfo(view, self, buffer->data, buffer->size, 1, flags);
}

template <class Object>
void free_object(PyObject *self) {
  delete reinterpret_cast<Object *>(self)->owner;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

template <class Object>
Object *new_object(PyTypeObject *type) {
  auto *object = PyObject_New(Object, type);
  if (object) object->owner = nullptr;
  return object;
}

template <class Item>
PyObject *to_buffer(Module *module, std::vector<Item> &&items) {
  static Item empty[1] = {};
  auto kept = std::make_shared<std::vector<Item>>(std::move(items));
  auto *buffer = new_object<Buffer>(module->buffer);
  if (!buffer) return nullptr;
  buffer->data = kept->empty() ? empty : kept->data();
  buffer->size = static_cast<Py_ssize_t>(kept->size() * sizeof(Item));
  buffer->owner = new std::shared_ptr<void>(std::move(kept));
  return reinterpret_cast<PyObject *>(buffer);
}

PyType_Slot buffer_slots[] = {{Py_tp_dealloc, reinterpret_cast<void *>(free_object<Buffer>)},
                              {Py_bf_getbuffer, reinterpret_cast<void *>(buffer_get)},
                              {0, nullptr}};
PyType_Spec buffer_spec = {"sheetarray._scan.Buffer", sizeof(Buffer), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, buffer_slots};

// Texts one after the other, in UTF-8 that has been checked; the text i ends at `ends[i + 1]`.
struct TextColumn {
  std::vector<int64_t> ends{0};
  std::string bytes;

  size_t size() const { return ends.size() - 1; }
  void add(string_view text) {
    bytes.append(text);
    ends.push_back(static_cast<int64_t>(bytes.size()));
  }
};

// A column of text that polars takes by Arrow's interface: `pl.Series(texts)`.
struct Texts {
  PyObject_HEAD
  std::shared_ptr<TextColumn> *owner;
};

[[maybe_unused]] PyObject *to_texts(Module *module, TextColumn &&column) {
  auto kept = std::make_shared<TextColumn>(std::move(column));
  auto *texts = new_object<Texts>(module->texts);
  if (!texts) return nullptr;
  texts->owner = new std::shared_ptr<TextColumn>(std::move(kept));
  return reinterpret_cast<PyObject *>(texts);
}

// Source: https://arrow.apache.org/docs/format/CDataInterface.html
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  ArrowSchema **children, *dictionary;
  void (*release)(ArrowSchema *);
  void *private_data;
};
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  ArrowArray **children, *dictionary;
  void (*release)(ArrowArray *);
  void *private_data;
};
struct ArrowTexts {  // what an ArrowArray keeps alive
  std::shared_ptr<TextColumn> column;
  const void *buffers[3];
};

void release_schema(ArrowSchema *schema) { schema->release = nullptr; }
void release_array(ArrowArray *array) {
  delete static_cast<ArrowTexts *>(array->private_data);
  array->release = nullptr;
}
template <class Struct>
void free_capsule(PyObject *capsule) {
  auto *made = static_cast<Struct *>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
  if (!made) return PyErr_Clear();
  if (made->release) made->release(made);
  delete made;
}

PyObject *texts_arrow(PyObject *self, PyObject *, PyObject *) {
  const auto &column = *reinterpret_cast<Texts *>(self)->owner;
  auto *schema = new ArrowSchema{"U", "", nullptr, 0, 0, nullptr, nullptr, release_schema, nullptr};
  PyObject *schema_capsule = PyCapsule_New(schema, "arrow_schema", free_capsule<ArrowSchema>);
  if (!schema_capsule) {
    delete schema;
    return nullptr;
  }
  auto *kept = new ArrowTexts{column, {nullptr, column->ends.data(), column->bytes.data()}};
  auto *array = new ArrowArray{
      static_cast<int64_t>(column->size()), 0, 0, 3, 0, kept->buffers, nullptr, nullptr, release_array, kept};
  PyObject *array_capsule = PyCapsule_New(array, "arrow_array", free_capsule<ArrowArray>);
  if (!array_capsule) {
    array->release(array);
    delete array;
    Py_DECREF(schema_capsule);
    return nullptr;
  }
  return Py_BuildValue("(NN)", schema_capsule, array_capsule);
}

Py_ssize_t texts_length(PyObject *self) {
  return static_cast<Py_ssize_t>((*reinterpret_cast<Texts *>(self)->owner)->size());
}

PyMethodDef texts_methods[] = {
    {"__arrow_c_array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(texts_arrow)),
     METH_VARARGS | METH_KEYWORDS, "Return the texts as two capsules, as Arrow defines them."},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot texts_slots[] = {{Py_tp_dealloc, reinterpret_cast<void *>(free_object<Texts>)},
                             {Py_tp_methods, texts_methods},
                             {Py_sq_length, reinterpret_cast<void *>(texts_length)},
                             {0, nullptr}};
PyType_Spec texts_spec = {"sheetarray._scan.Texts", sizeof(Texts), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, texts_slots};

// The bytes of an argument, released at the end of the call.
struct Argument {
  Py_buffer view{};
  ~Argument() {
    if (view.obj) PyBuffer_Release(&view);
  }
  string_view bytes() const { return {static_cast<const char *>(view.buf), static_cast<size_t>(view.len)}; }
  template <class Item>
  size_t count() const {
    return static_cast<size_t>(view.len) / sizeof(Item);
  }
  template <class Item>
  Item at(size_t index) const {
    Item item;
    std::memcpy(&item, static_cast<const char *>(view.buf) + index * sizeof(Item), sizeof(Item));
    return item;
  }
};

// Runs a loop without the lock of the interpreter; the loop must not touch objects of Python.
template <class Loop>
void unlocked(Loop loop) {
  struct Unlock {
    PyThreadState *state = PyEval_SaveThread();
    ~Unlock() { PyEval_RestoreThread(state); }
  } unlock;
  loop();
}

// Every function of the module: what C++ raises becomes an exception of Python.
template <PyObject *(*function)(Module *, PyObject *)>
PyObject *guarded(PyObject *module, PyObject *arguments) {
  try {
    return function(module_state(module), arguments);
  } catch (const std::bad_alloc &) {
    return PyErr_NoMemory();
  } catch (const std::length_error &) {
    return PyErr_NoMemory();
  }
}

// ---- Doubles: their text and their digits -------------------------------------------------------------------------

const size_t LONGEST_DOUBLE = 64;  // characters: more than a double takes in its shortest text, or with 17 digits

// A finite double that is not zero, as digits * 10^(exponent - count + 1), the digits an integer of `count` digits.
struct Decimal {
  int64_t digits;
  int exponent;
};

// Return the digits of |number|. Half up rounds the shortest text, half even (as printf) the double itself.
Decimal decimal_of(double number, int count, bool half_up) {
  char text[LONGEST_DOUBLE];
  number = std::fabs(number);
  const auto scientific = std::chars_format::scientific;
  char *end = half_up ? std::to_chars(text, text + sizeof text, number, scientific).ptr
                      : std::to_chars(text, text + sizeof text, number, scientific, count - 1).ptr;
  int64_t digits = 0;
  int exponent = 0, taken = 0, after = 0;
  const char *at = text;
  for (; at != end && *at != 'e'; ++at) {
    if (*at == '.') continue;
    if (taken < count) digits = digits * 10 + (*at - '0');
    if (taken == count) after = *at - '0';
    ++taken;
  }
  if (at != end) ++at;
  if (at != end && *at == '+') ++at;
  std::from_chars(at, end, exponent);
  int64_t full = 1;
  for (int place = 0; place < count; ++place) full *= 10;
  for (; taken < count; ++taken) digits *= 10;
  digits += after >= 5;
  if (digits == full) {
    digits /= 10;
    ++exponent;
  }
  return {digits, exponent};
}

// Return a double rounded to some digits; infinity if the digits are beyond all doubles.
double round_double(double number, int count, bool half_up) {
  if (!std::isfinite(number) || number == 0 || count >= 17) return number;
  const Decimal decimal = decimal_of(number, count, half_up);
  char text[LONGEST_DOUBLE + 1];
  char *end = std::to_chars(text, text + LONGEST_DOUBLE, decimal.digits).ptr;
  *end++ = 'e';
  end = std::to_chars(end, text + sizeof text, decimal.exponent - count + 1).ptr;
  double rounded = 0;
  if (std::from_chars(text, end, rounded).ec == std::errc::result_out_of_range && decimal.exponent > 0)
    rounded = HUGE_VAL;
  return std::copysign(rounded, number);
}

bool parse_doubles(PyObject *arguments, Argument *numbers, int *count, int *half_up) {
  if (!PyArg_ParseTuple(arguments, "y*ip", &numbers->view, count, half_up)) return false;
  if (*count < 1 || *count > 17) PyErr_Format(PyExc_ValueError, "1 to 17 digits, not %d", *count);
  return !PyErr_Occurred();
}

PyObject *round_doubles(Module *module, PyObject *arguments) {
  Argument numbers;
  int count, half_up;
  if (!parse_doubles(arguments, &numbers, &count, &half_up)) return nullptr;
  std::vector<double> rounded;
  unlocked([&] {
    rounded.resize(numbers.count<double>());
    for (size_t i = 0; i < rounded.size(); ++i) rounded[i] = round_double(numbers.at<double>(i), count, half_up);
  });
  return to_buffer(module, std::move(rounded));
}

PyObject *digits_of_doubles(Module *module, PyObject *arguments) {
  Argument numbers;
  int count, half_up;
  if (!parse_doubles(arguments, &numbers, &count, &half_up)) return nullptr;
  std::vector<int64_t> digits, exponents;
  unlocked([&] {
    const size_t size = numbers.count<double>();
    digits.resize(size);
    exponents.resize(size);
    for (size_t i = 0; i < size; ++i) {
      const double number = numbers.at<double>(i);
      if (!std::isfinite(number) || number == 0) continue;
      const Decimal decimal = decimal_of(number, count, half_up);
      digits[i] = decimal.digits;
      exponents[i] = decimal.exponent;
    }
  });
  PyObject *first = to_buffer(module, std::move(digits));
  PyObject *second = first ? to_buffer(module, std::move(exponents)) : nullptr;
  if (!second) {
    Py_XDECREF(first);
    return nullptr;
  }
  return Py_BuildValue("(NN)", first, second);
}

// ---- The module ----------------------------------------------------------------------------------------------------

PyMethodDef methods[] = {
    // doubles
    {"round_doubles", guarded<round_doubles>, METH_VARARGS, "Return doubles rounded to some digits."},
    {"digits_of_doubles", guarded<digits_of_doubles>, METH_VARARGS, "Return digits and exponents of doubles."},
    {nullptr, nullptr, 0, nullptr}};

int fill_module(PyObject *module) {
  Module *state = module_state(module);
  state->buffer = reinterpret_cast<PyTypeObject *>(PyType_FromModuleAndSpec(module, &buffer_spec, nullptr));
  state->texts = reinterpret_cast<PyTypeObject *>(PyType_FromModuleAndSpec(module, &texts_spec, nullptr));
  return state->buffer && state->texts ? 0 : -1;
}

void clear_module(void *module) {
  Module *state = module_state(static_cast<PyObject *>(module));
  Py_CLEAR(state->buffer);
  Py_CLEAR(state->texts);
}

PyModuleDef_Slot slots[] = {{Py_mod_exec, reinterpret_cast<void *>(fill_module)}, {0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_scan",  "The compiled loops of sheetarray.",
                          sizeof(Module),        methods,  slots,
                          nullptr,               nullptr,  clear_module};

}  // namespace

PyMODINIT_FUNC PyInit__scan() { return PyModuleDef_Init(&definition); }
