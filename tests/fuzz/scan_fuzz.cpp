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
                          "<f t=\"array\" ref=\"A1:B2\">", "TRUE()", "\r\n", "</si>", "<text:p>", "</table:table-cell>", " table:number-rows-repeated='99'", "\"", "\"\"", ",", ";"};
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

// ---- Worksheets, shared strings, tables of OpenDocument ----

const char *SHEETS[] = {
    "<row r=\"1\" spans=\"1:3\"><c r=\"A1\"><v>1.5</v></c><c r=\"B1\" t=\"s\"><v>0</v></c><c r=\"C1\" s=\"2\"/></row></sheetData>",
    "<row r='2'><c r='A2' t='inlineStr'><is><t xml:space='preserve'> a &lt;&#65;_x000D_ </t></is></c></row>\r\n<row/></sheetData>",
    "<row><c><v>-1e-300</v></c><c t=\"b\"><v>1</v></c><c t=\"str\"><f>A1&amp;\"\"</f><v>x\xC3\xA9</v></c></row></sheetData>",
    "<row r=\"3\" x14ac:dyDescent=\"0.2\"><c r=\"A3\"><f aca=\"1\">SUM(A1)</f><v>2</v></c><c><f>TRUE()</f></c></row>",
    "<row r=\"1048576\"><c r=\"A1048576\" t=\"e\"><v>#N/A</v></c><c t=\"d\"><v>2020-01-01</v></c><c><f>FALSE()</f><v/></c></row>",
};
const char *TABLES[] = {
    "<table:table-row><table:table-cell office:value-type=\"float\" office:value=\"1.5\"><text:p>1.5</text:p></table:table-cell>"
    "<table:table-cell/><table:covered-table-cell table:number-columns-repeated=\"3\"/></table:table-row></table:table>",
    "<table:table-row table:number-rows-repeated=\"2\"><table:table-cell office:value-type=\"string\"><text:p>a &lt;&#65;</text:p>"
    "</table:table-cell><table:table-cell table:formula=\"of:=TRUE()\" office:value-type='boolean' office:boolean-value='true'/>"
    "<table:table-cell office:value-type=\"time\" office:time-value=\"PT1H\" table:formula=\"of:=[.A1]&amp;1\"/></table:table-row>",
};
const char *STRINGS[] = {
    "<si><t>a</t></si><si/><si><t xml:space=\"preserve\"> b_xD83D__x0041_\xEF\xBF\xBD </t></si></sst>",
    "<si>\n<t>c]&#x1F600;</t></si><si><r><rPr><sz val=\"1\"/></rPr><t>d&quot;</t></r></si></sst>",
};

// A copy of some bytes that ends where they end, so that a byte beyond it is seen.
struct Exact {
  explicit Exact(const std::string &text) : bytes(new char[text.size()]), view(bytes.get(), text.size()) {
    std::memcpy(bytes.get(), text.data(), text.size());
  }
  std::unique_ptr<char[]> bytes;
  string_view view;
};

template <bool (Rows::*scan_row)()>
void read_rows(const std::string &text) {
  const Exact exact(text);
  Rows rows(exact.view, draw(20) ? 0 : draw(text.size() + 9), draw(9) ? "" : "x:", ":xml:x14ac:office:table:", 0, 1048576);
  rows.scan<scan_row>();
  if (rows.end > text.size()) fail("an end beyond the text", text);
  const std::string all = text + rows.markup.extra;
  for (const Cell &cell : rows.cells) {
    if (cell.row >= 1048576 || cell.column >= MOST_COLUMNS) fail("a cell beyond the sheet", text);
    if (cell.start + size_t{cell.length} > all.size() || cell.formula + size_t{cell.formula_length} > all.size())
      fail("a text beyond the bytes", text);
    const string_view value = string_view(all).substr(cell.start, cell.length);
    if (find_invalid(value, 0) < value.size()) fail("a text that is no UTF-8", text);
  }
  for (size_t i = 0; i < rows.repeats.size(); i += 2)
    if (rows.repeats[i] + rows.repeats[i + 1] > 1048576) fail("repeated beyond the sheet", text);
}

