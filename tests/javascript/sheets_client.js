// Drives the npm client google-spreadsheet against the emulator: `node sheets_client.js URL KEY` prints what it saw, as JSON.
const { pathToFileURL } = require("node:url");

const [url, key] = process.argv.slice(2);
const service = "https://sheets.googleapis.com";
const real = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const address = typeof input === "string" ? input : input.url;
  if (!address.startsWith(service)) throw new Error(`${address} is not served here`);
  const there = url + address.slice(service.length);
  return typeof input === "string" ? real(there, init) : real(new Request(there, input), init);
};

async function main() {
  const { GoogleSpreadsheet } = await import(pathToFileURL(require.resolve("google-spreadsheet")).href);
  const doc = new GoogleSpreadsheet(key, { token: "none" });
  const seen = {};
  await doc.loadInfo();
  seen.title = doc.title;
  const sheet = await doc.addSheet({ title: "run", headerValues: ["name", "value", "note"] });
  await sheet.addRows([{ name: "a", value: 1.5, note: "x" }, { name: "b", value: 2, note: "=1+1" }, { name: "c", value: 0.1 }]);
  const rows = await sheet.getRows();
  seen.rows = rows.map((row) => row.toObject());
  rows[0].set("value", 7.25);
  await rows[0].save();
  await rows[1].delete();
  await sheet.loadCells("A1:C3");
  seen.cells = [0, 1, 2].map((row) => [0, 1, 2].map((column) => sheet.getCell(row, column).value));
  const cell = sheet.getCell(1, 2);
  cell.value = "changed";
  cell.textFormat = { bold: true };
  cell.note = "a note";
  sheet.getCell(2, 2).formula = "=SUM(B2:B3)";
  await sheet.saveUpdatedCells();
  await sheet.loadCells({ startRowIndex: 1, endRowIndex: 3, startColumnIndex: 0, endColumnIndex: 3 });
  seen.formula = [sheet.getCell(2, 2).formula, sheet.getCell(2, 2).value];
  seen.look = [sheet.getCell(1, 2).value, sheet.getCell(1, 2).textFormat.bold, sheet.getCell(1, 2).note];
  await sheet.updateProperties({ title: "renamed" });
  await sheet.resize({ rowCount: 50, columnCount: 5 });
  await sheet.mergeCells({ startRowIndex: 10, endRowIndex: 12, startColumnIndex: 0, endColumnIndex: 2 });
  await sheet.unmergeCells({ startRowIndex: 10, endRowIndex: 12, startColumnIndex: 0, endColumnIndex: 2 });
  await sheet.insertDimension("ROWS", { startIndex: 1, endIndex: 2 }, false);
  await sheet.setHeaderRow(["n", "v", "t"]);
  await sheet.loadHeaderRow();
  seen.header = sheet.headerValues;
  await sheet.clear("A5:C6");
  const copy = await sheet.duplicate({ title: "copy" });
  await doc.loadInfo();
  seen.sheets = doc.sheetsByIndex.map((one) => [one.title, one.rowCount, one.columnCount]);
  await copy.delete();
  await doc.addNamedRange("spot", { sheetId: sheet.sheetId, startRowIndex: 0, endRowIndex: 2, startColumnIndex: 0, endColumnIndex: 1 });
  await doc.updateProperties({ title: "another" });
  await doc.loadInfo();
  seen.after = [doc.title, doc.sheetsByIndex.map((one) => one.title)];
  console.log(JSON.stringify(seen));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
