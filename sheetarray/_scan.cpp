// The compiled loops of sheetarray: over bytes of files, and over digits of numbers.
//
// No rule of the exchange format stands here, and no content raises an error: where a loop meets anything odd, it stops
// and says where, and Python's plain way takes over. Every byte is read through a `Cursor`, which knows its end. Memory
// grows with what was read, never with what a file says.
//
// Sections: results; rows of a worksheet; doubles; the module. One section for each grammar stands between the last two.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
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

// ---- Rows of a worksheet: columns of cells to XML ------------------------------------------------------------------

const size_t LONGEST_NUMBER = 64;  // characters: more than any number takes

// Bytes that are being written.
class Out {
 public:
  ~Out() { std::free(bytes_); }
  // Return a place with room for some bytes; `end` says how many of them were written.
  char *room(size_t count) {
    if (capacity_ - size_ < count) {
      const size_t wanted = 2 * capacity_ + count + 4096;
      auto *larger = static_cast<char *>(std::realloc(bytes_, wanted));
      if (!larger) throw std::bad_alloc();
      bytes_ = larger;
      capacity_ = wanted;
    }
    return bytes_ + size_;
  }
  void end(const char *at) { size_ = static_cast<size_t>(at - bytes_); }
  Out &append(string_view text) {
    std::memcpy(room(text.size() + 1), text.data() ? text.data() : "", text.size());
    size_ += text.size();
    return *this;
  }
  const char *data() const { return bytes_; }
  size_t size() const { return size_; }
  void cut(size_t size) { size_ = size; }

