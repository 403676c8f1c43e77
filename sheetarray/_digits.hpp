// Digits: the shortest texts of doubles that read back to the same bits, doubles rounded to a number of digits, and numbers
// of texts.
//
// `std::to_chars` and `std::from_chars` give the same. They take twice as long, and sums over digits, which each write and
// check of a workbook make, would have to print and parse texts between them.
//
// Sources: Raffaello Giulietti, "The Schubfach way to render doubles", 2021; it proves that 128 bits of a power of ten are
// enough, so that there is no second try. Daniel Lemire, "Number parsing at a gigabyte per second", 2021.

#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace {

using std::string_view;

const size_t LONGEST_NUMBER = 64;  // characters: more than any number takes
const int MOST_DIGITS = 17;        // of a double; two doubles that have the same so many digits are one
const int LEAST_POWER = -292, MOST_POWER = 324, LIMBS = 40;

struct Wide {  // an integer of 128 bits
  uint64_t high, low;
};

Wide product(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
  const unsigned __int128 all = static_cast<unsigned __int128>(a) * b;
  return {static_cast<uint64_t>(all >> 64), static_cast<uint64_t>(all)};
#else
  const uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), one = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
  const uint64_t two = (a & UINT32_MAX) * (b >> 32) + (one & UINT32_MAX);
  return {(a >> 32) * (b >> 32) + (one >> 32) + (two >> 32), a * b};
#endif
}

// The first 128 bits of each power of ten, rounded up.
struct PowersOfTen {
  Wide of[MOST_POWER - LEAST_POWER + 1];

  PowersOfTen() {
    uint32_t limbs[LIMBS] = {1};  // an integer, the lowest bits first: 1, 10, 100, ..
    for (int exponent = 0; exponent <= MOST_POWER; ++exponent) {
      of[exponent - LEAST_POWER] = round_up(limbs, false);
      uint64_t carry = 0;
      for (uint32_t &limb : limbs) {
        carry += limb * uint64_t{10};
        limb = static_cast<uint32_t>(carry);
        carry >>= 32;
      }
    }
    std::fill_n(limbs, LIMBS, 0);
    limbs[LIMBS - 1] = 1;  // a power of two, divided by 10, by 100, ..
    for (int exponent = -1; exponent >= LEAST_POWER; --exponent) {
      uint64_t left = 0;
      for (int i = LIMBS - 1; i >= 0; --i) {
        left = left << 32 | limbs[i];
        limbs[i] = static_cast<uint32_t>(left / 10);
        left %= 10;
      }
      of[exponent - LEAST_POWER] = round_up(limbs, true);
    }
  }
  static Wide round_up(const uint32_t *limbs, bool has_rest) {
    int top = LIMBS - 1, shift = 0;
    while (!limbs[top]) --top;
    while (!(limbs[top] >> (31 - shift))) ++shift;
    const auto limb = [&](int down) { return uint64_t{down <= top ? limbs[top - down] : 0}; };
    Wide bits{(limb(0) << 32 | limb(1)) << shift | limb(2) >> (32 - shift),
              (limb(2) << 32 | limb(3)) << shift | limb(4) >> (32 - shift)};
    has_rest |= (limb(4) << shift & UINT32_MAX) != 0;
    for (int down = 5; down <= top; ++down) has_rest |= limb(down) != 0;
    bits.low += has_rest;
    bits.high += has_rest && !bits.low;
    return bits;
  }
};

const PowersOfTen &powers_of_ten() {
  static const PowersOfTen powers;
  return powers;
}

struct Decimal {
  uint64_t digits;
  int exponent;  // the decimal is digits * 10^exponent
};

// Return the product of a number and a power of ten in units of 2^128, the last bit set where anything is behind it.
uint64_t scale(const Wide &power, uint64_t number) {
  const Wide high = product(power.high, number);
  const uint64_t low = high.low + product(power.low, number).high;
  return (high.high + (low < high.low)) | (low > 1);
}

