// The compiled loops of sheetarray: over bytes of files, and over digits of numbers.
//
// No rule of the exchange format stands here, and no content raises an error: where a loop meets anything odd, it stops
// and says where, and Python's plain way takes over. Every byte is read through a `Cursor`, which knows its end. Memory
// grows with what was read, never with what a file says.
//
// Sections: results; columns of cells to rows of a worksheet; doubles; XML; worksheets and shared strings; tables of
// OpenDocument; delimited text; the module.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
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
  char peek(size_t ahead = 0) const { return ahead < left() ? text_[place_ + ahead] : '\0'; }
  string_view text() const { return text_; }
  string_view rest(size_t most = SIZE_MAX) const { return {text_.data() + place_, left() < most ? left() : most}; }
  string_view since(size_t start) const { return {text_.data() + start, place_ - start}; }  // not behind this place

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

// ---- Results: bytes, and columns of text --------------------------------------------------------------------------

// Return items as bytes of Python: `np.frombuffer(bytes, dtype)`.
template <class Items>
PyObject *to_bytes(const Items &items) {
  return PyBytes_FromStringAndSize(reinterpret_cast<const char *>(items.data()),
                                   static_cast<Py_ssize_t>(items.size() * sizeof(items[0])));
}

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
  TextColumn column;
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

// Return texts as two capsules, as Arrow defines them.
PyObject *to_texts(TextColumn &&texts) {
  auto *kept = new ArrowTexts{std::move(texts), {}};
  const TextColumn &column = kept->column;
  if (column.blanks) kept->buffers[0] = column.bits.data();
  kept->buffers[1] = column.ends.data();
  kept->buffers[2] = column.bytes.data();
  auto *schema = new ArrowSchema{"U", "", nullptr, 2, 0, nullptr, nullptr, release_schema, nullptr};
  auto *array = new ArrowArray{
      static_cast<int64_t>(column.size()), column.blanks, 0, 3, 0, kept->buffers, nullptr, nullptr, release_array, kept};
  return Py_BuildValue("(NN)", PyCapsule_New(schema, "arrow_schema", free_capsule<ArrowSchema>),
                       PyCapsule_New(array, "arrow_array", free_capsule<ArrowArray>));
}

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
template <PyObject *(*function)(PyObject *)>
PyObject *guarded(PyObject *, PyObject *arguments) {
  try {
    return function(arguments);
  } catch (const std::bad_alloc &) {
    return PyErr_NoMemory();
  } catch (const std::length_error &) {
    return PyErr_NoMemory();
  } catch (const std::invalid_argument &error) {
    return PyErr_Format(PyExc_ValueError, "%s", error.what());
  }
}

// Return the place of the first byte that is no UTF-8, or the size of the text.
size_t find_invalid(string_view text, size_t start) {
  Cursor at(text, start);
  while (!at.done()) {
    uint64_t eight;
    if (at.left() >= 8 && (std::memcpy(&eight, text.data() + at.place(), 8), !(eight & 0x8080808080808080u))) {
      at.skip(8);
      continue;
    }
    const auto unit = [&](size_t ahead) { return static_cast<unsigned char>(at.peek(ahead)); };
    const unsigned lead = unit(0), second = unit(1);
    const size_t tails = lead < 0x80 ? 0 : lead < 0xC2 ? 4 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : lead < 0xF5 ? 3 : 4;
    if (tails == 4 || (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F))
      return at.place();
    for (size_t tail = 1; tail <= tails; ++tail)
      if ((unit(tail) & 0xC0) != 0x80) return at.place();
    at.skip(tails + 1);
  }
  return text.size();
}

// ---- Rows of a worksheet: columns of cells to XML ------------------------------------------------------------------

const size_t LONGEST_NUMBER = 64;  // characters: more than any number takes

// A short text that is written very often: in steps of 16 bytes, so that it needs more room than it takes.
struct Stamp {
  static const size_t STEP = 16;
  std::string padded;
  size_t size;

  explicit Stamp(const std::string &text) : padded(text + std::string(STEP, ' ')), size(text.size()) {}
  size_t room() const { return size + STEP; }
  char *put(char *at) const {
    for (size_t i = 0; i < size; i += STEP) std::memcpy(at + i, padded.data() + i, STEP);
    return at + size;
  }
};

// Bytes that are written one after the other.
struct Output {
  std::unique_ptr<char[]> bytes;
  size_t size = 0, room = 0;

  // Return the place behind the bytes, with room for `count` more.
  char *reserve(size_t count) {
    if (room - size < count) {
      room = std::max(2 * room, size + count);
      std::unique_ptr<char[]> more(new char[room]);  // not filled with zeros
      if (size) std::memcpy(more.get(), bytes.get(), size);
      bytes = std::move(more);
    }
    return bytes.get() + size;
  }
  void end_at(const char *end) { size = static_cast<size_t>(end - bytes.get()); }
};

// The values of some cells, in one form: the first layer of a group that has a value for a cell writes it.
struct Layer {
  int kind = 0;  // d: doubles, f: floats, i: int64, v: texts as they are
  Stamp before{""}, after{""};
  Argument values, present;
  std::vector<string_view> texts;  // those of blanks have no data

  size_t size() const { return kind == 'v' ? texts.size() : kind == 'f' ? values.count<float>() : values.count<double>(); }
};

// Some cells of one column, one under another.
struct Segment {
  Stamp reference{""};  // the beginning of a cell, to the letters of the column
  Py_ssize_t group, start, above, count;
};

// Write the shortest text that reads back as a finite number; numbers from 1e-4 to 1e16 have no exponent, but a point.
template <class Number>
char *put_number(char *at, Number number) {
  const Number size = std::fabs(number);
  const bool is_fixed = size == 0 || (size >= static_cast<Number>(1e-4) && size < static_cast<Number>(1e16));
  const auto format = is_fixed ? std::chars_format::fixed : std::chars_format::scientific;
  char *end = std::to_chars(at, at + LONGEST_NUMBER, number, format).ptr;
  if (!is_fixed || static_cast<Number>(static_cast<int64_t>(number)) != number) return end;
  *end++ = '.';
  *end++ = '0';
  return end;
}

// Write a cell after its reference, and return true; false where the layer has no value for it.
bool put_value(Output *out, const Layer &layer, size_t index) {
  if (layer.present.view.obj && !layer.present.at<char>(index)) return false;
  const string_view text = layer.kind == 'v' ? layer.texts[index] : string_view("");
  const double large = layer.kind == 'd' ? layer.values.at<double>(index) : 0;
  const float single = layer.kind == 'f' ? layer.values.at<float>(index) : 0;
  if (!text.data() || !std::isfinite(large) || !std::isfinite(single)) return false;
  char *at = layer.before.put(out->reserve(layer.before.room() + LONGEST_NUMBER + text.size() + layer.after.room()));
  if (layer.kind == 'd') at = put_number(at, large);
  else if (layer.kind == 'f') at = put_number(at, single);
  else if (layer.kind == 'i') at = std::to_chars(at, at + LONGEST_NUMBER, layer.values.at<int64_t>(index)).ptr;
  else at = std::copy(text.begin(), text.end(), at);
  out->end_at(layer.after.put(at));
  return true;
}

