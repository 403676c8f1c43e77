// The digits of doubles: shortest texts that read back to the same bits, and rounding to a number of digits.
//
// `std::to_chars` gives the same texts. It takes twice as long, and its digits would have to be parsed again for sums over
// digits, which each write and check of a workbook make.
//
// Source: Raffaello Giulietti, "The Schubfach way to render doubles", 2021; it proves that 128 bits of a power of ten are
// enough, so that there is no second try.

#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

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
  static const PowersOfTen powers;
  uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1), is_odd = bits & 1;
  const int biased = static_cast<int>(bits >> 52), two = std::max(biased, 1) - 1075;
  const uint64_t integer = biased ? fraction | uint64_t{1} << 52 : fraction;  // the double is integer * 2^two
  if (two <= 0 && two > -53 && !(integer & ((uint64_t{1} << -two) - 1))) return {integer >> -two, 0};
  const bool is_power = !fraction && biased > 1;  // of two: the double below is nearer than the one above
  const int ten = (two * 1262611 - is_power * 524031) >> 22;  // floor(log10(2^two)), or of 3/4 * 2^two
  const int shift = two + ((-ten * 1741647) >> 19) + 1;       // floor(log2(10^-ten))
  const Wide &power = powers.of[-ten - LEAST_POWER];
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

constexpr int64_t power_of_ten(int exponent) {
  int64_t power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
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
  if (half_up) {
    const Decimal decimal = shortest_decimal(std::fabs(number));
    *digits = static_cast<int64_t>(decimal.digits);
    *exponent = decimal.exponent + MOST_DIGITS - 1;
    for (; *digits < power_of_ten(MOST_DIGITS - 1); --*exponent) *digits *= 10;
    if (count == MOST_DIGITS) return number;
    const int64_t unit = power_of_ten(MOST_DIGITS - count);
    *digits = (*digits + unit / 2) / unit;
    if (*digits == power_of_ten(count)) *digits /= 10, ++*exponent;
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
  double rounded = 0;
  if (std::from_chars(text, end, rounded).ec == std::errc::result_out_of_range && *exponent > 0) rounded = HUGE_VAL;
  return std::copysign(rounded, number);
}

}  // namespace
