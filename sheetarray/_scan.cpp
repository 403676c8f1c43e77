// The compiled loops of sheetarray: over bytes of files, and over digits of numbers.
//
// No rule of the exchange format stands here, and no content raises an error: where a loop meets anything odd, it stops
// and says where, and Python's plain way takes over. Every byte is read through a `Cursor`, which knows its end. Memory
// grows with what was read, never with what a file says. Whoever calls has made sure that texts are UTF-8.
//
// Sections: results; columns of cells to rows of a worksheet; doubles; XML; worksheets and shared strings; tables of
// OpenDocument; delimited text; the module.

#include <Python.h>  // formats with `#` are not used: what they mean depends on the version of these headers

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
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
  explicit Cursor(string_view text, size_t place = 0) : text_(text), place_(std::min(place, text.size())) {}

  bool done() const { return place_ == text_.size(); }
  size_t place() const { return place_; }
  size_t left() const { return text_.size() - place_; }
  char peek(size_t ahead = 0) const { return ahead < left() ? text_[place_ + ahead] : '\0'; }
  string_view rest(size_t most = SIZE_MAX) const { return {text_.data() + place_, std::min(most, left())}; }
  string_view since(size_t start) const { return {text_.data() + start, place_ - start}; }  // not behind this place

  void skip(size_t count = 1) { place_ += std::min(count, left()); }
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

// Texts one after the other; the text i ends at `ends[i + 1]`.
struct TextColumn {
  std::vector<int64_t> ends{0};
  std::string bytes;
  const void *buffers[3] = {};  // as Arrow has them