void read_strings(const std::string &text) {
  const Exact exact(text);
  Markup markup(exact.view, 0, "", ":xml:");
  string_view item;
  while (markup.opens("si") && markup.string_item("si", &item))
    if (find_invalid(item, 0) < item.size()) fail("a text that is no UTF-8", text);
}

// ---- Rows that are written ----

void write_rows(const std::string &text) {
  const Exact exact(text);
  std::vector<std::vector<Layer>> groups(1);
  groups[0] = std::vector<Layer>(4);
  const std::vector<string_view> texts(text.size() / sizeof(double), exact.view);
  for (size_t i = 0; i < 4; ++i) {
    Layer &layer = groups[0][i];
    layer.kind = "dfiv"[(i + text.size()) % 4];
    layer.before = Stamp(std::string(exact.view.substr(0, draw(9))));
    layer.after = Stamp(std::string(exact.view.substr(0, draw(40))));
    layer.texts = texts;
    layer.values.view.buf = exact.bytes.get();
    layer.values.view.len = static_cast<Py_ssize_t>(texts.size() * sizeof(double));
  }
  const auto count = static_cast<Py_ssize_t>(texts.size());
  const auto start = static_cast<Py_ssize_t>(draw(texts.size() + 1));
  const auto above = static_cast<Py_ssize_t>(draw(4));
  Output out;
  put_rows(&out, 1, texts.size() + 4, {exact.view}, {{Stamp("<c r=\"A"), 0, start, above, count - start}}, groups);
  double number = 0;
  if (texts.empty()) return;
  std::memcpy(&number, text.data(), sizeof number);
  char digits[LONGEST_NUMBER];
  if (std::isfinite(number) && std::strtod(std::string(digits, put_number(digits, number)).c_str(), nullptr) != number)
    fail("a number that reads back as another one", text);
}

// ---- Delimited text ----

const char *DELIMITED[] = {
    "t,n\r\nversion,Data\r\n1.5,-2\r\n\"a \"\"b\"\", c\",NaN\r\n",
    "a;\"two\nlines\" rest;\xC3\xA9\n;;\r\r\n1,5;1e999;0x1p3",
};

void read_records(const std::string &text) {
  const Exact exact(text);
  const string_view source = exact.view;
  if (find_invalid(source, draw(text.size() + 1)) > text.size()) fail("a place beyond the text", text);
  if (strip(source).size() > text.size()) fail("a text that grew", text);
  for (const int mark : {static_cast<int>(','), static_cast<int>(';'), -1}) {
    Records records{Fields(source, draw(text.size() + 9), mark), 0, Words(draw(2) ? "version\ndata" : "")};
    records.comma = draw(2);
    records.in_place = !records.comma;
    records.runs = std::vector<Run>(7);
    for (size_t i = 0; i < 7; ++i) {
      Run &run = records.runs[i];
      run.column = static_cast<int64_t>(i / 2);
      run.first = static_cast<int64_t>(i % 2 * 2);
      run.end = run.first + 2;
      run.kind = "tsdfiub"[(i + text.size()) % 7];
      if (i % 2 == 0) records.current.push_back(i);
    }
    while (!records.fields.done()) {
      const size_t before = records.fields.place();
      records.scan(1 + draw(30));
      if (records.fields.place() <= before) fail("a record without an end", text);
    }
    for (const Run &run : records.runs)
      if (run.texts.ends.back() != static_cast<int64_t>(run.texts.bytes.size())) fail("texts without an end", text);
  }
}

// ---- Doubles ----

void round_some(const std::string &text) {
  double number = 0;
  std::memcpy(&number, text.data(), text.size() < sizeof number ? text.size() : sizeof number);
  for (int digits = 1; digits <= 17; ++digits)
    for (bool half_up : {false, true}) {
      const double rounded = round_double(number, digits, half_up).rounded;
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
      case 2: read_records(choose(DELIMITED)); break;
      case 3: write_rows(choose(SHEETS)); break;
      case 4: read_rows<&Rows::scan_table_row>(choose(TABLES)); break;
      default: read_rows<&Rows::scan_row>(choose(SHEETS));
    }
  }
  std::printf("%lld mutations, nothing found\n", mutations);
}
