// Statistics of some elements: counts, exact least and greatest, mean and standard deviation.

// `places` yields the places of the elements among all of their array.
function computeStatistics(elements, places) {
  const result = { count: 0, missing: 0, infinite: 0, least: null, greatest: null, mean: NaN, deviation: NaN };
  let [finite, mean, squares] = [0, 0, 0];
  for (const place of places) {
    result.count += 1;
    if (elements.isMissing(place)) {
      result.missing += 1;
      continue;
    }
    const value = elements.number(place);
    if (!Number.isFinite(value)) {
      if (elements.isNumeric) result.infinite += 1;
      continue;
    }
    finite += 1;
    if (result.least === null || isLess(elements, place, result.least)) result.least = place;
    if (result.greatest === null || isLess(elements, result.greatest, place)) result.greatest = place;
    const away = value - mean; // Welford's way: sums of squares of large numbers would cancel
    mean += away / finite;
    squares += away * (value - mean);
  }
  if (finite) [result.mean, result.deviation] = [mean, Math.sqrt(squares / finite)];
  return result;
}

// Integers of 64 bits are compared as what they are.
function isLess(elements, one, other) {
  if (elements.isWhole) return elements.values[one] < elements.values[other];
  return elements.number(one) < elements.number(other);
}

// Return what is said of statistics: pairs of a title and a text.
function describeStatistics(elements, { count, missing, infinite, least, greatest, mean, deviation }) {
  const exact = (place) => (place === null ? "none" : elements.isComplex ? roundNumber(elements.number(place), 9) : elements.text(place));
  const pairs = [["elements", countText(count)], ["NaN", countText(missing)]];
  if (!elements.isNumeric) return [["elements", countText(count)], ["missing", countText(missing)]];
  if (infinite) pairs.push(["infinite", countText(infinite)]);
  pairs.push(["least", exact(least)], ["greatest", exact(greatest)]);
  pairs.push(["mean", least === null ? "none" : roundNumber(mean, 9)]);
  pairs.push(["std", least === null ? "none" : roundNumber(deviation, 9)]);
  return pairs;
}
