// node resave.js sheetjs|exceljs FILE TARGET EDITS: open a workbook, put values into cells of its first sheet, save it.
"use strict";

function sheetjs(path, target, edits) {
  const XLSX = require("xlsx");
  const book = XLSX.readFile(path, { cellDates: false, cellText: false, cellFormula: true, bookProps: false });
  const sheet = book.Sheets[book.SheetNames[0]];
  for (const [cell, value] of Object.entries(edits)) {
    sheet[cell] = { t: typeof value === "number" ? "n" : "s", v: value };
  }
  XLSX.writeFile(book, target);
}

async function exceljs(path, target, edits) {
  const { Workbook } = require("exceljs");
  const book = new Workbook();
  await book.xlsx.readFile(path);
  for (const [cell, value] of Object.entries(edits)) book.worksheets[0].getCell(cell).value = value;
  await book.xlsx.writeFile(target);
}

const [writer, path, target, edits] = process.argv.slice(2);
Promise.resolve({ sheetjs, exceljs }[writer](path, target, JSON.parse(edits))).catch((error) => {
  console.error(error);
  process.exit(1);
});