  size_t size() const { return ends.size() - 1; }
  void add(string_view text) {
    bytes.append(text);
    ends.push_back(static_cast<int64_t>(bytes.size()));
  }
  void cut(size_t count) {
    ends.resize(count + 1);
    bytes.resize(static_cast<size_t>(ends.back()));
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

void release_schema(ArrowSchema *schema) { schema->release = nullptr; }
void release_array(ArrowArray *array) {
  delete static_cast<TextColumn *>(array->private_data);
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
  auto *kept = new TextColumn(std::move(texts));
  kept->buffers[1] = kept->ends.data();
  kept->buffers[2] = kept->bytes.data();
  const auto count = static_cast<int64_t>(kept->size());
  auto *schema = new ArrowSchema{"U", "", nullptr, 0, 0, nullptr, nullptr, release_schema, nullptr};
  auto *array = new ArrowArray{count, 0, 0, 3, 0, kept->buffers, nullptr, nullptr, release_array, kept};
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
  } catch (const std::invalid_argument &error) {
    return PyErr_Format(PyExc_ValueError, "%s", error.what());
  } catch (const std::exception &) {  // no memory, or a length beyond all memory
    return PyErr_NoMemory();
  }
}

// ---- Rows of a worksheet: columns of cells to XML ------------------------------------------------------------------

const size_t LONGEST_NUMBER = 64;  // characters: more than any number takes

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

char *put(char *at, string_view text) {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

// The values of some cells, in one form: the first layer of a segment that has a value for a cell writes it.
struct Layer {
  int kind = 0;  // d: doubles, of which NaN and infinities are no values; i: int64; v: texts as they are
  std::string before, after;
  Argument values;
  std::vector<string_view> texts;  // those of blanks have no data

  size_t size() const { return kind == 'v' ? texts.size() : values.count<double>(); }
};

// Some cells of one column, one under another.
struct Segment {
  std::string reference;  // the beginning of a cell, to the letters of the column
  Py_ssize_t above;       // rows
  std::vector<Layer> layers;
};

// Write the shortest text that reads back as a finite number; numbers from 1e-4 to 1e16 have no exponent, but a point.
char *put_number(char *at, double number) {
  const double size = std::fabs(number);
  const bool is_fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto format = is_fixed ? std::chars_format::fixed : std::chars_format::scientific;
  char *end = std::to_chars(at, at + LONGEST_NUMBER, number, format).ptr;
  if (!is_fixed || static_cast<double>(static_cast<int64_t>(number)) != number) return end;
  *end++ = '.';
  *end++ = '0';
  return end;
}

// Write a cell and return true; false where the layer has no value for it.
bool put_cell(Output *out, const Segment &segment, string_view row, const Layer &layer, size_t index) {
  const string_view text = layer.kind == 'v' ? layer.texts[index] : string_view("");
  const double number = layer.kind == 'd' ? layer.values.at<double>(index) : 0;
  if (!text.data() || !std::isfinite(number)) return false;
  char *at = out->reserve(segment.reference.size() + row.size() + layer.before.size() + text.size() + LONGEST_NUMBER +
                          layer.after.size());
  at = put(put(put(at, segment.reference), row), layer.before);
  if (layer.kind == 'd') at = put_number(at, number);
  else if (layer.kind == 'i') at = std::to_chars(at, at + LONGEST_NUMBER, layer.values.at<int64_t>(index)).ptr;
  else at = put(at, text);
  out->end_at(put(at, layer.after));
  return true;
}

// Write rows, the first of the number `first`; `attributes` are those of the first rows.
void put_rows(Output *out, size_t first, size_t count, const std::vector<string_view> &attributes,
              const std::vector<Segment> &segments) {
  for (size_t row = 0; row < count; ++row) {
    const std::string number = std::to_string(first + row);
    const string_view more = row < attributes.size() ? attributes[row] : "";
    char *at = put(out->reserve(more.size() + LONGEST_NUMBER), "<row r=\"");
    out->end_at(put(put(put(put(at, number), "\""), more), ">"));
    for (const Segment &segment : segments) {
      const size_t index = row - static_cast<size_t>(segment.above);  // beyond all cells in the rows above
      for (const Layer &layer : segment.layers)
        if (index < layer.size() && put_cell(out, segment, number, layer, index)) break;
    }
    out->end_at(put(out->reserve(LONGEST_NUMBER), "</row>"));
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
  const char *before, *after;
  PyObject *values;
  if (!PyArg_ParseTuple(tuple, "sCOs", &before, &layer->kind, &values, &after)) return false;
  layer->before = std::string("\"") + before;
  layer->after = after;
  if (!std::strchr("div", layer->kind)) throw std::invalid_argument("a layer of another kind");
  return layer->kind == 'v' ? read_texts(values, &layer->texts) : !PyObject_GetBuffer(values, &layer->values.view, 0);
}

bool read_segment(PyObject *tuple, Segment *segment) {
  const char *letters;
  PyObject *layers;
  if (!PyArg_ParseTuple(tuple, "snO!", &letters, &segment->above, &PyList_Type, &layers)) return false;
  if (segment->above < 0) throw std::invalid_argument("a negative number of rows");
  segment->reference = std::string("<c r=\"") + letters;
  segment->layers = std::vector<Layer>(static_cast<size_t>(PyList_Size(layers)));
  for (size_t i = 0; i < segment->layers.size(); ++i)
    if (!read_layer(PyList_GetItem(layers, static_cast<Py_ssize_t>(i)), &segment->layers[i])) return false;
  return true;
}

PyObject *format_rows(PyObject *arguments) {
  Py_ssize_t first, count;
  PyObject *attribute_list, *segment_list;
  std::vector<string_view> attributes;
  if (!PyArg_ParseTuple(arguments, "nnOO!", &first, &count, &attribute_list, &PyList_Type, &segment_list) ||
      !read_texts(attribute_list, &attributes))
    return nullptr;
  if (count < 0 || first < 0) throw std::invalid_argument("a negative number of rows");
  std::vector<Segment> segments(static_cast<size_t>(PyList_Size(segment_list)));
  for (size_t i = 0; i < segments.size(); ++i)
    if (!read_segment(PyList_GetItem(segment_list, static_cast<Py_ssize_t>(i)), &segments[i])) return nullptr;
  Output out;
  unlocked([&] { put_rows(&out, static_cast<size_t>(first), static_cast<size_t>(count), attributes, segments); });
  return to_bytes(string_view(out.bytes.get(), out.size));
}

// ---- Doubles: their digits ----------------------------------------------------------------------------------------

const int MOST_DIGITS = 17;  // of a double; two doubles that have the same so many digits are one

int64_t power_of_ten(int exponent) {
  int64_t power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

// Make `count` digits of a finite number that is not 0: |x| is about digits * 10^(exponent - count + 1). Return the number
// that they say; half up rounds the shortest text of the number, half even (as printf) the double itself.
double make_digits(double number, int count, bool half_up, int64_t *digits, int64_t *exponent) {
  char text[LONGEST_NUMBER + 1];
  const auto format = std::chars_format::scientific;
  const double size = std::fabs(number);
  char *end = half_up ? std::to_chars(text, text + LONGEST_NUMBER, size, format).ptr
                      : std::to_chars(text, text + LONGEST_NUMBER, size, format, count - 1).ptr;
  char *const mark = end[-4] == 'e' ? end - 4 : end - 5;  // of the exponent, which has two or three digits
  std::from_chars(mark + 1 + (mark[1] == '+'), end, *exponent);
  std::memset(mark == text + 1 ? mark + 1 : mark, '0', MOST_DIGITS - 1);  // the digits after the point are 16 now
  *digits = text[0] - '0';
  for (int i = 2; i < MOST_DIGITS; i += 4)
    *digits = *digits * 10000 + ((text[i] - '0') * 1000 + (text[i + 1] - '0') * 100 + (text[i + 2] - '0') * 10 + text[i + 3] - '0');
  if (count == MOST_DIGITS) return number;
  const int64_t unit = power_of_ten(MOST_DIGITS - count);
  *digits = (*digits + unit / 2) / unit;
  if (*digits == power_of_ten(count)) {
    *digits /= 10;
    ++*exponent;
  }
  end = std::to_chars(text, text + LONGEST_NUMBER, *digits).ptr;
  *end++ = 'e';
  end = std::to_chars(end, text + LONGEST_NUMBER, *exponent - count + 1).ptr;
  double rounded = 0;
  if (std::from_chars(text, end, rounded).ec == std::errc::result_out_of_range && *exponent > 0) rounded = HUGE_VAL;
  return std::copysign(rounded, number);
}

PyObject *round_doubles(PyObject *arguments) {
  Argument numbers;
  int count, half_up;
  if (!PyArg_ParseTuple(arguments, "y*ip", &numbers.view, &count, &half_up)) return nullptr;
  if (count < 1 || count > MOST_DIGITS) throw std::invalid_argument("a number of digits that is not 1 to 17");
  std::vector<double> rounded(numbers.count<double>());
  std::vector<int64_t> digits(rounded.size()), exponents(rounded.size());
  unlocked([&] {
    for (size_t i = 0; i < digits.size(); ++i) {
      const double number = rounded[i] = numbers.at<double>(i);
      if (std::isfinite(number) && number != 0) rounded[i] = make_digits(number, count, half_up, &digits[i], &exponents[i]);
    }
  });
  return Py_BuildValue("(NNN)", to_bytes(rounded), to_bytes(digits), to_bytes(exponents));
}

// ---- Numbers in text ----------------------------------------------------------------------------------------------

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Parse the number at the front of a text, which begins and ends with digits, and return its length; 0 where there is
// none, or `Number` does not hold it.
template <class Number>
size_t parse_number(string_view text, Number *number) {
  const size_t sign = !text.empty() && text.front() == '-';
  if (text.size() == sign || !is_digit(text[sign])) return 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), *number);
  return parsed.ec == std::errc() && is_digit(parsed.ptr[-1]) ? static_cast<size_t>(parsed.ptr - text.data()) : 0;
}

// Return a number in 1 to `most` digits; -1 for any other text.
int64_t parse_count(string_view text, size_t most) {
  int64_t number = text.empty() || text.size() > most ? -1 : 0;
  for (size_t i = 0; i < text.size() && number >= 0; ++i) number = is_digit(text[i]) ? number * 10 + (text[i] - '0') : -1;
  return number;
}

// ---- XML: tags, and text between them -----------------------------------------------------------------------------
// Each function passes what it is named after and returns true. It returns false where anything odd stands, or where the
// text breaks off; then the element that is being read counts as not read.

const size_t LONGEST_TEXT = 1u << 20;  // bytes of a cell's text
const size_t MOST_ATTRIBUTES = 16;

bool begins_name(string_view text) { return !text.empty() && (is_letter(text[0]) || text[0] == '_'); }
bool is_xml_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// What a character may be: one that asks for a closer look, for entities, line ends, what XML does not hold; white space
// but a blank; a part of a name.
enum Class : uint8_t { SPECIAL = 1, WHITE = 2, NAME = 4 };
struct Classes {
  uint8_t of[256] = {};
  constexpr Classes() {
    for (int c = 0; c < ' '; ++c) of[c] = c == '\t' || c == '\n' ? WHITE : SPECIAL;
    of[int('\r')] |= WHITE;
    of[int('&')] = of[int('<')] = of[int(']')] = of[0xEF] = SPECIAL;
    for (int c = 'a'; c <= 'z'; ++c) of[c] = of[c - 'a' + 'A'] = NAME;
    for (int c = '0'; c <= ':'; ++c) of[c] = NAME;
    of[int('_')] = of[int('.')] = of[int('-')] = NAME;
  }
};
constexpr Classes CLASSES;
int class_of(char c) { return CLASSES.of[static_cast<unsigned char>(c)]; }

void append_utf8(std::string *text, uint32_t code) {
  if (code < 0x80) return text->push_back(static_cast<char>(code));
  const int tails = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  const uint32_t lead[] = {0, 0xC0, 0xE0, 0xF0};
  text->push_back(static_cast<char>(lead[tails] | code >> (6 * tails)));
  for (int tail = tails - 1; tail >= 0; --tail) text->push_back(static_cast<char>(0x80 | (code >> (6 * tail) & 0x3F)));
}

// Append the character of an entity, and pass it; false where it is none of XML's own, or none that XML holds.
bool take_entity(Cursor *at, std::string *decoded) {
  static const std::pair<string_view, char> NAMED[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
  for (const auto &[entity, c] : NAMED)
    if (at->take(entity)) return decoded->push_back(c), true;
  const bool is_hex = at->take("&#x");
  if (!is_hex && !at->take("&#")) return false;
  uint32_t code = 0;
  const string_view digits = at->rest(8);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), code, is_hex ? 16 : 10);
  at->skip(static_cast<size_t>(parsed.ptr - digits.data()));
  const bool is_control = code < ' ' && !is_xml_space(static_cast<char>(code));
  if (parsed.ec != std::errc() || !at->take(';') || is_control || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) || (code | 1) == 0xFFFF) return false;
  append_utf8(decoded, code);
  return true;
}