// Write rows, the first of the number `first`; `attributes` are those of the first rows.
void put_rows(Output *out, size_t first, size_t count, const std::vector<string_view> &attributes,
              const std::vector<Segment> &segments, const std::vector<std::vector<Layer>> &groups) {
  const Stamp head("<row r=\""), end("</row>");
  for (size_t row = 0; row < count; ++row) {
    char number[LONGEST_NUMBER];
    const size_t digits = static_cast<size_t>(std::to_chars(number, number + LONGEST_NUMBER, first + row).ptr - number);
    const string_view more = row < attributes.size() ? attributes[row] : "";
    char *at = head.put(out->reserve(head.room() + LONGEST_NUMBER + more.size() + 2));
    at = std::copy(number, number + digits, at);
    *at++ = '"';
    at = std::copy(more.begin(), more.end(), at);
    *at++ = '>';
    out->end_at(at);
    for (const Segment &segment : segments) {
      const auto above = static_cast<size_t>(segment.above), index = row - above;
      if (row < above || index >= static_cast<size_t>(segment.count)) continue;
      const size_t before = out->size;
      at = segment.reference.put(out->reserve(segment.reference.room() + LONGEST_NUMBER));
      std::memcpy(at, number, 2 * Stamp::STEP);  // no row has as many digits
      out->end_at(at + digits);
      bool is_written = false;
      for (const Layer &layer : groups[static_cast<size_t>(segment.group)])
        if ((is_written = put_value(out, layer, static_cast<size_t>(segment.start) + index))) break;
      if (!is_written) out->size = before;
    }
    out->end_at(end.put(out->reserve(end.room())));
  }
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
  Py_ssize_t before, after;
  const char *texts[2];
  PyObject *values;
  if (!PyArg_ParseTuple(tuple, "s#COz*s#", &texts[0], &before, &layer->kind, &values, &layer->present.view, &texts[1], &after))
    return false;
  layer->before = Stamp('"' + std::string(texts[0], static_cast<size_t>(before)));
  layer->after = Stamp({texts[1], static_cast<size_t>(after)});
  if (layer->kind == 'v' ? !read_texts(values, &layer->texts) : PyObject_GetBuffer(values, &layer->values.view, 0) != 0)
    return false;
  if (!std::strchr("dfiv", layer->kind) || (layer->present.view.obj && layer->present.count<char>() != layer->size()))
    throw std::invalid_argument("a layer of another kind, or marks of another number of cells");
  return true;
}

PyObject *format_rows(PyObject *arguments) {
  Py_ssize_t first, count;
  PyObject *attribute_list, *segment_list, *group_list;
  std::vector<string_view> attributes;
  if (!PyArg_ParseTuple(arguments, "nnOO!O!", &first, &count, &attribute_list, &PyList_Type, &segment_list,
                        &PyList_Type, &group_list) ||
      !read_texts(attribute_list, &attributes))
    return nullptr;
  if (count < 0 || first < 0) throw std::invalid_argument("a negative number of rows");
  std::vector<std::vector<Layer>> groups(static_cast<size_t>(PyList_Size(group_list)));
  for (size_t i = 0; i < groups.size(); ++i) {
    PyObject *layers = PyList_GetItem(group_list, static_cast<Py_ssize_t>(i));
    groups[i] = std::vector<Layer>(PyList_Check(layers) ? static_cast<size_t>(PyList_Size(layers)) : 0);
    for (size_t j = 0; j < groups[i].size(); ++j)
      if (!read_layer(PyList_GetItem(layers, static_cast<Py_ssize_t>(j)), &groups[i][j])) return nullptr;
  }
  std::vector<Segment> segments(static_cast<size_t>(PyList_Size(segment_list)));
  for (size_t i = 0; i < segments.size(); ++i) {
    const char *letters;
    Segment &one = segments[i];
    if (!PyArg_ParseTuple(PyList_GetItem(segment_list, static_cast<Py_ssize_t>(i)), "snnnn", &letters, &one.group,
                          &one.start, &one.above, &one.count))
      return nullptr;
    one.reference = Stamp(std::string("<c r=\"") + letters);
    bool is_sound = one.group >= 0 && static_cast<size_t>(one.group) < groups.size() && one.start >= 0 &&
                    one.above >= 0 && one.count >= 0;
    if (is_sound)
      for (const Layer &layer : groups[static_cast<size_t>(one.group)])
        is_sound &= static_cast<size_t>(one.start) + static_cast<size_t>(one.count) <= layer.size();
    if (!is_sound) throw std::invalid_argument("a segment beyond its cells");
  }
  Output out;
  unlocked([&] { put_rows(&out, static_cast<size_t>(first), static_cast<size_t>(count), attributes, segments, groups); });
  return to_bytes(string_view(out.bytes.get(), out.size));
}

// ---- Doubles: their digits ----------------------------------------------------------------------------------------

// A double rounded to `count` digits: |x| is digits * 10^(exponent - count + 1). Both are 0 for NaN, infinities and 0.
struct Decimal {
  double rounded;
  int64_t digits, exponent;
};

struct Powers {
  int64_t of[19] = {1};
  constexpr Powers() {
    for (int i = 1; i < 19; ++i) of[i] = of[i - 1] * 10;
  }
};
constexpr Powers POWERS;
int64_t power_of_ten(int exponent) { return POWERS.of[exponent]; }

// Half up rounds the shortest text of the number, half even (as printf) the double itself.
Decimal round_double(double number, int count, bool half_up) {
  if (!std::isfinite(number) || number == 0) return {number, 0, 0};
  char text[LONGEST_NUMBER + 1];
  const auto format = std::chars_format::scientific;
  const double size = std::fabs(number);
  char *end = half_up ? std::to_chars(text, text + LONGEST_NUMBER, size, format).ptr
                      : std::to_chars(text, text + LONGEST_NUMBER, size, format, count - 1).ptr;
  char *const mark = end[-4] == 'e' ? end - 4 : end - 5;  // of the exponent, which has two or three digits
  int64_t exponent = 0, digits = text[0] - '0';
  for (const char *at = mark + 2; at != end; ++at) exponent = exponent * 10 + (*at - '0');
  if (mark[1] == '-') exponent = -exponent;
  std::memset(mark == text + 1 ? mark + 1 : mark, '0', 16);  // the digits after the point are 16 now
  for (int i = 2; i < 18; i += 4)
    digits = digits * 10000 + ((text[i] - '0') * 1000 + (text[i + 1] - '0') * 100 + (text[i + 2] - '0') * 10 + text[i + 3] - '0');
  if (count < 17) {
    const int64_t unit = power_of_ten(17 - count);
    digits = (digits + unit / 2) / unit;
  }
  if (digits == power_of_ten(count)) {
    digits /= 10;
    ++exponent;
  }
  if (count >= 17) return {number, digits, exponent};
  end = std::to_chars(text, text + LONGEST_NUMBER, digits).ptr;
  *end++ = 'e';
  end = std::to_chars(end, text + sizeof text, exponent - count + 1).ptr;
  double rounded = 0;
  if (std::from_chars(text, end, rounded).ec == std::errc::result_out_of_range && exponent > 0) rounded = HUGE_VAL;
  return {std::copysign(rounded, number), digits, exponent};
}

