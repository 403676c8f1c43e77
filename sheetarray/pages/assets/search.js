// Search for a value in a whole array: a number, `> 30`, NaN, a part of a text, a date.

// Return whether an element is what is looked for, by its place; null for a query that no element can be.
function makeMatcher(elements, query) {
  const text = query.trim();
  if (!text) return null;
  if (/^(nan|nat|none)$/i.test(text) && (elements.isNumeric || elements.kinds)) return (i) => elements.isMissing(i);
  if (!elements.isNumeric) {
    const wanted = text.toLowerCase();
    return (i) => elements.text(i).toLowerCase().includes(wanted);
  }
  if (/^(true|false)$/i.test(text)) return (i) => elements.text(i) === text.toUpperCase();
  const [, relation, numeral] = /^(<=|>=|<|>|=)?\s*(.*)$/.exec(text);
  const limit = Number(numeral.replace(/^([+-]?)inf(inity)?$/i, "$1Infinity"));
  if (Number.isNaN(limit)) return elements.isComplex ? (i) => elements.text(i) === text : null;
  switch (relation) {
    case "<":
      return (i) => elements.number(i) < limit;
    case ">":
      return (i) => elements.number(i) > limit;
    case "<=":
      return (i) => elements.number(i) <= limit;
    case ">=":
      return (i) => elements.number(i) >= limit;
    default:
      return matchNumber(elements, numeral, limit);
  }
}

function matchNumber(elements, numeral, limit) {
  if (elements.values instanceof BigInt64Array || elements.values instanceof BigUint64Array) {
    if (!/^[+-]?\d+$/.test(numeral)) return () => false;
    const exact = BigInt(numeral.replace("+", ""));
    return (i) => elements.values[i] === exact;
  }
  if (elements.isComplex) return (i) => elements.text(i) === numeral || elements.text(i) === `${numeral}+0i`;
  const near = Math.abs(limit) / 100; // a number of few digits is what its text says, and not quite its value
  return (i) => {
    const number = elements.number(i);
    return number === limit || (Math.abs(number - limit) <= near && elements.text(i) === numeral);
  };
}

// Return how many elements match, and the place of the next one after `start` (or the one before it, going back).
function searchElements(elements, query, start, isBack) {
  const matches = makeMatcher(elements, query);
  if (!matches) return { count: 0, place: -1, number: 0 };
  let [count, before, after, first, last, number] = [0, -1, -1, -1, -1, 0];
  for (let i = 0; i < elements.count; i += 1) {
    if (!matches(i)) continue;
    count += 1;
    if (first < 0) first = i;
    last = i;
    if (i < start) before = i;
    if (i > start && after < 0) [after, number] = [i, count];
  }
  if (isBack) return { count, place: before >= 0 ? before : last };
  return { count, place: after >= 0 ? after : first, number: after >= 0 ? number : 1 };
}