// Append text without its entities and carriage returns; false where it is not well-formed, or may not be.
bool append_decoded(std::string *decoded, string_view text) {
  for (Cursor at(text); !at.done();) {
    const char c = at.peek();
    if (c == '&') {
      if (!take_entity(&at, decoded)) return false;
      continue;
    }
    const bool is_control = c >= 0 && c < ' ' && !is_xml_space(c);
    if (is_control || c == '<' || at.rest(3) == "]]>" || at.rest(2) == "\xEF\xBF") return false;
    at.skip();
    if (c == '\r') at.take('\n');
    decoded->push_back(c == '\r' ? '\n' : c);
  }
  return true;
}

class Markup {
 public:
  // `prefix` is that of all elements, as in `x:`; `prefixes` are all that are declared, as in ` r: x14ac:`.
  Markup(string_view text, size_t start, string_view prefix, string_view prefixes)
      : at(text, start), prefix_(prefix), prefixes_(prefixes) {}

  Cursor at;

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

  // Pass attributes and the end of a tag; `each(name, value)` returns false for what it does not know. A value is good
  // until the next one.
  template <class Each>
  bool attributes(bool *is_empty, Each each) {
    for (size_t count = 0;; ++count) {
      const size_t before = at.place();
      space();
      *is_empty = at.take('/');
      if (at.take('>')) return true;
      if (*is_empty || at.place() == before || count == MOST_ATTRIBUTES) return false;
      const size_t start = at.place();
      while (class_of(at.peek()) & NAME) at.skip();
      const string_view name = names_[count] = at.since(start);
      space();
      const bool is_short = name.size() == 1 && is_letter(name.front());  // as most are
      if ((!is_short && !is_declared(name)) || !at.take('=')) return false;
      for (size_t other = 0; other < count; ++other)
        if (names_[other].front() == name.front() && names_[other] == name) return false;
      space();
      const char quote = at.peek();
      if (!at.take('"') && !at.take('\'')) return false;
      const size_t begin = at.place();
      int classes = 0;
      for (; at.peek() != quote; at.skip()) {
        if (at.done()) return false;
        classes |= class_of(at.peek());
      }
      string_view value = at.since(begin);
      at.skip();
      if ((classes & WHITE) || ((classes & SPECIAL) && !decode(&value)) || !each(name, value)) return false;
    }
  }
  bool attributes(bool *is_empty) {
    return attributes(is_empty, [](string_view, string_view) { return true; });
  }

