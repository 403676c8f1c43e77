// The compiled loops of sheetarray: over bytes of files, and over digits of numbers.
//
// No rule of the exchange format stands here, and no content raises an error: where a loop meets anything odd, it stops
// and says where, and Python's plain way takes over. Every byte is read through a `Cursor`, which knows its end. Memory
// grows with what was read, never with what a file says. Whoever calls has made sure that texts are UTF-8.
//
// Sections: results; doubles; columns of cells to rows of a worksheet; XML; worksheets and shared strings; tables of
// OpenDocument; delimited text; the module. What makes digits, and reads them, stands in `_digits.hpp`.

#include <Python.h>  // formats with `#` are not used: what they mean depends on the version of these headers

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "_digits.hpp"

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
  [[gnu::always_inline]] bool take(string_view wanted) {  // so that literals are compared in one step
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

// Return texts without a copy of them, as `loops.to_series` takes them: views of them, and what keeps them alive.
PyObject *to_texts(TextColumn &&texts) {
  auto *kept = new TextColumn(std::move(texts));
  const auto release = [](PyObject *owner) { delete static_cast<TextColumn *>(PyCapsule_GetPointer(owner, nullptr)); };
  const auto size = static_cast<Py_ssize_t>(kept->bytes.size());
  const auto ends_size = static_cast<Py_ssize_t>(kept->ends.size() * sizeof(int64_t));
  return Py_BuildValue("(NNN)", PyCapsule_New(kept, nullptr, release),
                       PyMemoryView_FromMemory(reinterpret_cast<char *>(kept->ends.data()), ends_size, PyBUF_READ),
                       PyMemoryView_FromMemory(kept->bytes.data(), size, PyBUF_READ));
}

// The bytes of an argument, released at the end of the call.
struct Argument {
  Py_buffer view{};
  ~Argument() {
    if (view.obj) PyBuffer_Release(&view);
  }
  string_view bytes() const { return {static_cast<const char *>(view.buf), static_cast<size_t>(view.len)}; }
  size_t count() const { return bytes().size() / 8; }  // items of eight bytes
  template <class Item>
  Item at(size_t index) const {
    Item item;
    std::memcpy(&item, static_cast<const char *>(view.buf) + index * sizeof(Item), sizeof(Item));
    return item;
  }
};

// Read the items of a list by `read`, which returns false after an exception of Python, and return whether there is none.
template <class Item>
bool read_list(PyObject *list, std::vector<Item> *items, bool (*read)(PyObject *, Item *)) {
  const Py_ssize_t size = PyList_Size(list);
  if (size >= 0) *items = std::vector<Item>(static_cast<size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i)
    if (!read(PyList_GetItem(list, i), &(*items)[static_cast<size_t>(i)])) return false;
  return size >= 0;
}

// Read a text, which lives as long as its object; None has no data.
bool read_text(PyObject *object, string_view *text) {
  if (object == Py_None) return true;
  Py_ssize_t size = 0;
  const char *data = PyUnicode_AsUTF8AndSize(object, &size);
  if (data) *text = {data, static_cast<size_t>(size)};
  return data;
}

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

// ---- Doubles: their digits ----------------------------------------------------------------------------------------

PyObject *round_doubles(PyObject *arguments) {
  Argument numbers;
  int count, half_up;
  if (!PyArg_ParseTuple(arguments, "y*ip", &numbers.view, &count, &half_up)) return nullptr;
  if (count < 1 || count > MOST_DIGITS) throw std::invalid_argument("a number of digits that is not 1 to 17");
  std::vector<double> rounded(numbers.count());
  std::vector<int64_t> digits(rounded.size()), exponents(rounded.size());
  unlocked([&] {
    for (size_t i = 0; i < digits.size(); ++i) {
      const double number = rounded[i] = numbers.at<double>(i);
      if (std::isfinite(number) && number != 0) rounded[i] = make_digits(number, count, half_up, &digits[i], &exponents[i]);
    }
  });
  return Py_BuildValue("(NNN)", to_bytes(rounded), to_bytes(digits), to_bytes(exponents));
}

// ---- Rows of a worksheet: columns of cells to XML ------------------------------------------------------------------

const size_t USUAL_BLOCK = 1u << 20;  // bytes of the rows that a call makes

// A short text that is written many times.
struct Piece {
  char bytes[LONGEST_NUMBER] = {};
  size_t size = 0;

  string_view text() const { return {bytes, size}; }
  void operator=(string_view text) {
    if (text.size() > sizeof bytes) throw std::invalid_argument("a text around values that is too long");
    size = text.copy(bytes, sizeof bytes);
  }
};

// The values of some cells of one column, one under another, in one form.
struct Layer {
  Piece reference, before, after;  // the beginning of a cell, to the letters of the column; what stands around the value
  Py_ssize_t above;                // rows
  bool is_first = true;            // of its column
  int kind = 0;  // d: doubles, of which NaN and infinities are no values; i: int64; v: texts as they are
  Argument values;
  std::vector<string_view> texts;  // those of blanks have no data

  size_t size() const { return kind == 'v' ? texts.size() : values.count(); }
};

char *put(char *at, const Piece &piece) {  // all bytes at once, those behind the text too: they are written over
  std::memcpy(at, piece.bytes, sizeof piece.bytes);
  return at + piece.size;
}

// Write rows, the first of the number `first`; `attributes` are those of the first rows. Layers of one column follow each
// other: the first one that has a value for a cell writes it.
void put_rows(std::string *out, size_t first, size_t count, const std::vector<string_view> &attributes,
              const std::vector<Layer> &layers) {
  char *at = out->data();
  const auto make_room = [&](size_t size) {  // for texts of this size, four pieces, and two numbers
    const size_t used = static_cast<size_t>(at - out->data()), most = size + 6 * LONGEST_NUMBER;
    if (out->size() - used < most) out->resize(2 * out->size() + most);
    at = out->data() + used;
  };
  Piece number;
  for (size_t row = 0; row < count; ++row) {
    number.size = static_cast<size_t>(std::to_chars(number.bytes, number.bytes + LONGEST_NUMBER, first + row).ptr - number.bytes);
    const string_view more = row < attributes.size() ? attributes[row] : "";
    make_room(more.size());
    at = put(put(put(put(put(at, "<row r=\""), number), "\""), more), ">");
    bool is_written = false;
    for (const Layer &layer : layers) {
      is_written &= !layer.is_first;
      const size_t index = row - static_cast<size_t>(layer.above);  // beyond all cells in the rows above
      if (is_written || index >= layer.size()) continue;
      const string_view text = layer.kind == 'v' ? layer.texts[index] : string_view("");
      const double value = layer.kind == 'd' ? layer.values.at<double>(index) : 0;
      if (!text.data() || !std::isfinite(value)) continue;
      is_written = true;
      make_room(text.size());
      at = put(put(put(at, layer.reference), number), layer.before);
      if (layer.kind == 'd') at = put_number(at, value);
      else if (layer.kind == 'i') at = std::to_chars(at, at + LONGEST_NUMBER, layer.values.at<int64_t>(index)).ptr;
      else at = put(at, text);
      at = put(at, layer.after);
    }
    at = put(at, "</row>");
  }
  out->resize(static_cast<size_t>(at - out->data()));
}

bool read_layer(PyObject *tuple, Layer *layer) {
  const char *reference, *before, *after;
  PyObject *values;
  if (!PyArg_ParseTuple(tuple, "snsCOs", &reference, &layer->above, &before, &layer->kind, &values, &after)) return false;
  if (layer->above < 0) throw std::invalid_argument("a negative number of rows");
  if (!std::strchr("div", layer->kind)) throw std::invalid_argument("a layer of another kind");
  layer->reference = reference;
  layer->before = before;
  layer->after = after;
  return layer->kind == 'v' ? read_list(values, &layer->texts, read_text)
                            : !PyObject_GetBuffer(values, &layer->values.view, 0);
}

PyObject *format_rows(PyObject *arguments) {
  Py_ssize_t first, count;
  PyObject *attribute_list, *layer_list;
  std::vector<string_view> attributes;
  std::vector<Layer> layers;
  if (!PyArg_ParseTuple(arguments, "nnOO", &first, &count, &attribute_list, &layer_list) ||
      !read_list(attribute_list, &attributes, read_text) || !read_list(layer_list, &layers, read_layer))
    return nullptr;
  if (count < 0 || first < 0) throw std::invalid_argument("a negative number of rows");
  for (size_t i = 1; i < layers.size(); ++i) layers[i].is_first = layers[i].reference.text() != layers[i - 1].reference.text();
  const size_t cells = static_cast<size_t>(count) * (layers.size() + 1);
  std::string out(std::min(cells * LONGEST_NUMBER, USUAL_BLOCK), '\0');
  unlocked([&] { put_rows(&out, static_cast<size_t>(first), static_cast<size_t>(count), attributes, layers); });
  return to_bytes(out);
}

// ---- XML: tags, and text between them -----------------------------------------------------------------------------
// Each function passes what it is named after and returns true. It returns false where anything odd stands, or where the
// text breaks off; then the element that is being read counts as not read.

const size_t LONGEST_TEXT = 1u << 20;  // bytes of a cell's text
const size_t MOST_ATTRIBUTES = 16;

bool is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
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

// Append the character of an entity that has a name, and pass it; false for any other one.
bool take_entity(Cursor *at, std::string *decoded) {
  static const std::pair<string_view, char> NAMED[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
  for (const auto &[entity, c] : NAMED)
    if (at->take(entity)) return decoded->push_back(c), true;
  return false;
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
    if (c == '\r') at.take("\n");
    decoded->push_back(c == '\r' ? '\n' : c);
  }
  return true;
}

class Markup {
 public:
  // `prefix` is that of all elements, as in `x:`; `prefixes` are those of attributes, as in ` r: x14ac:`.
  Markup(string_view text, size_t start, string_view prefix, string_view prefixes)
      : at(text, start), prefix_(prefix), prefixes_(prefixes) {}

  Cursor at;

  void space() {
    while (is_xml_space(at.peek())) at.skip();
  }

  // Pass white space and the name of an element's tag; false, before the tag, where another one stands. A name that goes on
  // is seen where its attributes are to begin.
  template <class Name>
  bool opens(const Name &name) { return begins("<", name); }
  template <class Name>
  bool closes(const Name &name) {
    if (!begins("</", name)) return false;
    space();
    return at.take(">");
  }

  // Pass attributes and the end of a tag; `each(name, value)` returns false for what it does not know. A value is good
  // until the next one. `is_empty` says nothing where this returns false.
  template <class Each>
  bool attributes(bool *is_empty, Each each) {
    for (size_t count = 0;; ++count) {
      const size_t before = at.place();
      space();
      *is_empty = at.take("/");
      if (at.take(">")) return true;
      if (*is_empty || at.place() == before || count == MOST_ATTRIBUTES) return false;
      const size_t start = at.place();
      while (class_of(at.peek()) & NAME) at.skip();
      const string_view name = at.since(start);
      space();
      const bool is_short = name.size() == 1 && is_letter(name.front());  // as most are
      if ((!is_short && !is_known(name, count)) || !at.take("=")) return false;
      names_[count] = name;
      for (size_t other = 0; other < count; ++other)
        if (names_[other].front() == name.front() && names_[other] == name) return false;
      space();
      const char quote = at.peek();
      if (!at.take("\"") && !at.take("'")) return false;
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
    if (!attributes(&is_empty)) return false;
    if (is_empty) return true;
    if (opens("t")) {
      bool is_kept = false;  // white space at its ends
      const auto attribute = [&](string_view attribute, string_view value) {
        is_kept |= attribute == "xml:space" && value == "preserve";
        return true;
      };
      if (!attributes(&is_empty, attribute)) return false;
      if (!is_empty && (!characters(text) || !closes("t"))) return false;
      if (!is_kept && !text->empty() && (is_xml_space(text->front()) || is_xml_space(text->back()))) return false;
    }
    return closes(name);
  }

 private:
  template <class Mark, class Name>
  bool begins(const Mark &mark, const Name &name) {
    space();
    Cursor ahead = at;
    if (!ahead.take(mark) || (!prefix_.empty() && !ahead.take(prefix_)) || !ahead.take(name)) return false;
    at = ahead;
    return true;
  }

  // Return whether a name is that of the tag before, or one that XML takes; within the loop, it would crowd out others.
  [[gnu::noinline]] bool is_known(string_view name, size_t count) const {
    return !name.empty() && (name == names_[count] || is_declared(name));
  }

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

  [[gnu::flatten]] bool scan_row() {  // what it calls stands in it, so that places are in registers: a quarter less time
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
  bool scan_value(Cell *cell, string_view *text) {
    bool is_closed;
    if (!markup.attributes(&is_closed)) return false;
    if (is_closed) return true;
    const string_view rest = markup.at.rest(LONGEST_TEXT);
    const bool may_be = cell->type == PLAIN || cell->type == SHARED || cell->type == LOGICAL;
    const size_t length = may_be ? parse_number(rest, &cell->number) : 0;
    if (length && length < rest.size() && rest[length] == '<') {
      cell->type |= NUMERAL;
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

  void add(Cell cell, string_view text, bool has_formula, bool has_value) {
    cell.row = static_cast<uint32_t>(row);
    cell.column = static_cast<uint16_t>(column_);
    cell.type |= (has_formula ? FORMULA : 0) | (has_value ? 0 : PENDING);
    texts.add(text);
    cells.push_back(cell);
  }

  bool scan_cell() {
    Cell cell;
    bool is_empty, has_value = false, has_formula = false;
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
      has_value = markup.opens("v");
      const bool is_inline = !has_value && cell.type == INLINE && markup.opens("is");
      if (has_value && !scan_value(&cell, &text)) return false;
      if (is_inline && !markup.string_item("is", &text)) return false;
      has_value = is_inline || (has_value && (!text.empty() || cell.type == RESULT || cell.type == INLINE));
      if (!markup.closes("c")) return false;
    }
    if (has_value || has_formula) add(cell, text, has_formula, has_value);
    return true;
  }

  bool scan_table_cell();
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

// Pass a cell, from behind the name of its tag on.
bool Rows::scan_table_cell() {
  static const ValueType NONE{"", "", RESULT};
  const ValueType *type = &NONE;
  Cell cell;
  bool is_empty, has_formula = false, has_text = false, is_given = false;
  string_view text;
  std::string given;
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
    if (key == type->attribute) {
      is_given = true;
      given = value;
    } else if (key.substr(0, 7) == "office:" && key != "office:currency") {
      return false;  // a value before its type, or of another one
    }
    return key != "calcext:value-type" || value != "error";
  };
  if (!markup.attributes(&is_empty, attribute)) return false;
  if (!is_empty) {
    has_text = markup.opens("text:p");
    if (has_text && !markup.attributes(&is_empty)) return false;
    if (has_text && !is_empty && (!markup.characters(&text) || !markup.closes("text:p"))) return false;
    if (!markup.closes("table:table-cell") || text.find_first_of("\t\n\r") != string_view::npos) return false;
    if (has_formula && !text.empty() && (text.front() == '#' || text.front() == 'E')) return false;  // an error, perhaps
  }
  const bool may_be_text = type == &NONE ? has_text && (has_formula || !text.empty()) : type->type == RESULT;
  const bool has_value = is_given || may_be_text;
  string_view value = is_given ? string_view(given) : may_be_text ? text : "";
  if (type->type == LOGICAL) value = value == "true" ? "1" : value == "false" ? "0" : value;
  times += times == 0;
  if (has_value || has_formula) {
    if (column_ + times > MOST_COLUMNS || row >= most_) return false;
    const bool may_be = !value.empty() && (type->type == PLAIN || type->type == LOGICAL);
    cell.type = has_value ? type->type : PLAIN;
    if (may_be && parse_number(value, &cell.number) == value.size()) cell.type |= NUMERAL;
    cell.style = static_cast<uint32_t>(times);
    add(cell, value, has_formula, has_value);
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
  while (!is_empty && markup.opens("table:table-cell"))
    if (!scan_table_cell()) return false;
  if (!is_empty && !markup.closes("table:table-row")) return false;
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

class Fields {
 public:
  // `mark` is the delimiter, or -1 where each line is one field.
  Fields(string_view text, size_t place, int mark)
      : cursor_(text, place),
        stops_{'\n', '\r', static_cast<char>(mark < 0 ? '\n' : mark)},
        is_in_values_(is_digit(mark) || is_letter(mark) || (mark > 0 && std::strchr("+-. :", mark))) {
    for (int i = 0; i < 3; ++i) eights_[i] = ONES * static_cast<unsigned char>(stops_[i]);
  }

  size_t place() const { return cursor_.place(); }
  bool done() const { return cursor_.done(); }
  string_view value;     // the text of the field; it is good until the next one
  size_t begin = 0;      // of the field, its quote included
  bool is_open = false;  // a quote opens the field, and is never closed
  bool is_last = false;  // of its record

  void next() {
    begin = cursor_.place();
    is_open = false;
    const bool is_quoted = cursor_.take("\"");
    if (is_quoted) {
      quoted_.clear();
      for (size_t start = cursor_.place();; start = cursor_.place()) {
        is_open = !cursor_.find('"');
        if (is_open) cursor_.skip(cursor_.left());
        quoted_.append(cursor_.since(start));
        cursor_.skip();
        if (is_open || !cursor_.take("\"")) break;
        quoted_ += '"';
      }
    }
    const size_t start = cursor_.place();
    while (cursor_.left() >= 8) {
      const size_t clear = count_clear(cursor_.rest(8));
      cursor_.skip(clear);
      if (clear < 8) break;
    }
    while (!cursor_.done() && !is_stop(cursor_.peek())) cursor_.skip();
    value = cursor_.since(start);
    if (is_quoted) value = quoted_.append(value);
    end();
  }

  // Pass a field that is a number, or for a boolean TRUE or FALSE, and nothing else, and return true; or return false, with
  // no step taken.
  template <class Value>
  bool take_value(Value *taken) {
    if (is_in_values_) return false;
    if constexpr (!std::is_same<Value, bool>::value) return pass(parse_number(cursor_.rest(), taken));
    Cursor ahead = cursor_;
    *taken = ahead.take("TRUE") || ahead.take("true");
    if (!*taken && !ahead.take("FALSE") && !ahead.take("false")) return false;
    return pass(ahead.place() - cursor_.place());
  }

  // The same for a number that a double keeps, or a moment; what it shows is added.
  template <class Value>
  bool take_kept(int digits, Value *taken, int64_t *shown) {
    int64_t found = 0;
    if (is_in_values_ || !pass(parse_kept(cursor_.rest(), digits, taken, &found))) return false;
    return *shown |= found, true;
  }

 private:
  // Pass a value of some bytes that is a whole field, and return true; or return false, with no step taken.
  bool pass(size_t size) {
    if (!size || (size < cursor_.left() && !is_stop(cursor_.peek(size)))) return false;
    cursor_.skip(size);
    end();
    return true;
  }

  bool is_stop(char unit) const { return unit == stops_[0] || unit == stops_[1] || unit == stops_[2]; }

  // Pass the stop behind a field.
  void end() {
    const char unit = cursor_.peek();
    is_last = cursor_.done() || unit == '\n' || unit == '\r';
    cursor_.skip();
    if (unit == '\r') cursor_.take("\n");
  }

  // Return how many of eight bytes stand before the first stop among them; they are compared at once.
  size_t count_clear(string_view eight) const {
    const uint64_t units = load_eight(eight.data());
    const auto has = [units](uint64_t stop) { return ((units ^ stop) - ONES) & ~(units ^ stop); };
    return static_cast<size_t>(first_byte(has(eights_[0]) | has(eights_[1]) | has(eights_[2])));
  }

  static constexpr uint64_t ONES = 0x0101010101010101u;
  Cursor cursor_;
  char stops_[3];
  bool is_in_values_;  // the delimiter may stand in numbers or words
  uint64_t eights_[3];  // each of the stops eight times
  std::string quoted_;  // the text of a field with quotes
};

// Return whether a text is white space alone, as Python's `str.strip` knows it.
bool is_white(string_view text) {
  static const string_view WIDE =  // of two and of three bytes
      "\u0085\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000";
  for (Cursor at(text); !at.done();) {
    const char unit = at.peek();
    const size_t size = unit >= 0 ? 1 : unit == '\xC2' ? 2 : 3;
    const bool is_narrow = unit == ' ' || (unit >= '\t' && unit <= '\r') || (unit >= '\x1c' && unit <= '\x1f');
    if (unit >= 0 ? !is_narrow : WIDE.find(at.rest(size)) == string_view::npos) return false;
    at.skip(size);
  }
  return true;
}

bool equals_word(string_view text, string_view word) {  // the word is in lower case
  return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                    [](char a, char b) { return is_letter(a) && (a | ' ') == b; });
}

// Return the index of the word, of lower case, that a cell holds in any case of letters and between white space, or -1.
int64_t find_word(const std::vector<string_view> &words, string_view cell) {
  size_t first = 0, end = cell.size();
  if (words.empty() || cell.empty() || (cell[0] > ' ' && !is_letter(cell[0]))) return -1;
  while (first < end && !is_letter(cell[first])) ++first;
  while (end > first && !is_letter(cell[end - 1])) --end;
  const string_view letters = cell.substr(first, end - first);
  for (size_t index = 0; index < words.size(); ++index)
    if (equals_word(letters, words[index]))
      return is_white(cell.substr(0, first)) && is_white(cell.substr(end)) ? static_cast<int64_t>(index) : -1;
  return -1;
}

// Read a text that is a number, or for a boolean a word, and return true; false for any other text.
template <class Value>
bool read_value(string_view text, Value *value) {
  if constexpr (std::is_same<Value, bool>::value) {
    return (*value = equals_word(text, "true")) || equals_word(text, "false");
  } else {
    const bool is_special = text == "NaN" || text == "Infinity" || text == "-Infinity";  // of doubles and floats
    if (is_special) return std::from_chars(text.data(), text.data() + text.size(), *value).ec == std::errc();
    return parse_number(text, value) == text.size();
  }
}

// A run of cells of one column: `kind` is t for text, s for those texts that are not blank, with their rows; d, f, i, u
// for doubles, floats, integers and unsigned ones, D, F for doubles and floats with a decimal comma, b for booleans. A
// column of those ends at the first cell that is none. n is for numbers of which a double keeps all digits, NaN for
// blanks; y for days, and 0, 3, 6, 9 for moments with so many digits of a second, BLANK for blanks.
const int64_t BLANK = INT64_MIN + 1;

struct Run {
  long long column, first, end;
  int kind;
  TextColumn texts;
  std::vector<int64_t> rows, numbers;  // the rows of texts; the bits of each number
  int64_t blanks = 0;  // among the texts, or below the numbers
  int64_t shown = 0;   // by numbers that are kept
  bool failed = false;

  void add(int64_t row, string_view text) {
    if (text.empty() && kind != 't') {
      ++blanks;
      if (is_kept()) keep([](auto *) { return true; });
    } else if (is_kept()) {
      failed = !keep([&](auto *value) { return parse_kept(text, digits(), value, &shown) == text.size(); });
    } else if (kind == 't' || kind == 's') {
      texts.add(text);
      if (kind == 's') rows.push_back(row);
    } else if (!failed) {
      std::string pointed(kind == 'D' || kind == 'F' ? text : "");
      for (char &unit : pointed) unit = unit == ',' ? '.' : unit == '.' ? ',' : unit;
      if (!pointed.empty()) text = pointed;
      failed = blanks || !add_value([&](auto *value) { return read_value(text, value); });
    }
  }
  // Add a field that is a value in its usual form, with a point, and pass it; or return false, with no step taken.
  bool take(Fields *fields) {
    if (is_kept()) return keep([&](auto *value) { return fields->take_kept(digits(), value, &shown); });
    const bool is_usual = !failed && !blanks && kind != 't' && kind != 's' && kind != 'D' && kind != 'F';
    return is_usual && add_value([&](auto *value) { return fields->take_value(value); });
  }
  PyObject *to_python() {
    if (failed) return Py_NewRef(Py_None);
    if (kind == 't') return to_texts(std::move(texts));
    if (kind == 's') return Py_BuildValue("(NN)", to_bytes(rows), to_texts(std::move(texts)));
    if (is_kept()) return Py_BuildValue("(NLL)", to_bytes(numbers), static_cast<long long>(blanks), static_cast<long long>(shown));
    return Py_BuildValue("(NL)", to_bytes(numbers), static_cast<long long>(blanks));
  }

 private:
  bool is_kept() const { return kind == 'n' || kind == 'y' || is_digit(kind); }
  int digits() const { return is_digit(kind) ? kind - '0' : -1; }
  // Add the number or the moment that `read(&value)` finds, if any, and return true; false where it returns false.
  template <class Read>
  bool keep(Read read) {
    double number = std::nan("");
    int64_t bits = BLANK;
    if (failed || !(kind == 'n' ? read(&number) : read(&bits))) return false;
    if (kind == 'n') std::memcpy(&bits, &number, sizeof bits);
    return numbers.push_back(bits), true;
  }
  // Add the value that `read(&value)` finds, and return true; false where it finds none.
  template <class Read>
  bool add_value(Read read) {
    if (kind == 'd' || kind == 'D') return add_as<double, double>(read);
    if (kind == 'f' || kind == 'F') return add_as<float, double>(read);
    if (kind == 'i') return add_as<int64_t, int64_t>(read);
    return kind == 'u' ? add_as<uint64_t, uint64_t>(read) : add_as<bool, int64_t>(read);
  }
  template <class Value, class Kept, class Read>
  bool add_as(Read read) {
    Value value{};
    if (!read(&value)) return false;
    const Kept kept = value;
    int64_t bits;
    std::memcpy(&bits, &kept, sizeof bits);
    numbers.push_back(bits);
    return true;
  }
};

const size_t NEAR = 4096;  // bytes between the beginnings of records that are noted

// Goes over whole records, collects runs of cells, which are sorted by column, and notes what must be known of a text.
struct Records {
  Fields fields;
  int64_t row;
  std::vector<string_view> words;
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

  void take_record() {
    int64_t column = 0;
    size_t next = 0;
    do {
      Run *run = next < current.size() && runs[current[next]].column == column ? find_run(next++) : nullptr;
      if (run && run->take(&fields)) continue;  // it is no word of a header, and not blank
      fields.next();
      const string_view cell = fields.value;
      if (run) run->add(row, cell);
      const int64_t word = find_word(words, cell);
      if (word >= 0) found.insert(found.end(), {row, column, word});
      if (fields.is_open) open = static_cast<int64_t>(fields.begin);
      if (!column && fields.is_last && is_white(cell)) blank.push_back(row);
    } while (++column, !fields.is_last);
    for (; next < current.size(); ++next)
      if (Run *run = find_run(next)) run->add(row, {});
    width = std::max(width, column);
    ++row;
  }

  [[gnu::flatten]] void scan(size_t size) {  // as `Rows::scan_row`
    const size_t start = fields.place();
    for (size_t marked = start; !fields.done() && fields.place() - start < size;) {
      take_record();
      if (fields.place() < marked + NEAR && fields.place() - start < size && !fields.done()) continue;
      marked = fields.place();
      marks.insert(marks.end(), {row, static_cast<int64_t>(marked)});
    }
  }
};

bool read_run(PyObject *tuple, Run *run) {
  return PyArg_ParseTuple(tuple, "LLLC", &run->column, &run->first, &run->end, &run->kind);
}

PyObject *read_delimited(PyObject *arguments) {
  Argument content;
  Py_ssize_t start, size, row;
  int mark;
  PyObject *words, *runs;
  if (!PyArg_ParseTuple(arguments, "y*ninnOO", &content.view, &start, &mark, &size, &row, &words, &runs)) return nullptr;
  Records records{Fields(content.bytes(), static_cast<size_t>(start), mark), row};
  if (!read_list(words, &records.words, read_text) || !read_list(runs, &records.runs, read_run)) return nullptr;
  for (size_t i = 0; i < records.runs.size(); ++i)
    if (!i || records.runs[i].column != records.runs[i - 1].column) records.current.push_back(i);
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

// ---- Text to NumPy's fixed width -----------------------------------------------------------------------------------

// Return texts in units of four bytes, each in as many as the longest has code points, NUL behind its end; None if that
// takes more than `most` bytes. The text i ends at `ends[i + 1]`.
PyObject *widen_texts(PyObject *arguments) {
  Argument ends, joined;
  Py_ssize_t most;
  if (!PyArg_ParseTuple(arguments, "y*y*n", &ends.view, &joined.view, &most)) return nullptr;
  const size_t count = std::max<size_t>(ends.count(), 1) - 1;
  const auto begins = [](char unit) { return (unit & 0xC0) != 0x80; };
  const auto text = [&](size_t i) {
    const size_t start = ends.at<size_t>(i), end = ends.at<size_t>(i + 1);
    if (start > end || end > joined.bytes().size()) throw std::invalid_argument("a text beyond all texts");
    return joined.bytes().substr(start, end - start);
  };
  size_t longest = 1;
  for (size_t i = 0; i < count; ++i)
    if (const string_view each = text(i); each.size() > longest)
      longest = std::max(longest, static_cast<size_t>(std::count_if(each.begin(), each.end(), begins)));
  if (most < 0 || count > static_cast<size_t>(most) / 4 / longest) return Py_NewRef(Py_None);
  const auto size = static_cast<Py_ssize_t>(4 * count * longest);  // of zeros, which stand behind the texts
  PyObject *const units = PyObject_CallFunction(reinterpret_cast<PyObject *>(&PyByteArray_Type), "n", size);
  auto *const points = units ? reinterpret_cast<uint32_t *>(PyByteArray_AsString(units)) : nullptr;
  if (points) unlocked([&] {
    for (size_t i = 0; i < count; ++i) {
      uint32_t *next = points + longest * i, *const start = next;
      for (const char unit : text(i)) {
        const uint32_t byte = static_cast<unsigned char>(unit), bits = 0x1Fu >> (byte >= 0xE0) >> (byte >= 0xF0);
        if (begins(unit)) *next++ = byte < 0x80 ? byte : byte & bits;
        else if (next > start) next[-1] = next[-1] << 6 | (byte & 0x3F);
      }
    }
  });
  return units;
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
    {"widen_texts", guarded<widen_texts>, METH_VARARGS, "Return texts in units of four bytes, padded to one width."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_scan", "The compiled loops of sheetarray, 6", 0, methods};

}  // namespace

PyMODINIT_FUNC PyInit__scan() { return PyModuleDef_Init(&definition); }