PyObject *round_doubles(PyObject *arguments) {
  Argument numbers;
  int count, half_up;
  if (!PyArg_ParseTuple(arguments, "y*ip", &numbers.view, &count, &half_up)) return nullptr;
  if (count < 1 || count > 17) throw std::invalid_argument("a number of digits that is not 1 to 17");
  const size_t size = numbers.count<double>();
  std::vector<double> rounded(size);
  std::vector<int64_t> digits(size), exponents(size);
  unlocked([&] {
    for (size_t i = 0; i < size; ++i) {
      const Decimal decimal = round_double(numbers.at<double>(i), count, half_up);
      rounded[i] = decimal.rounded;
      digits[i] = decimal.digits;
      exponents[i] = decimal.exponent;
    }
  });
  return Py_BuildValue("(NNN)", to_bytes(rounded), to_bytes(digits), to_bytes(exponents));
}

// ---- XML: tags, and text between them -----------------------------------------------------------------------------
// Each function passes what it is named after and returns true. It returns false where anything odd stands, or where the
// text breaks off; then the element that is being read counts as not read.

const size_t LONGEST_TEXT = 1u << 20;  // bytes of a cell's text
const int MOST_ATTRIBUTES = 16;

bool is_xml_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// What a character of text asks for: `CLOSER` for a closer look at entities, line ends, what XML does not hold; and
// whether a name may hold it.
enum Class : uint8_t { CLOSER = 1, BEYOND_ASCII = 2, WHITE = 4, NAME = 8 };
struct Classes {
  uint8_t of[256] = {};
  constexpr Classes() {
    for (int c = 0; c < ' '; ++c) of[c] = c == '\t' || c == '\n' ? WHITE : CLOSER;
    for (int c = 0x80; c < 256; ++c) of[c] = BEYOND_ASCII;
    of[int('&')] = of[int('<')] = of[int(']')] = CLOSER;
    of[int('\r')] |= WHITE;
    of[0xEF] |= CLOSER;
    for (int c = 'a'; c <= 'z'; ++c) of[c] = of[c - 'a' + 'A'] = NAME;
    for (int c = '0'; c <= ':'; ++c) of[c] = NAME;
    of[int('_')] = of[int('.')] = of[int('-')] = NAME;
  }
};
constexpr Classes CLASSES;
int class_of(char c) { return CLASSES.of[static_cast<unsigned char>(c)]; }

// Return what all characters of a text ask for together.
int classify(string_view text) {
  int classes = 0;
  for (char c : text) classes |= class_of(c);
  return classes;
}

void append_utf8(std::string *text, uint32_t code) {
  if (code < 0x80) return text->push_back(static_cast<char>(code));
  const int tails = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  const uint32_t lead[] = {0, 0xC0, 0xE0, 0xF0};
  text->push_back(static_cast<char>(lead[tails] | code >> (6 * tails)));
  for (int tail = tails - 1; tail >= 0; --tail) text->push_back(static_cast<char>(0x80 | (code >> (6 * tail) & 0x3F)));
}

// Return a number in 1 to `most` digits; -1 for any other text.
int64_t parse_count(string_view text, size_t most) {
  int64_t number = text.empty() || text.size() > most ? -1 : 0;
  for (size_t i = 0; i < text.size() && number >= 0; ++i) number = is_digit(text[i]) ? number * 10 + (text[i] - '0') : -1;
  return number;
}

// Parse the numeral at the front of a text, which begins and ends with digits, and return its length; 0 where there is
// none, or `Number` does not hold it.
template <class Number>
size_t parse_numeral(string_view text, Number *number) {
  const size_t sign = !text.empty() && text.front() == '-';
  if (text.size() <= sign || !is_digit(text[sign])) return 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), *number);
  return parsed.ec == std::errc() && is_digit(parsed.ptr[-1]) ? static_cast<size_t>(parsed.ptr - text.data()) : 0;
}

// Parse the hexadecimal or decimal digits at the front of a text, and return how many they are.
size_t parse_digits(string_view text, int base, uint32_t *code) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), *code, base);
  return parsed.ec == std::errc() ? static_cast<size_t>(parsed.ptr - text.data()) : 0;
}

// Append text without its entities and carriage returns; false where it is not well-formed, or may not be.
bool append_decoded(std::string *decoded, string_view text) {
  for (Cursor at(text); !at.done();) {
    const char c = at.peek();
    uint32_t code = 0;
    if (c == '\r') {
      at.skip(at.peek(1) == '\n' ? 2 : 1);
      decoded->push_back('\n');
    } else if (c != '&') {
      const bool is_control = c >= 0 && c < ' ' && !is_xml_space(c);
      if (is_control || c == '<' || at.rest().substr(0, 3) == "]]>" || at.rest().substr(0, 2) == "\xEF\xBF") return false;
      decoded->push_back(c);
      at.skip();
    } else if (at.take("&lt;")) {
      decoded->push_back('<');
    } else if (at.take("&gt;")) {
      decoded->push_back('>');
    } else if (at.take("&amp;")) {
      decoded->push_back('&');
    } else if (at.take("&quot;")) {
      decoded->push_back('"');
    } else if (at.take("&apos;")) {
      decoded->push_back('\'');
    } else {
      const bool is_hex = at.take("&#x");
      if (!is_hex && !at.take("&#")) return false;
      const size_t count = parse_digits(at.rest().substr(0, 8), is_hex ? 16 : 10, &code);
      at.skip(count);
      const bool is_control = code < ' ' && code != '\t' && code != '\n' && code != '\r';
      if (!count || !at.take(';') || is_control || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ||
          (code & ~1u) == 0xFFFE)
        return false;
      append_utf8(decoded, code);
    }
  }
  return true;
}

// Append text without its escapes of characters `_xHHHH_`; false where one is half of a surrogate pair.
bool append_unescaped(std::string *decoded, string_view text) {
  for (Cursor at(text); !at.done();) {
    uint32_t unit = 0;
    if (at.peek() == '_' && at.peek(1) == 'x' && at.peek(6) == '_' &&
        parse_digits(at.rest().substr(2, 4), 16, &unit) == 4) {
      if (unit >= 0xD800 && unit < 0xE000) return false;
      append_utf8(decoded, unit);
      at.skip(7);
    } else {
      decoded->push_back(at.peek());
      at.skip();
    }
  }
  return true;
}

// How text counts: as it is, without white space at its ends, and with or without escapes.
enum class Form { plain, escaped, trimmed };

class Markup {
 public:
  // `prefix` is that of all elements, as in `x:`; `prefixes` are all that are declared, as in `:r:x14ac:`.
  Markup(string_view text, size_t start, string_view prefix, string_view prefixes)
      : at(text, start), prefix_(prefix), prefixes_(prefixes) {}

  Cursor at;
  std::string extra;  // texts that differ from the XML

  void space() {
    while (is_xml_space(at.peek())) at.skip();
  }

  // Pass white space and the name of an element's tag; false, before the tag, where another one stands.
  template <class Name>
  bool opens(const Name &name) {
    space();
    Cursor ahead = at;
    if (!ahead.take('<') || (!prefix_.empty() && !ahead.take(prefix_)) || !ahead.take(name)) return false;
    if (!is_xml_space(ahead.peek()) && ahead.peek() != '>' && ahead.peek() != '/') return false;
    at = ahead;
    return true;
  }
  template <class Name>
  bool closes(const Name &name) {
    space();
    Cursor ahead = at;
    if (!ahead.take("</") || (!prefix_.empty() && !ahead.take(prefix_)) || !ahead.take(name)) return false;
    at = ahead;
    space();
    return at.take('>');
  }