  // Pass text up to the next tag. It is good until the next text.
  bool characters(string_view *text) {
    const size_t start = at.place();
    if (!at.find('<')) return false;
    *text = at.since(start);
    int classes = 0;
    for (char c : *text) classes |= class_of(c);
    return text->size() <= LONGEST_TEXT && (!(classes & SPECIAL) || decode(text));
  }

  // Pass a string item or an inline string, `name`, of one text, from behind the name of its tag on.
  bool string_item(string_view name, string_view *text) {
    bool is_empty;
    *text = {};
    if (!attributes(&is_empty) || is_empty) return is_empty;
    if (opens("t")) {
      bool is_kept = false;  // white space at its ends
      const auto attribute = [&](string_view attribute, string_view value) {
        is_kept |= attribute == "xml:space" && value == "preserve";
        return true;
      };
      if (!attributes(&is_empty, attribute)) return false;
      if (!is_empty && (!characters(text) || !closes("t"))) return false;
      while (!is_kept && !text->empty() && is_xml_space(text->front())) text->remove_prefix(1);
      while (!is_kept && !text->empty() && is_xml_space(text->back())) text->remove_suffix(1);
    }
    return closes(name);
  }

 private:
  bool is_declared(string_view name) const {
    const size_t colon = name.find(':');
    if (colon == string_view::npos) return begins_name(name) && name != "xmlns";
    const string_view local = name.substr(colon + 1);
    const size_t place = prefixes_.find(name.substr(0, colon + 1));
    return begins_name(local) && local.find(':') == string_view::npos && place != string_view::npos && place &&
           prefixes_[place - 1] == ' ';
  }

  // Put a text without entities into `scratch_`.
  bool decode(string_view *text) {
    scratch_.clear();
    const bool is_sound = append_decoded(&scratch_, *text);
    *text = scratch_;
    return is_sound;
  }

  string_view prefix_, prefixes_, names_[MOST_ATTRIBUTES];
  std::string scratch_;
};

// ---- Worksheets and shared strings --------------------------------------------------------------------------------
// Source: ECMA-376 part 1, 18.3.1.73 (row), 18.3.1.4 (c), 18.3.1.40 (f), 18.4.8 (si), 22.9.2.19 (ST_Xstring).

const size_t FEWEST_BYTES = 24;    // of a cell, as a rule: room is made for so many cells at first
const size_t SHORT_FORMULA = 200;  // bytes
const int64_t MOST_COLUMNS = 16384;

enum Type : uint8_t { PLAIN, SHARED, RESULT, INLINE, LOGICAL, ERROR, ISO, ELAPSED };
enum Mark : uint8_t { FORMULA = 8, PENDING = 16, NUMERAL = 32 };  // added to types. NUMERAL: `number` has the value

const string_view TYPES[] = {"n", "s", "str", "inlineStr", "b", "e", "d"};  // by `Type`

// A cell that has a value or a formula. `reader/cells.py` has the same fields.
struct Cell {
  double number = 0;
  uint32_t row = 0, style = 0;  // of .ods, how often the cell stands in its row instead of the style
  uint16_t column = 0;
  uint8_t type = PLAIN;
};

class Rows {
 public:
  Rows(string_view text, size_t start, string_view prefix, string_view prefixes, int64_t after, int64_t most)
      : row(after - 1), markup(text, start, prefix, prefixes), most_(most) {}

  std::vector<Cell> cells;
  TextColumn texts, formulas;    // of each cell; of each one that is marked as a formula, "" for one that is not short
  std::vector<int64_t> repeats;  // rows of .ods that stand several times, and how often
  int64_t row;                   // the last one, from 0
  size_t end = 0;                // of the last whole row
  Markup markup;