// Return the shortest decimal that reads back as a positive finite double, of those the nearest; zeros may end it.
Decimal shortest_decimal(double number) {
  uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1), is_odd = bits & 1;
  const int biased = static_cast<int>(bits >> 52), two = std::max(biased, 1) - 1075;
  const uint64_t integer = biased ? fraction | uint64_t{1} << 52 : fraction;  // the double is integer * 2^two
  if (two <= 0 && two > -53 && !(integer & ((uint64_t{1} << -two) - 1))) return {integer >> -two, 0};
  const bool is_power = !fraction && biased > 1;  // of two: the double below is nearer than the one above
  const int ten = (two * 1262611 - is_power * 524031) >> 22;  // floor(log10(2^two)), or of 3/4 * 2^two
  const int shift = two + ((-ten * 1741647) >> 19) + 1;       // floor(log2(10^-ten))
  const Wide &power = powers_of_ten().of[-ten - LEAST_POWER];
  // Four times the double and the ends of what reads back as it, in units of 10^ten
  const uint64_t least = scale(power, (4 * integer - 2 + is_power) << shift) + is_odd;
  const uint64_t exact = scale(power, 4 * integer << shift);
  const uint64_t most = scale(power, (4 * integer + 2) << shift) - is_odd;
  // Both lengths are tried without a branch, which a processor would guess wrong for every other double
  const uint64_t ones = exact / 4, tens = exact / 40, half = 4 * ones + 2;
  const bool one_below = least <= 4 * ones, one_above = 4 * ones + 4 <= most;
  const bool ten_below = least <= 40 * tens, ten_above = 40 * tens + 40 <= most;
  const bool rounds_up = (exact > half) | ((exact == half) & (ones & 1));
  const bool is_shorter = (exact >= 40) & (ten_below != ten_above);
  const uint64_t last = ones + (one_below != one_above ? one_above : rounds_up);
  return {is_shorter ? tens + ten_above : last, ten + is_shorter};
}

int leading_zeros(uint64_t number) {  // of one that is not 0
#ifdef __GNUC__
  return __builtin_clzll(number);
#else
  int count = 0;
  while (!(number >> 63)) number <<= 1, ++count;
  return count;
#endif
}

// Make the double that is nearest to a decimal, and return true; false for the few that 128 bits of a power do not decide,
// and beyond normal doubles.
bool make_double(const Decimal &decimal, double *number) {
  if (!decimal.digits) return *number = 0, true;
  if (decimal.exponent < LEAST_POWER || decimal.exponent > MOST_POWER) return false;
  const int zeros = leading_zeros(decimal.digits);
  const uint64_t integer = decimal.digits << zeros;
  const Wide &power = powers_of_ten().of[decimal.exponent - LEAST_POWER];
  const Wide upper = product(power.high, integer);
  const uint64_t middle = upper.low + product(power.low, integer).high, high = upper.high + (middle < upper.low);
  const int top = static_cast<int>(high >> 63), below = 9 + top;  // bits behind the 53 of a double and the next one
  // The power is rounded up by less than 1, so the product is too large by less than 2^64, the unit of `middle`. That may
  // change the rounding only of what seems to be a half exactly, and may be just less
  const bool has_rest = (high & ((uint64_t{1} << below) - 1)) || middle;
  const uint64_t kept = high >> below;
  const int biased = 1023 + 63 + top + ((decimal.exponent * 217706) >> 16) - zeros;  // 217706 / 2^16: log2(10)
  if (((kept & 1) && !has_rest) || biased < 1 || biased > 2045) return false;
  const uint64_t bits = (static_cast<uint64_t>(biased - 1) << 52) + ((kept + 1) >> 1);  // a carry goes to the exponent
  std::memcpy(number, &bits, sizeof bits);
  return true;
}

struct SmallPowers {
  int64_t of[MOST_DIGITS + 1] = {1};
  constexpr SmallPowers() {
    for (int i = 1; i <= MOST_DIGITS; ++i) of[i] = of[i - 1] * 10;
  }
};
constexpr SmallPowers SMALL_POWERS;

int64_t power_of_ten(int exponent) { return SMALL_POWERS.of[exponent]; }  // from 0 to MOST_DIGITS

uint64_t load_eight(const char *at) {  // which a compiler makes one step of
  uint64_t eight = 0;
  for (int i = 0; i < 8; ++i) eight |= uint64_t{static_cast<unsigned char>(at[i])} << 8 * i;
  return eight;
}

// Return the index of the lowest of eight bytes whose highest bit is set; 8 if there is none.
int first_byte(uint64_t marks) {
  marks &= 0x8080808080808080u;
  return marks ? static_cast<int>(((marks & (~marks + 1)) >> 7) * 0x0001020304050607u >> 56) : 8;
}

bool is_digit(int c) { return c >= '0' && c <= '9'; }

// Append the digits at the front of a text to a number, and return the place behind them. A number of more than 19 digits
// overflows: whoever calls counts them.
const char *take_digits(const char *at, const char *end, uint64_t *number) {
  for (; at < end && is_digit(*at); ++at) *number = *number * 10 + static_cast<uint64_t>(*at - '0');
  return at;
}