  // Pass attributes and the end of a tag; `each(name, value, is_plain)` returns false for what it does not know. A value
  // that is plain stands in the XML; any other one is good until the next attribute.
  template <class Each>
  bool attributes(bool *is_empty, Each each) {
    struct {
      size_t start, end;
    } names[MOST_ATTRIBUTES];  // without an initializer, which would take longer than most tags
    for (int count = 0;; ++count) {
      const size_t before = at.place();
      space();
      *is_empty = at.take('/');
      if (at.take('>')) return true;
      if (*is_empty || at.place() == before || count == MOST_ATTRIBUTES) return false;
      const size_t start = at.place();
      while (class_of(at.peek()) & NAME) at.skip();
      const string_view name = at.since(start);
      names[count] = {start, at.place()};
      space();
      const bool is_short = name.size() == 1 && is_name_start(name.front());
      if ((!is_short && !is_declared(name)) || !at.take('=')) return false;
      space();
      const char quote = at.peek();
      at.skip();
      const size_t begin = at.place();
      if (quote != '"' && quote != '\'') return false;
      int classes = 0;
      for (; at.peek() != quote; at.skip()) {
        if (at.done()) return false;
        classes |= class_of(at.peek());
      }
      const string_view value = at.since(begin);
      at.skip();
      for (int other = 0; other < count; ++other) {
        const auto [from, to] = names[other];
        if (at.text()[from] == name.front() && at.text().substr(from, to - from) == name) return false;
      }
      if ((classes & WHITE) || ((classes & (CLOSER | BEYOND_ASCII)) && !decode(value))) return false;
      const bool is_plain = !(classes & CLOSER);
      if (!each(name, is_plain ? value : string_view(scratch_), is_plain)) return false;
    }
  }
  bool attributes(bool *is_empty) {
    return attributes(is_empty, [](string_view, string_view, bool) { return true; });
  }

  // Pass text up to the next tag. It stands in the XML, or in `extra` where it differs from the XML.
  bool characters(string_view *text, Form form) {
    const size_t start = at.place();
    if (!at.find('<')) return false;
    *text = at.since(start);
    if (text->size() > LONGEST_TEXT) return false;
    const int classes = classify(*text);
    if ((classes & (CLOSER | BEYOND_ASCII)) && !decode(*text)) return false;
    if (classes & CLOSER) *text = scratch_;
    if (form == Form::trimmed) {
      while (!text->empty() && is_xml_space(text->front())) text->remove_prefix(1);
      while (!text->empty() && is_xml_space(text->back())) text->remove_suffix(1);
    }
    if (form != Form::plain && text->find("_x") != string_view::npos) {
      unescaped_.clear();
      if (!append_unescaped(&unescaped_, *text)) return false;
      *text = unescaped_;
    }
    return true;
  }

  // Pass a string item or an inline string, `name`, of one text, from behind the name of its tag on.
  bool string_item(string_view name, string_view *text) {
    bool is_empty;
    *text = {};
    if (!attributes(&is_empty)) return false;
    if (is_empty) return true;
    if (opens("t")) {
      Form form = Form::trimmed;
      const auto attribute = [&](string_view attribute, string_view value, bool) {
        if (attribute == "xml:space" && value == "preserve") form = Form::escaped;
        return true;
      };
      if (!attributes(&is_empty, attribute)) return false;
      if (!is_empty && (!characters(text, form) || !closes("t"))) return false;
    }
    return closes(name);
  }

  // Keep a text: return its place in the XML, or beyond the XML, which has `size` bytes, in `extra`.
  uint32_t keep(string_view text, size_t size) {
    const string_view source = at.text();
    if (text.empty()) return 0;
    if (!std::less<>()(text.data(), source.data()) && std::less<>()(text.data(), source.data() + source.size()))
      return static_cast<uint32_t>(text.data() - source.data());
    extra.append(text);
    return static_cast<uint32_t>(size + extra.size() - text.size());
  }

 private:
  bool is_declared(string_view name) {
    const size_t colon = name.find(':');
    if (name.empty() || !is_name_start(name.front())) return false;
    if (colon == string_view::npos) return name != "xmlns";
    if (name.find(':', colon + 1) != string_view::npos || !is_name_start(name.substr(colon)[name.size() > colon + 1]))
      return false;
    const string_view prefix = name.substr(0, colon + 1);
    for (const string_view known : known_)
      if (known == prefix) return true;
    if (prefixes_.find(":" + std::string(prefix)) == string_view::npos) return false;
    known_.push_back(prefix);
    return true;
  }

  // Put a text without entities into `scratch_`.
  bool decode(string_view text) {
    scratch_.clear();
    return find_invalid(text, 0) == text.size() && (!(classify(text) & CLOSER) || append_decoded(&scratch_, text));
  }

  string_view prefix_, prefixes_;
  std::vector<string_view> known_;  // prefixes that were looked up
  std::string scratch_, unescaped_;
};

// ---- Worksheets and shared strings --------------------------------------------------------------------------------
// Source: ECMA-376 part 1, 18.3.1.73 (row), 18.3.1.4 (c), 18.3.1.40 (f), 18.4.8 (si), 22.9.2.19 (ST_Xstring).

const size_t FEWEST_BYTES = 24;    // of a cell, as a rule: room is made for so many cells at first
const size_t SHORT_FORMULA = 200;  // bytes
const int64_t MOST_COLUMNS = 16384;

enum Type : uint8_t { PLAIN, SHARED, RESULT, INLINE, LOGICAL, ERROR, ISO, ELAPSED };
enum Mark : uint8_t { FORMULA = 8, PENDING = 16, NUMERAL = 32 };  // added to types. NUMERAL: `number` has the value

// A cell that has a value or a formula. `reader/raw.py` has the same fields.
struct Cell {
  double number = 0;
  uint32_t row = 0, style = 0;         // of .ods, how often the cell stands in its row instead of the style
  uint32_t start = 0, length = 0;      // of the value, as `Markup::keep` gives them
  uint32_t formula = 0;                // where a short formula without attributes stands
  uint16_t column = 0;
  uint8_t formula_length = 0, type = PLAIN;
};

class Rows {
 public:
  Rows(string_view text, size_t start, string_view prefix, string_view prefixes, int64_t after, int64_t most)
      : row(after - 1), markup(text, start, prefix, prefixes), size_(text.size()), most_(most) {}

  std::vector<Cell> cells;
  std::vector<int64_t> repeats;  // rows of .ods that stand several times, and how often
  int64_t row;     // the last one, from 0
  size_t end = 0;  // of the last whole row
  Markup markup;

  // Read rows by `scan_row`, a function of this class, until one is odd.
  template <bool (Rows::*scan_row)()>
  void scan() {
    cells.reserve(markup.at.left() / FEWEST_BYTES);
    for (;;) {
      markup.space();
      end = markup.at.place();
      const size_t count = cells.size();
      const int64_t above = row;
      if ((this->*scan_row)()) continue;
      cells.resize(count);
      row = above;
      return;
    }
  }

