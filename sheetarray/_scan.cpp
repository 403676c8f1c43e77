// The compiled loops of sheetarray: over bytes of files, and over digits of numbers.
//
// No rule of the exchange format stands here, and no content raises an error: where a loop meets anything odd, it stops
// and says where, and Python's plain way takes over. Every byte is read through a `Cursor`, which knows its end. Memory
// grows with what was read, never with what a file says.
//
// Sections: results; columns of cells to rows of a worksheet; doubles; worksheets and shared strings; the module.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
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
  string_view text() const { return text_; }
  string_view since(size_t start) const { return text_.substr(start, place_ - start); }

  void skip(size_t count = 1) { place_ += count < left() ? count : left(); }
  bool take(char wanted) {
    if (done() || text_[place_] != wanted) return false;
    ++place_;
    return true;
  }
  template <size_t size>
  bool take(const char (&wanted)[size]) {  // a literal, compared in one step
    if (left() < size - 1 || std::memcmp(text_.data() + place_, wanted, size - 1) != 0) return false;
    place_ += size - 1;
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
// Blanks are null; only a column that has any keeps a bit for each text.
struct TextColumn {
  std::vector<int64_t> ends{0};
  std::string bytes, bits;
  int64_t blanks = 0;

  size_t size() const { return ends.size() - 1; }
  void add(string_view text) {
    mark(true);
    bytes.append(text);
    ends.push_back(static_cast<int64_t>(bytes.size()));
  }
  void add_blank() {
    if (!blanks++) bits.assign((size() + 8) / 8, '\xff');
    mark(false);
    ends.push_back(ends.back());
  }

 private:
  void mark(bool held) {
    if (!blanks) return;
    const size_t index = size();
    if (index / 8 == bits.size()) bits.push_back('\0');
    const auto bit = static_cast<char>(1 << index % 8);
    bits[index / 8] = static_cast<char>(held ? bits[index / 8] | bit : bits[index / 8] & ~bit);
  }
};

// A column of text that polars takes by Arrow's interface: `pl.Series(texts)`.
struct Texts {
  PyObject_HEAD
  std::shared_ptr<TextColumn> *owner;
};

PyObject *to_texts(Module *module, TextColumn &&column) {
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
  auto *schema = new ArrowSchema{"U", "", nullptr, 2, 0, nullptr, nullptr, release_schema, nullptr};
  PyObject *schema_capsule = PyCapsule_New(schema, "arrow_schema", free_capsule<ArrowSchema>);
  if (!schema_capsule) {
    delete schema;
    return nullptr;
  }
  auto *kept = new ArrowTexts{
      column, {column->blanks ? column->bits.data() : nullptr, column->ends.data(), column->bytes.data()}};
  auto *array = new ArrowArray{
      static_cast<int64_t>(column->size()), column->blanks, 0, 3, 0, kept->buffers, nullptr, nullptr, release_array, kept};
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

// Write the shortest text that reads back as a finite number, in the form of Python's `repr`; it takes at most LONGEST_NUMBER.
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
  const double number = layer.kind == 'd' ? layer.values.at<double>(index) : 0;
  const float single = layer.kind == 'f' ? layer.values.at<float>(index) : 0;
  if (!std::isfinite(number) || !std::isfinite(single)) return false;
  char *at = out.room(layer.before.size() + layer.after.size() + 2 * LONGEST_NUMBER);
  *at++ = '"';
  at = put(at, layer.before);
  if (layer.kind == 'd') at = put_number(at, number);
  else if (layer.kind == 'f') at = put_number(at, single);
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

// ---- Worksheets and shared strings --------------------------------------------------------------------------------
// Source: ECMA-376 part 1, 18.3.1.73 (row), 18.3.1.4 (c), 18.3.1.40 (f), 18.4.8 (si), 22.9.2.19 (ST_Xstring).

enum State { MORE, END, ODD };  // why a loop stopped: the text broke off, its elements ended, something odd stands there

const size_t LONGEST_LITERAL = 64;     // bytes: nearer to the end than that, more text may make sense of what is odd
const size_t LONGEST_TEXT = 1u << 20;  // bytes of a cell's text
const size_t FEWEST_BYTES = 24;        // of a cell, as a rule: room is made for so many cells at first
const size_t SHORT_FORMULA = 200;      // bytes
const int MOST_ATTRIBUTES = 16, DEEPEST = 16, MOST_COLUMNS = 16384;

bool is_xml_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == ':' || c == '.' || c == '-';
}
int hex_digit(char c) {
  return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
string_view strip(string_view text) {
  while (!text.empty() && is_xml_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_xml_space(text.back())) text.remove_suffix(1);
  return text;
}

// What a character of text asks for, as bits.
enum Class : uint8_t { DECODES = 1, BEYOND_ASCII = 2, BRACKET = 4, ESCAPES = 8, ILLEGAL = 16, NO_ATTRIBUTE = 32 };
struct Classes {
  uint8_t of[256] = {};
  constexpr Classes() {
    for (int c = 0; c < 256; ++c) {
      if (c < ' ') of[c] = NO_ATTRIBUTE | (c == '\t' || c == '\n' || c == '\r' ? 0 : ILLEGAL);
      if (c >= 0x80) of[c] = BEYOND_ASCII | NO_ATTRIBUTE;
    }
    of[int('&')] = of[int('\r')] |= DECODES | NO_ATTRIBUTE;
    of[int('<')] = NO_ATTRIBUTE;
    of[int(']')] = BRACKET;
    of[int('_')] = ESCAPES;
  }
};
constexpr Classes CLASSES;

// Return what all characters of a text ask for together.
int classify(string_view text) {
  int classes = 0;
  for (char c : text) classes |= CLASSES.of[static_cast<unsigned char>(c)];
  return classes;
}

// Return the number in 1 to `most` digits; -1 for any other text.
int64_t parse_count(string_view text, size_t most) {
  if (text.empty() || text.size() > most) return -1;
  int64_t number = 0;
  for (char c : text) {
    if (!is_digit(c)) return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

void append_utf8(std::string *text, uint32_t code) {
  if (code < 0x80) return text->push_back(static_cast<char>(code));
  const int tails = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  const uint32_t lead[] = {0, 0xC0, 0xE0, 0xF0};
  text->push_back(static_cast<char>(lead[tails] | code >> (6 * tails)));
  for (int tail = tails - 1; tail >= 0; --tail) text->push_back(static_cast<char>(0x80 | (code >> (6 * tail) & 0x3F)));
}

// Return whether a text is UTF-8 of characters that XML may hold.
bool is_utf8(string_view text) {
  for (Cursor at(text); !at.done();) {
    const auto lead = static_cast<unsigned char>(at.peek());
    const size_t tails = lead < 0x80 ? 0 : lead < 0xC2 ? 4 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : lead < 0xF5 ? 3 : 4;
    if (tails == 4 || tails >= at.left()) return false;
    uint32_t code = tails ? lead & (0x3Fu >> tails) : lead;
    for (size_t tail = 1; tail <= tails; ++tail) {
      const auto unit = static_cast<unsigned char>(at.peek(tail));
      if ((unit & 0xC0) != 0x80) return false;
      code = code << 6 | (unit & 0x3Fu);
    }
    const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (code < least[tails] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) || (code & ~1u) == 0xFFFE) return false;
    at.skip(tails + 1);
  }
  return true;
}

// Append a text without its entities and carriage returns; false if an entity is not one of XML's own.
bool append_decoded(std::string *decoded, string_view text) {
  for (Cursor at(text); !at.done();) {
    if (at.take('\r')) {
      at.take('\n');
      decoded->push_back('\n');
    } else if (!at.take('&')) {
      decoded->push_back(at.peek());
      at.skip();
    } else if (at.take("lt;")) {
      decoded->push_back('<');
    } else if (at.take("gt;")) {
      decoded->push_back('>');
    } else if (at.take("amp;")) {
      decoded->push_back('&');
    } else if (at.take("quot;")) {
      decoded->push_back('"');
    } else if (at.take("apos;")) {
      decoded->push_back('\'');
    } else if (at.take('#')) {
      const int base = at.take('x') ? 16 : 10;
      uint32_t code = 0;
      size_t digits = 0;
      for (; hex_digit(at.peek()) >= 0 && hex_digit(at.peek()) < base && digits < 8; ++digits, at.skip())
        code = code * base + static_cast<uint32_t>(hex_digit(at.peek()));
      const bool white = code == '\t' || code == '\n' || code == '\r';
      if (!digits || digits > 7 || !at.take(';') || (code < ' ' && !white) || code > 0x10FFFF ||
          (code >= 0xD800 && code < 0xE000) || code == 0xFFFE || code == 0xFFFF)
        return false;
      append_utf8(decoded, code);
    } else {
      return false;
    }
  }
  return true;
}

// Return the UTF-16 unit in an escape `_xHHHH_` and pass it; -1, with no step taken, where no escape stands.
int take_escape(Cursor *at) {
  if (at->peek() != '_' || at->peek(1) != 'x' || at->peek(6) != '_') return -1;
  int unit = 0;
  for (size_t place = 2; place < 6; ++place) {
    const int digit = hex_digit(at->peek(place));
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  at->skip(7);
  return unit;
}

// Append a text without its escapes of characters; half of a surrogate pair stays an escape.
void append_unescaped(std::string *decoded, string_view text) {
  for (Cursor at(text); !at.done();) {
    const int unit = take_escape(&at);
    if (unit < 0) {
      decoded->push_back(at.peek());
      at.skip();
      continue;
    }
    Cursor ahead = at;
    const int second = unit >= 0xD800 && unit < 0xDC00 ? take_escape(&ahead) : -1;
    if (second >= 0xDC00 && second < 0xE000) {
      append_utf8(decoded, 0x10000u + (static_cast<uint32_t>(unit - 0xD800) << 10) + static_cast<uint32_t>(second - 0xDC00));
      at = ahead;
    } else if (unit >= 0xD800 && unit < 0xE000) {
      const char *digits = "0123456789ABCDEF";
      decoded->append("_x");
      for (int shift = 12; shift >= 0; shift -= 4) decoded->push_back(digits[unit >> shift & 15]);
      decoded->push_back('_');
    } else {
      append_utf8(decoded, static_cast<uint32_t>(unit));
    }
  }
}

// Pass a numeral that a tag follows and return true; false, with no step taken, where anything else stands.
bool take_numeral(Cursor *at, string_view *text, double *number) {
  const string_view rest = at->text().substr(at->place());
  const bool negative = !rest.empty() && rest.front() == '-';
  if (rest.size() <= negative || !is_digit(rest[negative])) return false;
  const char *end = rest.data() + (rest.size() < LONGEST_TEXT ? rest.size() : LONGEST_TEXT);
  const auto parsed = std::from_chars(rest.data(), end, *number);
  if (parsed.ec != std::errc() || parsed.ptr == end || *parsed.ptr != '<' || !is_digit(parsed.ptr[-1])) return false;
  *text = rest.substr(0, static_cast<size_t>(parsed.ptr - rest.data()));
  at->skip(text->size());
  return true;
}

// Tags and text between them. Each function passes what it is named after and returns true, or sets `state` and returns
// false. Elements have the prefix of those around them; `prefixes` are all that are declared, as in `:r:x14ac:`.
class Markup {
 public:
  Markup(string_view text, size_t start, string_view prefix, string_view prefixes)
      : at(text, start), prefix_(prefix), prefixes_(prefixes) {}

  Cursor at;
  State state = MORE;

  bool stop() {
    state = at.left() < LONGEST_LITERAL ? MORE : ODD;
    return false;
  }
  bool odd() {
    state = ODD;
    return false;
  }
  bool more() {
    state = MORE;
    return false;
  }
  void space() {
    while (is_xml_space(at.peek())) at.skip();
  }

  // Pass the name of an element's tag; false, with no step taken, where another one stands.
  template <class Name>
  bool opens(const Name &name) {
    Cursor ahead = at;
    if (!ahead.take('<') || (!prefix_.empty() && !ahead.take(prefix_)) || !ahead.take(name)) return false;
    const char next = ahead.peek();
    if (!is_xml_space(next) && next != '>' && next != '/') return false;
    at = ahead;
    return true;
  }
  template <class Name>
  bool closes(const Name &name) {
    Cursor ahead = at;
    if (!ahead.take("</") || (!prefix_.empty() && !ahead.take(prefix_)) || !ahead.take(name)) return false;
    while (is_xml_space(ahead.peek())) ahead.skip();
    if (!ahead.take('>')) return false;
    at = ahead;
    return true;
  }
  template <class Name>
  bool ends(const Name &name) {
    return closes(name) || stop();
  }

  // Pass the attributes and the end of a tag; `each(name, value)` returns false for what it does not know.
  template <class Each>
  bool attributes(bool *is_empty, Each each) {
    string_view names[MOST_ATTRIBUTES];
    for (int count = 0;; ++count) {
      const size_t before = at.place();
      space();
      *is_empty = at.peek() == '/';
      if (*is_empty && at.peek(1) == '>') at.skip();
      if (at.take('>')) return true;
      if (at.place() == before || count == MOST_ATTRIBUTES) return stop();
      const size_t start = at.place();
      while (is_name(at.peek())) at.skip();
      const string_view name = at.since(start);
      if (name.empty() || !is_name_start(name.front())) return stop();
      space();
      if (!at.take('=')) return stop();
      space();
      const char quote = at.peek();
      if (quote != '"' && quote != '\'') return stop();
      at.skip();
      const size_t begin = at.place();
      if (!at.find(quote)) return more();
      const string_view value = at.since(begin);
      at.skip();
      if (classify(value) & NO_ATTRIBUTE) return odd();
      for (int other = 0; other < count; ++other)
        if (names[other].front() == name.front() && names[other] == name) return odd();
      names[count] = name;
      if (!is_declared(name) || !each(name, value)) return odd();
    }
  }
  bool attributes(bool *is_empty) {
    return attributes(is_empty, [](string_view, string_view) { return true; });
  }

  bool copied = false;  // whether the last text differs from the XML, and is valid until the next call

  // Pass text up to the next tag.
  bool characters(string_view *text, bool trimmed, bool escaped) {
    const size_t start = at.place();
    if (!at.find('<')) return more();
    *text = at.since(start);
    copied = false;
    if (text->size() > LONGEST_TEXT) return odd();
    const int classes = classify(*text);
    if ((classes & ILLEGAL) || ((classes & BRACKET) && text->find("]]>") != string_view::npos) ||
        ((classes & BEYOND_ASCII) && !is_utf8(*text)))
      return odd();
    if (classes & DECODES) {
      decoded_.clear();
      if (!append_decoded(&decoded_, *text)) return odd();
      *text = decoded_;
      copied = true;
    }
    if (trimmed) *text = strip(*text);
    if (escaped && (classes & ESCAPES) && text->find("_x") != string_view::npos) {
      unescaped_.clear();
      append_unescaped(&unescaped_, *text);
      *text = unescaped_;
      copied = true;
    }
    return true;
  }

  // Pass an element with all that stands in it, from behind the name of its tag on.
  bool skip_element(string_view name, int depth = 0) {
    bool is_empty;
    if (depth == DEEPEST) return odd();
    if (!attributes(&is_empty)) return false;
    string_view text;
    while (!is_empty) {
      if (!characters(&text, false, false)) return false;
      if (closes(name)) return true;
      Cursor ahead = at;
      if (!ahead.take('<') || !ahead.take(prefix_)) return stop();
      const size_t start = ahead.place();
      while (is_name(ahead.peek()) && ahead.peek() != ':') ahead.skip();
      const string_view inner = ahead.since(start);
      if (inner.empty() || !is_name_start(inner.front()) || !opens(inner)) return stop();
      if (!skip_element(inner, depth + 1)) return false;
    }
    return true;
  }

  // Pass the texts of a string item or an inline string, `name`, from behind the name of its tag on.
  bool string_item(string_view name, string_view *text) {
    bool is_empty;
    int count = 0;
    bool in_run = false, joins = false;
    *text = {};
    copied = false;
    if (!attributes(&is_empty)) return false;
    while (!is_empty) {
      space();
      if (opens("t")) {
        string_view piece;
        bool preserved = false, is_empty_text;
        const auto space_attribute = [&](string_view attribute, string_view value) {
          preserved |= attribute == "xml:space" && value == "preserve";
          return true;
        };
        if (!attributes(&is_empty_text, space_attribute)) return false;
        copied = false;
        if (!is_empty_text && (!characters(&piece, !preserved, true) || !ends("t"))) return false;
        if (++count == 1) {
          *text = piece;
          if (copied) *text = joined_ = piece;
          joins = copied;
        } else {
          if (!joins) joined_ = *text;
          *text = joined_.append(piece);
          joins = true;
        }
        if (text->size() > LONGEST_TEXT) return odd();
      } else if (!in_run && opens("r")) {
        bool is_empty_run;
        if (!attributes(&is_empty_run)) return false;
        in_run = !is_empty_run;
      } else if (in_run && closes("r")) {
        in_run = false;
      } else if (in_run && opens("rPr")) {
        if (!skip_element("rPr")) return false;
      } else if (!in_run && opens("rPh")) {
        if (!skip_element("rPh")) return false;
      } else if (!in_run && opens("phoneticPr")) {
        if (!skip_element("phoneticPr")) return false;
      } else if (in_run || !ends(name)) {
        return stop();
      } else {
        break;
      }
    }
    copied = joins;
    return true;
  }

  size_t offset(string_view text) const { return static_cast<size_t>(text.data() - at.text().data()); }

 private:
  static bool is_name_start(char c) { return is_name(c) && !is_digit(c) && c != '-' && c != '.' && c != ':'; }
  bool is_declared(string_view name) const {
    const size_t colon = name.find(':');
    if (colon == string_view::npos) return name != "xmlns";
    if (name.find(':', colon + 1) != string_view::npos || colon + 1 == name.size()) return false;
    const std::string wanted = ":" + std::string(name.substr(0, colon + 1));
    return is_name_start(name[colon + 1]) && prefixes_.find(wanted) != string_view::npos;
  }

  string_view prefix_, prefixes_;
  std::string decoded_, unescaped_, joined_;
};

// Cells that have a value or a formula, as `reader/raw.py` defines them; their arrays run in parallel.
struct Cells {
  std::vector<int64_t> rows, columns, styles;
  std::vector<uint8_t> types, marks;
  std::vector<double> numbers;
  std::vector<uint32_t> starts, lengths;  // of the value in the XML, or beyond it in `extra`
  std::vector<uint32_t> areas;            // the start and the length of each reference of an array formula
  std::vector<uint32_t> formulas;         // the cell, the start and the length of each short formula without attributes
  std::string extra;

  void reserve(size_t count) {
    for (auto *items : {&rows, &columns, &styles}) items->reserve(count);
    for (auto *items : {&types, &marks}) items->reserve(count);
    for (auto *items : {&starts, &lengths}) items->reserve(count);
    numbers.reserve(count);
  }
  void resize(size_t count) {
    for (auto *items : {&rows, &columns, &styles}) items->resize(count);
    for (auto *items : {&types, &marks}) items->resize(count);
    for (auto *items : {&starts, &lengths}) items->resize(count);
    numbers.resize(count);
  }
};
enum Type : uint8_t { PLAIN, SHARED, RESULT, INLINE, LOGICAL, ERROR, ISO };
enum Mark : uint8_t { FORMULA = 1, PENDING = 2, NUMERAL = 4 };  // NUMERAL: `numbers` has the value

class Rows {
 public:
  Rows(string_view text, size_t start, string_view prefix, string_view prefixes, int64_t after, int64_t most)
      : row(after - 1), markup_(text, start, prefix, prefixes), size_(text.size()), most_(most) {}

  Cells cells;
  int64_t row;       // the last one, from 0
  size_t end = 0;    // of the last whole row

  State scan() {
    cells.reserve(size_ / FEWEST_BYTES);
    for (;;) {
      markup_.space();
      end = markup_.at.place();
      Cursor ahead = markup_.at;
      if (ahead.take("</")) return END;  // whoever called sees to it that it is the right tag
      const size_t count = cells.rows.size(), areas = cells.areas.size();
      const int64_t above = row;
      if (!scan_row()) {
        drop(count, areas);
        row = above;
        return markup_.state;
      }
    }
  }

 private:
  Markup markup_;
  size_t size_;
  int64_t most_, column_ = -1;

  void drop(size_t count, size_t areas) {
    cells.resize(count);
    cells.areas.resize(areas);
    while (!cells.formulas.empty() && cells.formulas[cells.formulas.size() - 3] >= count)
      cells.formulas.resize(cells.formulas.size() - 3);
  }

  bool scan_row() {
    bool is_empty;
    if (!markup_.opens("row")) return markup_.stop();
    int64_t number = row + 2;
    const auto attribute = [&](string_view name, string_view value) {
      if (name == "r") number = parse_count(value, 7);
      return true;
    };
    if (!markup_.attributes(&is_empty, attribute)) return false;
    if (number < 1 || number > most_) return markup_.odd();
    row = number - 1;
    column_ = -1;
    for (int count = 0; !is_empty; ++count) {
      markup_.space();
      if (!markup_.opens("c")) return markup_.ends("row");
      if (count == MOST_COLUMNS || !scan_cell()) return count == MOST_COLUMNS ? markup_.odd() : false;
    }
    return true;
  }

  // Take the column of a reference such as AB12, whose row must be the one at hand.
  bool take_reference(string_view reference) {
    int64_t column = 0;
    size_t letters = 0;
    for (; letters < reference.size() && letters < 4 && reference[letters] >= 'A' && reference[letters] <= 'Z'; ++letters)
      column = column * 26 + (reference[letters] - 'A' + 1);
    column_ = column - 1;
    return letters >= 1 && letters <= 3 && parse_count(reference.substr(letters), 7) == row + 1;
  }

  static bool take_type(string_view name, Type *type) {
    if (name == "s") return *type = SHARED, true;
    if (name == "n" || name.empty()) return *type = PLAIN, true;
    if (name == "str") return *type = RESULT, true;
    if (name == "inlineStr") return *type = INLINE, true;
    if (name == "b") return *type = LOGICAL, true;
    if (name == "e") return *type = ERROR, true;
    if (name == "d") return *type = ISO, true;
    return false;
  }

  bool scan_cell() {
    Type type = PLAIN;
    int64_t style = 0;
    bool is_empty, has_value = false, has_formula = false;
    int constant = -1;  // the value of the formulas TRUE() and FALSE()
    ++column_;
    const auto attribute = [&](string_view name, string_view value) {
      if (name == "r") return take_reference(value);
      if (name == "s") return (style = parse_count(value, 7)) >= 0;
      return name != "t" || take_type(value, &type);
    };
    if (!markup_.attributes(&is_empty, attribute)) return false;
    if (column_ >= MOST_COLUMNS) return markup_.odd();
    uint32_t start = 0, length = 0;
    double number = 0;
    bool is_numeral = false;
    while (!is_empty) {
      markup_.space();
      bool is_closed;
      string_view text;
      if (markup_.opens("v")) {
        if (has_value) return markup_.odd();
        has_value = true;
        if (!markup_.attributes(&is_closed)) return false;
        if (is_closed) continue;
        markup_.copied = false;
        is_numeral = (type == PLAIN || type == SHARED || type == LOGICAL) && take_numeral(&markup_.at, &text, &number);
        if (!is_numeral && !markup_.characters(&text, false, type == RESULT)) return false;
        if (!markup_.ends("v")) return false;
        keep(text, &start, &length);
      } else if (markup_.opens("f")) {
        if (has_formula) return markup_.odd();
        has_formula = true;
        if (!scan_formula(&constant)) return false;
      } else if (markup_.opens("is")) {
        if (has_value || type != INLINE) return markup_.odd();
        has_value = true;
        if (!markup_.string_item("is", &text)) return false;
        keep(text, &start, &length);
      } else if (!markup_.ends("c")) {
        return false;
      } else {
        break;
      }
    }
    has_value &= length > 0 || type == RESULT || type == INLINE;
    if (!has_value && !has_formula) return true;
    if (constant >= 0 && !has_value) {
      type = LOGICAL;
      number = constant;
      is_numeral = true;
      keep_copy(constant ? "1" : "0", &start, &length);
      has_value = true;
      has_formula = false;
    } else if (constant >= 0 && (type == LOGICAL || (type == PLAIN && length == 1 && is_numeral && number < 2))) {
      has_formula = false;
    }
    cells.rows.push_back(row);
    cells.columns.push_back(column_);
    cells.styles.push_back(style);
    cells.types.push_back(type);
    cells.marks.push_back((has_formula ? FORMULA : 0) | (has_value ? 0 : PENDING) | (is_numeral ? NUMERAL : 0));
    cells.numbers.push_back(number);
    cells.starts.push_back(start);
    cells.lengths.push_back(length);
    return true;
  }

  bool scan_formula(int *constant) {
    bool is_closed, is_wide = false, is_own = true;
    string_view reference, text;
    const auto attribute = [&](string_view name, string_view value) {
      is_own &= name == "aca";
      is_wide |= name == "t" && (value == "array" || value == "dataTable");
      if (name == "ref") reference = value;
      return true;
    };
    if (!markup_.attributes(&is_closed, attribute)) return false;
    if (is_wide && !reference.empty()) {
      cells.areas.push_back(static_cast<uint32_t>(markup_.offset(reference)));
      cells.areas.push_back(static_cast<uint32_t>(reference.size()));
    }
    if (is_closed) return true;
    if (!markup_.characters(&text, false, false) || !markup_.ends("f")) return false;
    *constant = text == "TRUE()" ? 1 : text == "FALSE()" ? 0 : -1;
    if (is_own && !text.empty() && text.size() <= SHORT_FORMULA) {
      uint32_t start, length;
      keep(text, &start, &length);
      cells.formulas.insert(cells.formulas.end(), {static_cast<uint32_t>(cells.rows.size()), start, length});
    }
    return true;
  }

  void keep(string_view text, uint32_t *start, uint32_t *length) {
    if (markup_.copied) return keep_copy(text, start, length);
    *start = text.empty() ? 0 : static_cast<uint32_t>(markup_.offset(text));
    *length = static_cast<uint32_t>(text.size());
  }
  void keep_copy(string_view text, uint32_t *start, uint32_t *length) {
    *start = static_cast<uint32_t>(size_ + cells.extra.size());
    *length = static_cast<uint32_t>(text.size());
    cells.extra.append(text);
  }
};

// Return the number of cells in each row, if all rows have cells in the same columns, from left to right; otherwise 0.
size_t find_width(const Cells &cells) {
  const size_t count = cells.rows.size();
  size_t width = 0;
  while (width < count && cells.rows[width] == cells.rows[0]) ++width;
  if (!width || count % width) return 0;
  for (size_t i = 1; i < count; ++i) {
    const bool begins = i % width == 0;
    if (begins ? cells.rows[i] <= cells.rows[i - 1]
               : cells.rows[i] != cells.rows[i - 1] || cells.columns[i] <= cells.columns[i - 1])
      return 0;
    if (i >= width && cells.columns[i] != cells.columns[i - width]) return 0;
  }
  return width;
}

// Puts new references into a tuple; what is left over is released.
PyObject *to_tuple(std::initializer_list<PyObject *> items) {
  PyObject *tuple = PyTuple_New(static_cast<Py_ssize_t>(items.size()));
  Py_ssize_t place = 0;
  bool whole = tuple != nullptr;
  for (PyObject *item : items) {
    whole = whole && item;
    if (tuple && item) PyTuple_SetItem(tuple, place, item);
    if (!tuple) Py_XDECREF(item);
    ++place;
  }
  if (whole) return tuple;
  Py_XDECREF(tuple);
  return nullptr;
}

PyObject *scan_rows(Module *module, PyObject *arguments) {
  Argument text, prefix, prefixes;
  Py_ssize_t start;
  long long after, most;
  if (!PyArg_ParseTuple(arguments, "y*ny*y*LL", &text.view, &start, &prefix.view, &prefixes.view, &after, &most))
    return nullptr;
  if (text.bytes().size() >= UINT32_MAX / 4 || start < 0)
    return PyErr_Format(PyExc_ValueError, "a text that long, or a start before it");
  Rows rows(text.bytes(), static_cast<size_t>(start), prefix.bytes(), prefixes.bytes(), after, most);
  State state = MORE;
  size_t width = 0;
  unlocked([&] {
    state = rows.scan();
    width = find_width(rows.cells);
  });
  Cells &cells = rows.cells;
  return to_tuple({PyLong_FromLong(state), PyLong_FromSize_t(rows.end), PyLong_FromLongLong(rows.row + 1),
                   PyLong_FromSize_t(width),
                   to_buffer(module, std::move(cells.rows)), to_buffer(module, std::move(cells.columns)),
                   to_buffer(module, std::move(cells.types)), to_buffer(module, std::move(cells.styles)),
                   to_buffer(module, std::move(cells.marks)), to_buffer(module, std::move(cells.numbers)),
                   to_buffer(module, std::move(cells.starts)), to_buffer(module, std::move(cells.lengths)),
                   to_buffer(module, std::move(cells.areas)), to_buffer(module, std::move(cells.formulas)),
                   PyBytes_FromStringAndSize(cells.extra.data(), static_cast<Py_ssize_t>(cells.extra.size()))});
}

// Return texts that stand in the XML, or beyond it in `extra`, by the places in arrays of their starts and lengths.
PyObject *take_texts(Module *module, PyObject *arguments) {
  Argument text, extra, starts, lengths, places;
  if (!PyArg_ParseTuple(arguments, "y*y*y*y*y*", &text.view, &extra.view, &starts.view, &lengths.view, &places.view))
    return nullptr;
  TextColumn column;
  bool inside = true;
  unlocked([&] {
    const size_t count = places.count<int64_t>(), size = text.bytes().size();
    column.ends.reserve(count + 1);
    for (size_t i = 0; i < count && inside; ++i) {
      const auto place = static_cast<uint64_t>(places.at<int64_t>(i));
      inside = place < starts.count<uint32_t>() && place < lengths.count<uint32_t>();
      if (!inside) return;
      const size_t start = starts.at<uint32_t>(place), length = lengths.at<uint32_t>(place);
      const string_view source = start < size ? text.bytes() : extra.bytes();
      const size_t begin = start < size ? start : start - size;
      inside = begin <= source.size() && length <= source.size() - begin;
      if (inside) column.add(source.substr(begin, length));
    }
  });
  if (!inside) return PyErr_Format(PyExc_ValueError, "a text beyond its bytes");
  return to_texts(module, std::move(column));
}

PyObject *scan_strings(Module *module, PyObject *arguments) {
  Argument text, prefix, prefixes;
  Py_ssize_t start;
  if (!PyArg_ParseTuple(arguments, "y*ny*y*", &text.view, &start, &prefix.view, &prefixes.view)) return nullptr;
  if (start < 0) return PyErr_Format(PyExc_ValueError, "a start before the text");
  Markup markup(text.bytes(), static_cast<size_t>(start), prefix.bytes(), prefixes.bytes());
  TextColumn column;
  State state = MORE;
  size_t end = 0;
  unlocked([&] {
    for (string_view item;; column.add(item)) {
      markup.space();
      end = markup.at.place();
      Cursor ahead = markup.at;
      if (ahead.take("</")) {
        state = END;
        return;
      }
      if (!(markup.opens("si") ? markup.string_item("si", &item) : markup.stop())) {
        state = markup.state;
        return;
      }
    }
  });
  return to_tuple({PyLong_FromLong(state), PyLong_FromSize_t(end), to_texts(module, std::move(column))});
}

// ---- Delimited text: records and their fields ---------------------------------------------------------------------

// The rule: a field that begins with a quote ends with the next quote that is not doubled, and what stands between that
// and the delimiter or line end belongs to it, too. A quote anywhere else is a character. Line ends are LF, CR and CRLF.

enum class Stop { mark, line, end };

class Fields {
 public:
  // `mark` is the delimiter, or -1 where each line is one field.
  Fields(string_view text, size_t place, int mark) : cursor_(text, place) {
    for (bool &special : special_) special = false;
    special_[static_cast<unsigned char>('\n')] = special_[static_cast<unsigned char>('\r')] = true;
    if (mark >= 0) special_[mark] = true;
    mark_ = mark;
  }

  size_t place() const { return cursor_.place(); }
  bool done() const { return cursor_.done(); }
  Stop stop() const { return stop_; }
  size_t begin() const { return begin_; }  // of the field, its quote included
  bool quoted() const { return quoted_; }
  bool open() const { return open_; }  // a quote opens the field, and is never closed

  void next() {
    begin_ = cursor_.place();
    open_ = doubled_ = false;
    quoted_ = cursor_.take('"');
    if (quoted_) {
      const size_t start = cursor_.place();
      for (;;) {
        if (!cursor_.find('"')) {
          open_ = true;
          cursor_.skip(cursor_.left());
          body_ = cursor_.since(start);
          break;
        }
        if (cursor_.peek(1) != '"' || cursor_.left() < 2) {
          body_ = cursor_.since(start);
          cursor_.skip();
          break;
        }
        doubled_ = true;
        cursor_.skip(2);
      }
    }
    const size_t start = cursor_.place();
    const string_view rest = cursor_.text().substr(start);
    size_t length = 0;
    while (length < rest.size() && !special_[static_cast<unsigned char>(rest[length])]) ++length;
    cursor_.skip(length);
    after_ = cursor_.since(start);
    if (cursor_.done()) {
      stop_ = Stop::end;
    } else if (mark_ >= 0 && cursor_.peek() == static_cast<char>(mark_)) {
      stop_ = Stop::mark;
      cursor_.skip();
    } else {
      stop_ = Stop::line;
      if (cursor_.take('\r')) cursor_.take('\n');
      else cursor_.skip();
    }
  }

  // The text of the field; it is good until the next one.
  string_view value() {
    if (!quoted_) return after_;
    if (!doubled_ && after_.empty()) return body_;
    made_.clear();
    for (size_t i = 0; i < body_.size(); ++i) {
      made_ += body_[i];
      i += body_[i] == '"';
    }
    made_ += after_;
    return made_;
  }

 private:
  Cursor cursor_;
  bool special_[256];
  int mark_;
  size_t begin_ = 0;
  string_view body_, after_;
  std::string made_;
  bool quoted_ = false, doubled_ = false, open_ = false;
  Stop stop_ = Stop::end;
};

bool is_space(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r') || (byte >= '\x1c' && byte <= '\x1f'); }
bool is_ascii(char byte) { return static_cast<unsigned char>(byte) < 128; }

template <class Drop>
string_view trim(string_view text, Drop drop) {
  while (!text.empty() && drop(text.front())) text.remove_prefix(1);
  while (!text.empty() && drop(text.back())) text.remove_suffix(1);
  return text;
}

bool equals_word(string_view text, string_view word) {  // the word is in lower case
  if (text.size() != word.size()) return false;
  for (size_t i = 0; i < text.size(); ++i)
    if (static_cast<char>(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i]) != word[i]) return false;
  return true;
}

// Return the place of the first byte that is no UTF-8, or the size of the text.
size_t find_invalid(string_view text, size_t start) {
  size_t at = start;
  const auto byte = [&](size_t index) { return index < text.size() ? static_cast<unsigned char>(text[index]) : 0u; };
  while (at < text.size()) {
    uint64_t eight;
    if (at + 8 <= text.size() && (std::memcpy(&eight, text.data() + at, 8), !(eight & 0x8080808080808080u))) {
      at += 8;
      continue;
    }
    const unsigned first = byte(at);
    const size_t length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
    if (!length) return at;
    for (size_t i = 1; i < length; ++i)
      if ((byte(at + i) & 0xc0u) != 0x80u) return at;
    const unsigned second = byte(at + 1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
        (first == 0xf4 && second > 0x8f))
      return at;
    at += length;
  }
  return text.size();
}

const size_t NEAR = 4096;  // bytes between the beginnings of records that are noted

// Goes over whole records until `most` bytes are behind it, and notes what must be known of every field.
PyObject *index_delimited(Module *module, PyObject *arguments) {
  Argument content, names;
  Py_ssize_t start, most;
  int mark;
  if (!PyArg_ParseTuple(arguments, "y*niy*n", &content.view, &start, &mark, &names.view, &most)) return nullptr;
  std::vector<string_view> words;
  bool may_begin[256] = {};
  for (size_t at = 0; at < names.bytes().size();) {
    const size_t end = names.bytes().find('\n', at);
    const string_view word = names.bytes().substr(at, end == string_view::npos ? end : end - at);
    words.push_back(word);
    may_begin[static_cast<unsigned char>(word[0])] = may_begin[static_cast<unsigned char>(word[0] - 32)] = true;
    at += word.size() + 1;
  }
  std::vector<int64_t> found, doubtful, blank;  // rows, columns and codes; rows, columns and places of fields; rows
  std::vector<int64_t> marks;                   // rows, and the places at which they begin: one in every few kilobytes
  int64_t records = 0, width = 0, open = -1;
  size_t place = 0, invalid = 0, last = static_cast<size_t>(start);
  unlocked([&] {
    const string_view text = content.bytes();
    Fields fields(text, static_cast<size_t>(start), mark);
    while (!fields.done() && fields.place() - static_cast<size_t>(start) < static_cast<size_t>(most)) {
      int64_t column = 0;
      bool is_blank = false;
      do {
        fields.next();
        const string_view value = fields.value();
        is_blank = column == 0 && fields.stop() != Stop::mark && trim(value, is_space).empty();
        if (fields.open()) open = static_cast<int64_t>(fields.begin());
        if (value.size() >= 4 && (may_begin[static_cast<unsigned char>(value[0])] || is_space(value[0]) || !is_ascii(value[0]))) {
          const string_view inner = trim(value, is_space);
          const string_view core = trim(inner, [](char byte) { return is_space(byte) || !is_ascii(byte); });
          for (size_t code = 0; code < words.size(); ++code) {
            if (!equals_word(core, words[code])) continue;
            if (core.size() == inner.size()) found.insert(found.end(), {records, column, static_cast<int64_t>(code)});
            else
              doubtful.insert(doubtful.end(), {records, column, static_cast<int64_t>(fields.begin()),
                                               static_cast<int64_t>(fields.place())});
          }
        }
        ++column;
      } while (fields.stop() == Stop::mark);
      if (is_blank) blank.push_back(records);
      width = column > width ? column : width;
      ++records;
      if (fields.place() >= last + NEAR) {
        last = fields.place();
        marks.insert(marks.end(), {records, static_cast<int64_t>(last)});
      }
    }
    place = fields.place();
    if (place > last) marks.insert(marks.end(), {records, static_cast<int64_t>(place)});
    invalid = find_invalid(text.substr(0, place), static_cast<size_t>(start));
  });
  PyObject *made[4] = {};
  std::vector<int64_t> *kept[4] = {&marks, &found, &doubtful, &blank};
  for (size_t i = 0; i < 4; ++i) {
    if ((made[i] = to_buffer(module, std::move(*kept[i])))) continue;
    while (i) Py_DECREF(made[--i]);
    return nullptr;
  }
  return Py_BuildValue("(nLLNNNN)", static_cast<Py_ssize_t>(invalid), static_cast<long long>(width),
                       static_cast<long long>(open), made[0], made[1], made[2], made[3]);
}

// Return a plain decimal number; false for anything else, also for what no double holds.
template <class Number>
bool parse_number(string_view text, bool comma, Number *number) {
  char copy[LONGEST_DOUBLE];
  if (text == "NaN") {
    *number = std::numeric_limits<Number>::quiet_NaN();
    return true;
  }
  if (text.size() > sizeof copy) return false;
  size_t at = !text.empty() && text[0] == '-', digits = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  if (at == digits) return false;
  if (at < text.size() && text[at] == (comma ? ',' : '.')) {
    digits = ++at;
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at == digits) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    at += at < text.size() && (text[at] == '+' || text[at] == '-');
    digits = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at == digits) return false;
  }
  if (at != text.size()) return false;
  if (comma) {
    std::memcpy(copy, text.data(), text.size());
    for (size_t i = 0; i < text.size(); ++i)
      if (copy[i] == ',') copy[i] = '.';
    text = {copy, text.size()};
  }
  const auto result = std::from_chars(text.data(), text.data() + text.size(), *number);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

template <class Number>
bool parse_integer(string_view text, Number *number) {
  if (text.empty() || !is_digit(text.back()) || text.size() > 20) return false;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), *number);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

// A run of cells of one column: `kind` is t for text, s for those texts that are not blank, with their rows; d, f, i, u
// for doubles, floats, integers and unsigned ones. A column of numbers ends at the first cell that is none.
struct Run {
  int64_t column, first, end;
  char kind;
  TextColumn texts;
  std::vector<int64_t> rows;
  std::string numbers;
  int64_t count = 0, blanks = 0;  // numbers, and blanks below them
  bool failed = false;

  template <class Number, class Parse>
  void add_number(Parse parse) {
    Number number;
    if (blanks || !parse(&number)) return void(failed = true);
    numbers.append(reinterpret_cast<const char *>(&number), sizeof number);
    ++count;
  }
  void add(int64_t row, string_view text, bool comma) {
    if (failed) return;
    if (kind == 't') return text.empty() ? texts.add_blank() : texts.add(text);
    if (text.empty()) return void(kind == 's' ? 0 : ++blanks);
    if (kind == 's') {
      rows.push_back(row);
      return texts.add(text);
    }
    if (kind == 'd') add_number<double>([&](auto *number) { return parse_number(text, comma, number); });
    else if (kind == 'f') add_number<float>([&](auto *number) { return parse_number(text, comma, number); });
    else if (kind == 'i') add_number<int64_t>([&](auto *number) { return parse_integer(text, number); });
    else add_number<uint64_t>([&](auto *number) { return parse_integer(text, number); });
  }
};

PyObject *to_list(const TextColumn &column) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < column.size(); ++i) {
    const auto length = static_cast<Py_ssize_t>(column.ends[i + 1] - column.ends[i]);
    PyObject *text = PyUnicode_DecodeUTF8(column.bytes.data() + column.ends[i], length, nullptr);
    if (!text || PyList_Append(list, text)) Py_CLEAR(list);
    Py_XDECREF(text);
  }
  return list;
}

