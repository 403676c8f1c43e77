// Mutates small texts and runs the compiled loops over them, under AddressSanitizer and UndefinedBehaviorSanitizer.
//
//     make fuzz               1,000,000 mutations
//     make fuzz FUZZ=10000    so many; `./scan_fuzz COUNT SEED` draws others
//
// Each grammar has its texts and a function that reads one and checks what came of it.

#include "../../sheetarray/_scan.cpp"

#include <cstdio>
#include <cstdlib>

namespace {

[[noreturn]] void fail(const char *what, const std::string &text) {
  std::fprintf(stderr, "%s\n%.*s\n", what, static_cast<int>(text.size()), text.data());
  std::abort();
}

uint64_t state_of_dice = 1;
uint64_t draw(uint64_t below) {  // xorshift64*
  state_of_dice ^= state_of_dice >> 12;
  state_of_dice ^= state_of_dice << 25;
  state_of_dice ^= state_of_dice >> 27;
  return (state_of_dice * 2685821657736338717ULL >> 33) % below;
}

std::string mutate(std::string text) {
  const char *pieces[] = {"<row", "<c r=\"B2\">", "</c>", "<v>", "</v>", "<is><t>", "</row>", "&amp;", "&#x10FFFF;", "_xD83D_",
                          "_xDE00_", "<!-- -->", "]]>", "\xF0\x9F\x98\x80", "\xFF", " t=\"s\"", "/>", "1e999", "xml:space",
                          "<f t=\"array\" ref=\"A1:B2\">", "TRUE()", "\r\n", "<r>", "</si>", "<rPh>", "\"", "\"\"", ",", ";"};
  for (uint64_t times = 1 + draw(6); times--;) {
    const size_t place = draw(text.size() + 1);
    switch (draw(6)) {
      case 0: if (place < text.size()) text[place] = static_cast<char>(draw(256)); break;
      case 1: text.erase(place, 1 + draw(8)); break;
      case 2: text.insert(place, 1, static_cast<char>(draw(256))); break;
      case 3: text.insert(place, pieces[draw(sizeof pieces / sizeof *pieces)]); break;
      case 4: text.insert(place, text.substr(draw(text.size() + 1), draw(40))); break;
      default: text.resize(place);
    }
  }
  return text;
}

// ---- Worksheets and shared strings ----

const char *SHEETS[] = {
    "<row r=\"1\" spans=\"1:3\"><c r=\"A1\"><v>1.5</v></c><c r=\"B1\" t=\"s\"><v>0</v></c><c r=\"C1\" s=\"2\"/></row></sheetData>",
    "<row r='2'><c r='A2' t='inlineStr'><is><t xml:space='preserve'> a &lt;&#65;_x000D_ </t></is></c></row>\r\n<row/></sheetData>",
    "<row><c><v>-1e-300</v></c><c t=\"b\"><v>1</v></c><c t=\"str\"><f>A1&amp;\"\"</f><v>x\xC3\xA9</v></c></row></sheetData>",
    "<row r=\"9\"><c r=\"XFD9\" t=\"inlineStr\"><is><r><rPr><b/></rPr><t>a</t></r><r><t> b</t></r><rPh><t>c</t></rPh></is></c></row>",
    "<row r=\"3\" x14ac:dyDescent=\"0.2\"><c r=\"A3\"><f t=\"array\" ref=\"A3:B4\">SUM(A1)</f><v>2</v></c><c><f>TRUE()</f></c></row>",
    "<row r=\"1048576\"><c r=\"A1048576\" t=\"e\"><v>#N/A</v></c><c t=\"d\"><v>2020-01-01</v></c><c><f>FALSE()</f><v/></c></row>",
};
const char *STRINGS[] = {
    "<si><t>a</t></si><si/><si><t xml:space=\"preserve\"> b_xD83D__xDE00_ </t></si></sst>",
    "<si><r><rPr><sz val=\"1\"/></rPr><t>c</t></r><r><t>d&quot;</t></r><phoneticPr fontId=\"1\"/></si></sst>",
};

void check_text(string_view text, const std::string &source) {
  if (!is_utf8(text) && text.find("\xEF\xBF") == string_view::npos) fail("a text that is no UTF-8", source);
}

void read_sheet(const std::string &text) {
  const std::unique_ptr<char[]> exact(new char[text.size()]);  // so that a byte beyond it is seen
  std::memcpy(exact.get(), text.data(), text.size());
  const string_view source(exact.get(), text.size());
  Rows rows(source, draw(20) ? 0 : draw(text.size() + 9), draw(9) ? "" : "x:", ":xml:x14ac:", 0, 1048576);
  rows.scan();
  const Cells &cells = rows.cells;
  const size_t count = cells.rows.size();
  if (rows.end > text.size()) fail("an end beyond the text", text);
  if (cells.columns.size() != count || cells.styles.size() != count || cells.types.size() != count ||
      cells.marks.size() != count || cells.numbers.size() != count || cells.starts.size() != count ||
      cells.lengths.size() != count || cells.areas.size() % 2 || cells.formulas.size() % 3)
    fail("arrays of different lengths", text);
  const std::string all = text + cells.extra;
  for (size_t i = 0; i < count; ++i) {
    if (cells.rows[i] < 0 || cells.rows[i] >= 1048576 || cells.columns[i] < 0 || cells.columns[i] >= MOST_COLUMNS)
      fail("a cell beyond the sheet", text);
    if (cells.starts[i] + size_t{cells.lengths[i]} > all.size()) fail("a text beyond the bytes", text);
    check_text(string_view(all).substr(cells.starts[i], cells.lengths[i]), text);
  }
  for (size_t i = 0; i < cells.formulas.size(); i += 3)
    if (cells.formulas[i] >= count || cells.formulas[i + 1] + size_t{cells.formulas[i + 2]} > all.size())
      fail("a formula beyond the cells", text);
  for (size_t i = 0; i < cells.areas.size(); i += 2)
    if (cells.areas[i] + size_t{cells.areas[i + 1]} > text.size()) fail("an area beyond the text", text);
  if (const size_t width = find_width(cells); width && count % width) fail("a width that does not divide", text);
}

void read_strings(const std::string &text) {
  const std::unique_ptr<char[]> exact(new char[text.size()]);
  std::memcpy(exact.get(), text.data(), text.size());
  Markup markup(string_view(exact.get(), text.size()), 0, "", ":xml:");
  string_view item;
  while (markup.space(), markup.opens("si") && markup.string_item("si", &item)) check_text(item, text);
}

// ---- Delimited text ----

const char *DELIMITED[] = {
    "t,n\r\nversion,Data\r\n1.5,-2\r\n\"a \"\"b\"\", c\",NaN\r\n",
    "a;\"two\nlines\" rest;\xC3\xA9\n;;\r\r\n1,5;1e999;0x1p3",
};

void read_fields(const std::string &text) {
  const std::unique_ptr<char[]> exact(new char[text.size()]);
  std::memcpy(exact.get(), text.data(), text.size());
  const string_view source(exact.get(), text.size());
  if (find_invalid(source, draw(text.size() + 1)) > text.size()) fail("a place beyond the text", text);
  for (const int mark : {static_cast<int>(','), static_cast<int>(';'), -1}) {
    Fields fields(source, draw(text.size() + 9), mark);
    Run runs[6];
    for (size_t i = 0; i < 6; ++i) runs[i].kind = "tsdfiu"[i];
    for (int64_t row = 0; !fields.done(); ++row) {
      const size_t before = fields.place();
      do {
        fields.next();
        const string_view value = fields.value();
        if (value.size() > text.size()) fail("a value longer than the text", text);
        for (Run &run : runs) run.add(row, value, draw(2));
      } while (fields.stop() == Stop::mark);
      if (fields.place() <= before) fail("a record without an end", text);
    }
    for (const Run &run : runs)
      if (run.texts.ends.back() != static_cast<int64_t>(run.texts.bytes.size())) fail("texts without an end", text);
  }
}

// ---- Doubles ----

void round_some(const std::string &text) {
  double number = 0;
  std::memcpy(&number, text.data(), text.size() < sizeof number ? text.size() : sizeof number);
  for (int digits = 1; digits <= 17; ++digits)
    for (bool half_up : {false, true}) {
      const double rounded = round_double(number, digits, half_up);
      if (std::isfinite(number) && std::signbit(rounded) != std::signbit(number)) fail("another sign", text);
      if (digits == 17 && std::memcmp(&rounded, &number, sizeof number)) fail("17 digits change a number", text);
    }
}

template <size_t count>
std::string choose(const char *(&texts)[count]) {
  return mutate(texts[draw(count)]);
}

}  // namespace

int main(int count, char **arguments) {
  const long long mutations = count > 1 ? std::atoll(arguments[1]) : 1000000;
  state_of_dice = count > 2 ? std::strtoull(arguments[2], nullptr, 10) | 1 : 20261123;
  for (long long done = 0; done < mutations; ++done) {
    switch (draw(8)) {
      case 0: read_strings(choose(STRINGS)); break;
      case 1: round_some(choose(SHEETS)); break;
      case 2: read_fields(choose(DELIMITED)); break;
      default: read_sheet(choose(SHEETS));
    }
  }
  std::printf("%lld mutations, nothing found\n", mutations);
}