  bool scan_row() {
    bool is_empty;
    int64_t number = row + 2;
    const auto attribute = [&](string_view name, string_view value, bool) {
      if (name.size() == 1 && name.front() == 'r') number = parse_count(value, 7);
      return true;
    };
    if (!markup.opens("row") || !markup.attributes(&is_empty, attribute) || number < 1 || number > most_) return false;
    row = number - 1;
    column_ = -1;
    for (int64_t count = 0; !is_empty; ++count) {
      if (!markup.opens("c")) return markup.closes("row");
      if (count == MOST_COLUMNS || !scan_cell()) return false;
    }
    return true;
  }
  bool scan_table_row();

 private:
  size_t size_;
  int64_t most_, column_ = -1;
  uint32_t keep(string_view text) { return markup.keep(text, size_); }

  // Take the column of a reference such as AB12, whose row must be the one at hand.
  bool take_reference(string_view reference) {
    int64_t column = 0;
    size_t letters = 0;
    for (; letters < reference.size() && letters < 4 && reference[letters] >= 'A' && reference[letters] <= 'Z'; ++letters)
      column = column * 26 + (reference[letters] - 'A' + 1);
    column_ = column - 1;
    return letters >= 1 && letters <= 3 && parse_count(reference.substr(letters), 7) == row + 1;
  }

  static bool take_type(string_view name, uint8_t *type) {
    if (name == "s") return *type = SHARED, true;
    if (name == "n" || name.empty()) return *type = PLAIN, true;
    if (name == "str") return *type = RESULT, true;
    if (name == "inlineStr") return *type = INLINE, true;
    if (name == "b") return *type = LOGICAL, true;
    if (name == "e") return *type = ERROR, true;
    return name == "d" && (*type = ISO, true);
  }

  // Pass the content of `v` and its end, from behind the name of its tag on.
  bool scan_value(Cell *cell, bool *is_numeral, string_view *text) {
    bool is_closed;
    if (!markup.attributes(&is_closed)) return false;
    if (is_closed) return true;
    const string_view rest = markup.at.rest(LONGEST_TEXT);
    const bool may_be = cell->type == PLAIN || cell->type == SHARED || cell->type == LOGICAL;
    const size_t length = may_be ? parse_numeral(rest, &cell->number) : 0;
    *is_numeral = length && length < rest.size() && rest[length] == '<';
    if (*is_numeral) {
      *text = rest.substr(0, length);
      markup.at.skip(length);
    } else if (!markup.characters(text, cell->type == RESULT ? Form::escaped : Form::plain)) {
      return false;
    }
    return markup.closes("v");
  }

  // Pass the content of `f` and its end, from behind the name of its tag on.
  bool scan_formula(Cell *cell, string_view *text) {
    bool is_closed, is_wide = false, is_own = true;
    const auto attribute = [&](string_view name, string_view value, bool) {
      is_own &= name == "aca";
      is_wide |= name == "t" && (value == "array" || value == "dataTable");
      return true;
    };
    if (!markup.attributes(&is_closed, attribute) || is_wide) return false;
    if (is_closed) return true;
    if (!markup.characters(text, Form::plain) || !markup.closes("f")) return false;
    if (is_own) keep_formula(cell, *text);
    return true;
  }
  void keep_formula(Cell *cell, string_view text) {
    if (text.size() > SHORT_FORMULA) return;
    cell->formula = keep(text);
    cell->formula_length = static_cast<uint8_t>(text.size());
  }

  void add(Cell *cell, string_view text, int marks) {
    cell->row = static_cast<uint32_t>(row);
    cell->column = static_cast<uint16_t>(column_);
    cell->start = keep(text);
    cell->length = static_cast<uint32_t>(text.size());
    cell->type = static_cast<uint8_t>(cell->type | marks);
    cells.push_back(*cell);
  }

  bool scan_cell() {
    Cell cell;
    bool is_empty, has_value = false, has_formula = false, is_numeral = false;
    string_view text;
    ++column_;
    const auto attribute = [&](string_view name, string_view value, bool) {
      const char key = name.size() == 1 ? name.front() : '\0';
      if (key == 'r') return take_reference(value);
      if (key == 't') return take_type(value, &cell.type);
      const int64_t style = key == 's' ? parse_count(value, 7) : cell.style;
      cell.style = static_cast<uint32_t>(style);
      return style >= 0;
    };
    if (!markup.attributes(&is_empty, attribute) || column_ >= MOST_COLUMNS) return false;
    int constant = -1;  // the value of the formulas TRUE() and FALSE()
    if (!is_empty) {
      if (markup.opens("f")) {
        has_formula = true;
        if (!scan_formula(&cell, &text)) return false;
        constant = text == "TRUE()" ? 1 : text == "FALSE()" ? 0 : -1;
        text = {};
      }
      if (markup.opens("v")) {
        has_value = true;
        if (!scan_value(&cell, &is_numeral, &text)) return false;
      } else if (cell.type == INLINE && markup.opens("is")) {
        has_value = true;
        if (!markup.string_item("is", &text)) return false;
      }
      if (!markup.closes("c")) return false;
    }
    has_value &= !text.empty() || cell.type == RESULT || cell.type == INLINE;
    if (!has_value && !has_formula) return true;
    if (constant >= 0 && !has_value) {
      cell.type = LOGICAL;
      cell.number = constant;
      text = constant ? "1" : "0";
      is_numeral = has_value = true;
      has_formula = false;
    }
    if (constant >= 0 && (cell.type == LOGICAL || (cell.type == PLAIN && (text == "0" || text == "1"))))
      has_formula = false;
    add(&cell, text, (has_formula ? FORMULA : 0) | (has_value ? 0 : PENDING) | (is_numeral ? NUMERAL : 0));
    return true;
  }

  bool scan_table_cell(string_view name);
};

template <bool (Rows::*scan_row)()>
PyObject *scan_cells(PyObject *arguments) {
  Argument text, prefix, prefixes;
  Py_ssize_t start;
  long long after, most;
  if (!PyArg_ParseTuple(arguments, "y*ny*y*LL", &text.view, &start, &prefix.view, &prefixes.view, &after, &most))
    return nullptr;
  if (text.bytes().size() >= UINT32_MAX / 4 || start < 0) throw std::invalid_argument("so long a text, or a start before it");
  Rows rows(text.bytes(), static_cast<size_t>(start), prefix.bytes(), prefixes.bytes(), after, most);
  unlocked([&] { rows.scan<scan_row>(); });
  return Py_BuildValue("(nLNNN)", static_cast<Py_ssize_t>(rows.end), static_cast<long long>(rows.row + 1),
                       to_bytes(rows.cells), to_bytes(rows.markup.extra), to_bytes(rows.repeats));
}

// Return texts that stand in the XML, or beyond it in `extra`, by their starts and lengths.
PyObject *take_texts(PyObject *arguments) {
  Argument text, extra, starts, lengths;
  if (!PyArg_ParseTuple(arguments, "y*y*y*y*", &text.view, &extra.view, &starts.view, &lengths.view)) return nullptr;
  TextColumn column;
  bool is_inside = starts.count<uint32_t>() == lengths.count<uint32_t>();
  unlocked([&] {
    for (size_t i = 0; i < lengths.count<uint32_t>() && is_inside; ++i) {
      const size_t start = starts.at<uint32_t>(i), length = lengths.at<uint32_t>(i), size = text.bytes().size();
      const string_view source = start < size ? text.bytes() : extra.bytes();
      const size_t begin = start < size ? start : start - size;
      is_inside = begin <= source.size() && length <= source.size() - begin;
      if (is_inside) column.add(source.substr(begin, length));
    }
  });
  if (!is_inside) throw std::invalid_argument("a text beyond its bytes");
  return to_texts(std::move(column));
}