// The same for many digits: eight bytes at once, and the last ones without a branch on how many they are.
const char *take_many_digits(const char *at, const char *end, uint64_t *number) {
  for (; end - at >= 8; at += 8) {
    uint64_t eight = load_eight(at) ^ 0x3030303030303030u;
    const int count = first_byte((eight + 0x7676767676767676u) | eight);  // a carry changes no byte before the first
    if (!count) return at;
    eight <<= 64 - 8 * count;  // zeros before the digits
    eight = eight * 2561 >> 8 & 0x00FF00FF00FF00FFu;  // pairs: 10 * 256 + 1
    eight = eight * 6553601 >> 16 & 0x0000FFFF0000FFFFu;
    *number = *number * static_cast<uint64_t>(power_of_ten(count)) + (eight * 42949672960001u >> 32);
    if (count < 8) return at + count;
  }
  return take_digits(at, end, number);
}

// Parse the integer at the front of a text and return its length; 0 where there is none, or one of more than 19 digits.
size_t parse_integer(string_view text, int64_t *number) {
  const bool is_negative = !text.empty() && text.front() == '-';
  const char *const begin = text.data() + is_negative;
  uint64_t size = 0;
  const char *at = take_many_digits(begin, text.data() + text.size(), &size);
  if (at == begin || at - begin > 19 || size > static_cast<uint64_t>(INT64_MAX) + is_negative) return 0;
  *number = static_cast<int64_t>(is_negative ? 0 - size : size);
  return static_cast<size_t>(at - text.data());
}

// Parse the decimal at the front of a text and return its length; 0 where there is none in the usual form, or one of more
// digits than 64 bits hold. Its sign is the text's.
size_t parse_decimal(string_view text, Decimal *decimal) {
  const char *const end = text.data() + text.size();
  const char *const begin = text.data() + (!text.empty() && text.front() == '-');
  const char *at = take_digits(begin, end, &decimal->digits);
  std::ptrdiff_t count = at - begin;
  if (!count) return 0;
  if (at < end && *at == '.') {
    const char *const point = at + 1;
    at = take_many_digits(point, end, &decimal->digits);
    if (at == point || at - point > MOST_POWER) return 0;
    count += at - point;
    decimal->exponent = static_cast<int>(point - at);
  }
  for (const char *zero = begin; count > 19 && (*zero == '0' || *zero == '.'); ++zero) count -= *zero == '0';
  if (count > 19) return 0;
  if (at < end && (*at | 32) == 'e') {
    const char sign = ++at < end ? *at : '\0';
    at += sign == '-' || sign == '+';
    const char *const first = at;
    uint64_t power = 0;
    at = take_digits(first, end, &power);
    if (at == first || at - first > 3) return 0;
    decimal->exponent += static_cast<int>(power) * (sign == '-' ? -1 : 1);
  }
  return static_cast<size_t>(at - text.data());
}

// The same for a double; 0 for those that `make_double` does not know, too.
size_t parse_double(string_view text, double *number) {
  Decimal decimal{0, 0};
  const size_t size = parse_decimal(text, &decimal);
  double absolute;
  if (!size || !make_double(decimal, &absolute)) return 0;
  *number = std::copysign(absolute, text.front() == '-' ? -1.0 : 1.0);
  return size;
}

// Return whether a positive double, printed with as many digits as a decimal has or as its shortest text, gives it back.
bool keeps(double number, Decimal decimal) {
  if (decimal.digits < uint64_t{1} << 52) return number > 1e-290 && number < 1e290;  // doubles are closer than decimals
  Decimal shortest = shortest_decimal(number);
  if (shortest.digits == decimal.digits && shortest.exponent == decimal.exponent) return true;  // as a rule
  char digits[LONGEST_NUMBER], text[2 * LONGEST_NUMBER];
  const auto count = std::to_chars(digits, digits + LONGEST_NUMBER, decimal.digits).ptr - digits;
  for (Decimal *each : {&shortest, &decimal})
    for (; each->digits % 10 == 0; ++each->exponent) each->digits /= 10;
  if (count <= MOST_DIGITS && shortest.digits == decimal.digits && shortest.exponent == decimal.exponent) return true;
  std::to_chars(text, text + 2 * LONGEST_NUMBER, number, std::chars_format::scientific, static_cast<int>(count) - 1);
  return text[0] == digits[0] && std::equal(digits + 1, digits + count, text + 2);
}

// What the numbers of a column show, as bits: a number is no whole one, one has a point, one has a point that cannot part
// thousands or an exponent.
enum Shown { FRACTION = 1, POINT = 2, OTHER_POINT = 4 };

