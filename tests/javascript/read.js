// node read.js sheetjs|exceljs FILE: the sheets of a workbook as JSON, {title: [[cell, ...] of row 1, ...]}.
// A cell is null, a number, a boolean or a text. JSON.stringify writes the shortest text of a double, but not -0.
"use strict";

function sheetjs(path) {
  const XLSX = require("xlsx");
  const book = XLSX.readFile(path, { cellDates: false, cellText: false, cellFormula: true });
  const sheets = {};
  for (const title of book.SheetNames) {
    const sheet = book.Sheets[title];
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
    sheets[title] = rows;
  }
  return sheets;
}

function exceljsValue(value, title) {
  if (value === undefined || value === null) return null;
  if (typeof value !== "object") return value;
  if (!value.richText) throw new Error(`${JSON.stringify(value)} in ${title}`);
  return value.richText.map((run) => run.text).join("");
}

async function exceljs(path) {
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
}

function shown(key, value) {
  return Object.is(value, -0) ? "-0.0" : value;
}

const [reader, path] = process.argv.slice(2);
Promise.resolve({ sheetjs, exceljs }[reader](path)).then((sheets) => process.stdout.write(JSON.stringify(sheets, shown)));