// Return the byte after the last whole string item, and the texts of the items.
PyObject *scan_strings(PyObject *arguments) {
  Argument text, prefix, prefixes;
  Py_ssize_t start;
  if (!PyArg_ParseTuple(arguments, "y*ny*y*", &text.view, &start, &prefix.view, &prefixes.view)) return nullptr;
  if (start < 0) throw std::invalid_argument("a start before the text");
  TextColumn column;
  size_t end = 0;
  unlocked([&] {
    Markup markup(text.bytes(), static_cast<size_t>(start), prefix.bytes(), prefixes.bytes());
    string_view item;
    for (;; column.add(item)) {
      markup.space();
      end = markup.at.place();
      if (!markup.opens("si") || !markup.string_item("si", &item)) return;
    }
  });
  return Py_BuildValue("(nN)", static_cast<Py_ssize_t>(end), to_texts(std::move(column)));
}

// ---- Tables of OpenDocument ---------------------------------------------------------------------------------------
// Source: OASIS OpenDocument 1.3 part 3, 9.1 (tables), 6.1.1 (white space), 19.385 (values).

struct ValueType {
  string_view name;
  Type type;
  string_view attribute;
};
const ValueType VALUE_TYPES[] = {{"float", PLAIN, "office:value"},          {"string", RESULT, "office:string-value"},
                                 {"date", ISO, "office:date-value"},        {"boolean", LOGICAL, "office:boolean-value"},
                                 {"percentage", PLAIN, "office:value"},     {"currency", PLAIN, "office:value"},
                                 {"time", ELAPSED, "office:time-value"}};

// Pass a cell, of which `name` has been passed.
bool Rows::scan_table_cell(string_view name) {
  Cell cell;
  bool is_empty, has_formula = false, has_text = false;
  string_view type_name, constant, text, attributes[MOST_ATTRIBUTES][2];
  int64_t times = 1;
  int count = 0;
  const auto attribute = [&](string_view key, string_view value, bool is_plain) {
    if (key == "office:value-type") type_name = value;
    if (key == "table:number-columns-repeated") times = parse_count(value, 9);
    if (key == "table:number-matrix-rows-spanned" || key == "table:number-matrix-columns-spanned" || times < 0) return false;
    if (key == "calcext:value-type" && value == "error") return false;
    if (key.substr(0, 7) == "office:") {
      attributes[count][0] = key;
      attributes[count++][1] = value;
      return is_plain;
    }
    if (key != "table:formula") return true;
    has_formula = !value.empty();
    constant = value == "of:=TRUE()" ? "1" : value == "of:=FALSE()" ? "0" : "";
    keep_formula(&cell, value);
    return true;
  };
  if (!markup.attributes(&is_empty, attribute)) return false;
  if (!is_empty) {
    has_text = markup.opens("text:p");
    if (has_text && !markup.attributes(&is_empty)) return false;
    if (has_text && !is_empty && (!markup.characters(&text, Form::plain) || !markup.closes("text:p"))) return false;
    if (!markup.closes(name) || text.find_first_of("\t\n\r") != string_view::npos) return false;
    if (has_formula && !text.empty() && (text.front() == '#' || text.front() == 'E')) return false;  // an error, perhaps
  }
  times += times == 0;
  string_view value;
  bool has_value = has_text && (has_formula || !text.empty());
  cell.type = RESULT;
  if (!constant.empty()) {
    has_value = true;
    has_formula = false;
    cell.type = LOGICAL;
    value = constant;
  } else if (type_name.empty()) {
    value = text;
  } else {
    const ValueType *known = nullptr;
    for (const ValueType &type : VALUE_TYPES)
      if (!known && type.name == type_name) known = &type;
    if (!known) return false;
    cell.type = known->type;
    has_value = known->type == RESULT;
    value = has_value ? text : value;
    for (int i = 0; i < count; ++i)
      if (attributes[i][0] == known->attribute) value = attributes[i][1], has_value = true;
    if (known->type == LOGICAL) value = value == "true" ? "1" : value == "false" ? "0" : value;
  }
  if (has_value || has_formula) {
    if (column_ + times > MOST_COLUMNS || row >= most_) return false;
    const bool is_numeral = has_value && (cell.type == PLAIN || cell.type == LOGICAL) && !value.empty() &&
                            parse_numeral(value, &cell.number) == value.size();
    cell.style = static_cast<uint32_t>(times);
    add(&cell, value, (has_formula ? FORMULA : 0) | (has_value ? 0 : PENDING) | (is_numeral ? NUMERAL : 0));
  }
  column_ += times;
  return true;
}

bool Rows::scan_table_row() {
  bool is_empty;
  int64_t times = 1;
  const size_t before = cells.size();
  const auto attribute = [&](string_view name, string_view value, bool) {
    if (name == "table:number-rows-repeated") times = parse_count(value, 9);
    return true;
  };
  if (!markup.opens("table:table-row") || !markup.attributes(&is_empty, attribute) || times < 0) return false;
  times += times == 0;
  ++row;
  column_ = 0;
  while (!is_empty) {
    const string_view name = markup.opens("table:table-cell") ? "table:table-cell" : "table:covered-table-cell";
    if (name == "table:covered-table-cell" && !markup.opens(name)) {
      if (!markup.closes("table:table-row")) return false;
      break;
    }
    if (!scan_table_cell(name)) return false;
  }
  if (cells.size() > before && times > 1) {
    if (row + times > most_) return false;
    repeats.insert(repeats.end(), {row, times});
  }
  row += times - 1;
  return true;
}

// ---- Delimited text: records and their fields ---------------------------------------------------------------------

// The rule: a field that begins with a quote ends with the next quote that is not doubled, and what stands between that
// and the delimiter or line end belongs to it, too. A quote anywhere else is a character. Line ends are LF, CR and CRLF.

enum class Stop { mark, line, end };

class Fields {
 public:
  // `mark` is the delimiter, or -1 where each line is one field.
  Fields(string_view text, size_t place, int mark)
      : cursor_(text, place), stops_{'\n', '\r', static_cast<char>(mark < 0 ? '\n' : mark)} {
    for (int i = 0; i < 3; ++i) eights_[i] = ONES * static_cast<unsigned char>(stops_[i]);
  }

  size_t place() const { return cursor_.place(); }
  bool done() const { return cursor_.done(); }
  string_view rest() const { return cursor_.rest(); }
  Stop stop() const { return stop_; }
  size_t begin() const { return begin_; }  // of the field, its quote included
  bool open() const { return open_; }      // a quote opens the field, and is never closed

