// node workbooks.js: workbooks read and saved by "sheetjs" and "exceljs", as lines of JSON ask for it, one after another.
// ["read", PACKAGE, FILE] gives {title: [[cell, ...] of row 1, ...]}, where a cell is null, a number, a boolean or a text;
// ["resave", PACKAGE, FILE, TARGET, EDITS] puts values into cells of the first sheet, saves the workbook, gives null.
// Each line is answered by {"gives": ...} or {"error": text}. JSON.stringify writes the shortest text of a double, but not -0.
"use strict";

const readline = require("readline");

function sheetjsRows(sheet, title, XLSX) {
  const rows = [];
  const range = XLSX.utils.decode_range(sheet["!ref"]);
  for (let row = 0; row <= range.e.r; row++) {
    const cells = [];
    for (let column = 0; column <= range.e.c; column++) {
      const cell = sheet[XLSX.utils.encode_cell({ r: row, c: column })];
      if (cell && cell.f !== undefined) throw new Error(`a formula in ${title}: ${cell.f}`);
      cells.push(cell === undefined || cell.t === "z" ? null : cell.v);
    }
    rows.push(cells);
  }
  return rows;
}

function exceljsValue(value, title) {
  if (value === undefined || value === null) return null;
  if (typeof value !== "object") return value;
  if (!value.richText) throw new Error(`${JSON.stringify(value)} in ${title}`);
  return value.richText.map((run) => run.text).join("");
}

const read = {
  sheetjs(path) {
    const XLSX = require("xlsx");
    const book = XLSX.readFile(path, { cellDates: false, cellText: false, cellFormula: true });
    return Object.fromEntries(book.SheetNames.map((title) => [title, sheetjsRows(book.Sheets[title], title, XLSX)]));
  },

  async exceljs(path) {
    const { Workbook } = require("exceljs");
    const book = new Workbook();
    await book.xlsx.readFile(path);
    const sheets = {};
    for (const sheet of book.worksheets) {
      const rows = [];
      for (const values of sheet.getSheetValues().slice(1)) {
        rows.push(Array.from(values || [], (value) => exceljsValue(value, sheet.name)).slice(1));
      }
      sheets[sheet.name] = rows;
    }
    return sheets;
  },
};

const resave = {
  sheetjs(path, target, edits) {
    const XLSX = require("xlsx");
    const book = XLSX.readFile(path, { cellDates: false, cellText: false, cellFormula: true, bookProps: false });
    const sheet = book.Sheets[book.SheetNames[0]];
    const range = XLSX.utils.decode_range(sheet["!ref"]);
    for (const [cell, value] of Object.entries(edits)) {
      const { r, c } = XLSX.utils.decode_cell(cell);
      [range.e.r, range.e.c] = [Math.max(range.e.r, r), Math.max(range.e.c, c)];
      if (value === null) delete sheet[cell];
      else sheet[cell] = { t: typeof value === "number" ? "n" : "s", v: value };
    }
    sheet["!ref"] = XLSX.utils.encode_range(range);
    XLSX.writeFile(book, target);
    return null;
  },

  async exceljs(path, target, edits) {
    const { Workbook } = require("exceljs");
    const book = new Workbook();
    await book.xlsx.readFile(path);
    for (const [cell, value] of Object.entries(edits)) book.worksheets[0].getCell(cell).value = value;
    await book.xlsx.writeFile(target);
    return null;
  },
};

const verbs = { read, resave };

function shown(key, value) {
  return Object.is(value, -0) ? "-0.0" : value;
}

async function answer(line) {
  const [verb, name, ...rest] = JSON.parse(line);
  try {
    return { gives: await verbs[verb][name](...rest) };
  } catch (error) {
    return { error: String(error.stack || error) };
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await answer(line), shown)}\n`);
  }
}

main();
