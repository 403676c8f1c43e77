// Drives the npm client google-spreadsheet against the emulator: `node sheets_client.js URL KEY` prints what it saw, as JSON.
const { pathToFileURL } = require("node:url");

const [url, key, part] = process.argv.slice(2);
const services = ["https://sheets.googleapis.com", "https://www.googleapis.com"];
const real = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const address = typeof input === "string" ? input : input.url;
  const service = services.find((one) => address.startsWith(one));
  if (!service) return Promise.resolve(new Response(`${address} is not served here`, { status: 404 })); // tried but once
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

// Everything else that the client offers on cells, sheets and ranges: what each of them says, or how it fails.
async function rest() {
  const { GoogleSpreadsheet } = await import(pathToFileURL(require.resolve("google-spreadsheet")).href);
  const doc = new GoogleSpreadsheet(key, { token: "none" });
  await doc.loadInfo();
  const sheet = await doc.addSheet({ title: "all", headerValues: ["name", "value"], gridProperties: { rowCount: 60, columnCount: 12 } });
  await sheet.addRows([["a", 3], ["b", 1], ["c", 2], ["c", 2], [" d ", 5]].map(([name, value]) => ({ name, value })));
  const area = (top, bottom, left, right) => ({ startRowIndex: top, endRowIndex: bottom, startColumnIndex: left, endColumnIndex: right });
  const values = async (range) => sheet.getCellsInRange(range);
  const outcome = {};
  const step = async (name, work) => {
    try {
      outcome[name] = (await work()) ?? "done";
    } catch (error) {
      outcome[name] = `failed: ${error.message} ${error.cause ?? ""}`.slice(0, 300);
    }
  };
  const reload = async () => {
    await doc.loadInfo();
    return doc.sheetsById[sheet.sheetId];
  };
  await step("getCellsInRange", () => values("A1:B3"));
  await step("batchGetCellsInRange", () => sheet.batchGetCellsInRange(["A1:A2", "B2"]));
  await step("sortRange", () => sheet.sortRange(area(1, 6, 0, 2), [{ dimensionIndex: 1, sortOrder: "ASCENDING" }]));
  await step("sorted", () => values("A2:A6"));
  await step("deleteDuplicates", () => sheet.deleteDuplicates(area(1, 6, 0, 2)));
  await step("trimWhitespace", () => sheet.trimWhitespace(area(1, 6, 0, 1)));
  await step("trimmed", () => values("A2:A6"));
  await step("randomizeRange", () => sheet.randomizeRange(area(1, 5, 0, 2)));
  await step("randomized", async () => (await values("A2:A5")).flat().sort().join());
  await step("repeatCell", () => sheet.repeatCell(area(1, 3, 2, 3), { userEnteredValue: { stringValue: "again" } }, "userEnteredValue"));
  await step("repeatCell of all", () => sheet.repeatCell(area(3, 4, 2, 3), { note: "n", userEnteredValue: { numberValue: 3 } }, "*"));
  await step("appendCells", () => sheet.appendCells([{ values: [{ userEnteredValue: { stringValue: "end" } }] }], "*"));
  await step("autoFill", () => sheet.autoFill({ source: { ...area(0, 2, 3, 4), sheetId: sheet.sheetId }, dimension: "ROWS", fillLength: 2 }));
  await step("copyPaste", () => sheet.copyPaste(area(1, 3, 2, 3), area(10, 12, 0, 1)));
  await step("cutPaste", () => sheet.cutPaste(area(10, 12, 0, 1), { rowIndex: 20, columnIndex: 1 }));
  await step("pasted", () => values("B21:B22"));
  await step("pasteData", () => sheet.pasteData({ rowIndex: 30, columnIndex: 0 }, "p,q\nr,s", ","));
  await step("textToColumns", async () => {
    await sheet.pasteData({ rowIndex: 33, columnIndex: 0 }, "x;y", "|");
    await sheet.textToColumns(area(33, 34, 0, 1), "SEMICOLON");
    return values("A34:B34");
  });
  await step("findReplace", () => sheet.findReplace("r", "R", { matchEntireCell: true }));
  await step("replaced", () => values("A31:B32"));
  await step("insertRange", () => sheet.insertRange(area(30, 31, 0, 1), "ROWS"));
  await step("deleteRange", () => sheet.deleteRange(area(30, 31, 0, 1), "ROWS"));
  await step("moveDimension", () => sheet.moveDimension("ROWS", { startIndex: 30, endIndex: 31 }, 40));
  await step("appendDimension", () => sheet.appendDimension("ROWS", 5));
  await step("deleteRows", () => sheet.deleteRows(50, 52));
  await step("deleteColumns", () => sheet.deleteColumns(10, 11));
  await step("size", async () => [(await reload()).rowCount, sheet.columnCount]);
  await step("updateDimensionProperties", () => sheet.updateDimensionProperties("COLUMNS", { pixelSize: 120 }, { startIndex: 0, endIndex: 2 }));
  await step("autoResizeDimensions", () => sheet.autoResizeDimensions("COLUMNS", { startIndex: 0, endIndex: 2 }));
  await step("updateGridProperties", () => sheet.updateGridProperties({ frozenRowCount: 1 }));
  await step("mergeCells", () => sheet.mergeCells(area(40, 42, 0, 2)));
  await step("unmergeCells", () => sheet.unmergeCells(area(40, 42, 0, 2)));
  await step("updateBorders", () => sheet.updateBorders(area(0, 1, 0, 2), { bottom: { style: "SOLID", color: { red: 1 } } }));
  await step("setDataValidation", () => sheet.setDataValidation(area(1, 5, 0, 1), { condition: { type: "ONE_OF_LIST", values: [{ userEnteredValue: "a" }] }, strict: true, showCustomUi: true }));
  await step("no data validation", () => sheet.setDataValidation(area(1, 5, 0, 1), false));
  await step("setBasicFilter", () => sheet.setBasicFilter({ range: area(0, 5, 0, 2), sortSpecs: [{ dimensionIndex: 0, sortOrder: "ASCENDING" }] }));
  await step("clearBasicFilter", () => sheet.clearBasicFilter());
  const rule = (limit) => ({ ranges: [{ ...area(1, 5, 1, 2), sheetId: sheet.sheetId }], booleanRule: { condition: { type: "NUMBER_GREATER", values: [{ userEnteredValue: limit }] }, format: { textFormat: { bold: true } } } });
  await step("addConditionalFormatRule", () => sheet.addConditionalFormatRule(rule("1"), 0));
  await step("updateConditionalFormatRule", () => sheet.updateConditionalFormatRule({ index: 0, rule: rule("2") }));
  await step("move a rule", () => sheet.updateConditionalFormatRule({ index: 0, newIndex: 0, sheetId: sheet.sheetId }));
  await step("deleteConditionalFormatRule", () => sheet.deleteConditionalFormatRule(0));
  await step("addBanding", async () => Object.keys(await sheet.addBanding({ bandedRangeId: 77, range: area(0, 5, 0, 2), rowProperties: { firstBandColor: { red: 1 }, secondBandColor: { green: 1 } } })));
  await step("updateBanding", () => sheet.updateBanding({ bandedRangeId: 77, range: { ...area(0, 6, 0, 2), sheetId: sheet.sheetId }, rowProperties: { firstBandColor: { blue: 1 } } }, "*"));
  await step("deleteBanding", () => sheet.deleteBanding(77));
  await step("addFilterView", () => sheet.addFilterView({ filterViewId: 5, title: "mine", range: area(0, 5, 0, 2) }));
  await step("updateFilterView", () => sheet.updateFilterView({ filterViewId: 5, title: "yours" }, "title"));
  await step("duplicateFilterView", () => sheet.duplicateFilterView(5));
  await step("deleteFilterView", () => sheet.deleteFilterView(5));
  await step("addProtectedRange", () => sheet.addProtectedRange({ protectedRangeId: 9, range: { ...area(0, 1, 0, 2), sheetId: sheet.sheetId }, warningOnly: true }));
  await step("updateProtectedRange", () => sheet.updateProtectedRange(9, { description: "mine" }));
  await step("deleteProtectedRange", () => sheet.deleteProtectedRange(9));
  await step("addNamedRange", () => sheet.addNamedRange("spot", area(0, 2, 0, 1), "spot-id"));
  await step("updateNamedRange", () => sheet.updateNamedRange("spot-id", { name: "place" }, "name"));
  await step("deleteNamedRange", () => sheet.deleteNamedRange("spot-id"));
  const place = { location: { sheetId: sheet.sheetId }, visibility: "DOCUMENT", metadataKey: "k", metadataValue: "v" };
  await step("createDeveloperMetadata", () => sheet.createDeveloperMetadata(place));
  const lookup = { developerMetadataLookup: { metadataKey: "k" } };
  await step("searchDeveloperMetadata", async () => (await doc.searchDeveloperMetadata([lookup])).length);
  await step("updateDeveloperMetadata", () => sheet.updateDeveloperMetadata([lookup], { metadataValue: "w" }, "metadataValue"));
  await step("deleteDeveloperMetadata", () => sheet.deleteDeveloperMetadata(lookup));
  await step("clearRows", () => sheet.clearRows({ start: 30, end: 31 }));
  await step("copyToSpreadsheet", () => sheet.copyToSpreadsheet(key));
  await step("share", () => doc.share("someone@example.org", { role: "writer" }));
  await step("listPermissions", async () => (await doc.listPermissions()).length);
  await step("setPublicAccessLevel", () => doc.setPublicAccessLevel("reader"));
  for (const name of ["addChart", "updateChartSpec", "addSlicer", "addDimensionGroup", "updateEmbeddedObjectPosition", "downloadAsCSV"]) await step(name, () => sheet[name]());
  await step("a row", async () => {
    const rows = await sheet.getRows({ limit: 2 });
    rows[0].assign({ name: "assigned", value: 4 });
    await rows[0].save();
    return [rows[0].rowNumber, rows[0].get("name")];
  });
  await step("cells by their looks", async () => {
    await sheet.loadCells(["A1:B2"]);
    const cell = sheet.getCellByA1("B2");
    Object.assign(cell, { numberFormat: { type: "NUMBER", pattern: "0.00" }, backgroundColor: { red: 1 }, horizontalAlignment: "CENTER" });
    await cell.save();
    await sheet.loadCells("A1:B2");
    const again = sheet.getCellByA1("B2");
    return [again.formattedValue, again.effectiveFormat.horizontalAlignment, again.backgroundColor, again.valueType];
  });
  await step("delete", () => sheet.delete());
  console.log(JSON.stringify(outcome));
}

(part === "rest" ? rest() : main()).catch((error) => {
  console.error(error);
  process.exit(1);
});