  // Read rows by `scan_row`, a function of this class, until one is odd.
  template <bool (Rows::*scan_row)()>
  void scan() {
    cells.reserve(markup.at.left() / FEWEST_BYTES);
    texts.ends.reserve(cells.capacity());
    texts.bytes.reserve(markup.at.left() / 2);
    for (;;) {
      markup.space();
      end = markup.at.place();
      const size_t cells_before = cells.size(), texts_before = texts.size(), formulas_before = formulas.size();
      const int64_t above = row;
      if ((this->*scan_row)()) continue;
      cells.resize(cells_before);
      texts.cut(texts_before);
      formulas.cut(formulas_before);
      row = above;
      return;
    }
  }

  bool scan_row() {
    bool is_empty;
    int64_t number = row + 2;
    const auto attribute = [&](string_view name, string_view value) {
      if (name == "r") number = parse_count(value, 7);
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
  bool scan_item() {  // a shared string, which is no row
    string_view text;
    if (!markup.opens("si") || !markup.string_item("si", &text)) return false;
    texts.add(text);
    return true;
  }
  bool scan_table_row();

 private:
  int64_t most_, column_ = -1;

  // Take the column of a reference such as AB12, whose row must be the one at hand.
  bool take_reference(string_view reference) {
    int64_t column = 0;
    size_t letters = 0;
    for (; letters < reference.size() && letters < 4 && reference[letters] >= 'A' && reference[letters] <= 'Z'; ++letters)
      column = column * 26 + (reference[letters] - 'A' + 1);
    column_ = column - 1;
    return letters >= 1 && letters <= 3 && parse_count(reference.substr(letters), 7) == row + 1;
  }

  // Pass the content of `v` and its end, from behind the name of its tag on.
  bool scan_value(Cell *cell, bool *is_numeral, string_view *text) {
    bool is_closed;
    if (!markup.attributes(&is_closed) || is_closed) return is_closed;
    const string_view rest = markup.at.rest(LONGEST_TEXT);
    const bool may_be = cell->type == PLAIN || cell->type == SHARED || cell->type == LOGICAL;
    const size_t length = may_be ? parse_number(rest, &cell->number) : 0;
    *is_numeral = length && length < rest.size() && rest[length] == '<';
    if (*is_numeral) {
      *text = rest.substr(0, length);
      markup.at.skip(length);
    } else if (!markup.characters(text)) {
      return false;
    }
    return markup.closes("v");
  }

  // Pass the content of `f` and its end, from behind the name of its tag on.
  bool scan_formula() {
    bool is_empty, is_wide = false, is_own = true;
    string_view text;
    const auto attribute = [&](string_view name, string_view value) {
      is_own &= name == "aca";
      is_wide |= name == "t" && (value == "array" || value == "dataTable");
      return true;
    };
    if (!markup.attributes(&is_empty, attribute) || is_wide) return false;
    if (!is_empty && (!markup.characters(&text) || !markup.closes("f"))) return false;
    add_formula(is_own ? text : "");
    return true;
  }
  void add_formula(string_view text) { formulas.add(text.size() > SHORT_FORMULA ? "" : text); }

  void add(Cell cell, string_view text, bool has_formula, bool has_value, bool is_numeral) {
    cell.row = static_cast<uint32_t>(row);
    cell.column = static_cast<uint16_t>(column_);
    cell.type |= (has_formula ? FORMULA : 0) | (has_value ? 0 : PENDING) | (is_numeral ? NUMERAL : 0);
    texts.add(text);
    cells.push_back(cell);
  }

  bool scan_cell() {
    Cell cell;
    bool is_empty, has_value = false, has_formula = false, is_numeral = false;
    string_view text;
    ++column_;
    const auto attribute = [&](string_view name, string_view value) {
      const char key = name.size() == 1 ? name.front() : '\0';
      if (key == 'r') return take_reference(value);
      if (key == 't') cell.type = static_cast<uint8_t>(std::find(std::begin(TYPES), std::end(TYPES), value) - TYPES);
      const int64_t style = key == 's' ? parse_count(value, 7) : cell.style;
      cell.style = static_cast<uint32_t>(style);
      return style >= 0 && cell.type < std::size(TYPES);
    };
    if (!markup.attributes(&is_empty, attribute) || column_ >= MOST_COLUMNS) return false;
    if (!is_empty) {
      has_formula = markup.opens("f");
      if (has_formula && !scan_formula()) return false;
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
    if (has_value || has_formula) add(cell, text, has_formula, has_value, is_numeral);
    return true;
  }

  bool scan_table_cell(string_view name);
  std::string value_;  // of a cell of .ods
};

template <bool (Rows::*scan_row)()>
PyObject *scan_cells(PyObject *arguments) {
  Argument text, prefix, prefixes;
  Py_ssize_t start;
  long long after, most;
  if (!PyArg_ParseTuple(arguments, "y*ny*y*LL", &text.view, &start, &prefix.view, &prefixes.view, &after, &most))
    return nullptr;
  if (start < 0) throw std::invalid_argument("a start before the text");
  Rows rows(text.bytes(), static_cast<size_t>(start), prefix.bytes(), prefixes.bytes(), after, most);
  unlocked([&] { rows.scan<scan_row>(); });
  return Py_BuildValue("(nLNNNN)", static_cast<Py_ssize_t>(rows.end), static_cast<long long>(rows.row + 1),
                       to_bytes(rows.cells), to_texts(std::move(rows.texts)), to_texts(std::move(rows.formulas)),
                       to_bytes(rows.repeats));
}

// ---- Tables of OpenDocument ---------------------------------------------------------------------------------------
// Source: OASIS OpenDocument 1.3 part 3, 9.1 (tables), 6.1.1 (white space), 19.385 (values).

struct ValueType {
  string_view name, attribute;
  Type type;
};
const ValueType VALUE_TYPES[] = {{"float", "office:value", PLAIN},          {"string", "office:string-value", RESULT},
                                 {"date", "office:date-value", ISO},        {"boolean", "office:boolean-value", LOGICAL},
                                 {"percentage", "office:value", PLAIN},     {"currency", "office:value", PLAIN},
                                 {"time", "office:time-value", ELAPSED}};

// Pass a cell, of which `name` has been passed.
bool Rows::scan_table_cell(string_view name) {
  static const ValueType NONE{"", "", RESULT};
  const ValueType *type = &NONE;
  Cell cell;
  bool is_empty, has_formula = false, has_text = false;
  string_view text, value_name;
  int64_t times = 1;
  const auto attribute = [&](string_view key, string_view value) {
    if (key == "office:value-type") {
      type = std::find_if(std::begin(VALUE_TYPES), std::end(VALUE_TYPES), [&](auto &one) { return one.name == value; });
      return type != std::end(VALUE_TYPES);
    }
    if (key == "table:number-columns-repeated") return (times = parse_count(value, 9)) >= 0;
    if (key == "table:number-matrix-rows-spanned" || key == "table:number-matrix-columns-spanned") return false;
    if (key == "table:formula" && !value.empty()) {
      has_formula = true;
      add_formula(value);
    }
    if (key.substr(0, 7) == "office:" && key.substr(key.size() - 5) == "value") {
      if (!value_name.empty()) return false;
      value_name = key;
      value_ = value;
    }
    return key != "calcext:value-type" || value != "error";
  };
  if (!markup.attributes(&is_empty, attribute)) return false;
  if (!is_empty) {
    has_text = markup.opens("text:p");
    if (has_text && !markup.attributes(&is_empty)) return false;
    if (has_text && !is_empty && (!markup.characters(&text) || !markup.closes("text:p"))) return false;
    if (!markup.closes(name) || text.find_first_of("\t\n\r") != string_view::npos) return false;
    if (has_formula && !text.empty() && (text.front() == '#' || text.front() == 'E')) return false;  // an error, perhaps
  }
  string_view value;
  bool has_value = type == &NONE ? has_text && (has_formula || !text.empty()) : type->type == RESULT;
  if (has_value) value = text;
  if (type != &NONE && value_name == type->attribute) {
    has_value = true;
    value = value_;
    if (type->type == LOGICAL) value = value == "true" ? "1" : value == "false" ? "0" : value;
  }
  times += times == 0;
  if (has_value || has_formula) {
    if (column_ + times > MOST_COLUMNS || row >= most_) return false;
    const bool is_numeral = (type->type == PLAIN || type->type == LOGICAL) && !value.empty() &&
                            parse_number(value, &cell.number) == value.size();
    cell.type = type->type;
    cell.style = static_cast<uint32_t>(times);
    add(cell, value, has_formula, has_value, is_numeral);
  }
  column_ += times;
  return true;
}

bool Rows::scan_table_row() {
  bool is_empty;
  int64_t times = 1;
  const size_t before = cells.size();
  const auto attribute = [&](string_view name, string_view value) {
    if (name == "table:number-rows-repeated") times = parse_count(value, 9);
    return times >= 0;
  };
  if (!markup.opens("table:table-row") || !markup.attributes(&is_empty, attribute)) return false;
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
  Stop stop() const { return stop_; }
  size_t begin() const { return begin_; }  // of the field, its quote included
  bool open() const { return open_; }      // a quote opens the field, and is never closed

  void next() {
    begin_ = cursor_.place();
    open_ = false;
    quoted_ = cursor_.take('"');
    if (quoted_) {
      value_.clear();
      for (size_t start = cursor_.place();; start = cursor_.place()) {
        open_ = !cursor_.find('"');
        if (open_) cursor_.skip(cursor_.left());
        value_.append(cursor_.since(start));
        cursor_.skip();
        if (open_ || !cursor_.take('"')) break;
        value_ += '"';
      }
    }
    const size_t start = cursor_.place();
    while (cursor_.left() >= 8 && !has_stop(cursor_.rest(8))) cursor_.skip(8);
    while (!cursor_.done() && !is_stop(cursor_.peek())) cursor_.skip();
    plain_ = cursor_.since(start);
    if (quoted_) value_.append(plain_);
    pass_stop();
  }

  // Pass a field of so many bytes, none of them a quote or a stop, and return true; false where it goes on behind them.
  bool next(size_t length) {
    if (length < cursor_.left() && !is_stop(cursor_.peek(length))) return false;
    cursor_.skip(length);
    pass_stop();
    return true;
  }

  string_view rest() const { return cursor_.rest(); }

  // The text of the field; it is good until the next one.
  string_view value() const { return quoted_ ? string_view(value_) : plain_; }

 private:
  void pass_stop() {
    const char unit = cursor_.peek();
    stop_ = cursor_.done() ? Stop::end : unit == '\n' || unit == '\r' ? Stop::line : Stop::mark;
    cursor_.skip();
    if (unit == '\r') cursor_.take('\n');
  }
  bool is_stop(char unit) const { return unit == stops_[0] || unit == stops_[1] || unit == stops_[2]; }
  bool has_stop(string_view eight) const {  // eight bytes are compared at once
    uint64_t units;
    std::memcpy(&units, eight.data(), 8);
    const auto has = [units](uint64_t stop) { return ((units ^ stop) - ONES) & ~(units ^ stop); };
    return (has(eights_[0]) | has(eights_[1]) | has(eights_[2])) & (ONES << 7);
  }

  static constexpr uint64_t ONES = 0x0101010101010101u;
  Cursor cursor_;
  char stops_[3];
  uint64_t eights_[3];  // each of the stops eight times
  size_t begin_ = 0;
  string_view plain_;  // of a field without quotes
  std::string value_;  // of one with quotes
  bool quoted_ = false, open_ = false;
  Stop stop_ = Stop::end;
};

// Return whether a text is white space alone, as Python's `str.strip` knows it.
bool is_white(string_view text) {
  static const string_view WIDE[] = {
      "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81", "\xE2\x80\x82", "\xE2\x80\x83",
      "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86", "\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A",
      "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"};
  for (Cursor at(text); !at.done();) {
    const char unit = at.peek();
    if (unit == ' ' || (unit >= '\t' && unit <= '\r') || (unit >= '\x1c' && unit <= '\x1f')) at.skip();
    else if (unit > 0 || std::none_of(std::begin(WIDE), std::end(WIDE), [&](string_view wide) { return at.take(wide); }))
      return false;
  }
  return true;
}

bool equals_word(string_view text, string_view word) {  // the word is in lower case
  return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                    [](char a, char b) { return is_letter(a) && (a | ' ') == b; });
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
  // Return the index of the word that a cell holds between white space, or -1.
  int64_t find(string_view cell) const {
    size_t first = 0, end = cell.size();
    if (end < 4 || !initials || (is_letter(cell[0]) && !(initials >> (cell[0] & 31) & 1)) || is_digit(cell[0])) return -1;
    while (first < end && !is_letter(cell[first])) ++first;
    while (end > first && !is_letter(cell[end - 1])) --end;
    for (size_t index = 0; index < words.size(); ++index)
      if (equals_word(cell.substr(first, end - first), words[index]))
        return is_white(cell.substr(0, first)) && is_white(cell.substr(end)) ? static_cast<int64_t>(index) : -1;
    return -1;
  }
};

// A run of cells of one column: `kind` is t for text, s for those texts that are not blank, with their rows; d, f, i, u
// for doubles, floats, integers and unsigned ones, b for booleans. A column of those ends at the first cell that is none.
struct Run {
  long long column, first, end;
  int kind;
  TextColumn texts;
  std::vector<int64_t> rows;
  std::vector<int64_t> numbers;  // the bits of each
  int64_t blanks = 0;  // below the numbers
  bool failed = false;

  bool is_text() const { return kind == 't' || kind == 's'; }

  void add(int64_t row, string_view text, bool comma) {
    if (is_text()) {
      if (kind == 's' && text.empty()) return;
      texts.add(text);
      if (kind == 's') rows.push_back(row);
    } else if (text.empty()) {
      ++blanks;
    } else if (!failed) {
      std::string other;
      for (char unit : text.substr(0, comma ? LONGEST_NUMBER : 0)) other += unit == ',' ? '.' : unit == '.' ? ',' : unit;
      failed = blanks || add_number(comma ? string_view(other) : text) != text.size();
    }
  }
  // Add the number at the front of a text, and return its length; 0 where there is none.
  size_t add_number(string_view text) {
    if (kind == 'd') return keep<double>(text);
    if (kind == 'f') return keep<float, double>(text);
    if (kind == 'i') return keep<int64_t>(text);
    if (kind == 'u') return keep<uint64_t>(text);
    const bool truth = equals_word(text.substr(0, 4), "true");
    numbers.push_back(truth);
    return truth ? 4 : equals_word(text.substr(0, 5), "false") ? 5 : 0;
  }
  PyObject *to_python() {
    if (failed) return Py_NewRef(Py_None);
    if (kind == 't') return to_texts(std::move(texts));
    if (kind == 's') return Py_BuildValue("(NN)", to_bytes(rows), to_texts(std::move(texts)));
    return Py_BuildValue("(NL)", to_bytes(numbers), static_cast<long long>(blanks));
  }

 private:
  // Add a number; NaN and infinities are numbers of doubles and floats. Return its length, or 0 where there is none.
  template <class Number, class Kept = Number>
  size_t keep(string_view text) {
    Number number = 0;
    size_t length = parse_number(text, &number);
    if (!length && std::is_floating_point<Number>::value) {
      const size_t sign = text.front() == '-';
      const bool is_infinite = text.compare(sign, 8, "Infinity") == 0;
      number = is_infinite ? std::numeric_limits<Number>::infinity() : std::numeric_limits<Number>::quiet_NaN();
      if (sign) number = -number;
      length = is_infinite ? sign + 8 : text.compare(0, 3, "NaN") == 0 ? 3 : 0;
    }
    const Kept kept = number;
    int64_t bits;
    std::memcpy(&bits, &kept, sizeof bits);
    if (length) numbers.push_back(bits);
    return length;
  }
};

const size_t NEAR = 4096;  // bytes between the beginnings of records that are noted

// Goes over whole records, collects runs of cells, which are sorted by column, and notes what must be known of a text.
struct Records {
  Records(Fields &&content, int64_t first_row, string_view names, bool has_comma, int mark)
      : fields(content), row(first_row), words(names), comma(has_comma), in_place(!has_comma && mark != '.') {}

  Fields fields;
  int64_t row;
  Words words;
  bool comma, in_place;          // whether decimals have a comma; whether numbers can be parsed before their ends are known
  std::vector<Run> runs;
  std::vector<size_t> current;   // the run of each wanted column that no row has passed yet
  std::vector<int64_t> marks;    // rows, and the places at which they begin: one in every few kilobytes
  std::vector<int64_t> found;    // cells that hold a word: their rows, columns and the words
  std::vector<int64_t> blank;    // rows of one cell, which is blank
  int64_t width = 0, open = -1;  // cells of the widest row; the place of a quote that is never closed

  // Return the run to which a cell of the row belongs, or null; `next` is the index of the next wanted column.
  Run *find_run(size_t next) {
    size_t &now = current[next];
    while (row >= runs[now].end && now + 1 < runs.size() && runs[now + 1].column == runs[now].column) ++now;
    return row >= runs[now].first && row < runs[now].end ? &runs[now] : nullptr;
  }

  // Pass a field if it is a number of a run, and return true; false, with no step taken, for any other one.
  bool take_number(Run *run) {
    if (!run || !in_place || run->is_text() || run->failed || run->blanks || fields.done()) return false;
    const size_t before = run->numbers.size(), length = run->add_number(fields.rest());
    if (length && fields.next(length)) return true;
    run->numbers.resize(before);
    return false;
  }

  void take_field(Run *run, int64_t column) {
    fields.next();
    const string_view cell = run || words.initials || !column ? fields.value() : "";
    if (run) run->add(row, cell, comma);
    const int64_t word = words.find(cell);
    if (word >= 0) found.insert(found.end(), {row, column, word});
    if (fields.open()) open = static_cast<int64_t>(fields.begin());
    if (!column && fields.stop() != Stop::mark && is_white(cell)) blank.push_back(row);
  }

  void take_record() {
    int64_t column = 0;
    size_t next = 0;
    do {
      Run *run = next < current.size() && runs[current[next]].column == column ? find_run(next++) : nullptr;
      if (!take_number(run)) take_field(run, column);
      ++column;
    } while (fields.stop() == Stop::mark);
    for (; next < current.size(); ++next)
      if (Run *run = find_run(next)) run->add(row, {}, comma);
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
  Argument content, names;
  Py_ssize_t start, size, row;
  int mark, comma;
  PyObject *runs;
  if (!PyArg_ParseTuple(arguments, "y*ninny*O!p", &content.view, &start, &mark, &size, &row, &names.view, &PyList_Type,
                        &runs, &comma))
    return nullptr;
  Records records(Fields(content.bytes(), static_cast<size_t>(start), mark), row, names.bytes(), comma, mark);
  records.runs = std::vector<Run>(static_cast<size_t>(PyList_Size(runs)));
  for (size_t i = 0; i < records.runs.size(); ++i) {
    Run &run = records.runs[i];
    PyObject *tuple = PyList_GetItem(runs, static_cast<Py_ssize_t>(i));
    if (!PyArg_ParseTuple(tuple, "LLLC", &run.column, &run.first, &run.end, &run.kind)) return nullptr;
    if (!i || run.column != records.runs[i - 1].column) records.current.push_back(i);
  }
  unlocked([&] { records.scan(static_cast<size_t>(size)); });
  PyObject *pieces = PyList_New(0);
  for (Run &run : records.runs) {
    PyObject *piece = pieces ? run.to_python() : nullptr;
    if (!piece || PyList_Append(pieces, piece)) Py_CLEAR(pieces);
    Py_XDECREF(piece);
  }
  if (!pieces) return nullptr;
  return Py_BuildValue("(nLLNNNN)", static_cast<Py_ssize_t>(records.fields.place()),
                       static_cast<long long>(records.width), static_cast<long long>(records.open),
                       to_bytes(records.marks), to_bytes(records.found), to_bytes(records.blank), pieces);
}

// ---- The module ----------------------------------------------------------------------------------------------------
// The number in its documentation is that of `loops.LOOPS`: it changes with what a function takes or returns.

PyMethodDef methods[] = {
    {"format_rows", guarded<format_rows>, METH_VARARGS, "Return the XML of rows of a worksheet."},
    {"round_doubles", guarded<round_doubles>, METH_VARARGS, "Return doubles rounded to some digits, and the digits."},
    {"scan_rows", guarded<scan_cells<&Rows::scan_row>>, METH_VARARGS, "Return the cells of rows of a worksheet."},
    {"scan_strings", guarded<scan_cells<&Rows::scan_item>>, METH_VARARGS, "Return the texts of string items."},
    {"scan_table_rows", guarded<scan_cells<&Rows::scan_table_row>>, METH_VARARGS, "Return the cells of rows of .ods."},
    {"read_delimited", guarded<read_delimited>, METH_VARARGS, "Return runs of cells of columns, and an index of all fields."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef_Slot slots[] = {{0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_scan", "The compiled loops of sheetarray, 2", 0, methods, slots,
                          nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__scan() { return PyModuleDef_Init(&definition); }