  void next() {
    begin_ = cursor_.place();
    open_ = doubled_ = false;
    quoted_ = cursor_.take('"');
    if (quoted_) {
      const size_t start = cursor_.place();
      while (!open_) {
        open_ = !cursor_.find('"');
        if (open_) cursor_.skip(cursor_.left());
        body_ = cursor_.since(start);
        cursor_.skip();
        if (!cursor_.take('"')) break;
        doubled_ = true;
      }
    }
    const size_t start = cursor_.place();
    while (cursor_.left() >= 8 && !has_stop(cursor_.text().data() + cursor_.place())) cursor_.skip(8);
    while (!cursor_.done() && !is_stop(cursor_.peek())) cursor_.skip();
    after_ = cursor_.since(start);
    pass_stop();
  }

  // Pass a field of so many bytes, none of them a quote or a stop, and return true; false where it goes on behind them.
  bool next(size_t length) {
    if (length < cursor_.left() && !is_stop(cursor_.peek(length))) return false;
    cursor_.skip(length);
    pass_stop();
    return true;
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
    return made_ += after_;
  }

 private:
  bool is_stop(char unit) const { return unit == stops_[0] || unit == stops_[1] || unit == stops_[2]; }
  bool has_stop(const char *eight) const {  // eight bytes are compared at once
    uint64_t units;
    std::memcpy(&units, eight, 8);
    const auto has = [units](uint64_t stop) { return ((units ^ stop) - ONES) & ~(units ^ stop); };
    return (has(eights_[0]) | has(eights_[1]) | has(eights_[2])) & (ONES << 7);
  }
  void pass_stop() {
    const char unit = cursor_.peek();
    stop_ = cursor_.done() ? Stop::end : unit == '\n' || unit == '\r' ? Stop::line : Stop::mark;
    cursor_.skip();
    if (unit == '\r') cursor_.take('\n');
  }

  static constexpr uint64_t ONES = 0x0101010101010101u;
  Cursor cursor_;
  char stops_[3];
  uint64_t eights_[3];  // each of the stops eight times
  size_t begin_ = 0;
  string_view body_, after_;
  std::string made_;
  bool quoted_ = false, doubled_ = false, open_ = false;
  Stop stop_ = Stop::end;
};

bool is_plain(char unit) { return unit > ' ' && unit < '\x7f'; }

// Return a text without white space at its ends, as Python's `str.strip` does.
string_view strip(string_view text) {
  static const string_view SPACES[] = {
      " ", "\t", "\n", "\v", "\f", "\r", "\x1c", "\x1d", "\x1e", "\x1f", "\xC2\x85", "\xC2\xA0", "\xE1\x9A\x80",
      "\xE2\x80\x80", "\xE2\x80\x81", "\xE2\x80\x82", "\xE2\x80\x83", "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86",
      "\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE2\x80\xAF",
      "\xE2\x81\x9F", "\xE3\x80\x80"};
  for (size_t size = text.size() + 1; text.size() < size;) {
    size = text.size();
    if (!size || (is_plain(text.front()) && is_plain(text.back()))) return text;
    for (const string_view space : SPACES) {
      if (text.substr(0, space.size()) == space) text.remove_prefix(space.size());
      if (text.size() >= space.size() && text.substr(text.size() - space.size()) == space) text.remove_suffix(space.size());
    }
  }
  return text;
}

bool is_letter(char unit) { return (unit >= 'a' && unit <= 'z') || (unit >= 'A' && unit <= 'Z'); }

bool equals_word(string_view text, string_view word) {  // the word is in lower case
  if (text.size() != word.size()) return false;
  for (size_t i = 0; i < text.size(); ++i)
    if (!is_letter(text[i]) || (text[i] | ' ') != word[i]) return false;
  return true;
}

// Some words, of four letters at least, that cells may hold in any case of letters.
struct Words {
  std::vector<string_view> words;
  uint32_t initials = 0;  // a bit for each letter

  explicit Words(string_view lines) {
    for (; !lines.empty(); lines.remove_prefix(std::min(lines.size(), words.back().size() + 1))) {
      words.push_back(lines.substr(0, lines.find('\n')));
      initials |= 1u << (lines.front() & 31);
    }
  }
  // Return the index of the word that a cell holds, or -1.
  int64_t find(string_view cell) const {
    if (cell.size() < 4 || !initials || (is_plain(cell[0]) && !(is_letter(cell[0]) && initials >> (cell[0] & 31) & 1))) return -1;
    string_view core = cell;
    while (!core.empty() && !is_letter(core.front())) core.remove_prefix(1);
    while (!core.empty() && !is_letter(core.back())) core.remove_suffix(1);
    for (size_t index = 0; index < words.size(); ++index)
      if (equals_word(core, words[index])) return strip(cell) == core ? static_cast<int64_t>(index) : -1;
    return -1;
  }
};

// Parse the integer at the front of a text, and return its length; 0 where there is none, or `Number` does not hold it.
template <class Number>
size_t parse_integer(string_view text, Number *number) {
  const size_t sign = !text.empty() && text.front() == '-';
  size_t end = sign;
  int64_t size = 0;
  for (; end < text.size() && end < sign + 18 && is_digit(text[end]); ++end) size = size * 10 + (text[end] - '0');
  *number = static_cast<Number>(sign ? -size : size);
  if (end > sign && end < sign + 18 && (!sign || std::is_signed<Number>::value)) return end;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), *number);
  return parsed.ec == std::errc() ? static_cast<size_t>(parsed.ptr - text.data()) : 0;
}

// The same for a number that ends with a digit, and for NaN and infinities.
template <class Number>
size_t parse_real(string_view text, Number *number) {
  if (const size_t length = parse_numeral(text, number)) return length;
  const size_t sign = !text.empty() && text.front() == '-';
  const bool is_infinite = text.substr(sign, 8) == "Infinity";
  *number = is_infinite ? std::numeric_limits<Number>::infinity() : std::numeric_limits<Number>::quiet_NaN();
  if (is_infinite && sign) *number = -*number;
  return is_infinite ? sign + 8 : text.substr(0, 3) == "NaN" ? 3 : 0;
}

// A run of cells of one column: `kind` is t for text, s for those texts that are not blank, with their rows; d, f, i, u
// for doubles, floats, integers and unsigned ones, b for booleans. A column of those ends at the first cell that is none.
struct Run {
  int64_t column, first, end;
  char kind;
  TextColumn texts;
  std::vector<int64_t> rows;
  std::vector<int64_t> numbers;  // the bits of each
  int64_t blanks = 0;  // below the numbers
  bool failed = false;

  bool is_text() const { return kind == 't' || kind == 's'; }