// Parse the number at the front of a text, if it has no zeros in front, and a double gives all of its digits back, and
// return its length; otherwise 0. Whole numbers are those below 2^53. What it shows is added.
size_t parse_kept(string_view text, int, double *number, int64_t *shown) {
  const size_t sign = !text.empty() && text.front() == '-';
  if (text.size() > sign + 1 && text[sign] == '0' && is_digit(text[sign + 1])) return 0;
  Decimal decimal{0, 0};
  const size_t size = parse_decimal(text, &decimal);
  double absolute = 0;
  if (!size || (decimal.digits && !(make_double(decimal, &absolute) && keeps(absolute, decimal)))) return 0;
  const string_view numeral = text.substr(sign, size - sign);
  size_t point = 1;
  while (point < numeral.size() && is_digit(numeral[point])) ++point;
  if (point == numeral.size()) {
    if (absolute >= 9007199254740992.0) return 0;
    *shown |= sign && !decimal.digits ? FRACTION : 0;
  } else {
    const bool could_part = numeral[0] != '0' && point <= 3 && numeral.size() == point + 4 && numeral[point] == '.' &&
                            numeral.find_last_not_of("0123456789") == point;
    *shown |= FRACTION | (numeral[point] == '.' ? POINT : 0) | (could_part ? 0 : OTHER_POINT);
  }
  *number = std::copysign(absolute, sign ? -1.0 : 1.0);
  return size;
}