// Goes over whole records until `most` bytes are behind it, and collects runs of cells, which are sorted by column.
PyObject *read_delimited(Module *module, PyObject *arguments) {
  Argument content, wanted, kinds;
  Py_ssize_t start, most, row;
  int mark, comma;
  if (!PyArg_ParseTuple(arguments, "y*niny*y*np", &content.view, &start, &mark, &row, &wanted.view, &kinds.view, &most,
                        &comma))
    return nullptr;
  std::vector<Run> runs(kinds.bytes().size());
  for (size_t i = 0; i < runs.size() && 3 * i + 2 < wanted.count<int64_t>(); ++i) {
    runs[i].column = wanted.at<int64_t>(3 * i);
    runs[i].first = wanted.at<int64_t>(3 * i + 1);
    runs[i].end = wanted.at<int64_t>(3 * i + 2);
    runs[i].kind = kinds.bytes()[i];
  }
  size_t place = 0;
  unlocked([&] {
    std::vector<size_t> current;  // the run of each wanted column that no row has passed yet
    for (size_t i = 0; i < runs.size(); ++i)
      if (!i || runs[i].column != runs[i - 1].column) current.push_back(i);
    Fields fields(content.bytes(), static_cast<size_t>(start), mark);
    int64_t last = 0;
    for (const Run &run : runs) last = run.end > last ? run.end : last;
    for (; !fields.done() && row < last && fields.place() - static_cast<size_t>(start) < static_cast<size_t>(most); ++row) {
      int64_t column = 0;
      size_t next = 0;  // of the wanted columns
      const auto take = [&](string_view text) {
        size_t &index = current[next++];
        const int64_t own = runs[index].column;
        while (row >= runs[index].end && index + 1 < runs.size() && runs[index + 1].column == own) ++index;
        if (row >= runs[index].first && row < runs[index].end) runs[index].add(row, text, comma);
      };
      do {
        fields.next();
        if (next < current.size() && runs[current[next]].column == column) take(fields.value());
        ++column;
      } while (fields.stop() == Stop::mark);
      while (next < current.size()) take({});
    }
    place = fields.place();
  });
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < runs.size(); ++i) {
    Run &run = runs[i];
    PyObject *item = nullptr;
    if (run.failed) {
      item = Py_NewRef(Py_None);
    } else if (run.kind == 't') {
      item = to_texts(module, std::move(run.texts));
    } else if (run.kind == 's') {
      PyObject *rows = to_buffer(module, std::move(run.rows));
      PyObject *texts = rows ? to_list(run.texts) : nullptr;
      item = texts ? Py_BuildValue("(NN)", rows, texts) : nullptr;
    } else {
      PyObject *bytes = PyBytes_FromStringAndSize(run.numbers.data(), static_cast<Py_ssize_t>(run.numbers.size()));
      item = bytes ? Py_BuildValue("(NL)", bytes, static_cast<long long>(run.blanks)) : nullptr;
    }
    if (!item || PyList_Append(list, item)) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list ? Py_BuildValue("(nnN)", static_cast<Py_ssize_t>(place), row, list) : nullptr;
}