  // Add the number at the front of a text, and return its length; 0 where there is none.
  size_t add_number(string_view text) {
    if (kind == 'd') return keep<double>(text, parse_real<double>);
    if (kind == 'f') return keep<double>(text, [](string_view numeral, double *number) {
        float single = 0;
        const size_t length = parse_real(numeral, &single);
        return *number = single, length;
      });
    if (kind == 'i') return keep<int64_t>(text, parse_integer<int64_t>);
    if (kind == 'u') return keep<uint64_t>(text, parse_integer<uint64_t>);
    return keep<int64_t>(text, [](string_view word, int64_t *truth) -> size_t {
      *truth = equals_word(word.substr(0, 4), "true");
      return *truth ? 4 : equals_word(word.substr(0, 5), "false") ? 5 : 0;
    });
  }
  void add(int64_t row, string_view text, bool comma) {
    if (is_text()) {
      if (!text.empty()) texts.add(text);
      else if (kind == 't') texts.add_blank();
      if (!text.empty() && kind == 's') rows.push_back(row);
    } else if (text.empty()) {
      ++blanks;
    } else if (!failed) {
      std::string other;
      for (char unit : text.substr(0, comma ? LONGEST_NUMBER : 0)) other += unit == ',' ? '.' : unit == '.' ? ',' : unit;
      failed = blanks || add_number(comma ? string_view(other) : text) != text.size();
    }
  }
  PyObject *to_python() {
    if (failed) return Py_NewRef(Py_None);
    if (kind == 't') return to_texts(std::move(texts));
    if (kind == 's') return Py_BuildValue("(NN)", to_bytes(rows), to_texts(std::move(texts)));
    return Py_BuildValue("(NL)", to_bytes(numbers), static_cast<long long>(blanks));
  }

 private:
  template <class Number, class Parse>
  size_t keep(string_view text, Parse parse) {
    Number number = 0;
    int64_t bits;
    const size_t length = parse(text, &number);
    std::memcpy(&bits, &number, sizeof bits);
    if (length) numbers.push_back(bits);
    return length;
  }
};

const size_t NEAR = 4096;  // bytes between the beginnings of records that are noted

// Goes over whole records, collects runs of cells, which are sorted by column, and notes what must be known of a text.
struct Records {
  Fields fields;
  int64_t row;
  Words words;
  std::vector<Run> runs;
  bool comma, in_place;          // whether decimals have a comma; whether numbers can be parsed before their ends are known
  std::vector<size_t> current;   // the run of each wanted column that no row has passed yet
  std::vector<int64_t> marks;    // rows, and the places at which they begin: one in every few kilobytes
  std::vector<int64_t> found;    // cells that hold a word: their rows, columns and the words
  std::vector<int64_t> blank;    // rows of one cell, which is blank
  int64_t width = 0, open = -1;  // cells of the widest row; the place of a quote that is never closed
  bool is_ascii = true;          // as far as fields were numbers

  // Return the run to which a cell of the row belongs, or null; `next` is the index of the next wanted column.
  Run *find_run(size_t next) {
    size_t &now = current[next];
    while (row >= runs[now].end && now + 1 < runs.size() && runs[now + 1].column == runs[now].column) ++now;
    return row >= runs[now].first && row < runs[now].end ? &runs[now] : nullptr;
  }

  // Pass a field if it is a number of a run, and return true; false, with no step taken, for any other one.
  bool take_number(Run *run) {
    if (!run || !in_place || run->is_text() || run->failed || run->blanks) return false;
    const size_t before = run->numbers.size(), length = run->add_number(fields.rest());
    if (length && fields.next(length)) return true;
    run->numbers.resize(before);
    return false;
  }

  void take_record() {
    int64_t column = 0;
    size_t next = 0;
    bool is_blank = false;
    do {
      Run *run = next < current.size() && runs[current[next]].column == column ? find_run(next++) : nullptr;
      if (!take_number(run)) {
        fields.next();
        const string_view cell = run || words.initials || !column ? fields.value() : "";
        if (run) run->add(row, cell, comma);
        const int64_t word = words.find(cell);
        if (word >= 0) found.insert(found.end(), {row, column, word});
        if (fields.open()) open = static_cast<int64_t>(fields.begin());
        is_blank = !column && fields.stop() != Stop::mark && strip(cell).empty();
        is_ascii = false;
      }
      ++column;
    } while (fields.stop() == Stop::mark);
    for (; next < current.size(); ++next)
      if (Run *run = find_run(next)) run->add(row, {}, comma);
    if (is_blank) blank.push_back(row);
    width = std::max(width, column);
    ++row;
  }

  void scan(size_t size) {
    const size_t start = fields.place();
    for (size_t marked = start; !fields.done() && fields.place() - start < size;) {
      take_record();
      if (fields.place() < marked + NEAR && fields.place() - start < size && !fields.done()) continue;
      marked = fields.place();
      marks.insert(marks.end(), {row, static_cast<int64_t>(marked)});
    }
  }
};

PyObject *read_delimited(PyObject *arguments) {
  Argument content, names, wanted, kinds;
  Py_ssize_t start, size, row;
  int mark, comma;
  if (!PyArg_ParseTuple(arguments, "y*ninny*y*y*p", &content.view, &start, &mark, &size, &row, &names.view, &wanted.view,
                        &kinds.view, &comma))
    return nullptr;
  Records records{Fields(content.bytes(), static_cast<size_t>(start), mark), row, Words(names.bytes())};
  records.comma = comma;
  records.in_place = !comma && mark != '.';
  records.runs = std::vector<Run>(std::min(kinds.bytes().size(), wanted.count<int64_t>() / 3));
  for (size_t i = 0; i < records.runs.size(); ++i) {
    Run &run = records.runs[i];
    run.column = wanted.at<int64_t>(3 * i);
    run.first = wanted.at<int64_t>(3 * i + 1);
    run.end = wanted.at<int64_t>(3 * i + 2);
    run.kind = kinds.bytes()[i];
    if (!i || run.column != records.runs[i - 1].column) records.current.push_back(i);
  }
  size_t place = 0, invalid = 0;
  unlocked([&] {
    records.scan(static_cast<size_t>(size));
    place = invalid = records.fields.place();
    if (!records.is_ascii) invalid = find_invalid(content.bytes().substr(0, place), static_cast<size_t>(start));
  });
  PyObject *pieces = PyList_New(0);
  for (Run &run : records.runs) {
    PyObject *piece = pieces ? run.to_python() : nullptr;
    if (!piece || PyList_Append(pieces, piece)) Py_CLEAR(pieces);
    Py_XDECREF(piece);
  }
  if (!pieces) return nullptr;
  return Py_BuildValue("(nnLLNNNN)", static_cast<Py_ssize_t>(place), static_cast<Py_ssize_t>(invalid),
                       static_cast<long long>(records.width), static_cast<long long>(records.open),
                       to_bytes(records.marks), to_bytes(records.found), to_bytes(records.blank), pieces);
}

// ---- The module ----------------------------------------------------------------------------------------------------

PyMethodDef methods[] = {
    {"format_rows", guarded<format_rows>, METH_VARARGS, "Return the XML of rows of a worksheet."},
    {"round_doubles", guarded<round_doubles>, METH_VARARGS, "Return doubles rounded to some digits, and the digits."},
    // XML
    {"scan_rows", guarded<scan_cells<&Rows::scan_row>>, METH_VARARGS, "Return the cells of rows of a worksheet."},
    {"scan_table_rows", guarded<scan_cells<&Rows::scan_table_row>>, METH_VARARGS, "Return the cells of rows of .ods."},
    {"take_texts", guarded<take_texts>, METH_VARARGS, "Return texts by their places."},
    {"scan_strings", guarded<scan_strings>, METH_VARARGS, "Return the texts of string items."},
    // delimited text
    {"read_delimited", guarded<read_delimited>, METH_VARARGS, "Return runs of cells of columns, and an index of all fields."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef_Slot slots[] = {{0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_scan", "The compiled loops of sheetarray.", 0, methods, slots,
                          nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__scan() { return PyModuleDef_Init(&definition); }