// Parse a day at the front of a text, `2024-02-29`, or for `digits` of 0 to 9 a moment with so many digits of a second or
// fewer, `2024-02-29T10:20:30.5`, or `NaT`, and return its length; 0 where no calendar has it. It counts days from 1970 on,
// or the units that the digits make. The bit of the number of digits is added to what is shown.
size_t parse_kept(string_view text, int digits, int64_t *count, int64_t *shown) {
  const string_view shape = string_view("0000-00-00T00:00:00").substr(0, digits < 0 ? 10 : 19);
  if (text.substr(0, 3) == "NaT") return *count = INT64_MIN, 3;
  int64_t parts[6] = {}, *part = parts;
  for (size_t i = 0; i < shape.size(); ++i) {
    const char unit = i < text.size() ? text[i] : '\0';
    if (shape[i] == '0' ? !is_digit(unit) : unit != shape[i] && !(unit == ' ' && shape[i] == 'T')) return 0;
    if (shape[i] == '0') *part = *part * 10 + (unit - '0');
    else ++part;
  }
  const auto &[year, month, day, hour, minute, second] = parts;
  const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  const int64_t last = month == 2 ? 28 + is_leap : 30 + ((month + month / 8) & 1);
  const bool is_held = digits < 7 || (year >= 1678 && year <= 2261);  // by 64 bits, as nanoseconds
  if (!is_held || month < 1 || month > 12 || day < 1 || day > last || hour > 23 || minute > 59 || second > 59) return 0;
  const int64_t years = year + 399 + (month > 2);  // that begin with March, 400 too many
  *count = 365 * years + years / 4 - years / 100 + years / 400 + (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 865566;
  if (digits < 0) return shape.size();
  *count = ((*count * 24 + hour) * 60 + minute) * 60 + second;
  const string_view fraction = text.substr(shape.size(), static_cast<size_t>(digits) + 1);
  const bool has_point = fraction.substr(0, 1) == ".";
  const char *const begin = fraction.data(), *const end = begin + fraction.size();
  uint64_t value = 0;
  const auto size = has_point ? take_digits(begin + 1, end, &value) - begin : 1;
  if (has_point && size == 1) return 0;
  *count = *count * power_of_ten(digits) + static_cast<int64_t>(value) * power_of_ten(digits - static_cast<int>(size) + 1);
  *shown |= int64_t{1} << (size - 1);
  return shape.size() + (has_point ? static_cast<size_t>(size) : 0);
}

// Write eight digits, all of them at once.
char *put_eight(char *at, uint64_t number) {
  uint64_t parts = number / 10000 | number % 10000 << 32;
  const uint64_t hundreds = (parts * 10486 >> 20) & 0x7F0000007F;
  parts = hundreds | (parts - hundreds * 100) << 16;
  const uint64_t tens = (parts * 103 >> 10) & 0xF000F000F000F;
  parts = tens | (parts - tens * 10) << 8;
  for (int i = 0; i < 8; ++i) at[i] = static_cast<char>('0' + (parts >> 8 * i & 15));
  return at + 8;
}

char *put(char *at, string_view text) { return std::copy(text.begin(), text.end(), at); }

// Write the shortest text that reads back as a finite number; numbers from 1e-4 to 1e16 have no exponent, but a point.
char *put_number(char *at, double number) {
  const double size = std::fabs(number);
  *at = '-';
  at += std::signbit(number);
  if (size == 0) return put(at, "0.0");
  const Decimal decimal = shortest_decimal(size);
  char text[2 * MOST_DIGITS] = {};
  const uint64_t high = decimal.digits / 100000000;
  text[0] = static_cast<char>('0' + high / 100000000);
  const char *end = put_eight(put_eight(text + 1, high % 100000000), decimal.digits % 100000000), *digits = text;
  while (*digits == '0') ++digits;
  const int point = static_cast<int>(end - digits) + decimal.exponent;  // digits before it
  while (end[-1] == '0') --end;
  const int count = static_cast<int>(end - digits);
  if (size < 1e-4 || size >= 1e16) {
    *at++ = *digits;
    if (count > 1) at = std::copy(digits + 1, end, put(at, "."));
    at = put(at, point > 0 ? "e+" : std::abs(point - 1) < 10 ? "e-0" : "e-");
    return std::to_chars(at, at + LONGEST_NUMBER, std::abs(point - 1)).ptr;
  }
  if (point <= 0) at = put(at, "0.000") - 3 - point;  // three zeros at most
  std::memcpy(at, digits, MOST_DIGITS);  // which are written over behind the last one
  if (point <= 0) return at + count;
  if (point >= count) return put(std::fill_n(at + count, point - count, '0'), ".0");
  std::memcpy(at + point + 1, digits + point, MOST_DIGITS);
  at[point] = '.';
  return at + count + 1;
}

// Make `count` digits of a finite number that is not 0: |x| is about digits * 10^(exponent - count + 1). Return the number
// that they say; half up rounds the shortest text of the number, half even (as printf) the double itself.
double make_digits(double number, int count, bool half_up, int64_t *digits, int64_t *exponent) {
  char text[2 * LONGEST_NUMBER];
  char *end = text;
  double rounded = 0;
  if (half_up) {
    const Decimal decimal = shortest_decimal(std::fabs(number));
    *digits = static_cast<int64_t>(decimal.digits);
    *exponent = decimal.exponent + MOST_DIGITS - 1;
    for (; *digits < power_of_ten(MOST_DIGITS - 1); --*exponent) *digits *= 10;
    if (count == MOST_DIGITS) return number;
    const int64_t unit = power_of_ten(MOST_DIGITS - count);
    *digits = (*digits + unit / 2) / unit;
    if (*digits == power_of_ten(count)) *digits /= 10, ++*exponent;
    const Decimal shorter{static_cast<uint64_t>(*digits), static_cast<int>(*exponent) - count + 1};
    if (make_double(shorter, &rounded)) return std::copysign(rounded, number);
    end = std::to_chars(end, text + LONGEST_NUMBER, *digits).ptr;
    *end++ = 'e';
    end = std::to_chars(end, text + LONGEST_NUMBER, *exponent - count + 1).ptr;
  } else {
    end = std::to_chars(end, text + LONGEST_NUMBER, std::fabs(number), std::chars_format::scientific, count - 1).ptr;
    const char *at = text;
    for (; *at != 'e'; ++at)
      if (*at != '.') *digits = *digits * 10 + (*at - '0');
    std::from_chars(at + 1 + (at[1] == '+'), end, *exponent);
  }
  if (std::from_chars(text, end, rounded).ec == std::errc::result_out_of_range && *exponent > 0) rounded = HUGE_VAL;
  return std::copysign(rounded, number);
}

// Parse the number at the front of a text, which begins and ends with digits, and return its length; 0 where there is
// none, or `Number` does not hold it.
template <class Number>
size_t parse_number(string_view text, Number *number) {
  const size_t sign = !text.empty() && text.front() == '-';
  if (text.size() == sign || !is_digit(text[sign])) return 0;
  size_t size = 0;  // of one in the usual form
  if constexpr (std::is_same<Number, double>::value) size = parse_double(text, number);
  if constexpr (std::is_same<Number, int64_t>::value) size = parse_integer(text, number);
  if (size) return size;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), *number);
  return parsed.ec == std::errc() && is_digit(parsed.ptr[-1]) ? static_cast<size_t>(parsed.ptr - text.data()) : 0;
}

// Return a number in 1 to `most` digits; -1 for any other text.
int64_t parse_count(string_view text, size_t most) {
  int64_t number = text.empty() || text.size() > most ? -1 : 0;
  for (size_t i = 0; i < text.size() && number >= 0; ++i) number = is_digit(text[i]) ? number * 10 + (text[i] - '0') : -1;
  return number;
}

}  // namespace