 private:
  char *bytes_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

char *put(char *at, string_view text) {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

// The values of some cells, in one form: the first layer of a group that has a value for a cell writes it.
struct Layer {
  int kind = 0;  // d: doubles, f: floats, i: int64, v: texts as they are, t: texts that are escaped
  std::string before, after;
  Argument values, present;
  std::vector<string_view> texts;  // those of blanks have no data

  size_t size() const {
    if (kind == 'v' || kind == 't') return texts.size();
    return kind == 'f' ? values.count<float>() : values.count<double>();
  }
};

// Some cells of one column, one under another.
struct Segment {
  std::string letters;
  size_t group, start, above, count;
};

bool is_white(unsigned char unit) { return unit == ' ' || (unit >= '\t' && unit <= '\r'); }

// Whether programs might change white space of a text: at its ends, lines, tabs, several in a row, and any beyond ASCII.
bool keeps_space(string_view text) {
  if (text.empty()) return false;
  if (text.front() == ' ' || text.back() == ' ') return true;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto unit = static_cast<unsigned char>(text[i]);
    if (is_white(unit) && (unit != ' ' || text[i + 1] == ' ')) return true;  // a space is never the last unit
    if (unit != 0xC2 && unit != 0xE1 && unit != 0xE2 && unit != 0xE3) continue;
    const string_view rest = text.substr(i, 3);
    const auto last = static_cast<unsigned char>(rest.back());
    if (rest.substr(0, 2) == "\xC2\x85" || rest.substr(0, 2) == "\xC2\xA0") return true;
    if (rest == "\xE1\x9A\x80" || rest == "\xE2\x81\x9F" || rest == "\xE3\x80\x80") return true;
    if (rest.substr(0, 2) == "\xE2\x80" && (last <= 0x8A || last == 0xA8 || last == 0xA9 || last == 0xAF)) return true;
  }
  return false;
}

bool is_hex(char unit) {
  return (unit >= '0' && unit <= '9') || (unit >= 'A' && unit <= 'F') || (unit >= 'a' && unit <= 'f');
}

// Append a text as the content of an element; what XML cannot hold, and what looks like such an escape, is `_xHHHH_`.
void append_escaped(Out &out, string_view text) {
  size_t kept = 0;  // the text before it is written
  for (size_t i = 0; i < text.size(); ++i) {
    const auto unit = static_cast<unsigned char>(text[i]);
    if (unit >= ' ' && unit != '&' && unit != '<' && unit != '>' && unit != '_' && unit != 0xEF) continue;
    if (unit == '\t' || unit == '\n') continue;
    const string_view rest = text.substr(i, 7);
    char escape[] = "_x0000_";
    const char *made = escape;
    size_t taken = 1;
    if (unit == '&') {
      made = "&amp;";
    } else if (unit == '<') {
      made = "&lt;";
    } else if (unit == '>') {
      made = "&gt;";
    } else if (unit < ' ') {
      escape[4] = unit < 16 ? '0' : '1';
      escape[5] = "0123456789ABCDEF"[unit % 16];
    } else if (unit == '_') {
      if (rest.size() < 7 || rest[1] != 'x' || rest[6] != '_' || !is_hex(rest[2]) || !is_hex(rest[3]) ||
          !is_hex(rest[4]) || !is_hex(rest[5]))
        continue;
      made = "_x005F_";
    } else {
      if (rest.substr(0, 3) != "\xEF\xBF\xBE" && rest.substr(0, 3) != "\xEF\xBF\xBF") continue;
      made = rest[2] == '\xBE' ? "_xFFFE_" : "_xFFFF_";
      taken = 3;
    }
    out.append(text.substr(kept, i - kept)).append(made);
    kept = i + taken;
  }
  out.append(text.substr(kept));
}

// Write a positive number of at most fifteen digits, six of them after the point, if it is one; null otherwise.
char *put_short_decimal(char *at, double number) {
  const double scaled = number * 1e6;
  if (!(number >= 1e-4 && scaled < 1e15)) return nullptr;
  const auto millionths = static_cast<int64_t>(scaled + 0.5);
  if (static_cast<double>(millionths) / 1e6 != number) return nullptr;
  at = std::to_chars(at, at + LONGEST_NUMBER, millionths / 1000000).ptr;
  *at++ = '.';
  auto rest = static_cast<int>(millionths % 1000000);
  for (int unit = 100000; unit == 100000 || rest; unit /= 10) {
    *at++ = static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
  return at;
}

// Write the shortest text that reads back as a number, in the form of Python's `repr`; it takes at most LONGEST_NUMBER.
template <class Number>
char *put_number(char *at, Number number) {
  if (std::signbit(number)) *at++ = '-';
  if (number == 0) return put(at, "0.0");
  number = std::fabs(number);
  if (sizeof(Number) == sizeof(double))
    if (char *end = put_short_decimal(at, number)) return end;
  char text[LONGEST_NUMBER], digits[LONGEST_NUMBER];
  const char *end = std::to_chars(text, text + sizeof text, number, std::chars_format::scientific).ptr;
  const char *from = text;
  size_t count = 0;
  for (; *from != 'e'; ++from)
    if (*from != '.') digits[count++] = *from;
  from += from[1] == '+' ? 2 : 1;
  int exponent = 0;
  std::from_chars(from, end, exponent);
  if (exponent < -4 || exponent >= 16) {
    *at++ = digits[0];
    if (count > 1) *at++ = '.';
    at = put(at, {digits + 1, count - 1});
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    exponent = exponent < 0 ? -exponent : exponent;
    if (exponent < 10) *at++ = '0';
    return std::to_chars(at, at + LONGEST_NUMBER, exponent).ptr;
  }
  if (exponent < 0) return put(put(at, string_view("0.0000", static_cast<size_t>(1 - exponent))), {digits, count});
  for (size_t place = 0; place < count || place <= static_cast<size_t>(exponent) + 1; ++place) {
    if (place == static_cast<size_t>(exponent) + 1) *at++ = '.';
    *at++ = place < count ? digits[place] : '0';
  }
  return at;
}

// Append a cell's XML after its reference, and return true; false where the layer has no value for it.
bool append_value(Out &out, const Layer &layer, size_t index) {
  if (layer.present.view.obj && !layer.present.at<char>(index)) return false;
  if (layer.kind == 'v' || layer.kind == 't') {
    const string_view text = layer.texts[index];
    if (!text.data()) return false;
    if (layer.kind == 'v') {
      out.append("\"").append(layer.before).append(text).append(layer.after);
      return true;
    }
    out.append(keeps_space(text) ? "\" t=\"inlineStr\"><is><t xml:space=\"preserve\">" : "\" t=\"inlineStr\"><is><t>");
    append_escaped(out, text);
    out.append("</t></is></c>");
    return true;
  }
  char *at = out.room(layer.before.size() + layer.after.size() + 2 * LONGEST_NUMBER);
  *at++ = '"';
  at = put(at, layer.before);
  if (layer.kind == 'd') at = put_number(at, layer.values.at<double>(index));
  else if (layer.kind == 'f') at = put_number(at, layer.values.at<float>(index));
  else at = std::to_chars(at, at + LONGEST_NUMBER, layer.values.at<int64_t>(index)).ptr;
  out.end(put(at, layer.after));
  return true;
}

bool read_texts(PyObject *list, std::vector<string_view> *texts) {
  if (!PyList_Check(list)) PyErr_SetString(PyExc_TypeError, "no list of texts");
  else texts->resize(static_cast<size_t>(PyList_Size(list)));
  for (size_t i = 0; i < texts->size() && !PyErr_Occurred(); ++i) {
    PyObject *item = PyList_GetItem(list, static_cast<Py_ssize_t>(i));
    if (item == Py_None) continue;
    Py_ssize_t length = 0;
    const char *data = PyUnicode_AsUTF8AndSize(item, &length);
    if (data) (*texts)[i] = {data, static_cast<size_t>(length)};
  }
  return !PyErr_Occurred();
}

bool read_layer(PyObject *tuple, Layer *layer) {
  const char *before, *after;
  PyObject *values;
  if (!PyArg_ParseTuple(tuple, "sCOz*s", &before, &layer->kind, &values, &layer->present.view, &after)) return false;
  layer->before = before;
  layer->after = after;
  if (layer->kind == 'v' || layer->kind == 't') {
    if (!read_texts(values, &layer->texts)) return false;
  } else if (PyObject_GetBuffer(values, &layer->values.view, PyBUF_SIMPLE) != 0) {
    return false;
  }
  const bool known = std::strchr("dfivt", layer->kind) != nullptr;
  if (!known || (layer->present.view.obj && layer->present.count<char>() != layer->size()))
    PyErr_SetString(PyExc_ValueError, "a layer of another kind, or marks of another number of cells");
  return !PyErr_Occurred();
}

PyObject *format_rows(Module *, PyObject *arguments) {
  Py_ssize_t first, count;
  PyObject *attribute_list, *segment_list, *group_list;
  std::vector<string_view> attributes;
  if (!PyArg_ParseTuple(arguments, "nnOO!O!", &first, &count, &attribute_list, &PyList_Type, &segment_list,
                        &PyList_Type, &group_list) ||
      !read_texts(attribute_list, &attributes))
    return nullptr;
  if (count < 0) {
    PyErr_SetString(PyExc_ValueError, "a negative number of rows");
    return nullptr;
  }
  std::vector<std::vector<std::unique_ptr<Layer>>> groups(static_cast<size_t>(PyList_Size(group_list)));
  for (size_t i = 0; i < groups.size(); ++i) {
    PyObject *layers = PyList_GetItem(group_list, static_cast<Py_ssize_t>(i));
    for (Py_ssize_t j = 0; PyList_Check(layers) && j < PyList_Size(layers); ++j) {
      groups[i].push_back(std::make_unique<Layer>());
      if (!read_layer(PyList_GetItem(layers, j), groups[i].back().get())) return nullptr;
    }
  }
  std::vector<Segment> segments(static_cast<size_t>(PyList_Size(segment_list)));
  for (size_t i = 0; i < segments.size(); ++i) {
    const char *letters;
    Py_ssize_t group, start, above, cells;
    if (!PyArg_ParseTuple(PyList_GetItem(segment_list, static_cast<Py_ssize_t>(i)), "snnnn", &letters, &group, &start,
                          &above, &cells))
      return nullptr;
    bool sound = group >= 0 && static_cast<size_t>(group) < groups.size() && start >= 0 && above >= 0 && cells >= 0;
    for (size_t j = 0; sound && j < groups[static_cast<size_t>(group)].size(); ++j)
      sound = static_cast<size_t>(start) + static_cast<size_t>(cells) <= groups[static_cast<size_t>(group)][j]->size();
    if (!sound) {
      PyErr_SetString(PyExc_ValueError, "a segment beyond its cells");
      return nullptr;
    }
    segments[i] = {letters, static_cast<size_t>(group), static_cast<size_t>(start), static_cast<size_t>(above),
                   static_cast<size_t>(cells)};
  }
  for (Segment &segment : segments) segment.letters.insert(0, "<c r=\"");
  Out out;
  unlocked([&] {
    for (size_t row = 0; row < static_cast<size_t>(count); ++row) {
      char digits[LONGEST_NUMBER];
      const char *end = std::to_chars(digits, digits + sizeof digits, static_cast<size_t>(first) + row).ptr;
      const string_view number(digits, static_cast<size_t>(end - digits));
      const string_view more = row < attributes.size() ? attributes[row] : "";
      out.append("<row r=\"").append(number).append("\"").append(more).append(">");
      for (const Segment &segment : segments) {
        if (row < segment.above || row - segment.above >= segment.count) continue;
        const size_t before = out.size();
        out.end(put(put(out.room(segment.letters.size() + number.size()), segment.letters), number));
        bool written = false;
        for (const auto &layer : groups[segment.group]) {
          written = append_value(out, *layer, segment.start + row - segment.above);
          if (written) break;
        }
        if (!written) out.cut(before);
      }
      out.append("</row>");
    }
  });
  return PyBytes_FromStringAndSize(out.data(), static_cast<Py_ssize_t>(out.size()));
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
    {"format_rows", guarded<format_rows>, METH_VARARGS, "Return the XML of rows of a worksheet."},
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
