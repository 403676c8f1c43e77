"""What helps to test code that uses this package: `sheets_server`, a Google Sheets service on this very machine."""