// Return the fields of some records as lists of texts, no more than `most` of each, after some others.
PyObject *list_delimited(Module *, PyObject *arguments) {
  Argument content;
  Py_ssize_t start, skipped, count, most;
  int mark;
  if (!PyArg_ParseTuple(arguments, "y*ninnn", &content.view, &start, &mark, &skipped, &count, &most)) return nullptr;
  Fields fields(content.bytes(), static_cast<size_t>(start), mark);
  unlocked([&] {
    for (; skipped > 0 && !fields.done(); --skipped) do fields.next(); while (fields.stop() == Stop::mark);
  });
  PyObject *records = PyList_New(0);
  for (; records && count > 0 && !fields.done(); --count) {
    PyObject *cells = PyList_New(0);
    Py_ssize_t column = 0;
    do {
      fields.next();
      if (!cells || column++ >= most) continue;
      const string_view value = fields.value();
      PyObject *text = PyUnicode_DecodeUTF8(value.data(), static_cast<Py_ssize_t>(value.size()), nullptr);
      if (!text || PyList_Append(cells, text)) Py_CLEAR(cells);
      Py_XDECREF(text);
    } while (fields.stop() == Stop::mark);
    if (!cells || PyList_Append(records, cells)) Py_CLEAR(records);
    Py_XDECREF(cells);
  }
  return records ? Py_BuildValue("(Nn)", records, static_cast<Py_ssize_t>(fields.place())) : nullptr;
}

// ---- The module ----------------------------------------------------------------------------------------------------

PyMethodDef methods[] = {
    {"format_rows", guarded<format_rows>, METH_VARARGS, "Return the XML of rows of a worksheet."},
    // doubles
    {"round_doubles", guarded<round_doubles>, METH_VARARGS, "Return doubles rounded to some digits."},
    {"digits_of_doubles", guarded<digits_of_doubles>, METH_VARARGS, "Return digits and exponents of doubles."},
    // worksheets and shared strings
    {"scan_rows", guarded<scan_rows>, METH_VARARGS, "Return the cells of rows of a worksheet."},
    {"take_texts", guarded<take_texts>, METH_VARARGS, "Return texts by their places."},
    {"scan_strings", guarded<scan_strings>, METH_VARARGS, "Return the texts of string items."},
    // delimited text
    {"index_delimited", guarded<index_delimited>, METH_VARARGS, "Return what must be known of all fields."},
    {"read_delimited", guarded<read_delimited>, METH_VARARGS, "Return runs of cells of columns."},
    {"list_delimited", guarded<list_delimited>, METH_VARARGS, "Return the fields of some records."},
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
